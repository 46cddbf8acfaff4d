"""A naive enumerator of languages, the oracle of the KBNF tests, and strategies for small grammars."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product

import pytest
from hypothesis import strategies as st

from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.regex import tree as rx
from structgen.kbnf import ast
from structgen.kbnf.normal_form.productions import Productions, TerminalTable
from structgen.kbnf.regular import any_text, text_except
from structgen.kbnf.validation import excluded_strings

ALPHABET = b"ab"
LONGEST = 5
ALL_TEXTS = frozenset(bytes(text) for size in range(LONGEST + 1) for text in product(ALPHABET, repeat=size))


def _join(left, right):
    return frozenset(x + y for x in left for y in right if len(x) + len(y) <= LONGEST)


def _power(language, minimum, maximum):
    total, current, count = frozenset(), frozenset([b""]), 0
    seen = set()
    while maximum is None or count <= maximum:
        if count >= minimum:
            total |= current
            if current in seen and current <= total:
                break
            seen.add(current)
        current, count = _join(current, language), count + 1
        if not current:
            break
        if count > 3 * LONGEST + minimum and maximum is None:
            break
        if count > 40:
            break
    return total


def regex_language(regex):
    match regex:
        case rx.Literal(data=data):
            return frozenset([data]) & ALL_TEXTS
        case rx.Chars(ranges=ranges):
            return frozenset(bytes([b]) for b in ALPHABET if any(low <= b <= high for low, high in ranges))
        case rx.ByteSet(mask=mask):
            return frozenset(bytes([b]) for b in ALPHABET if mask >> b & 1)
        case rx.LiteralSet(texts=texts):
            return frozenset(texts) & ALL_TEXTS
        case rx.Sequence(parts=parts):
            language = frozenset([b""])
            for part in parts:
                language = _join(language, regex_language(part))
            return language
        case rx.Choice(parts=parts):
            return frozenset().union(*map(regex_language, parts))
        case rx.Repeat(body=body, min=minimum, max=maximum):
            return _power(regex_language(body), minimum, maximum)
        case rx.Intersection(parts=parts):
            return frozenset.intersection(*map(regex_language, parts))
        case rx.Complement(body=body):
            return ALL_TEXTS - regex_language(body)
        case rx.Early(body=body):
            language = regex_language(body)
            return frozenset(t for t in language if not any(t[:n] in language for n in range(len(t))))
        case rx.Substrings(units=units):
            text = b"".join(units)
            return frozenset(text[i:j] for i in range(len(text) + 1) for j in range(i, len(text) + 1)) & ALL_TEXTS
    raise TypeError(regex)


def _expression_language(node, known, grouped):
    match node:
        case ast.Literal(data=data):
            return frozenset([data]) & ALL_TEXTS
        case ast.RegexTerminal(regex=regex):
            return regex_language(regex)
        case ast.SubstringsTerminal(text=text):
            return regex_language(rx.Substrings(tuple(bytes([b]) for b in text.encode())))
        case ast.AnyText():
            return regex_language(any_text())
        case ast.Except(limit=limit):
            return regex_language(text_except(excluded_strings(node, grouped), limit))
        case ast.Reference(name=name):
            return known.get(name, frozenset())
        case ast.Sequence(parts=parts):
            language = frozenset([b""])
            for part in parts:
                language = _join(language, _expression_language(part, known, grouped))
            return language
        case ast.Choice(parts=parts):
            return frozenset().union(*(_expression_language(part, known, grouped) for part in parts))
    bounds = {ast.Option: (0, 1), ast.ZeroOrMore: (0, None), ast.OneOrMore: (1, None)}
    minimum, maximum = (node.min, node.max) if isinstance(node, ast.Bounded) else bounds[type(node)]
    return _power(_expression_language(node.body, known, grouped), minimum, maximum)


def grammar_language(grammar):
    """All texts of a tree up to LONGEST bytes, over the test alphabet."""
    grouped = {}
    for rule in grammar.rules:
        grouped.setdefault(rule.name, []).append(rule.body)
    known = {}
    while True:
        new = {
            name: frozenset().union(*(_expression_language(body, known, grouped) for body in bodies))
            for name, bodies in grouped.items()
        }
        if new == known:
            return known[grammar.start]
        known = new


def productions_language(productions):
    terminals = [regex_language(regex) for regex in productions.terminals.regexes]
    return _fixpoint(productions.bodies, terminals)[productions.start]


def tables_language(tables):
    bodies = []
    for head in range(len(tables.names)):
        bodies.append([])
        for rule in range(tables.first_rule[head], tables.first_rule[head + 1]):
            end = start = tables.rule_starts[rule]
            while tables.symbols[end] != -1:
                end += 1
            bodies[-1].append(tuple(tables.symbols[start:end]))
    language = _fixpoint(bodies, [regex_language(regex) for regex in tables.terminals])[tables.start]
    return language | frozenset([b""]) if tables.accepts_empty else language


def _fixpoint(bodies, terminals):
    known = [frozenset()] * len(bodies)
    while True:
        new = []
        for alternatives in bodies:
            language = frozenset()
            for body in alternatives:
                texts = frozenset([b""])
                for symbol in body:
                    texts = _join(texts, known[symbol] if symbol >= 0 else terminals[-2 - symbol])
                language |= texts
            new.append(language)
        if new == known:
            return known
        known = new


@pytest.fixture(scope="session")
def language():
    """The texts of a grammar, of productions or of tables, up to a few bytes."""

    def enumerate_texts(grammar):
        if isinstance(grammar, GrammarTables):
            return tables_language(grammar)
        return productions_language(grammar) if isinstance(grammar, Productions) else grammar_language(grammar)

    return enumerate_texts


_CHARS = st.sampled_from([rx.Chars(((97, 97),)), rx.Chars(((98, 98),)), rx.Chars(((97, 98),)), rx.ByteSet(1 << 97)])
_LITERALS = st.sampled_from([b"a", b"b", b"ab", b"ba", b"", b"aab"])


def regexes():
    """Small regex trees over the test alphabet."""
    leaves = _CHARS | _LITERALS.map(rx.Literal) | st.lists(_LITERALS, min_size=1, max_size=3).map(rx.literal_set)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: rx.Sequence(tuple(parts))),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: rx.Choice(tuple(parts))),
            st.tuples(inner, st.sampled_from([(0, 1), (0, None), (1, None), (2, 3), (0, 2)])).map(
                lambda pair: rx.Repeat(pair[0], *pair[1])
            ),
            st.lists(inner, min_size=2, max_size=2).map(lambda parts: rx.Intersection(tuple(parts))),
            inner.map(rx.Complement),
            inner.map(rx.Early),
        ),
        max_leaves=5,
    )


def expressions(names, terminals):
    leaves = st.one_of(
        _LITERALS.map(ast.Literal),
        st.sampled_from(names).map(ast.Reference),
        *([] if terminals is None else [terminals]),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=4).map(lambda parts: ast.Sequence(tuple(parts))),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: ast.Choice(tuple(parts))),
            inner.map(ast.Option),
            inner.map(ast.ZeroOrMore),
            inner.map(ast.OneOrMore),
            st.tuples(inner, st.integers(0, 3), st.none() | st.integers(0, 4)).map(
                lambda t: ast.Bounded(t[0], t[1], None if t[2] is None else t[1] + t[2])
            ),
        ),
        max_leaves=6,
    )


def grammars(terminals=None):
    """Small grammars: nullable, cyclic, left- and right-recursive, with names defined twice, and endless ones."""
    names = ["start", "x", "y"]

    def complete(bodies):
        rules = [ast.Rule(name, body) for name, body in bodies]
        missing = [name for name in names if name not in {rule.name for rule in rules}]
        return ast.Grammar(tuple(rules + [ast.Rule(name, ast.Literal(b"b")) for name in missing]))

    rule = st.tuples(st.sampled_from(names), expressions(names, terminals))
    return st.lists(rule, min_size=1, max_size=4).map(complete)


@pytest.fixture(scope="session")
def strategies():
    """`grammars(terminals)` and `regexes()`."""
    return {"grammars": grammars, "regexes": regexes}


@pytest.fixture
def terminal_table():
    return TerminalTable(lambda regex: not regex_language(regex))


_ORACLE = """
import json, sys
for name in ("torch", "jax", "triton", "numpy"):  # kbnf imports them where they are: seconds that nobody needs here
    sys.modules[name] = None
