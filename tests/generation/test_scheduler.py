"""The scheduler: runs in threads of their own share the passes of a model, and do not disturb one another."""

import asyncio
import contextlib
import os
import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pytest
from pydantic import BaseModel, Field

import structgen
from structgen.engine import turns
from structgen.generation.scheduler import Scheduler, Seat, _end_passes, scheduler_of
from structgen.models.logits import LogitsModel
from structgen.models.session_batches import _OneByOne


class Person(BaseModel):
    name: str = Field(max_length=10)
    age: int = Field(ge=0, le=120)


PROMPTS = [f"{'word ' * (index % 7)}number {index}" for index in range(12)]


class Counted:
    """A model that counts its passes and their rows; tests may let passes fail or wait."""

    def __init__(self, model):
        self.model, self.rows = model, []
        self.before = lambda requests: None

    def __getattr__(self, name):
        return getattr(self.model, name)

    def session_batch(self):
        return CountedBatch(self, self.model.session_batch())


class CountedBatch:
    def __init__(self, model, batch):
        self.model, self.batch = model, batch
        self.session = batch.session

    def forward(self, requests):
        self.model.rows.append(sum(bool(ids) for _, ids, _ in requests))
        self.model.before(requests)
        return self.batch.forward(requests)


@pytest.fixture
def counted(tiny_model):
    return Counted(tiny_model)


def alone(model, prompts=PROMPTS, **options):
    return [structgen.generate(model, prompt, Person, **options) for prompt in prompts]


def test_awaited_runs_share_passes(counted):
    generator = structgen.Generator(counted, Person, max_new_tokens=80)

    async def run():
        return await asyncio.gather(*(generator.arun(prompt) for prompt in PROMPTS))

    results = asyncio.run(run())
    assert [result.value for result in results] == alone(counted.model, max_new_tokens=80)
    assert max(counted.rows) > 6
    assert len(counted.rows) < sum(result.usage.model_calls for result in results) / 3


def test_long_work_rests_while_passes_run(counted):
    during = []
    counted.before = lambda requests: during.append(turns.pause())
    scheduler = Scheduler(counted)
    generator = structgen.Generator(counted, Person, max_new_tokens=80)
    scheduler.submit(lambda seat: generator.begin("x", new_session=seat.session).to_end(seat.cancelled)).result(60)
    assert during and all(during)
    scheduler.close()
    scheduler.end_passes()
    assert not turns.pause()


def test_long_work_rests_between_two_passes_too(counted, monkeypatch):
    """As long as a pass would wait for the runs: else it would take the time in which they make their masks."""
    scheduler = Scheduler(counted)
    seconds = [1_000.0]
    monkeypatch.setattr(scheduler, "_grace", lambda: seconds[0])
    seat = Seat(scheduler)
    session = seat.session()
    session.forward([1, 2])
    assert turns.pause()
    session.forward([3])
    assert turns.pause()
    seconds[0] = 0.0
    scheduler.wake()
    for _ in range(1_000):
        if not turns.pause():
            break
        time.sleep(0.01)
    assert not turns.pause()
    seat.close()
    scheduler.end_passes()


def test_no_pass_runs_while_the_interpreter_ends(counted):
    """A thread that ends inside of torch's code can abort the process. What `atexit` calls waits for the pass."""
    scheduler = Scheduler(counted)
    generator = structgen.Generator(counted, Person, max_new_tokens=80)
    begun, go = threading.Event(), threading.Event()

    def wait(requests):
        begun.set()
        go.wait(60)

    counted.before = wait
    run = scheduler.submit(lambda seat: generator.begin("x", new_session=seat.session).to_end(seat.cancelled))
    begun.wait(60)
    (thread,) = [thread for thread in threading.enumerate() if thread is scheduler._thread]
    threading.Timer(0.05, go.set).start()
    _end_passes()
    assert go.is_set() and not thread.is_alive() and not turns.pause()
    assert len(counted.rows) == 1
    scheduler.close(seconds=0)
    with contextlib.suppress(CancelledError):  # it ends before it asks, or while it waits
        assert run.result(60) is None


