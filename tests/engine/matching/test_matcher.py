"""Matchers: masks, accepting, rolling back, copies, forced bytes, and many threads."""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.grammars import random_grammar
from support.naive import NaiveRecognizer
from support.vocabularies import (
    BYTES,
    DUPLICATE,
    EOS,
    SIZE,
    SMALL,
    SPECIAL,
    accepted_tokens,
    compiled_from,
    token_ids,
)

from structgen.engine.matching import matcher as matcher_module
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError, VocabularyError
from structgen.kbnf.normal_form.passes import normalize
from structgen.limits import Limits

WORDS = (SIZE + 31) // 32
LIST = "start ::= '\"' [I {',' I}] '\"'; I ::= #'[ab]+c?' | 'é';"


# -- masks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_a_mask_is_written_into_its_row_only(dtype: type) -> None:
    matcher = Matcher(compiled_from("start ::= 'a' 'b' | 'ba';"))
    mask = np.full((3, WORDS), 7, dtype=dtype)
    matcher.fill_next_token_bitmask(mask, 1)
    assert token_ids(mask[1]) == [0, 1, 3, 4, DUPLICATE]
    assert (mask[[0, 2]] == 7).all()


def test_a_mask_of_torch() -> None:
    torch = pytest.importorskip("torch")
    matcher = Matcher(compiled_from("start ::= 'a' 'b' | 'ba';"))
    mask = torch.full((2, WORDS), -1, dtype=torch.int32)
    matcher.fill_next_token_bitmask(mask, 1)
    assert token_ids(mask[1].numpy()) == [0, 1, 3, 4, DUPLICATE]
    assert (mask[0] == -1).all()


def test_one_matcher_may_fill_masks_of_different_owners_in_turn() -> None:
    matcher = Matcher(compiled_from("start ::= 'a';"))
    first, second = allocate_token_bitmask(1, SIZE), allocate_token_bitmask(2, SIZE)
    for mask, row in ((first, 0), (second, 1), (first, 0), (second, 0)):
        mask[row] = 0
        matcher.fill_next_token_bitmask(mask, row)
        assert token_ids(mask[row]) == [0]


def test_a_mask_of_one_dimension_is_one_row() -> None:
    mask = np.zeros(WORDS, dtype=np.uint32)
    Matcher(compiled_from("start ::= 'a';")).fill_next_token_bitmask(mask)
    assert token_ids(mask) == [0]


def test_rows_of_a_wider_array_can_be_filled() -> None:
    wide = np.zeros((2, 2 * WORDS), dtype=np.uint32)
    Matcher(compiled_from("start ::= 'a';")).fill_next_token_bitmask(wide[:, :WORDS], 1)
    assert token_ids(wide[1, :WORDS]) == [0]
    assert not wide[0].any() and not wide[1, WORDS:].any()


@pytest.mark.parametrize(
    "mask",
    [
        np.zeros((1, WORDS + 1), dtype=np.uint32),
        np.zeros((1, WORDS - 1), dtype=np.uint32),
        np.zeros((1, 1, WORDS), dtype=np.uint32),
        np.zeros((1, WORDS), dtype=np.uint64),
        np.zeros((1, WORDS), dtype=np.float32),
        np.zeros((1, 2 * WORDS), dtype=np.uint32)[:, ::2],
        [[0] * WORDS],
        None,
    ],
)
def test_a_mask_of_another_shape_or_type_is_refused(mask: object) -> None:
    with pytest.raises(VocabularyError):
        Matcher(compiled_from("start ::= 'a';")).fill_next_token_bitmask(mask)


def test_a_mask_that_cannot_be_written_is_refused() -> None:
    mask = np.zeros((1, WORDS), dtype=np.uint32)
    mask.flags.writeable = False
    with pytest.raises(VocabularyError):
        Matcher(compiled_from("start ::= 'a';")).fill_next_token_bitmask(mask)


@pytest.mark.parametrize("row", [-1, 2, 1000])
def test_a_row_that_is_not_there_is_refused(row: int) -> None:
    matcher = Matcher(compiled_from("start ::= 'a';"))
    with pytest.raises(ValueError, match="row"):
        matcher.fill_next_token_bitmask(np.zeros((2, WORDS), dtype=np.uint32), row)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("eager", [False, True])
def test_mask_and_accept_never_disagree(seed: int, eager: bool) -> None:
    rng = random.Random(seed)
    tables = normalize(random_grammar(rng), keep_endless=eager)
    matcher = Matcher(CompiledGrammar(tables, SMALL, eager=eager))
    for _ in range(8):
        allowed = matcher.allowed_token_ids()
        assert allowed == accepted_tokens(matcher, SIZE + 40)
        if not allowed:
            return
        matcher.accept_token(rng.choice(allowed))


