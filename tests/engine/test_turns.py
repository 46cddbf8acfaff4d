"""Long work rests while passes of a model run."""

import threading
from collections.abc import Callable, Iterator

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


class Rests(threading.Condition):
    """Notes how long a rest would be."""

    def __init__(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.waits: list[float] = []
        self.meanwhile = meanwhile

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waits.append(timeout)
        self.meanwhile()
        return False


@pytest.fixture
def passes() -> Iterator[ModelPasses]:
    passes = ModelPasses()
    passes.begin()
    yield passes
    passes.end()


@pytest.mark.usefixtures("passes")
def test_threads_that_rest_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_another_thread() -> None:
        if len(rests.waits) < 3:
            rest(0.0)

    rests = Rests(as_another_thread)
    monkeypatch.setattr(turns, "_rests", rests)
    rest(0.0)
    waits = rests.waits
    assert waits == [turns.REST_SECONDS * count for count in (1, 2, 3)]
    assert turns._resting == 0


@pytest.mark.usefixtures("passes")
def test_work_rests_longer_the_longer_it_has_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    rests = Rests()
    monkeypatch.setattr(turns, "_rests", rests)
    for worked in (0.0, 0.01, 0.03, 0.04, 100.0):
        rest(worked)
    assert rests.waits == pytest.approx([0.01, 0.02, 0.04, 0.05, 0.05])


def test_without_passes_nothing_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    rests = Rests()
    monkeypatch.setattr(turns, "_rests", rests)
    rest(100.0)
    assert rests.waits == []


@pytest.mark.parametrize("wake", [ModelPasses.end, lambda passes: Deadline(1.0).expire()])
def test_a_rest_ends_when_it_is_pointless(
    wake: Callable[[ModelPasses], None], passes: ModelPasses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passes have ended, or the work is asked to leave the tables that it holds."""
    monkeypatch.setattr(turns, "LONGEST_REST_SECONDS", 1_000.0)
    rests = threading.Thread(target=rest, args=[1_000.0], daemon=True)
    rests.start()
    for _ in range(1_000):
        wake(passes)
        rests.join(timeout=0.05)
        if not rests.is_alive():
            break
    assert not rests.is_alive()


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
    monkeypatch.setattr(deadlines, "rest", lambda worked: -100.0)  # so the time is over after the first rest
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
    monkeypatch.setattr(deadlines, "rest", lambda worked: -100.0)
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