def test_calls_and_streams_share_them_too(counted):
    def add(a: int, b: int) -> int:
        return a + b

    async def shown(prompt):
        async with structgen.astream(counted, prompt, Person, max_new_tokens=80) as s:
            parts = [part async for part in s]
        return parts[-1]

    async def called(prompt):
        async with structgen.astream_call(counted, prompt, [add], tool_choice="add", max_new_tokens=80) as s:
            return [part async for part in s][-1].arguments

    async def run():
        calls = [
            structgen.acall(counted, prompt, [add], tool_choice="add", max_new_tokens=80) for prompt in PROMPTS[:4]
        ]
        return await asyncio.gather(*map(shown, PROMPTS[:4]), *calls, *map(called, PROMPTS[:4]))

    found = asyncio.run(run())
    assert found[:4] == alone(counted.model, PROMPTS[:4], max_new_tokens=80)
    assert [reply.tool_calls[0].arguments for reply in found[4:8]] == found[8:]
    assert max(counted.rows) > 3


def test_streams_that_nobody_reads_keep_nobody_waiting(counted):
    """More streams are open than there are rows, and they are read one after the other."""

    async def run():
        scheduler_of(counted).max_rows = 2
        streams = [structgen.astream(counted, prompt, Person, max_new_tokens=80) for prompt in PROMPTS[:5]]
        parts = []
        for stream in streams:
            await stream.__aenter__()
            parts.append(stream.__aiter__())
            await anext(parts[-1])
        values = [await stream.final() for stream in streams]
        for stream in streams:
            await stream.__aexit__(None, None, None)
        return values

    assert asyncio.run(run()) == alone(counted.model, PROMPTS[:5], max_new_tokens=80)


def test_streams_that_all_rest_at_once_keep_no_row(counted):
    """Nobody asks for a pass: the rows of streams between two parts go to a run that waits for one."""

    async def run():
        scheduler_of(counted).max_rows = 2
        streams = [structgen.astream(counted, prompt, Person, max_new_tokens=80) for prompt in PROMPTS[:2]]
        for stream in streams:
            await stream.__aenter__()
        parts = [stream.__aiter__() for stream in streams]
        for _ in range(2):  # in the second round, both are in one pass
            await asyncio.gather(*map(anext, parts))
        call = structgen.agenerate(counted, PROMPTS[2], Person, max_new_tokens=80)
        values = [await asyncio.wait_for(call, 60), *[await stream.final() for stream in streams]]
        for stream in streams:
            await stream.__aexit__(None, None, None)
        return values

    assert asyncio.run(run()) == alone(counted.model, [PROMPTS[2], *PROMPTS[:2]], max_new_tokens=80)


