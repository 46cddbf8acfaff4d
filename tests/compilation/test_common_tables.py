"""Tables that nearly all JSON texts need: made once, at the first compile for a vocabulary. Masks do not change."""

from __future__ import annotations

import random
import threading
from typing import Any, get_args

import pytest
from support.random_schemas import RandomSchemas

import structgen
from structgen.compilation import common_tables
from structgen.compilation.common_tables import COMMON_SCHEMA, common_text
from structgen.engine.matching.compiled import SharedState
from structgen.errors import StructgenError
from structgen.schema.options import Numbers, SchemaOptions, Whitespace

WORDS = ['{"', '":', ' "', '",', '"}', "he", "llo", "12", ".5", "true", " null", "],", "]}", '["', "\\n", "a", "zz"]
TOKENS = [*(bytes([byte]) for byte in range(256)), *(word.encode() for word in WORDS)]
SEEN = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
TEXT = [b'{"', b"name", b'":', b' "', b"he", b'",', b' "', b"age", b'":', b" ", b"12", b"}"]
COMMON = [(whitespace, numbers) for whitespace in get_args(Whitespace) for numbers in get_args(Numbers)]


@pytest.fixture
def vocabulary(monkeypatch: pytest.MonkeyPatch) -> structgen.Vocabulary:
    """Return a vocabulary that no other test has grammars for, large enough for common tables."""
    monkeypatch.setattr(common_tables, "MIN_TOKENS", 100)
    structgen.clear_cache()
    made = structgen.Vocabulary.from_bytes(dict(enumerate([*TOKENS, b"</s>"])), eos_token_ids=[len(TOKENS)])
    return made.detached()


def nodes_visited(constraint: Any) -> int:
    """Return the nodes of the vocabulary's trie that tables of terminals were made from."""
    return constraint.grammar.shared.terminals.nodes_visited


def masks_along(constraint: Any, text: list[bytes]) -> list[list[int]]:
    """Return the allowed tokens before each piece of a text, and after it."""
    matcher = constraint.matcher()
    found = [matcher.allowed_token_ids()]
    for piece in text:
        matcher.accept_bytes(piece)
        found.append(matcher.allowed_token_ids())
    return found


@pytest.mark.parametrize(("whitespace", "numbers"), COMMON)
def test_the_text_is_one_of_the_schema(whitespace: Whitespace, numbers: Numbers) -> None:
    small = structgen.Vocabulary.from_bytes(dict(enumerate([*TOKENS, b"</s>"])), eos_token_ids=[len(TOKENS)])
    constraint = structgen.compile(COMMON_SCHEMA, small, whitespace=whitespace, numbers=numbers)
    pieces = common_text(SchemaOptions(whitespace=whitespace, numbers=numbers))
    assert masks_along(constraint, pieces)[-1] == [len(TOKENS)]


@pytest.mark.parametrize(("whitespace", "numbers"), COMMON)
def test_a_first_text_of_plain_types_finds_its_tables(
    vocabulary: structgen.Vocabulary, whitespace: Whitespace, numbers: Numbers
) -> None:
    constraint = structgen.compile(SEEN, vocabulary, whitespace=whitespace, numbers=numbers)
    text = [piece.replace(b" ", b"") for piece in TEXT] if whitespace == "compact" else TEXT
    made = nodes_visited(constraint)
    assert made > 0
    masks = masks_along(constraint, text)
    alone = structgen.compile(SEEN, vocabulary, whitespace=whitespace, numbers=numbers, cache=False)
    assert masks == masks_along(alone, text)
    assert nodes_visited(constraint) - made < nodes_visited(alone) / 4


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.one_in(1, uncompiled=6)
@pytest.mark.filterwarnings("ignore::structgen.schema.SchemaWarning")
def test_masks_of_random_schemas_are_the_same(seed: int, vocabulary: structgen.Vocabulary) -> None:
    rng = random.Random(seed)
    structgen.compile(SEEN, vocabulary)
    compared = 0
    for _ in range(4):
        schema = RandomSchemas(rng, "2020-12").document()
        try:
            alone = structgen.compile(schema, vocabulary, cache=False).matcher()
        except StructgenError:
            continue
        matcher = structgen.compile(schema, vocabulary).matcher()
        for _ in range(30):
            allowed = alone.allowed_token_ids()
            assert matcher.allowed_token_ids() == allowed
            compared += 1
            if not allowed or alone.is_terminated:
                break
            token = rng.choice(allowed)
            alone.accept_token(token)
            matcher.accept_token(token)
    assert compared


def test_they_are_made_once(vocabulary: structgen.Vocabulary) -> None:
    first = structgen.compile({"type": "boolean"}, vocabulary)
    made = nodes_visited(first)
    structgen.clear_cache()
    structgen.compile({"type": "boolean"}, vocabulary)
    second = structgen.compile({"type": "boolean"}, vocabulary, whitespace="compact", numbers="plain")
    assert second.grammar.shared is first.grammar.shared
    assert nodes_visited(second) == made


@pytest.mark.parametrize(
    ("schema", "options"),
    [
        (structgen.Grammar.regex("true|false"), {}),
        ({"type": "boolean"}, {"cache": False}),
        ({"type": "boolean"}, {"format": "yaml"}),
    ],
    ids=["no JSON", "no cache", "yaml"],
)
def test_only_json_that_is_kept_needs_them(
    vocabulary: structgen.Vocabulary, schema: Any, options: dict[str, Any]
) -> None:
    structgen.compile(schema, vocabulary, **options)
    assert SharedState.of(vocabulary).begin_common()  # nobody did before


def test_a_small_vocabulary_has_none(monkeypatch: pytest.MonkeyPatch, vocabulary: structgen.Vocabulary) -> None:
    monkeypatch.setattr(common_tables, "MIN_TOKENS", len(TOKENS) + 2)
    structgen.compile({"type": "boolean"}, vocabulary)
    assert SharedState.of(vocabulary).begin_common()


@pytest.mark.parametrize(
    "bounds",
    [{"automaton_states": 60}, {"item_sets": 8}, {"mask_bytes": 0}, {"set_items": 6}, {"grammar_symbols": 12}],
    ids=lambda bounds: next(iter(bounds)),
)
def test_a_limit_leaves_out_the_rest(vocabulary: structgen.Vocabulary, bounds: dict[str, int]) -> None:
    constraint = structgen.compile({"type": "boolean"}, vocabulary, limits=structgen.Limits(**bounds))
    alone = structgen.compile({"type": "boolean"}, vocabulary, cache=False)
    assert masks_along(constraint, [b"true"]) == masks_along(alone, [b"true"])


def test_threads_share_the_first_compile(vocabulary: structgen.Vocabulary) -> None:
    alone = masks_along(structgen.compile(SEEN, vocabulary, cache=False), TEXT)
    ready = threading.Barrier(4)
    found: list[list[list[int]]] = []

    def work(number: int) -> None:
        ready.wait()
        schema = SEEN | {"title": str(number)}
        found.append(masks_along(structgen.compile(schema, vocabulary), TEXT))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 4