def test_bits_past_the_vocabulary_are_never_set() -> None:
    mask = np.full((1, WORDS), 0xFFFFFFFF, dtype=np.uint32)
    Matcher(compiled_from("start ::= #'(.|\\n)*';")).fill_next_token_bitmask(mask)
    assert max(token_ids(mask[0])) == DUPLICATE


# -- which tokens ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [-1, SPECIAL, 44, SIZE - 1, SIZE, 10**9, -(10**9)])
def test_tokens_that_stand_for_no_text_are_rejected(token: int) -> None:
    matcher = Matcher(compiled_from("start ::= #'(.|\\n)*';"))
    with pytest.raises(TokenRejectedError) as caught:
        matcher.accept_token(token)
    assert (caught.value.token_id, caught.value.position) == (token, 0)
    assert not {SPECIAL, 44, SIZE - 1} & set(matcher.allowed_token_ids())


def test_tokens_of_the_same_bytes_are_allowed_together() -> None:
    matcher = Matcher(compiled_from("start ::= 'ab';"))
    assert {3, DUPLICATE} <= set(matcher.allowed_token_ids())
    matcher.accept_token(DUPLICATE)
    assert matcher.is_accepting


def test_end_tokens_come_where_the_text_may_stop_and_nowhere_else() -> None:
    matcher = Matcher(compiled_from("start ::= 'a' 'b'?;"))
    assert not set(EOS) & set(matcher.allowed_token_ids())
    with pytest.raises(TokenRejectedError):
        matcher.accept_token(EOS[0])
    matcher.accept_token(0)
    assert matcher.is_accepting and not matcher.is_terminated
    assert matcher.allowed_token_ids() == [1, *EOS]
    matcher.accept_token(EOS[1])
    assert matcher.is_terminated
    assert matcher.allowed_token_ids() == list(EOS)  # a batch goes on until all of its rows have ended
    with pytest.raises(TokenRejectedError):
        matcher.accept_token(1)


def test_a_complete_text_is_terminated() -> None:
    matcher = Matcher(compiled_from("start ::= 'a' 'b';"))
    matcher.accept_token(3)
    assert matcher.is_accepting and matcher.is_terminated
    assert matcher.allowed_token_ids() == list(EOS)


def test_a_vocabulary_without_end_tokens() -> None:
    vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"b"})
    matcher = Matcher(compiled_from("start ::= 'a' 'b';", vocabulary))
    matcher.accept_token(0)
    assert matcher.allowed_token_ids() == [1]
    matcher.accept_token(1)
    assert matcher.allowed_token_ids() == [] and matcher.is_terminated


@pytest.mark.parametrize("eager", [False, True])
def test_the_empty_text_may_be_ended_at_once(eager: bool) -> None:
    matcher = Matcher(compiled_from("start ::= 'a'?;", eager=eager))
    assert matcher.is_accepting and not matcher.is_terminated
    assert matcher.allowed_token_ids() == [0, *EOS]
    only_empty = Matcher(compiled_from("start ::= '';", eager=eager))
    assert only_empty.is_terminated
    assert only_empty.allowed_token_ids() == list(EOS)


def test_an_eager_text_ends_with_the_first_token_after_which_it_can() -> None:
    compiled = compiled_from("start ::= 'a' 'b'?;", eager=True)
    matcher = Matcher(compiled)
    assert matcher.allowed_token_ids() == [0, 3, DUPLICATE]  # `ab` as one token
    matcher.accept_token(0)
    assert matcher.is_terminated
    assert matcher.allowed_token_ids() == list(EOS)
    for token in (1, 0):
        with pytest.raises(TokenRejectedError):
            matcher.accept_token(token)
    with pytest.raises(TokenRejectedError):
        matcher.accept_bytes(b"b")


# -- accepting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_rejected_tokens_leave_the_matcher_as_it_was(seed: int) -> None:
    rng = random.Random(seed)
    compiled = CompiledGrammar(normalize(random_grammar(rng)), SMALL)
    matcher, untouched = Matcher(compiled), Matcher(compiled)
    for step in range(6):
        allowed = untouched.allowed_token_ids()
        for token in set(range(-2, SIZE + 2)) - set(allowed):
            with pytest.raises(TokenRejectedError) as caught:
                matcher.accept_token(token)
            assert caught.value.position == step
        assert matcher.allowed_token_ids() == allowed
        assert matcher.is_accepting == untouched.is_accepting
        assert matcher.forced_bytes() == untouched.forced_bytes()
        if not allowed:
            return
        token = rng.choice(allowed)
        matcher.accept_token(token)
        untouched.accept_token(token)