import kbnf
grammar, texts = json.load(sys.stdin)
vocabulary = kbnf.Vocabulary({i: kbnf.Token(bytes([i])) for i in range(256)}, {i: str(i) for i in range(256)})
try:
    engine = kbnf.Engine(grammar, vocabulary)
except BaseException as error:
    print(json.dumps({"error": str(error)}))
    sys.exit()
allowed = {}
for text in texts:
    engine.reset()
    try:
        results = [str(engine.try_accept_new_token(byte)) for byte in bytes.fromhex(text)]
        if results and "Finished" in results[-1]:
            allowed[text] = "finished"
            continue
        engine.compute_allowed_token_ids()
        allowed[text] = engine.get_allowed_token_ids_from_last_computation()
    except BaseException as error:
        allowed[text] = "rejected"
print(json.dumps(allowed))
"""


@pytest.fixture(scope="session")
def published():
    """Asks the published `kbnf`, in a process of its own because it can hang.

    Called with a grammar and prefixes; gives for each prefix the allowed bytes, "finished" or "rejected"; or the
    text of the error; or None when it ran out of time or crashed.
    """
    pytest.importorskip("kbnf")

    def ask(grammar, prefixes=(), seconds=30):
        question = json.dumps([grammar, [prefix.hex() for prefix in prefixes]])
        try:
            done = subprocess.run(
                [sys.executable, "-c", _ORACLE],
                input=question,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode:
            return None
        answer = json.loads(done.stdout)
        return answer["error"] if "error" in answer else {bytes.fromhex(k): v for k, v in answer.items()}

    return ask
