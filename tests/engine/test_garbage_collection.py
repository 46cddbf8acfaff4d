"""When Python's garbage collector runs, and when it does not."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import tokenizers
from tokenizers import models

import structgen
from structgen.compilation import compiler
from structgen.engine import deadlines
from structgen.engine.deadlines import Deadline, look
from structgen.engine.garbage_collection import MAX_YOUNG, NEVER, collect_early, collect_if_due
from structgen.engine.vocabulary import vocabulary as vocabularies
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import LimitExceededError

HELD_SECONDS = 0.005  # of a mask; as in `deadlines`, where it is a C number
IS_COMPILED = not deadlines.__file__.endswith(".py")


@contextmanager
def full_collections() -> Iterator[list[int]]:
    """Count the full collections of this thread while the block runs. A thread of an earlier test may still run."""
    found: list[int] = []
    thread = threading.get_ident()

    def note(phase: str, told: dict[str, int]) -> None:
        if phase == "stop" and told["generation"] == 2 and threading.get_ident() == thread:
            found.append(1)

    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


@pytest.fixture
def enabled() -> Iterator[Callable[[], None]]:
    was_enabled = gc.isenabled()
    gc.enable()
    yield gc.disable
    (gc.enable if was_enabled else gc.disable)()


def test_a_collection_runs_unless_the_program_turned_the_collector_off(enabled: Callable[[], None]) -> None:
    with full_collections() as found:
        collect_early()
        assert len(found) == 1
        enabled()  # turns it off
        collect_early()
        assert len(found) == 1


def test_a_large_vocabulary_is_read_with_one_collection(
    enabled: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(vocabularies, "collect_early", lambda: asked.append(None))
    for size, expected in ((10, 0), (vocabularies.MIN_COLLECTED, 1)):
        tokenizer = tokenizers.Tokenizer(models.WordLevel({f"w{token}": token for token in range(size)}, "w0"))
        tokenizer.decoder = tokenizers.decoders.Fuse()
        asked.clear()
        first = Vocabulary.from_huggingface(tokenizer)
        assert Vocabulary.from_huggingface(tokenizer) is first
        assert len(asked) == expected


def test_long_work_lets_no_full_collection_begin() -> None:
    usual = gc.get_threshold()
    try:
        gc.set_threshold(500, 7, 9)
        with Deadline(10):
            assert gc.get_threshold() == (500, 7, 9)
            look()
            assert gc.get_threshold() == (500, 7, NEVER)
            with Deadline(5):
                look()
            assert gc.get_threshold() == (500, 7, NEVER)
        assert gc.get_threshold() == (500, 7, 9)
        with pytest.raises(LimitExceededError), Deadline(-1):
            look()
        assert gc.get_threshold() == (500, 7, 9)
        look()  # no deadline runs
        assert gc.get_threshold() == (500, 7, 9)
    finally:
        gc.set_threshold(*usual)


@contextmanager
def collections_often() -> Iterator[list[int]]:
    """Let Python collect young objects at each fifth object; note the generations of the collections of this thread."""
    usual = gc.get_threshold()
    found: list[int] = []
    thread = threading.get_ident()

    def note(phase: str, told: dict[str, int]) -> None:
        if phase == "start" and threading.get_ident() == thread:
            found.append(told["generation"])

    gc.callbacks.append(note)
    gc.set_threshold(5, 1_000_000, 1_000_000)
    try:
        yield found
    finally:
        gc.set_threshold(*usual)
        gc.callbacks.remove(note)


def test_no_collection_begins_in_a_mask(enabled: Callable[[], None]) -> None:
    vocabulary = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
    schema = {"type": "object", "properties": {f"k{key}": {"pattern": f"^a{key}+$"} for key in range(20)}}
    matcher = structgen.compile(schema, vocabulary, cache=False).matcher()
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    with collections_often() as found:
        for byte in b'{"k1": "a1':
            found.clear()
            matcher.fill_next_token_bitmask(mask)
            matcher.accept_token(byte)
            assert len(found) <= 4  # of the objects before and after its turn; its own would be dozens
            assert gc.isenabled()
        _ = [[] for _ in range(50)]
        assert found


def test_a_long_mask_collects_young_objects(enabled: Callable[[], None]) -> None:
    with collections_often() as found:
        deadline = Deadline(60)
        deadline.begin_anew()
        try:
            look()  # its time starts
            found.clear()
            _ = [[] for _ in range(50)]
            assert not found
            time.sleep(2 * HELD_SECONDS)
            look()
            _ = [[] for _ in range(50)]
            assert found
        finally:
            deadline.end()
        assert gc.isenabled()


def test_a_collector_that_is_off_stays_off(enabled: Callable[[], None]) -> None:
    enabled()  # turns it off
    deadline = Deadline(60)
    deadline.begin_anew()
    deadline.end()
    assert not gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_the_collector_of_a_process_forked_within_a_mask_is_on(enabled: Callable[[], None]) -> None:
    deadline = Deadline(60)
    deadline.begin_anew()
    try:
        assert not gc.isenabled()
        process = os.fork()
        if process == 0:
            try:
                os._exit(0 if gc.isenabled() else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
        assert not gc.isenabled()
    finally:
        deadline.end()


def test_work_of_two_threads_at_once_leaves_the_collector_as_it_was() -> None:
    usual = gc.get_threshold()
    begun, may_end = threading.Event(), threading.Event()

    def work() -> None:
        with Deadline(60):
            look()
            begun.set()
            may_end.wait(60)

    other = threading.Thread(target=work)
    with Deadline(60):
        other.start()
        assert begun.wait(60)
        look()
    may_end.set()
    other.join()
    assert gc.get_threshold() == usual


@contextmanager
def full_collections_are_due() -> Iterator[None]:
    """Let Python begin a full collection as soon as twenty objects more are made."""
    usual = gc.get_threshold()
    older: list[Any] = []
    gc.freeze()  # a collection is due when a quarter more are old: all that the tests have made before must not count
    gc.collect()
    gc.set_threshold(20, 1, 1)
    try:
        with Deadline(60):
            look()  # so they are made without a full collection
            older += [[] for _ in range(200_000)]
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def test_a_collection_that_is_due_runs_when_asked_for(enabled: Callable[[], None]) -> None:
    with full_collections_are_due(), full_collections() as found:
        collect_if_due()
        assert len(found) == 1
        collect_if_due()
        assert len(found) == 1  # too few objects have become old since then


@pytest.mark.parametrize("young", [0, MAX_YOUNG + 1])
def test_a_program_that_wants_few_collections_gets_no_more(enabled: Callable[[], None], young: int) -> None:
    with full_collections_are_due(), full_collections() as found:
        _, middle, old = gc.get_threshold()
        gc.set_threshold(young, middle, old)
        collect_if_due()
        assert not found


def matcher_of_forty_keys() -> tuple[structgen.Matcher, Any]:
    vocabulary = Vocabulary.from_bytes({**{byte: bytes([byte]) for byte in range(256)}, 256: b""}, eos_token_ids=(256,))
    schema = {"type": "object", "properties": {f"k{key}": {"type": "integer"} for key in range(40)}}
    matcher = structgen.compile(schema, vocabulary, cache=False).matcher()
    return matcher, structgen.allocate_token_bitmask(1, vocabulary.size)


def test_a_compile_ends_with_the_collection_that_is_due(enabled: Callable[[], None]) -> None:
    with full_collections_are_due(), full_collections() as found:
        matcher_of_forty_keys()
        assert len(found) == 1


@pytest.mark.skipif(
    not IS_COMPILED, reason="uncompiled calls make objects after their turn, and a collection comes then"
)
def test_a_full_collection_that_is_due_comes_after_the_masks(enabled: Callable[[], None]) -> None:
    matcher, mask = matcher_of_forty_keys()
    with full_collections_are_due(), full_collections() as found:
        matcher.fill_next_token_bitmask(mask)
        matcher.accept_token(ord("{"))
        matcher.fill_next_token_bitmask(mask)
        assert not found


def test_a_compile_from_the_cache_begins_no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    structgen.compile(schema, vocabulary)
    begun: list[Any] = []
    monkeypatch.setattr(compiler, "collect_if_due", lambda: begun.append(None))
    for _ in range(3):
        structgen.compile(schema, vocabulary)
    assert len(begun) < 3  # perhaps one: other objects of the process count too
