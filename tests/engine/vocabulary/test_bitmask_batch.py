"""One call that fills the masks of a batch writes each row as a call for its own matcher does."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.grammars import random_grammar
from support.vocabularies import BYTES, EOS, SIZE, SMALL, compiled_from, token_ids

from structgen import LimitExceededError, Limits, VocabularyError, allocate_token_bitmask, fill_next_token_bitmask
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.kbnf.ast import Grammar
from structgen.kbnf.normal_form.passes import normalize

WORDS = (SIZE + 31) // 32
FREE = list(range(32 * WORDS))


def compiled(grammar: Grammar) -> CompiledGrammar:
    return CompiledGrammar(normalize(grammar), SMALL)


@pytest.mark.parametrize("seed", range(20))
def test_every_row_is_what_its_matcher_alone_gives(seed: int) -> None:
    """Compare rows in the middle of texts, and after their ends."""
    choose = random.Random(seed)
    grammars = [compiled(random_grammar(random.Random(100 * seed + number))) for number in range(5)]
    matchers = [Matcher(choose.choice(grammars)) if choose.random() < 0.9 else None for _ in range(9)]
    mask = allocate_token_bitmask(len(matchers), SIZE)
    for _ in range(6):
        fill_next_token_bitmask(matchers, mask)
        for row, matcher in enumerate(matchers):
            tokens = token_ids(mask[row])
            assert tokens == (FREE if matcher is None else matcher.allowed_token_ids())
            if matcher is not None and tokens:
                matcher.accept_token(choose.choice(tokens))


def test_a_matcher_may_stand_in_several_rows() -> None:
    matcher = Matcher(compiled_from("start ::= 'a';"))
    mask = allocate_token_bitmask(3, SIZE)
    fill_next_token_bitmask([matcher, None, matcher], mask)
    assert token_ids(mask[0]) == token_ids(mask[2]) == matcher.allowed_token_ids()
    assert token_ids(mask[1]) == FREE


def test_a_text_that_has_ended_allows_its_end_tokens() -> None:
    ended, open_ = (Matcher(compiled_from("start ::= 'a';")) for _ in range(2))
    ended.accept_token(0)
    ended.accept_token(EOS[0])
    mask = allocate_token_bitmask(2, SIZE)
    fill_next_token_bitmask([ended, open_], mask)
    assert token_ids(mask[0]) == list(EOS)
    assert token_ids(mask[1]) == open_.allowed_token_ids()


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_rows_of_a_wider_array(dtype: type) -> None:
    wide = np.full((4, WORDS + 2), 7, dtype=dtype)
    matcher = Matcher(compiled_from("start ::= 'a' | 'b';"))
    fill_next_token_bitmask([matcher, None], wide[::2, 1:-1])
    assert token_ids(wide[0, 1:-1].copy()) == matcher.allowed_token_ids()
    assert (wide[2, 1:-1] == np.array(0xFFFFFFFF).astype(dtype)).all()
    assert (wide[1::2] == 7).all()
    assert (wide[:, [0, -1]] == 7).all()


def test_a_mask_of_torch() -> None:
    torch = pytest.importorskip("torch")
    matcher = Matcher(compiled_from("start ::= 'a';"))
    mask = torch.zeros((2, WORDS), dtype=torch.int32)
    fill_next_token_bitmask((None, matcher), mask)
    assert mask[0].tolist() == [-1] * WORDS
    assert token_ids(mask[1].numpy()) == matcher.allowed_token_ids()


def test_no_rows_and_no_grammars() -> None:
    fill_next_token_bitmask([], allocate_token_bitmask(0, SIZE))
    mask = np.zeros((1, 1), dtype=np.uint32)
    fill_next_token_bitmask([None], mask)
    assert mask.tolist() == [[0xFFFFFFFF]]


@pytest.mark.parametrize(
    ("rows", "mask", "message"),
    [
        (2, allocate_token_bitmask(3, SIZE), "got 2 matchers for 3 rows"),
        (1, allocate_token_bitmask(1, SIZE + 32), f"does not fit a vocabulary of {SIZE} tokens"),
        (1, np.zeros((1, WORDS), np.float32), "mask of type float32"),
        (1, np.broadcast_to(np.zeros(WORDS, np.uint32), (1, WORDS)), "writeable"),
        (1, None, "mask of type NoneType"),
    ],
)
def test_masks_that_do_not_fit(rows: int, mask: object, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        fill_next_token_bitmask([Matcher(compiled_from("start ::= 'a';"))] * rows, mask)


def test_rows_of_another_vocabulary_are_refused() -> None:
    matchers = [Matcher(compiled_from("start ::= 'a';", vocabulary)) for vocabulary in (BYTES, SMALL)]
    with pytest.raises(VocabularyError, match=f"does not fit a vocabulary of {SIZE} tokens"):
        fill_next_token_bitmask(matchers, allocate_token_bitmask(2, BYTES.size))


def test_a_limit_that_is_passed_leaves_the_rows_above_written() -> None:
    fits = Matcher(compiled_from("start ::= 'a';"))
    passes = Matcher(compiled_from("start ::= #'(a|b)*a(a|b){12}';", limits=Limits(automaton_states=30)))
    mask = allocate_token_bitmask(2, SIZE)
    with pytest.raises(LimitExceededError, match="automaton_states"):
        for _ in range(60):
            fill_next_token_bitmask([fits, passes], mask)
            passes.accept_token(0)
    assert token_ids(mask[0]) == fits.allowed_token_ids()


def test_what_is_no_matcher_is_refused() -> None:
    with pytest.raises((TypeError, AttributeError)):
        fill_next_token_bitmask(["a"], allocate_token_bitmask(1, SIZE))  # type: ignore[list-item]
