r"""The writer of llguidance's dialect of Lark, so that llguidance's lexer reads the same language.

llguidance cuts a text into lexemes before it parses, and always takes the longest lexeme. A grammar copied word for
word could therefore come to mean less. Two ways avoid it:

1. A grammar that does not recurse becomes one terminal, made of other terminals. The lexer has nothing to choose:

       start ::= digit+ '5'; digit ::= #'[0-9]';          ->   start: WHOLE
                                                               WHOLE: DIGIT+ /5/
                                                               DIGIT: /[0-9]/

2. In any other grammar the terminals that the lexer could not tell apart (`longest_match` finds them) are split into
   smaller ones, and in the end into single characters, which begin nothing longer. Here `a` begins `abc`:

       start ::= '(' start ')' | 'a' 'bx' | 'abc';        ->   start: /\(/ start /\)/ | /a/ /bx/ | /a/ /b/ /c/
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.regex_facts import is_surely_text, post_order
from structgen.kbnf.regular import regular
from structgen.kbnf.rewriting import children_of, group_rules, nodes_of, rewrite, sequence
from structgen.kbnf.validation import validate
from structgen.kbnf.writing.character_rules import CharacterRules
from structgen.kbnf.writing.infix import comment_lines, infix
from structgen.kbnf.writing.longest_match import following_bytes, longer_terminals, widened
from structgen.kbnf.writing.naming import FreshNames, errors_in, without_extensions, written_names
from structgen.kbnf.writing.productive import without_unproductive
from structgen.kbnf.writing.regex_text import regex_texts
from structgen.kbnf.writing.shorter_regex import shortened
from structgen.kbnf.writing.tokens import lark_token
from structgen.limits import Limits

__all__ = ["print_lark"]

_TEXT = rx.star(rx.ANY_CHAR)
_TERMINALS = (ast.Literal, ast.RegexTerminal, ast.SubstringsTerminal, ast.AnyText, ast.Except)
_RESERVED = frozenset({"whole"})  # in upper case the name of the one terminal, see above
_MAX_INLINE = 40  # characters of a terminal that is written in a rule; longer ones get a name
_WORDS = re.compile(r'"(?:[^"\\]|\\.)*"|\w+|\s+|.', re.DOTALL)  # the pieces that a text is split into first

Bodies = dict[str, ast.Expression]
"""Rules by name."""


def print_lark(grammar: ast.Grammar, *, limits: Limits | None = None) -> str:
    """Return the grammar in llguidance's Lark; it begins at `start`.

    Args:
        grammar: the tree.
        limits: `automaton_states` bounds the automata that are made.

    Raises:
        GrammarError: the grammar is not valid, or matches bytes that are not UTF-8.
        LimitExceededError: the grammar is too large.

    Example:
        >>> print(print_lark(parse('start ::= #"[a-z]+" "=" #"[0-9]+";')), end="")
        start: WHOLE
        WHOLE: /[a-z]+/ /=/ /[0-9]+/
    """
    limits = limits or Limits()
    validate(grammar)
    grammar = without_extensions(grammar, "llguidance's Lark", has_tokens=True)
    names = written_names(grammar, start="start", clean=_clean, reserved=_RESERVED)
    grouped = group_rules(grammar)
    store = AutomatonStore(limits)
    rules = []
    for rule in grammar.rules:
        with errors_in(rule):
            body = rewrite(rule.body, lambda node: _collapsed(node, grouped, names))
            for regex in _regexes({rule.name: body}):
                store.is_empty(regex)  # too large an automaton is found here, where its rule is known
        rules.append(replace(rule, name=names[rule.name], body=body))
    lowered = without_unproductive(ast.Grammar(tuple(rules), "start"), store.is_empty)
    bodies = {rule.name: rewrite(rule.body, _as_regex) for rule in lowered.rules}
    comments = {rule.name: comment_lines(rule, "//") for rule in lowered.rules}
    _check_text(bodies, store)
    if _is_regular(bodies) and all(_terminal_text(regex) is not None for regex in _regexes(bodies)):
        return _written(bodies, comments, limits, as_terminals=True)
    fresh = FreshNames(names.values(), "_")
    return _written(_told_apart(bodies, fresh, store, limits), comments, limits, as_terminals=False)


def _clean(name: str) -> str:
    """Return a name of a rule as Lark takes it: lower case, a letter first."""
    name = re.sub(r"[^a-z0-9_]", "_", name.lower())
    return name if name[:1].isalpha() else f"r{name}"


# -- from the tree to rules over regexes --------------------------------------------------------------------------


def _collapsed(node: ast.Expression, grouped: dict[str, list[ast.Expression]], names: dict[str, str]) -> ast.Expression:
    """Return a node whose children are collapsed, with its terminals as regexes.

    Terminals that are alternatives become one, and so does a repeated terminal. A sequence stays a sequence: with
    `"{" "a"` and `"{" "b"` the lexer reads `{` first, but between `/{a/` and `/{b/` it would have to choose.
    """
    if isinstance(node, ast.Reference):
        return ast.Reference(names[node.name])
    if isinstance(node, _TERMINALS):
        return ast.RegexTerminal(regular(node, grouped))
    if isinstance(node, ast.Token):
        return node
    if isinstance(node, ast.Bounded) and node.max == 0:
        return ast.RegexTerminal(rx.EMPTY)
    children = children_of(node)
    if isinstance(node, ast.Sequence):
        return sequence(node.parts) if node.parts else ast.RegexTerminal(rx.EMPTY)
    if all(isinstance(child, ast.RegexTerminal) for child in children):
        return ast.RegexTerminal(regular(node, {}))
    if isinstance(node, ast.Choice):
        terminals = [part.regex for part in node.parts if isinstance(part, ast.RegexTerminal)]
        if len(terminals) > 1:
            others = [part for part in node.parts if not isinstance(part, ast.RegexTerminal)]
            return ast.Choice((ast.RegexTerminal(rx.choice(*terminals)), *others))
    return node


def _as_regex(node: ast.Expression) -> ast.Expression:
    """Return a literal, which `without_unproductive` may have left for the empty text, as a regex."""
    return ast.RegexTerminal(rx.Literal(node.data)) if isinstance(node, ast.Literal) else node


def _regexes(bodies: Bodies) -> list[rx.Regex]:
    """Return the terminals of some rules."""
    nodes = itertools.chain.from_iterable(map(nodes_of, bodies.values()))
    return [node.regex for node in nodes if isinstance(node, ast.RegexTerminal)]


def _check_text(bodies: Bodies, store: AutomatonStore) -> None:
    """Refuse terminals that match bytes that are not UTF-8."""
    for regex in _regexes(bodies):
        if not is_surely_text(regex) and not store.is_empty(rx.difference(regex, _TEXT)):
            raise GrammarError(
                "a terminal matches bytes that are not UTF-8, and Lark cannot name them",
                hint="write it as a regex of characters: #'[^<]*' for #ex'<'",
            )


def _is_regular(bodies: Bodies) -> bool:
    """Return whether no rule leads back to itself, and none has a token, which no terminal can hold."""
    if any(isinstance(node, ast.Token) for body in bodies.values() for node in nodes_of(body)):
        return False
    done: set[str] = set()
    left = dict(bodies)
    while left:
        ready = [name for name, body in left.items() if _names(body) <= done]
        if not ready:
            return False
        done.update(ready)
        for name in ready:
            del left[name]
    return True


def _names(body: ast.Expression) -> set[str]:
    return {node.name for node in nodes_of(body) if isinstance(node, ast.Reference)}


# -- terminals that a lexer can tell apart ------------------------------------------------------------------------


def _told_apart(bodies: Bodies, fresh: FreshNames, store: AutomatonStore, limits: Limits) -> Bodies:
    """Return the rules with those terminals split that a lexer would take for the beginning of another one.

    Splitting repeats until there are none; single characters begin nothing longer, so it ends.
    """
    split: set[int] = {store.add(regex) for regex in _regexes(bodies) if _terminal_text(regex) is None}
    while True:
        bodies = _split(bodies, split, fresh, store, limits)
        regexes = {store.add(regex): regex for regex in _regexes(bodies)}
        wide = {state: store.add(widened(regex)) for state, regex in regexes.items()}
        split = longer_terminals(following_bytes(bodies, store), store, wide)
        if not split:
            return bodies


def _split(bodies: Bodies, split: set[int], fresh: FreshNames, store: AutomatonStore, limits: Limits) -> Bodies:
    """Return the rules with some terminals (given by their states) in pieces, or as rules over characters."""
    if not split:
        return bodies
    characters = CharacterRules(ast.Grammar(()), fresh, limits)

    def change(node: ast.Expression, name: str) -> ast.Expression:
        if not isinstance(node, ast.RegexTerminal) or store.add(node.regex) not in split:
            return node
        pieces = _pieces(node.regex) if _terminal_text(node.regex) is not None else None
        return pieces or rewrite(characters.regex(node.regex, name), _single_characters)

    out = {name: rewrite(body, lambda node, name=name: change(node, name)) for name, body in bodies.items()}  # type: ignore[misc]
    return out | {rule.name: rewrite(rule.body, _single_characters) for rule in characters.rules}


def _single_characters(node: ast.Expression) -> ast.Expression:
    """Return a literal as its characters; all other terminals match one character already."""
    if not isinstance(node, ast.Literal):
        return node
    classes = [ast.RegexTerminal(rx.Chars(((ord(character), ord(character)),))) for character in node.data.decode()]
    return sequence(classes) if classes else ast.RegexTerminal(rx.EMPTY)


def _pieces(regex: rx.Regex) -> ast.Expression | None:
    """Return the same language out of smaller terminals; None where there is nothing to split."""
    if isinstance(regex, rx.Literal):
        pieces = _WORDS.findall(regex.data.decode())
        if len(pieces) < 2:
            return None
        return ast.Sequence(tuple(ast.RegexTerminal(rx.Literal(piece.encode())) for piece in pieces))
    if isinstance(regex, rx.LiteralSet):
        return _pieces_of_choice(tuple(map(rx.Literal, regex.texts)))
    if isinstance(regex, rx.Sequence):
        return sequence((_pieces(part) or ast.RegexTerminal(part)) for part in regex.parts)
    return _pieces_of_choice(regex.parts) if isinstance(regex, rx.Choice) else None


def _pieces_of_choice(parts: tuple[rx.Regex, ...]) -> ast.Expression | None:
    """Return a choice of split parts; all parts that cannot be split stay together in one terminal."""
    whole: list[rx.Regex] = []
    pieces: list[ast.Expression] = []
    for part in parts:
        found = _pieces(part) if isinstance(part, (rx.Literal, rx.Sequence)) else None
        if found is None:
            whole.append(part)
        else:
            pieces.append(found)
    if whole and pieces:
        pieces.append(ast.RegexTerminal(rx.choice(*whole)))
    return None if not pieces else pieces[0] if len(pieces) == 1 else ast.Choice(tuple(pieces))


# -- text of rules ------------------------------------------------------------------------------------------------


def _written(bodies: Bodies, comments: dict[str, str], limits: Limits, *, as_terminals: bool) -> str:
    """Return the text of the rules, the start first, each with its comment above it."""
    names = {name: name.upper() if as_terminals and name != "start" else name for name in bodies}
    writer = _Writer(names, limits)
    lines = []
    for name in sorted(bodies, key=lambda name: name != "start"):
        body = writer.expression(bodies[name], name)
        if as_terminals and name == "start" and not isinstance(bodies[name], (ast.RegexTerminal, ast.Reference)):
            # Rules are cut into lexemes, so the whole has to be a terminal.
            lines += ["start: WHOLE", f"{comments.get(name, '')}WHOLE: {body}"]
        else:
            lines.append(f"{comments.get(name, '')}{names[name]}: {body}")
    return "".join(f"{line}\n" for line in (*lines, *writer.terminals.values()))


class _Writer:
    """A writer of bodies, which gives long terminals names.

    Args:
        names: the written name of each rule.
        limits: `grammar_symbols` bounds each body.

    Attributes:
        terminals: definitions of long terminals, by their text.
    """

    def __init__(self, names: dict[str, str], limits: Limits) -> None:
        self.terminals: dict[str, str] = {}
        self._names = names
        self._limits = limits
        self._fresh = FreshNames((*names.values(), "WHOLE"), "_")
        self._called: dict[str, str] = {}

    def expression(self, body: ast.Expression, owner: str) -> str:
        """Return the text of one body; long terminals in it are named after `owner`."""
        return infix(body, atom=lambda node: self._atom(node, owner), count=_count, limits=self._limits)

    def _atom(self, node: ast.Expression, owner: str) -> str:
        if isinstance(node, ast.Reference):
            return self._names[node.name]
        if isinstance(node, ast.Token):
            return lark_token(node)
        assert isinstance(node, ast.RegexTerminal)
        text = _terminal_text(node.regex) or '""'
        if len(text) <= _MAX_INLINE and text[0] in '/"':
            return text
        if text not in self._called:
            self._called[text] = self._fresh.name(owner.upper())
            self.terminals[text] = f"{self._called[text]}: {text}"
        return self._called[text]


def _count(least: int, most: int | None) -> str:
    return f"{{{least},{'' if most is None else most}}}"


# -- text of terminals --------------------------------------------------------------------------------------------


def _terminal_text(regex: rx.Regex) -> str | None:
    """Return the body of a terminal; None where Lark cannot express the regex (multiples of a number, bytes).

    llguidance's extensions are used: `&`, which binds less than a sequence, `~`, which binds most, `{m,n}`, and
    `%regex` for substrings. A node that is not one regex in Rust's syntax stands in parentheses.
    """
    regex = shortened(regex)
    texts = regex_texts(regex)
    known: dict[int, str | None] = {}
    for node in post_order(regex):
        text = texts[id(node)]
        known[id(node)] = _joined(node, known) if text is None else _slashed(text)
    return known[id(regex)]


def _slashed(pattern: str) -> str:
    """Return a regex in Rust's syntax between slashes; no escape of that syntax ends in a slash."""
    return f"/{pattern.replace('/', chr(92) + '/')}/" if pattern else '""'


