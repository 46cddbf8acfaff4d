"""Recursive rules that become repetitions: the texts are those of the rules as they are written."""

import random
from itertools import product

import pytest
from support.texts import is_read
from support.vocabularies import BYTES

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.linear_rules import _cycles, with_repetitions
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.gbnf import parse_gbnf
from structgen.kbnf.rewriting import group_rules

LETTERS = "abc"
LONGEST = 5
TEXTS = ["".join(text) for size in range(LONGEST + 1) for text in product(LETTERS, repeat=size)]
# Each in GBNF, with its texts made of a, b and c.
PARTS = {"[^b]": ["a", "c"], '"b" [ab]': ["ba", "bb"], '"b"': ["b"], "[^a]": ["b", "c"], '"ca"': ["ca"], '""': [""]}


def accepted(tables):
    """The given texts that a grammar derives."""
    compiled = CompiledGrammar(tables, BYTES)
    return {text for text in TEXTS if is_read(compiled, text)}


def texts_of(rules, start):
    """The short texts of rules, as sets that grow until nothing is new.

    Args:
        rules: by name, the alternatives; each is a list of names and of keys of PARTS.
        start: a name.
    """
    known = {name: set() for name in rules}
    while True:
        grown = {name: set() for name in rules}
        for name, alternatives in rules.items():
            for alternative in alternatives:
                found = {""}
                for part in alternative:
                    ends = known[part] if part in rules else PARTS[part]
                    found = {text + end for text in found for end in ends if len(text + end) <= LONGEST}
                grown[name] |= found
        if grown == known:
            return known[start]
        known = grown


def drawn(rng, is_right):
    """Random rules of which many lead back to themselves at one end."""
    names = ["x", "y", "z"]
    rules = {"root": [["x"], ['"b"', "x", '"b"']]}
    for name in names:
        rules[name] = []
        for _ in range(rng.randint(1, 4)):
            parts = rng.choices(list(PARTS), k=rng.randint(0, 2))
            if rng.random() < 0.6:
                end = rng.choice([name, name, *names])
                parts = [*parts, end] if is_right else [end, *parts]
            rules[name].append(parts or ['""'])
    return rules


@pytest.mark.parametrize("is_right", [True, False])
@pytest.mark.parametrize("seed", range(100))
def test_random_rules_keep_their_texts(seed, is_right):
    rules = drawn(random.Random(seed), is_right)
    text = "\n".join(f"{name} ::= {' | '.join(map(' '.join, bodies))}" for name, bodies in rules.items())
    assert accepted(normalize(parse_gbnf(text + "\n"))) == texts_of(rules, "root")


STRING = r"""
root ::= "\"" chars "\""
escape ::= ["\\nrt] | "u" [0-9a-f]
"""


@pytest.mark.parametrize(
    "chars",
    [
        r'chars ::= "" | [^"\\] chars | "\\" escape chars',
        r'chars ::= ([^"\\] | "\\" escape) chars | ""',
        r'chars ::= ([^"\\] chars | "\\" escape chars)?',
        r'chars ::= "" | chars [^"\\] | chars "\\" escape',
        'chars ::= [^"\\\\] chars | "\\\\" after | ""\nafter ::= escape chars',
        'chars ::= "" | char chars\nchar ::= [^"\\\\] | "\\\\" escape',
        'chars ::= char | char chars\nchar ::= [^"\\\\] | "\\\\" escape',
        'chars ::= "" | char | char chars\nchar ::= [^"\\\\] | "\\\\" escape',
    ],
)
def test_the_characters_of_a_string_and_its_end_are_one_terminal(chars):
    tables = normalize(parse_gbnf(STRING + chars + "\n"))
    assert len(tables.terminals) == 2
    assert len(tables.names) == 1


def test_what_ends_a_text_is_joined_with_it():
    tables = normalize(parse_gbnf('root ::= "\'" rest\nrest ::= "\'" | [^\'] rest\n'))
    assert len(tables.terminals) == 2


@pytest.mark.parametrize(
    "rules",
    [
        'x ::= [0-9] x | ""',  # few characters
        'x ::= "(" x ")" x | ""',  # not regular
        "x ::= [^b] x",  # never ends
        'x ::= [^b] x | y\ny ::= "a" y',  # nor does this
        'x ::= [^b] y | ""\ny ::= "a" x | y "c"',  # leads back at both ends
        'x ::= [^b] x "a" | ""',
    ],
)
def test_other_recursive_rules_stay(rules):
    grouped = group_rules(parse_gbnf(f"root ::= x\n{rules}\n"))
    assert with_repetitions(grouped) is grouped


def test_a_rule_within_a_difference_stays_recursive():
    """What an operator accepts does not depend on how many characters a class has."""
    grammar = parse_gbnf('root ::= x\nx ::= [^b] x | ""\n')
    left, right = ast.Reference("x"), ast.Literal(b"a")
    rules = (ast.Rule("root", ast.Difference(left, right)), *grammar.rules[1:])
    with pytest.raises(GrammarError, match="recursive"):
        normalize(ast.Grammar(rules, "root"))


def test_many_rules_in_a_row_take_linear_time():
    """A cycle of many rules is given up, and so are many alternatives."""
    count = 3000
    rules = [f'r{n} ::= [^b] r{(n + 1) % count} | "a"' for n in range(count)]
    grouped = group_rules(parse_gbnf("root ::= r0\n" + "\n".join(rules) + "\n"))
    assert with_repetitions(grouped) is grouped


def test_the_rules_of_a_long_cycle_share_the_set_of_its_names():
    """With a set of its own for each rule, 12,000 rules took six gigabytes."""
    rules = [f'root ::= "x" r0\n{"".join(_rule_of_cycle(n, 500) for n in range(500))}']
    cycles = _cycles(group_rules(parse_gbnf("".join(rules))), is_right=True)
    assert len(cycles) == 500
    assert len({id(names) for names in cycles.values()}) == 1


def _rule_of_cycle(number, count):
    return f'r{number} ::= [^b] r{(number + 1) % count} | "b" r{number * 7 % count} | ""\n'