def test_a_stream_that_is_cancelled_while_it_waits_ends_its_thread(counted):
    """It has asked, and the pass under way is not its own."""
    go, begun = threading.Event(), threading.Event()

    def wait(requests):
        begun.set()
        go.wait(60)

    counted.before = wait
    seats = [Seat(Scheduler(counted, max_rows=1))]
    seats.append(Seat(seats[0]._scheduler))
    errors = []

    def read(seat):
        try:
            seat.session().forward([1, 2])
        except CancelledError as error:
            errors.append(error)

    threads = [threading.Thread(target=read, args=(seat,), daemon=True) for seat in seats]
    threads[0].start()
    assert begun.wait(60)
    threads[1].start()
    while seats[1].asked is None:
        time.sleep(0.001)
    with seats[1]._scheduler._changed:  # as when the closing thread is the first to have the lock again
        seats[1].cancelled.set()
        seats[1]._scheduler.leave(seats[1])
    threads[1].join(60)
    go.set()
    threads[0].join(60)
    seats[0].close()
    assert not any(thread.is_alive() for thread in threads) and len(errors) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(tiny_model):
    size = tiny_model.vocabulary.size
    logits = np.zeros(size, np.float32)

    class Batched(LogitsModel):
        def session_batch(self):
            return _OneByOne(self)

    options = {"vocab_size": size, "eos_token_ids": None, "context_tokens": None}
    model = Batched(lambda ids: logits, tiny_model.tokenizer, **options)

    async def run():
        return await asyncio.wait_for(structgen.agenerate(model, "x", bool), 20)

    here = asyncio.run(run())
    child = os.fork()
    if not child:
        code = 1
        with contextlib.suppress(BaseException):
            code = 0 if asyncio.run(run()) == here else 2
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def test_more_runs_than_rows(counted):
    scheduler = Scheduler(counted, max_rows=3)
    generator = structgen.Generator(counted, Person, max_new_tokens=80)
    jobs = [
        scheduler.submit(lambda seat, p=p: generator.begin(p, new_session=seat.session).to_end(seat.cancelled))
        for p in PROMPTS
    ]
    assert [job.result(60).value for job in jobs] == alone(counted.model, max_new_tokens=80)
    assert max(counted.rows) == 3
    assert scheduler.close()


def test_a_run_that_is_late_keeps_its_place(counted):
    """Passes go on without a run whose own work takes long; its answer is the same."""
    generator = structgen.Generator(counted, Person, max_new_tokens=80)
    others_done, scheduler = threading.Event(), Scheduler(counted)

    def slow(seat):
        run = generator.begin(PROMPTS[0], new_session=seat.session)
        steps = 0
        while run.step():
            steps += 1
            if steps == 3:
                assert others_done.wait(60)
        return run.result

    late = scheduler.submit(slow)
    others = [
        scheduler.submit(lambda seat, p=p: generator.begin(p, new_session=seat.session).to_end(seat.cancelled))
        for p in PROMPTS[1:6]
    ]
    found = [job.result(60).value for job in others]
    others_done.set()
    assert [late.result(60).value, *found] == alone(counted.model, PROMPTS[:6], max_new_tokens=80)


def test_an_error_of_one_run_ends_no_other(counted):
    generator = structgen.Generator(counted, Person, max_new_tokens=80)

    def refuse(value):
        raise ValueError("not this")

    async def run():
        return await asyncio.gather(
            generator.arun(PROMPTS[0]),
            generator.arun(PROMPTS[1], validate=refuse),
            structgen.agenerate(counted, "x", {"type": "nothing"}),
            generator.arun("hello " * 1500),
            generator.arun(PROMPTS[2]),
            return_exceptions=True,
        )

    first, refused, unread, long, last = asyncio.run(run())
    assert [first.value, last.value] == alone(counted.model, [PROMPTS[0], PROMPTS[2]], max_new_tokens=80)
    assert isinstance(refused, structgen.ValidationFailedError)
    assert isinstance(unread, structgen.SchemaError)
    assert isinstance(long, structgen.GenerationError)


def test_a_failed_pass_ends_its_runs_and_no_later_one(counted):
    generator = structgen.Generator(counted, Person, max_new_tokens=80)
    passes = iter(range(1000))

    def fail(requests):
        if next(passes) == 2:
            raise RuntimeError("the device is lost")

    counted.before = fail

    async def run():
        first = await asyncio.gather(*(generator.arun(prompt) for prompt in PROMPTS[:2]), return_exceptions=True)
        return first, await generator.arun(PROMPTS[2])

    first, later = asyncio.run(run())
    assert any("the device is lost" in str(error) for error in first)
    assert later.value == alone(counted.model, [PROMPTS[2]], max_new_tokens=80)[0]


