"""Asynchronous clients: no threads, requests at the same time, and requests that end with their task."""

import asyncio
import threading
from typing import Literal

import pytest
from pydantic import BaseModel, Field
from support.chat_server import serve

import structgen
import structgen.generation.scheduler

openai = pytest.importorskip("openai", reason="the test group has it")


class Person(BaseModel):
    name: str = Field(pattern="^[a-z]{1,8}$")
    age: int = Field(ge=0, le=120)


Mood = Literal["good", "bad"]


@pytest.fixture
def server(tiny_model):
    with serve(tiny_model) as server:
        server.kind = "vllm"
        yield server


@pytest.fixture
def no_threads(monkeypatch):
    """Makes a thread of structgen an error. The client has one of its own, which finds out the platform."""
    to_thread = asyncio.to_thread

    def refuse(function, *arguments):
        assert not function.__module__.startswith("structgen"), "a thread was used"
        return to_thread(function, *arguments)

    monkeypatch.setattr(asyncio, "to_thread", refuse)
    monkeypatch.setattr(structgen.generation.scheduler.Scheduler, "submit", refuse)


def run(server, work):
    """Run a coroutine function with a model."""

    async def main():
        url = f"http://127.0.0.1:{server.server_port}/v1"
        async with openai.AsyncOpenAI(base_url=url, api_key="-", max_retries=0) as client:
            return await work(structgen.from_openai(client, "tiny"))

    return asyncio.run(main())


@pytest.mark.usefixtures("no_threads")
def test_values(server):
    async def work(model):
        return await asyncio.gather(*(structgen.agenerate(model, "hi", Mood, seed=seed) for seed in range(3)))

    assert set(run(server, work)) <= {"good", "bad"}
    assert len(server.requests) == 3


@pytest.mark.usefixtures("no_threads")
def test_results_and_retries(server):
    server.answers += ["{}", '{"name": "al", "age": 3}']

    async def work(model):
        return await structgen.Generator(model, Person).arun("hi", max_retries=1)

    result = run(server, work)
    assert (result.value, len(result.attempts), result.masks) == (Person(name="al", age=3), 1, "server")
    assert result.usage.prompt_tokens == 14


@pytest.mark.usefixtures("no_threads")
def test_streams(server):
    server.answers += ['{"name": "alice", "age": 34}'] * 2 + ['["good", "bad"]']

    async def work(model):
        async with structgen.astream(model, "hi", Person) as s:
            parts = [part async for part in s]
            assert await s.final() == parts[-1] and (await s.result()).text == s.text
        async with structgen.astream(model, "hi", Person) as s:
            whole = await s.final()
        async with structgen.astream(model, "hi", list[Mood]) as s:
            items = [item async for item in s.items()]
        return parts, whole, items

    parts, whole, items = run(server, work)
    assert parts[-1] == whole == Person(name="alice", age=34)
    assert len(parts) > 1 and parts[0].age is None
    assert items == ["good", "bad"]


@pytest.mark.usefixtures("no_threads")
def test_batches(server):
    async def work(model):
        values = await structgen.abatch(model, ["a", "b", "c"], Mood, batch_size=2, seed=4)
        generator = structgen.Generator(model, Mood)
        results = await generator.abatch(["a", "b"], results=True, max_new_tokens=9)
        server.answers += ["no JSON"]
        found = await structgen.abatch(model, ["a", "b"], Person, batch_size=1, return_exceptions=True)
        with pytest.raises(ValueError, match="batch_size"):
            await structgen.abatch(model, ["a"], Mood, batch_size=0)
        with pytest.raises(structgen.ServerError, match="broken"):
            server.error = 500, {"error": {"message": "broken"}}
            await structgen.abatch(model, ["a", "b", "c"], Mood)
        assert await structgen.abatch(model, [], Mood) == []
        return values, results, found

    values, results, found = run(server, work)
    assert len(values) == 3 and set(values) <= {"good", "bad"}
    assert sorted(request["seed"] for request in server.requests[:3]) == [4, 5, 6]
    assert [type(one) for one in results] == [structgen.Result] * 2
    assert server.requests[3]["max_completion_tokens"] == 9
    assert [type(one) for one in found] == [structgen.ValidationFailedError, Person]


@pytest.mark.usefixtures("no_threads")
def test_typed_functions(server):
    async def work(model):
        @structgen.fn(model=model)
        async def mood(text: str) -> Mood:
            """Which mood has {text}?"""

        return await mood("the sky")

    assert run(server, work) in ("good", "bad")


async def weather(city: Literal["Lyon", "Bonn"]) -> str:
    """The weather in a city."""
    return f"sun in {city}"


CALL = '{"text": "Let me see.", "tool_calls": [{"name": "weather", "arguments": {"city": "Lyon"}}]}'


@pytest.mark.usefixtures("no_threads")
def test_calls(server):
    server.answers += [CALL, CALL, CALL, '{"text": "Sun.", "tool_calls": []}']

    async def work(model):
        reply = await structgen.acall(model, "hi", [weather])
        async with structgen.astream_call(model, "hi", [weather]) as s:
            parts = [part async for part in s]
            assert (await s.reply()).text == reply.text
        return reply, parts, await structgen.arun_tools(model, "hi", [weather])

    reply, parts, transcript = run(server, work)
    assert reply.tool_calls[0].arguments == {"city": "Lyon"}
    assert "".join(part for part in parts if isinstance(part, str)) == "Let me see."
    assert parts[-1].arguments == {"city": "Lyon"}
    assert transcript.text == "Sun."


@pytest.mark.parametrize("streams", [False, True])
def test_a_cancelled_task_ends_its_request(server, streams):
    server.never_ends, server.answers = True, ['["good", '] * 2
    began = threading.Event()

    async def work(model):
        async def one():
            async with structgen.astream(model, "hi", list[Mood]) as s:
                async for _ in s:
                    began.set()

        async def batch():
            generator = structgen.Generator(model, list[Mood])
            run = generator.begin("hi", streams=True)
            began.set()
            await run.ato_end()

        task = asyncio.ensure_future(one() if streams else batch())
        while not began.is_set() or not server.requests:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not server.client_is_gone.is_set():
            await asyncio.sleep(0.001)

    run(server, work)


def test_a_stream_that_is_left_ends_its_request(server):
    server.never_ends, server.answers = True, ['["good", ']

    async def work(model):
        async with structgen.astream(model, "hi", list[Mood]) as s:
            async for part in s:
                assert part == []
                break
        with pytest.raises(structgen.GenerationError, match="closed"):
            await s.final()
        while not server.client_is_gone.is_set():
            await asyncio.sleep(0.001)

    run(server, work)


def test_functions_that_do_not_await_say_so(server):
    async def work(model):
        with pytest.raises(structgen.ModelError, match="await agenerate"):
            structgen.generate(model, "hi", Mood)
        with pytest.raises(structgen.ModelError, match="await agenerate"):
            structgen.batch(model, ["hi"], Mood)
        with structgen.stream(model, "hi", Mood) as s, pytest.raises(structgen.ModelError, match="await agenerate"):
            s.final()

    run(server, work)
    assert not server.requests


def test_errors(server):
    server.error = 429, {"error": {"message": "slow down"}}

    async def work(model):
        with pytest.raises(structgen.ServerError, match="429: slow down"):
            await structgen.agenerate(model, "hi", Mood)
        async with structgen.astream(model, "hi", Mood) as s:
            with pytest.raises(structgen.ServerError, match="slow down"):
                await s.final()

    run(server, work)