def test_rejected_bytes_tell_where_and_change_nothing() -> None:
    matcher = Matcher(compiled_from("start ::= 'abc' 'abc';"))
    matcher.accept_bytes(b"ab")
    with pytest.raises(TokenRejectedError) as caught:
        matcher.accept_bytes(b"cabb")
    assert (caught.value.token_id, caught.value.position) == (None, 3)
    matcher.accept_bytes(b"cabc")
    assert matcher.is_terminated
    with pytest.raises(TokenRejectedError) as caught:
        matcher.accept_bytes(b"a")
    assert caught.value.position == 0


@pytest.mark.parametrize("eager", [False, True])
def test_no_bytes_are_accepted_anywhere(eager: bool) -> None:
    matcher = Matcher(compiled_from("start ::= 'a'? 'b'?;", eager=eager))
    matcher.accept_bytes(b"")
    assert 0 in matcher.allowed_token_ids()
    matcher.accept_bytes(b"ab")
    matcher.accept_bytes(b"")
    assert matcher.is_terminated
    matcher.rollback(3)
    assert 0 in matcher.allowed_token_ids()


@pytest.mark.parametrize("seed", range(20))
def test_bytes_and_tokens_lead_to_the_same_place(seed: int) -> None:
    rng = random.Random(seed)
    compiled = CompiledGrammar(normalize(random_grammar(rng)), SMALL)
    by_token, by_byte = Matcher(compiled), Matcher(compiled)
    for _ in range(6):
        allowed = [token for token in by_token.allowed_token_ids() if token not in EOS]
        if not allowed:
            return
        token = rng.choice(allowed)
        by_token.accept_token(token)
        for byte in SMALL.token_bytes(token):
            by_byte.accept_bytes(bytes([byte]))
        assert by_token.allowed_token_ids() == by_byte.allowed_token_ids()


# -- going back, and copies ------------------------------------------------------------------------------------------


def observed(matcher: object) -> tuple[object, ...]:
    """Return everything that can be observed of a matcher."""
    return matcher.allowed_token_ids(), matcher.is_accepting, matcher.is_terminated, matcher.forced_bytes()


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_rolling_back_is_exact(seed: int, eager: bool) -> None:
    rng = random.Random(seed)
    compiled = CompiledGrammar(normalize(random_grammar(rng), keep_endless=eager), SMALL, eager=eager)
    matcher = Matcher(compiled)
    seen = [observed(matcher)]
    for _ in range(40):
        allowed = matcher.allowed_token_ids()
        if allowed and (rng.random() < 0.6 or len(seen) == 1):
            matcher.accept_token(rng.choice(allowed))
            seen.append(observed(matcher))
        else:
            count = rng.randint(0, len(seen) - 1)
            matcher.rollback(count)
            del seen[len(seen) - count :]
        assert observed(matcher) == seen[-1]


@pytest.mark.parametrize("eager", [False, True])
def test_rolling_back_over_the_end(eager: bool) -> None:
    matcher = Matcher(compiled_from("start ::= 'a' 'b' 'c'?;", eager=eager))
    matcher.accept_token(0)
    before = observed(matcher)
    matcher.accept_token(1)
    matcher.accept_token(EOS[0])
    matcher.accept_token(EOS[1])
    matcher.rollback(2)
    assert matcher.is_terminated == eager
    assert (2 in matcher.allowed_token_ids()) == (not eager)
    matcher.rollback(1)
    assert observed(matcher) == before
    matcher.accept_token(1)
    assert matcher.is_accepting


@pytest.mark.parametrize("count", [-1, 2, 10**6])
def test_more_than_was_accepted_cannot_be_rolled_back(count: int) -> None:
    matcher = Matcher(compiled_from("start ::= 'a' 'b';"))
    matcher.accept_token(0)
    with pytest.raises(ValueError, match="roll back"):
        matcher.rollback(count)
    assert matcher.allowed_token_ids() == [1]


def test_a_fork_goes_its_own_way() -> None:
    matcher = Matcher(compiled_from(LIST))
    matcher.accept_bytes(b'"a')
    before = observed(matcher)
    twin = matcher.fork()
    assert observed(twin) == before
    twin.accept_bytes(b'b,a"')
    twin.accept_token(EOS[0])
    assert observed(matcher) == before
    matcher.accept_bytes(b"a")
    twin.rollback(2)
    assert observed(twin) == before
    twin.rollback(1)
    assert observed(twin) == observed(Matcher(compiled_from(LIST)))