@pytest.mark.parametrize("given", [[], [None]])
def test_a_batch_that_leaves_out_a_sequence(tiny_model, given):
    class Batch:
        keeps_unnamed = True
        session = staticmethod(tiny_model.session)

        def forward(self, requests):
            return given

    model = Counted(tiny_model)
    model.session_batch = Batch
    message = "returned logits of 0 sequences for 1 requests"
    with pytest.raises(structgen.ModelError, match=message):
        asyncio.run(asyncio.wait_for(structgen.agenerate(model, "x", bool), 60))
    with pytest.raises(structgen.ModelError, match=message):
        structgen.batch(model, ["x"], bool)
    with pytest.raises(structgen.ModelError, match=message):
        structgen.generate(model, "x", bool, sampling="smc", particles=2)


def test_a_cancelled_run_leaves_the_others(counted):
    generator = structgen.Generator(counted, Person, max_new_tokens=80)
    go = threading.Event()
    counted.before = lambda requests: go.wait(60)  # no answer is complete before the others are cancelled

    async def run():
        tasks = [asyncio.ensure_future(generator.arun(prompt)) for prompt in PROMPTS]
        while not counted.rows:
            await asyncio.sleep(0.001)
        for task in tasks[::2]:
            task.cancel()
        go.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in found[::2])
        return [one.value for one in found[1::2]]

    assert asyncio.run(run()) == alone(counted.model, PROMPTS[1::2], max_new_tokens=80)


def test_the_queue_is_bounded_and_closes(counted):
    scheduler = Scheduler(counted, max_rows=2, max_waiting=3)
    go = threading.Event()
    jobs = [scheduler.submit(lambda seat: go.wait(60)) for _ in range(5)]
    with pytest.raises(structgen.QueueFullError, match="3 runs wait") as refused:
        scheduler.submit(lambda seat: None)
    assert refused.value.limit == 3 and scheduler.waiting == 5
    go.set()
    assert scheduler.close() and all(job.result() for job in jobs)
    with pytest.raises(structgen.GenerationError, match="closed"):
        scheduler.submit(lambda seat: None)
    with pytest.raises(ValueError, match="max_rows"):
        Scheduler(counted, max_rows=0)


def test_closing_cancels_what_does_not_end_in_time(counted):
    scheduler = Scheduler(counted, max_rows=1)
    counted.before = lambda requests: None
    generator = structgen.Generator(counted, structgen.Grammar.regex("a{400}b*"), max_new_tokens=500)

    def endless(seat):
        while True:
            generator.begin("x", new_session=seat.session).to_end(seat.cancelled)
            if seat.cancelled.is_set():
                raise CancelledError

    jobs = [scheduler.submit(endless) for _ in range(3)]
    assert not scheduler.close(seconds=0.05)
    assert all(isinstance(job.exception(60), CancelledError) for job in jobs)


def test_a_run_that_waits_does_not_begin_while_the_scheduler_closes(counted):
    """A thread that becomes free then could take the next run, before the queue is emptied."""
    scheduler = Scheduler(counted, max_rows=1)
    go = threading.Event()
    jobs = [scheduler.submit(lambda seat: go.wait(60)) for _ in range(9)]
    waiting = scheduler.submit(lambda seat: pytest.fail("it has begun"))
    shutdown = scheduler.threads.shutdown

    def late(**options):  # the threads take the next run first
        go.set()
        assert all(job.result(60) for job in jobs)
        assert isinstance(waiting.exception(60), CancelledError)
        shutdown(**options)

    scheduler.threads.shutdown = late
    assert not scheduler.close(seconds=0.01)


def test_models_without_batched_passes_have_none(tiny_model):
    size = tiny_model.vocabulary.size
    model = structgen.from_logits(lambda ids: np.zeros(size, np.float32), tiny_model.tokenizer, vocab_size=size)
    assert scheduler_of(model) is None
    assert scheduler_of(tiny_model) is scheduler_of(tiny_model)


def test_a_seat_that_was_cancelled_reads_no_more(counted):
    seat = Seat(Scheduler(counted))
    seat.cancel()
    with pytest.raises(CancelledError):
        seat.session().forward([1])
