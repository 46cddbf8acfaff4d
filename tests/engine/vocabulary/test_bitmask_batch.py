"""One call that fills the masks of a batch writes each row as a call for its own matcher does."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from support.grammars import random_grammar
from support.vocabularies import BYTES, EOS, SIZE, SMALL, accepted_tokens, compiled_from, token_ids

from structgen import (
    LimitExceededError,
    Limits,
    VocabularyError,
    allocate_token_bitmask,
    apply_token_bitmask,
    fill_next_token_bitmask,
)
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.worker_threads import IS_COMPILED
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


# -- filled and applied in one call -----------------------------------------------------------------------------------

THREADS = pytest.mark.parametrize("threads", [1, 2, 3])


def mixed_rows(seed: int, count: int) -> list[Matcher | None]:
    """Return matchers in the middle of texts; some share a grammar, one row has none, one has ended."""
    choose = random.Random(seed)
    grammars = [compiled(random_grammar(random.Random(100 * seed + number))) for number in range(4)]
    matchers: list[Matcher | None] = [Matcher(choose.choice(grammars)) for _ in range(count)]
    for matcher in matchers:
        tokens = matcher.allowed_token_ids() if matcher else []
        if matcher and tokens and choose.random() < 0.5:
            matcher.accept_token(choose.choice(tokens))
    ended = Matcher(compiled_from("start ::= 'a';"))
    ended.accept_token(0)
    ended.accept_token(EOS[0])
    matchers[1], matchers[count - 1] = None, ended
    return matchers


def check_filled_and_applied(matchers: list[Matcher | None], logits: Any, threads: int, mask: Any = None) -> None:
    """Compare one call with two: the mask bit by bit, and the logits."""
    mask = allocate_token_bitmask(len(matchers), SIZE) if mask is None else mask
    separate = allocate_token_bitmask(len(matchers), SIZE)
    fill_next_token_bitmask(matchers, separate)
    should = logits.clone() if hasattr(logits, "clone") else logits.copy()
    apply_token_bitmask(should, separate)
    fill_next_token_bitmask(matchers, mask, logits=logits, threads=threads)
    assert (np.asarray(mask).view(np.uint32) == separate).all()
    assert bool((logits == should).all())


@THREADS
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("count", [2, 5, 40])
def test_logits_of_numpy(dtype: type, count: int, threads: int) -> None:
    logits = np.random.default_rng(count).standard_normal((count, 90)).astype(dtype)
    check_filled_and_applied(mixed_rows(count, count), logits, threads)


@THREADS
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_logits_of_torch(dtype: str, threads: int) -> None:
    torch = pytest.importorskip("torch")
    logits = torch.randn(12, 90, dtype=getattr(torch, dtype))
    check_filled_and_applied(mixed_rows(7, 12), logits, threads, torch.zeros((12, WORDS), dtype=torch.int32))


@THREADS
def test_logits_and_masks_with_strides(threads: int) -> None:
    wide = np.random.default_rng(1).standard_normal((24, 180)).astype(np.float32)
    check_filled_and_applied(mixed_rows(3, 12), wide[::2, 5:95], threads)
    check_filled_and_applied(mixed_rows(3, 12), wide[::2, ::2], threads)
    check_filled_and_applied(mixed_rows(3, 12), wide[::2, :90], threads, np.zeros((24, WORDS + 1), np.uint32)[::2, 1:])


def test_logits_of_one_row() -> None:
    logits = np.zeros(90, np.float32)
    check_filled_and_applied([Matcher(compiled_from("start ::= 'a';"))], logits, 2)
    fill_next_token_bitmask([], allocate_token_bitmask(0, SIZE), logits=np.zeros((0, 90), np.float32), threads=2)


def test_logits_on_another_device() -> None:
    torch = pytest.importorskip("torch")
    matcher = Matcher(compiled_from("start ::= 'a';"))
    mask = allocate_token_bitmask(1, SIZE)
    fill_next_token_bitmask([matcher], mask, logits=torch.zeros(1, 90, device="meta"), threads=2)
    assert token_ids(mask[0]) == matcher.allowed_token_ids()


@pytest.mark.parametrize(
    ("logits", "threads", "error", "message"),
    [
        (np.zeros((3, 90), np.float32), 2, VocabularyError, "got 3 rows of logits and 2 rows of masks"),
        (np.zeros((2, 30), np.float32), 2, VocabularyError, "got 30 logits a row"),
        (np.zeros((2, 90), np.int32), 2, VocabularyError, "logits of type int32"),
        (None, 0, ValueError, "0 threads"),
        (None, 1.5, TypeError, "threads"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_filled(
    logits: Any, threads: Any, error: type[Exception], message: str
) -> None:
    mask = np.full((2, WORDS), 7, np.uint32)
    with pytest.raises(error, match=message):
        fill_next_token_bitmask([Matcher(compiled_from("start ::= 'a';"))] * 2, mask, logits=logits, threads=threads)
    assert (mask == 7).all()


@THREADS
def test_a_row_that_fails_is_named_and_the_rows_before_it_are_applied(threads: int) -> None:
    passes = Matcher(compiled_from("start ::= #'(a|b)*a(a|b){12}';", limits=Limits(automaton_states=30)))
    fits = [Matcher(compiled_from("start ::= 'a';")) for _ in range(5)]
    mask = allocate_token_bitmask(7, SIZE)
    with pytest.raises(LimitExceededError, match="automaton_states") as caught:
        for _ in range(60):
            logits = np.zeros((7, 90), np.float32)
            fill_next_token_bitmask([*fits, passes, None], mask, logits=logits, threads=threads)
            passes.accept_token(0)
    assert caught.value.__notes__ == ["in row 5 of the batch"]
    should = np.zeros((5, 90), np.float32)
    apply_token_bitmask(should, mask[:5])
    assert (mask[:5] == mask[0]).all()
    if IS_COMPILED:
        assert (logits[:5] == should).all()
    assert (logits[5:] == 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_many_threads_share_the_tables_of_a_grammar(seed: int) -> None:
    """Each caller has a batch of its own. The grammars are new, so callers make sets and masks while others read."""
    grammars = [compiled(random_grammar(random.Random(100 * seed + number))) for number in range(5)]

    def follow(number: int) -> list[list[list[int]]]:
        choose = random.Random(number % 2)  # two callers of each kind: they must find the same
        matchers = [Matcher(choose.choice(grammars)) for _ in range(16)]
        mask, found = allocate_token_bitmask(16, SIZE), []
        for _ in range(20):
            logits = np.zeros((16, 90), np.float32)
            fill_next_token_bitmask(matchers, mask, logits=logits, threads=2)
            rows = [token_ids(row) for row in mask]
            assert [np.flatnonzero(row == 0).tolist() for row in logits] == rows
            for matcher, tokens in zip(matchers, rows, strict=True):
                if tokens:
                    matcher.accept_token(choose.choice(tokens))
            found.append(rows)
        return found

    with ThreadPoolExecutor(8) as callers:
        found = list(callers.map(follow, range(8)))
    assert found[0] == found[2] == found[4] == found[6]
    assert found[1] == found[3] == found[5] == found[7]
    for matcher in map(Matcher, grammars):
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, SIZE)