@pytest.mark.parametrize("eager", [False, True])
def test_reset_goes_back_to_the_beginning(eager: bool) -> None:
    matcher = Matcher(compiled_from("start ::= 'a' 'b'?;", eager=eager))
    before = observed(matcher)
    matcher.accept_token(0)
    matcher.accept_token(EOS[0] if eager else 1)
    matcher.reset()
    assert observed(matcher) == before
    with pytest.raises(ValueError, match="roll back"):
        matcher.rollback(1)


def test_a_draft_is_verified_rolled_back_and_replaced() -> None:
    """Speculative decoding: accept the tokens of a draft model, then roll back those that the large model refuses."""
    compiled = compiled_from(LIST)
    rng = random.Random(0)
    matcher, plain = Matcher(compiled), Matcher(compiled)
    for _ in range(60):
        draft = []
        for _ in range(rng.randint(1, 5)):
            allowed = matcher.allowed_token_ids()
            draft.append(rng.choice(allowed))
            matcher.accept_token(draft[-1])
        kept = rng.randint(0, len(draft))
        matcher.rollback(len(draft) - kept)
        for token in draft[:kept]:
            plain.accept_token(token)
        assert observed(matcher) == observed(plain)
        if matcher.is_terminated:
            matcher.reset()
            plain.reset()


# -- forced bytes ----------------------------------------------------------------------------------------------------


def forced_by_search(naive: NaiveRecognizer, text: bytes, most: int) -> bytes:
    """Follow the only continuation while there is one and the text may not stop."""
    forced = b""
    while len(forced) < most and not naive.run(text + forced)[1]:
        following = [bytes([byte]) for byte in (*b"abc.", *"é".encode()) if naive.run(text + forced + bytes([byte]))[0]]
        if len(following) != 1:
            break
        forced += following[0]
    return forced


@pytest.mark.parametrize("seed", range(80))
def test_forced_bytes_are_the_only_continuation(seed: int) -> None:
    rng = random.Random(seed)
    grammar = random_grammar(rng)
    naive = NaiveRecognizer(grammar)
    matcher = Matcher(CompiledGrammar(normalize(grammar, keep_endless=True), SMALL))
    text = b""
    for _ in range(5):
        forced = matcher.forced_bytes()
        assert forced[:12] == forced_by_search(naive, text, 12), (grammar, text)
        allowed = [token for token in matcher.allowed_token_ids() if token not in EOS]
        if not allowed:
            return
        token = rng.choice(allowed)
        matcher.accept_token(token)
        text += SMALL.token_bytes(token)


@pytest.mark.parametrize(
    ("grammar", "text", "forced"),
    [
        ("start ::= '{\"name\": ' #'[a-z]+';", b"", b'{"name": '),
        ("start ::= 'abc' | 'abd';", b"", b"ab"),
        ("start ::= 'ab' 'cd'?;", b"", b"ab"),  # here it may stop
        ("start ::= 'ab' 'cd'?;", b"abc", b"d"),
        ("start ::= 'é' | 'ä';", b"", "é".encode()[:1]),
        ("start ::= 'ab';", b"ab", b""),
        ("start ::= '';", b"", b""),
        ("start ::= #'a{1000}';", b"", b"a" * 1000),
    ],
)
def test_forced_bytes_end_at_a_choice_and_where_the_text_may_stop(grammar: str, text: bytes, forced: bytes) -> None:
    matcher = Matcher(compiled_from(grammar, BYTES))
    matcher.accept_bytes(text)
    assert matcher.forced_bytes() == forced
    matcher.accept_bytes(forced)
    assert matcher.forced_bytes() == b""


def test_forced_bytes_of_a_text_that_ended() -> None:
    matcher = Matcher(compiled_from("start ::= 'a' 'b'?;", eager=True))
    matcher.accept_token(0)
    assert matcher.forced_bytes() == b""


@pytest.mark.parametrize("grammar", ["start ::= 'ab' start;", "start ::= 'a' start 'b';"])
def test_bytes_forced_without_end_are_bounded(grammar: str) -> None:
    forced = Matcher(compiled_from(grammar, eager=True)).forced_bytes()
    assert 1000 <= len(forced) <= 100_000
    assert set(forced) <= set(b"ab")


