"""When Python's garbage collector runs, and when it does not."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import tokenizers
from tokenizers import models

from structgen.engine.garbage_collection import collect_early
from structgen.engine.vocabulary import vocabulary as vocabularies
from structgen.engine.vocabulary.vocabulary import Vocabulary


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
