"""Long work rests while passes of a model run."""

import pytest

from structgen.engine import deadlines, turns
from structgen.engine.deadlines import Deadline, look
from structgen.engine.turns import ModelPasses, pause, rest
from structgen.errors import LimitExceededError


def test_a_pause_tells_whether_passes_run() -> None:
    first, second = ModelPasses(), ModelPasses()
    assert not pause()
    first.begin()
    second.begin()
    second.begin()
    first.end()
    assert pause()
    second.end()
    second.end()
    assert not pause()


def test_threads_that_rest_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    class Event:
        def wait(self, seconds: float) -> None:
            waits.append(seconds)
            if len(waits) < 3:
                rest()  # as another thread would

    monkeypatch.setattr(turns, "_no_passes", Event())
    rest()
    assert waits == [turns.REST_SECONDS * count for count in (1, 2, 3)]
    assert turns._resting == 0


def looks_until_the_end(count: int) -> bool:
    """Return whether the running deadline ends within a number of looks."""
    try:
        for _ in range(count):
            look()
    except LimitExceededError:
        return True
    return False


def test_the_time_of_a_rest_moves_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "LONG_WORK_SECONDS", -1.0)
    monkeypatch.setattr(deadlines, "rest", lambda: -100.0)  # so the time is over after the first rest
    passes = ModelPasses()
    with Deadline(50.0), Deadline(60.0, "mask_seconds"):
        assert not looks_until_the_end(1_000)
        passes.begin()
        try:
            assert looks_until_the_end(1_000_000)
        finally:
            passes.end()


def test_short_work_does_not_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "LONG_WORK_SECONDS", 1_000.0)
    monkeypatch.setattr(deadlines, "rest", lambda: -100.0)
    passes = ModelPasses()
    passes.begin()
    try:
        with Deadline(50.0):
            assert not looks_until_the_end(10_000)
    finally:
        passes.end()


def test_a_deadline_that_was_ended_stays_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "LONG_WORK_SECONDS", -1.0)
    passes = ModelPasses()
    passes.begin()
    try:
        with Deadline(50.0) as deadline:
            deadline.expire()
            assert looks_until_the_end(1)
            deadline.restart()
            assert not looks_until_the_end(10)
    finally:
        passes.end()