def test_bytes_forced_within_the_time_of_a_mask() -> None:
    grammar = "start ::= 'a'+ start+;"  # each byte adds to the items, so the bytes take longer and longer
    matcher = Matcher(compiled_from(grammar, eager=True, limits=Limits(mask_seconds=0.02)))
    assert set(matcher.forced_bytes()) <= {ord("a")}
    matcher.accept_bytes(b"a")
    assert matcher.allowed_token_ids()


# -- many at a time --------------------------------------------------------------------------------------------------


def walk(compiled: CompiledGrammar, seed: int) -> list[list[int]]:
    """Return all masks of some random texts."""
    rng = random.Random(seed)
    matcher = Matcher(compiled)
    mask = allocate_token_bitmask(1, compiled.vocabulary.size)
    masks = []
    for _ in range(60):
        matcher.fill_next_token_bitmask(mask)
        masks.append(token_ids(mask[0]))
        matcher.accept_token(rng.choice(masks[-1]))
        if matcher.is_terminated:
            matcher.reset()
        elif rng.random() < 0.2:
            matcher.rollback(1)
    return masks


def test_eight_threads_on_one_grammar_see_what_one_would() -> None:
    expected = [walk(compiled_from(LIST), seed) for seed in range(24)]
    compiled = compiled_from(LIST)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda seed: walk(compiled, seed), range(24))) == expected


def test_grammars_compiled_at_the_same_time_do_not_disturb_each_other() -> None:
    texts = [
        f"start ::= '\"' #'[ab]{{{n},{n + 3}}}c?' '\"' | #ex'{'abc'[n % 3]}' '.' | '{'ab' * n}';" for n in range(1, 25)
    ]
    # A vocabulary of its own, so that its shared tables are made by all threads at once.
    vocabulary = Vocabulary.from_bytes(
        {token: SMALL.token_bytes(token) for token in range(SIZE) if SMALL.token_bytes(token)} | {SIZE: b"zz"},
        eos_token_ids=EOS,
    )
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda at: walk(compiled_from(texts[at], vocabulary), at), range(len(texts))))
    assert found == [walk(compiled_from(text, vocabulary), seed) for seed, text in enumerate(texts)]


def test_a_renewal_is_seen_whole_by_other_threads() -> None:
    """The garbage collector may let another thread run wherever an object is made, also during a renewal."""
    vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"b", 2: b"c", 3: b"d", 4: b"</s>"}, eos_token_ids=[4])
    compiled = compiled_from("start ::= #'(?:a|b){3,400}c';", vocabulary)
    begun = Matcher(compiled)
    begun.accept_bytes(b"a" * 40)
    begun.allowed_token_ids()
    seen: list[list[int]] = []
    renewed = threading.Event()

    def read() -> None:
        while not renewed.is_set():
            matcher = Matcher(compiled)
            matcher.accept_bytes(b"aaab")
            seen.append(matcher.allowed_token_ids())

    def let_others_run(phase: str, info: dict[str, int]) -> None:
        time.sleep(0.00002)

    reader = threading.Thread(target=read)
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.callbacks.append(let_others_run)
    try:
        gc.set_threshold(1)
        sys.setswitchinterval(0.00002)  # or each sleep would be as long as the reader may run: 5 ms
        reader.start()
        for _ in range(600):
            before = len(seen)
            with compiled.lock:
                compiled.renew_sets()
            while len(seen) == before and reader.is_alive():
                time.sleep(0)
    finally:
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)
        gc.callbacks.remove(let_others_run)
        renewed.set()
        reader.join()
    assert len(seen) >= 600
    assert all(allowed == [0, 1, 2] for allowed in seen)


@pytest.mark.skipif(matcher_module.__file__.endswith(".py"), reason="uncompiled, nothing is read without the lock")
def test_steps_that_are_known_are_read_while_their_table_grows() -> None:
    letters = {number: bytes([97 + number]) for number in range(26)}
    texts = Vocabulary.from_bytes({**letters, 26: b"</s>"}, eos_token_ids=[26])
    compiled = compiled_from("start ::= #'[a-z]{0,16000}';", texts)
    going_on = threading.Event()

    def read() -> None:
        reader = Matcher(compiled)
        while not going_on.is_set():
            for _ in range(50):
                reader.accept_token(1)
            reader.rollback(50)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    matcher = Matcher(compiled)
    for _ in range(12_000):
        for token in range(1, 26):
            matcher.accept_token(token)
            matcher.rollback(1)
        matcher.accept_token(0)
    going_on.set()
    for reader in readers:
        reader.join()
    assert len(compiled.sets.step_targets) > 262_144  # past that its memory comes from elsewhere