def _joined(node: rx.Regex, known: dict[int, str | None]) -> str | None:
    """Return the text of a node that Rust's syntax cannot express, given those of its children."""
    if isinstance(node, rx.Substrings):
        return _substrings(node)
    if isinstance(node, (rx.Repeat, rx.Complement, rx.Early)):
        parts = [known[id(node.body)]]
    elif isinstance(node, (rx.Sequence, rx.Choice, rx.Intersection)):
        parts = [known[id(part)] for part in node.parts]
    else:
        return None
    written = [part for part in parts if part is not None]
    if len(written) < len(parts):
        return None
    if isinstance(node, rx.Repeat):
        if node.max == 0:  # llguidance reads `{0}` in a regex only
            return '""'
        return f"({written[0]}){_operator(node.min, node.max)}"
    if isinstance(node, rx.Complement):
        return f"~({written[0]})"
    if isinstance(node, rx.Early):
        return f"({written[0]} & ~({written[0]} /(?s:.)+/))"
    mark = {rx.Sequence: " ", rx.Choice: " | ", rx.Intersection: " & "}[type(node)]
    return f"({mark.join(written)})"


def _operator(least: int, most: int | None) -> str:
    simple = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    return simple or (f"{{{least},}}" if most is None else f"{{{least},{most}}}")


def _substrings(node: rx.Substrings) -> str | None:
    try:
        chunks = [unit.decode() for unit in node.units]
    except UnicodeDecodeError:
        return None
    return f'%regex {{ "substring_chunks": {json.dumps(chunks)} }}' if chunks else '""'
