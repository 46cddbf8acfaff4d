"""Deadlines: what they end, and that nothing else is affected."""

import os
import random
import threading
import time

import pytest

import structgen
from structgen.engine.deadlines import Deadline, look, spend
from structgen.errors import LimitExceededError
from structgen.limits import Limits

BYTES = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)} | {256: b""}, eos_token_ids=[256])
LONG = {"type": "string", "pattern": "^(a|b)*a(a|b){300}c"}


def test_work_without_a_deadline_is_not_bounded() -> None:
    spend(1_000_000)
    look()


def test_a_deadline_that_has_passed_ends_the_work() -> None:
    with pytest.raises(LimitExceededError) as caught, Deadline(-1.0, "mask_seconds"):
        spend(1_000_000)
    assert (caught.value.limit, caught.value.value) == ("mask_seconds", -1.0)
    look()  # it no longer runs


def test_few_steps_do_not_look_at_the_clock() -> None:
    with Deadline(-1.0):
        with pytest.raises(LimitExceededError):
            look()
        spend(1)


def test_an_inner_deadline_does_not_extend_an_outer_one() -> None:
    over, long = Deadline(-1.0, "compile_seconds"), Deadline(60.0, "mask_seconds")
    with over, long, pytest.raises(LimitExceededError, match="compile_seconds"):
        look()
    with long, over, pytest.raises(LimitExceededError, match="compile_seconds"):
        look()


def test_a_deadline_may_be_entered_again() -> None:
    deadline = Deadline(60.0)
    with deadline, deadline:
        look()
    with Deadline(-1.0), deadline, deadline, pytest.raises(LimitExceededError):
        look()


def test_a_check_sees_the_running_deadline() -> None:
    given = Deadline(60.0)
    given.check()
    with Deadline(-1.0, "mask_seconds"), pytest.raises(LimitExceededError, match="mask_seconds"):
        given.check()


def test_the_deadline_of_one_thread_does_not_end_the_work_of_another() -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(100):
                spend(1_000_000)
        except BaseException as error:
            errors.append(error)

    with Deadline(-1.0):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        with pytest.raises(LimitExceededError):
            look()
    assert not errors


def test_other_threads_run_during_long_loops() -> None:
    ticks: list[float] = []
    is_done = threading.Event()

    def tick() -> None:
        while not is_done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    matcher = structgen.compile(LONG, BYTES, limits=Limits(mask_seconds=0.3), cache=False).matcher()
    with pytest.raises(LimitExceededError):
        matcher.accept_bytes(b'"' + bytes(random.Random(1).choices(b"ab", k=300_000)))
    is_done.set()
    thread.join()
    assert len(ticks) > 5


def test_after_a_late_mask_everything_goes_on() -> None:
    late = structgen.compile(LONG, BYTES, limits=Limits(mask_seconds=1e-9)).matcher()
    with pytest.raises(LimitExceededError, match="mask_seconds"):
        late.accept_bytes(b'"' + b"ab" * 3000)
    for limits in (Limits(mask_seconds=1e-9), Limits()):
        matcher = structgen.compile(LONG, BYTES, limits=limits).matcher()
        matcher.accept_bytes(b'"')
        assert matcher.allowed_token_ids() == [*b"ab"]
    late.accept_bytes(b'"ab')
    assert late.allowed_token_ids() == [*b"ab"]


def test_a_refused_token_leaves_the_matcher_where_it_was() -> None:
    limits = Limits(mask_seconds=1e-9)
    matcher = structgen.compile(LONG, BYTES, limits=limits).matcher()
    text = b'"' + b"ab" * 2000
    with pytest.raises(LimitExceededError, match="mask_seconds"):
        matcher.accept_bytes(text)
    assert not matcher.is_accepting
    matcher.accept_bytes(b'"')
    matcher.rollback(1)


def test_the_cache_keeps_nothing_of_a_compile_that_was_too_late() -> None:
    schema = {"type": "array", "items": {"enum": [f"late {number}" for number in range(3000)]}}
    for _ in range(2):
        with pytest.raises(LimitExceededError, match="compile_seconds"):
            structgen.compile(schema, BYTES, limits=Limits(compile_seconds=1e-9))
    assert structgen.compile(schema, BYTES).matcher().allowed_token_ids()


def test_a_schema_of_shared_parts_is_refused_before_it_is_written_as_text() -> None:
    schema: object = {"type": "string"}
    for _ in range(40):
        schema = {"anyOf": [schema, {"items": schema}]}
    with pytest.raises(LimitExceededError, match="schema_nodes"):
        structgen.compile(schema, BYTES)


def test_counts_beyond_32_bits_work() -> None:
    pattern = "((((((a{1,50}){1,50}){1,50}){1,50}){1,50}){1,50})b"
    matcher = structgen.compile(structgen.Grammar.regex(pattern), BYTES).matcher()
    matcher.accept_bytes(b"a" * 60)
    assert matcher.allowed_token_ids() == [ord("a"), ord("b")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_begins_the_deadlines_of_other_threads_anew() -> None:
    """A grammar has one deadline for its masks. Here another thread makes a mask while the process forks."""
    deadline = Deadline(0.0, "mask_seconds")
    has_begun, may_end = threading.Event(), threading.Event()

    def work() -> None:
        with Deadline(60.0), deadline:
            has_begun.set()
            may_end.wait(60)

    thread = threading.Thread(target=work)
    thread.start()
    has_begun.wait(60)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            deadline.begin_anew()
            look()  # reads the clock
            time.sleep(0.01)
            spend(1_000_000)
        except LimitExceededError:
            status = 0
        finally:
            os._exit(status)
    may_end.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
