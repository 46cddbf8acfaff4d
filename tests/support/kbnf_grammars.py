"""KBNF grammars for differential tests: a table by feature, and a generator of grammars as people write them."""

from __future__ import annotations

import random

BY_HAND: tuple[str, ...] = (
    # terminals and their escapes
    "start ::= 'a';",
    'start ::= "abc";',
    "start ::= 'a\\nb' | 'a\\tb';",
    "start ::= '\\x41\\u00e9\\u{1F600}';",
    "start ::= 'é' | 'ä' | 'é\\u0301';",
    "start ::= '\\\\' '\\'' '\\\"';",
    "start ::= '日本' | '日曜';",
    "start ::= 'ab' | 'abc' | 'abcabc';",
    "start ::= 'a', 'b', 'c';",
    "start = 'a' | 'b';",
    # operators
    "start ::= 'a'? 'b'? 'c';",
    "start ::= ['a'] ['b'] 'c' ['a'];",
    "start ::= {'a'} 'b';",
    "start ::= {'a' | 'b'} 'c';",
    "start ::= 'a'* 'b'+ 'c'?;",
    "start ::= ('a' | 'b') ('b' | 'c') ('a' | 'c');",
    "start ::= ('a' 'b'?)+ 'c';",
    "start ::= (('a' | 'b')* 'c')+ '.';",
    "start ::= ((('a')))* 'b';",
    "start ::= {['a'] 'b'} 'c';",
    "start ::= ['a' ['b' ['c']]] '.';",
    "start ::= ('a'? 'b'?)* 'c';",
    # rules
    "start ::= A B; A ::= 'a' | 'ab'; B ::= 'bc' | 'c';",
    "start ::= A; A ::= 'a'; A ::= 'b' A;",
    "start ::= A '.'; A ::= 'a' A | 'b';",
    "start ::= A '.'; A ::= A 'a' | 'b';",
    "start ::= A '.'; A ::= A A | 'a';",
    "start ::= A '.'; A ::= 'a' A 'b' | '';",
    "start ::= A '.'; A ::= '(' A ')' A | '';",
    "start ::= S '.'; S ::= 'a' S 'a' | 'b' S 'b' | 'c';",
    "start ::= A '.'; A ::= B 'a' | 'c'; B ::= A 'b' | 'a';",
    "start ::= A B C '.'; A ::= 'a'?; B ::= 'b'?; C ::= 'c'?;",
    "start ::= A '.'; A ::= B; B ::= C; C ::= A | 'a';",
    "start ::= A 'c'; A ::= 'a' A | B; B ::= 'b' B | 'b';",
    "start ::= E ';'; E ::= E '+' T | T; T ::= T '*' F | F; F ::= '(' E ')' | #'[0-9]+';",
    "start ::= A | B; A ::= 'a' A 'b' | 'ab'; B ::= 'a' B 'bb' | 'abb';",
    "start ::= 'a' B; B ::= 'a' B;",
    "start ::= 'a' | 'b' C; C ::= 'c' C;",
    # regexes
    "start ::= #'[a-c]+' '.';",
    "start ::= #'a*b' #'b*c';",
    "start ::= #'(ab|ba){1,3}' '.';",
    "start ::= #'[^ab]' 'a';",
    "start ::= #'.' 'b';",
    "start ::= #'\\\\d{2,3}' '.';",
    "start ::= #'\\\\w+' ' ' #'\\\\w+' '.';",
    "start ::= #'[à-ü]+' '.';",
    "start ::= #'\\\\p{Lu}\\\\p{Ll}*' '.';",
    "start ::= #'a|ab|abc' 'c';",
    "start ::= #'(a|b)*abb' '.';",
    "start ::= #'[a-z]{3,5}' | #'[0-9]{2,4}';",
    "start ::= #'a?' 'b';",
    "start ::= #'a*' #'b*' 'c';",
    "start ::= #'x(?:y|z)?' 'y';",
    "start ::= #'(?i)ab' '.';",
    "start ::= #'[\\\\n\\\\t ]*' 'a';",
    "start ::= A A; A ::= #'[ab]{1,2}';",
    "start ::= #'[a-z]+' ',' #'[a-z]+' | #'[a-z]+' '.';",
    # early-ending regexes, texts without a match, substrings
    "start ::= #e'[ab]*c' 'b';",
    "start ::= #e'a+' 'b';",
    "start ::= #e'a(bc)?' 'c';",
    "start ::= #e'.*\\\\n' 'a';",
    "start ::= #e'(a|b)*?(ab|ba)' '.';",
    "start ::= #ex'ab' '.';",
    "start ::= #ex'a|bc' 'a';",
    "start ::= #ex'\\\\n' '\\n';",
    "start ::= '\"' #ex'\"' '\"';",
    "start ::= '\"' #ex'\"|\\\\\\\\' '\"';",
    "start ::= #ex'[0-9]' #'[0-9]+' '.';",
    "start ::= '[' #substrs'abcab' ']';",
    "start ::= #substrs'abc' 'c';",
    "start ::= #substrs'the quick brown fox' '.';",
    # as people write them
    "start ::= 'yes' | 'no' | 'maybe';",
    "start ::= '{' '\"a\"' ':' #'[0-9]+' [',' '\"b\"' ':' ('true' | 'false')] '}';",
    "start ::= '[' [V {',' V}] ']'; V ::= #'-?(0|[1-9][0-9]*)';",
    "start ::= V '.'; V ::= '[' [V {',' V}] ']' | '{' [M {',' M}] '}' | #'[0-9]+' | S; M ::= S ':' V;"
    " S ::= '\"' #'[a-z]*' '\"';",
    "start ::= 'name: ' #'[A-Z][a-z]+' '\\n' 'age: ' #'[0-9]{1,3}' '\\n';",
    "start ::= '<b>' #e'.*?</b>' '!';",
    "start ::= L L '.'; L ::= '- ' #'[a-z ]+' '\\n';",
    "start ::= D '-' D '.'; D ::= #'[0-9]' #'[0-9]';",
    "start ::= 'SELECT ' C {', ' C} ' FROM ' C ';'; C ::= #'[a-z_]+';",
    "start ::= W { ' ' W } '.'; W ::= #'[a-z]+' | #'[0-9]+';",
    "start ::= #'\"([^\"\\\\\\\\]|\\\\\\\\[\"\\\\\\\\/bfnrt])*\"' ':' #'(true|false|null)';",
    "start ::= '```' #e'[^`]*```' '\\n';",
    "start ::= T '.'; T ::= '<' N '>' {T} '</' N '>'; N ::= 'a' | 'b';",
    "(* a comment *) start ::= 'a' A; (* another *) A ::= 'b';",
    "start ::= ('0' | #'[1-9][0-9]*') ['.' #'[0-9]+'] ' ';",
    "start ::= #'[+-]?[0-9]+(\\\\.[0-9]+)?([eE][+-]?[0-9]+)?' ' ';",
    "start ::= #'[a-z0-9]+@[a-z]+\\\\.(com|org)' ' ';",
)

