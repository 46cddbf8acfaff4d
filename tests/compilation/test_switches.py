"""The switches of `compile`: no cache, and automata that are built at once. The masks are the same."""

import gc
import random
import weakref

import pytest

import structgen
from structgen import Grammar
from structgen.compilation import compiler
from structgen.engine.grammar.tables import TERMINAL

TOKENS = {**{i: bytes([i]) for i in range(256)}, 257: b"12", 258: b'{"', 259: b'": ', 260: b"if ", 261: b"ab"}
VOCABULARY = structgen.Vocabulary.from_bytes(TOKENS, eos_token_ids=[256])
GRAMMARS = [
    Grammar.kbnf("start ::= {word ' '} word '.'; word ::= #'[a-z]{1,9}' - 'if' | #'[0-9]+';"),
    Grammar.regex(r"(?:ab|[0-9]{2}(?!7))*x{3,40}"),
    Grammar.choice(["yes", "no", "never"]),
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "string"}}}},
]


@pytest.fixture(autouse=True)
def _empty_cache():
    structgen.clear_cache()
    yield
    structgen.clear_cache()


def walk(constraint, seed):
    """The allowed tokens along a random text."""
    choose = random.Random(seed)
    matcher = constraint.matcher()
    found = []
    while len(found) < 25 and not matcher.is_terminated:
        found.append(matcher.allowed_token_ids())
        matcher.accept_token(choose.choice(found[-1]))
    return found


@pytest.mark.parametrize("schema", GRAMMARS, ids=["kbnf", "regex", "choice", "schema"])
@pytest.mark.parametrize(
    "options",
    [
        {"cache": False},
        {"eager_automata": True},
        {"cache": False, "eager_automata": True},
        {"cache": False, "limits": structgen.Limits(mask_bytes=0)},
    ],
    ids=str,
)
def test_the_masks_are_the_same(schema, options):
    for seed in range(4):
        expected = walk(structgen.compile(schema, VOCABULARY), seed)
        assert walk(structgen.compile(schema, VOCABULARY, **options), seed) == expected


@pytest.mark.parametrize("schema", [*GRAMMARS, structgen.template("a {x:[a-z]+} b")])
def test_without_cache_nothing_is_kept(schema):
    """Neither in the cache nor on the vocabulary; and what the constraint holds is freed with it."""
    vocabulary = structgen.Vocabulary.from_bytes({**TOKENS, 300: b"zz"}, eos_token_ids=[256])
    constraint = structgen.compile(schema, vocabulary, cache=False)
    walk(constraint, 0)
    assert len(compiler._cache) == 0
    assert vocabulary.shared is None
    assert constraint.vocabulary is not vocabulary
    assert constraint.vocabulary.fingerprint == vocabulary.fingerprint
    again = structgen.compile(schema, vocabulary, cache=False)
    assert again.grammar is not constraint.grammar
    assert again.grammar.shared is not constraint.grammar.shared
    alive = weakref.ref(constraint.grammar), weakref.ref(constraint.vocabulary)
    del constraint, again
    gc.collect()
    assert [reference() for reference in alive] == [None, None]


def test_without_cache_nothing_is_taken_from_it():
    kept = structgen.compile(GRAMMARS[0], VOCABULARY)
    assert structgen.compile(GRAMMARS[0], VOCABULARY, cache=False).grammar is not kept.grammar
    assert structgen.compile(GRAMMARS[0], VOCABULARY).grammar is kept.grammar


def test_with_proper_tokenization_the_tokenizer_is_known(tiny_model):
    constraint = structgen.compile(GRAMMARS[2], tiny_model.vocabulary, tokenization="proper", cache=False)
    expected = structgen.compile(GRAMMARS[2], tiny_model.vocabulary, tokenization="proper")
    assert walk(constraint, 1) == walk(expected, 1)


@pytest.mark.parametrize("schema", GRAMMARS[:3], ids=["kbnf", "regex", "choice"])
def test_eager_automata_are_built_at_compile(schema):
    """All states are there before the first text, which needs them in part."""
    lazy = structgen.compile(schema, VOCABULARY, cache=False)
    eager = structgen.compile(schema, VOCABULARY, cache=False, eager_automata=True)
    states = eager.grammar.shared.automata.count
    assert states > lazy.grammar.shared.automata.count
    reached = set()
    for tables in (lazy.grammar, eager.grammar):
        automata = tables.shared.automata
        for regex in tables.tables.terminals:
            pending = [automata.add(regex)]
            for state in pending:
                pending += [t for t in automata.successors(state) if t not in pending]
        reached.add(automata.count)
    assert eager.grammar.shared.automata.count == states
    assert len(reached) == 1


WITH_LAZY_RULES = [
    {"properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}}, "additionalProperties": False},
    {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
    structgen.template("{a:[a-z]+}: {b}", b=list[bool]),
    Grammar.kbnf("start ::= 'x' value;", bind={"value": {"type": "array", "items": {"format": "date"}}}),
]


@pytest.mark.parametrize("schema", WITH_LAZY_RULES, ids=["object", "array", "template", "bound"])
def test_eager_automata_are_those_of_lazy_rules_too(schema):
    """All states of the terminals that texts have met were there before the first text."""
    eager = structgen.compile(schema, VOCABULARY, cache=False, eager_automata=True)
    automata = eager.grammar.shared.automata
    states = automata.count
    assert states > structgen.compile(schema, VOCABULARY, cache=False).grammar.shared.automata.count
    for seed in range(8):
        walk(eager, seed)
    rules = eager.grammar.sets.rules
    reached = {rules.start_state[at] for at in range(rules.size) if rules.symbols[at] == TERMINAL}
    pending = list(reached)
    for state in pending:
        new = set(automata.successors(state)) - reached
        reached |= new
        pending += new
    assert max(reached) < states


def test_eager_automata_of_too_many_rules_are_refused():
    schema = {"properties": {f"k{number}": {} for number in range(20)}, "additionalProperties": False}
    limits = structgen.Limits(grammar_symbols=5_000)
    structgen.compile(schema, VOCABULARY, limits=limits, property_order="any")
    with pytest.raises(structgen.LimitExceededError, match="grammar_symbols"):
        structgen.compile(schema, VOCABULARY, limits=limits, property_order="any", eager_automata=True)


def test_eager_automata_have_the_bounds_of_lazy_ones():
    limits = structgen.Limits(automaton_states=500)
    large = Grammar.regex("[ab]{3000}|c")
    structgen.compile(large, VOCABULARY, limits=limits)
    with pytest.raises(structgen.LimitExceededError, match="automaton_states"):
        structgen.compile(large, VOCABULARY, limits=limits, eager_automata=True)