_REGEXES = (
    "[a-c]+",
    "[0-9]{1,3}",
    "-?[1-9][0-9]*",
    "(true|false|null)",
    "[a-z]+( [a-z]+)*",
    '[^",]*',
    "[a-z_]+",
    "(0|[1-9][0-9]*)(\\\\.[0-9]+)?",
    "a{2,4}",
    "(ab|b)*",
    "[àéü]+",
    "[ \\\\n]*",
)
_EARLY = (".*?\\\\n", "[ab]*c", "a+b?", '[^"]*"', "[a-z]+( |,)", "(a|b|c)*?(aa|bb)")
_WITHOUT = ('"', "\\\\n", "ab|ba", "[,\\\\]]", "[0-9]", "aa")
_SUBSTRINGS = ("abcabd", "the cat", "a,b", "10011")
_LITERALS = ("a", "b", "ab", "abc", ",", ", ", ":", "null", "true", "1", "12", '\\"', "{", "}", "é", " ", "\\n")


def realistic_grammar(rng: random.Random) -> str:
    """A grammar near to what people write: values in JSON's manner, lists, options, terminals of all kinds.

    Whatever is grouped is a rule of its own: the published package misreads brackets in strings inside groups.
    """
    rules: list[str] = []
    start = _body(rng, rules, 3)
    return f"start ::= {start} '.'; " + " ".join(rules)


def _rule(rng: random.Random, rules: list[str], depth: int) -> str:
    """The name of a new rule. It may use itself, but only between brackets, so that it ends."""
    name = f"r{len(rules)}"
    rules.append("")
    recursive = f" | '(' {name} ')'" if rng.random() < 0.2 else ""
    rules[int(name[1:])] = f"{name} ::= {_body(rng, rules, depth)}{recursive};"
    return name


def _body(rng: random.Random, rules: list[str], depth: int) -> str:
    kind = rng.random()
    if depth == 0:
        return _terminal(rng)
    if kind < 0.15:
        unit = _rule(rng, rules, depth - 1)
        return f"'[' [{unit} {{',' {unit}}}] ']'"
    if kind < 0.3:
        optional = _rule(rng, rules, 0)
        return f"'{{' '\"a\":' {_rule(rng, rules, depth - 1)} [',' '\"b\":' {optional}] '}}'"
    if kind < 0.6:
        return " ".join(_rule(rng, rules, depth - 1) for _ in range(rng.randint(2, 3)))
    if kind < 0.8:
        return _rule(rng, rules, depth - 1) + "".join(
            f" | {_rule(rng, rules, depth - 1)}" for _ in range(rng.randint(1, 3))
        )
    if kind < 0.9:
        return _rule(rng, rules, depth - 1) + rng.choice("?*+")
    return _terminal(rng)


def _terminal(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.5:
        return f"'{rng.choice(_LITERALS)}'"
    if kind < 0.75:
        return f"#'{rng.choice(_REGEXES)}'"
    if kind < 0.85:
        return f"#e'{rng.choice(_EARLY)}'"
    if kind < 0.95:
        return f"#ex'{rng.choice(_WITHOUT)}'"
    return f"#substrs'{rng.choice(_SUBSTRINGS)}'"
