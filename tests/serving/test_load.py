"""Many requests at once: each is answered, or refused because the queue is full."""

import asyncio
import json
from collections import Counter

import pytest

REQUESTS = 1_000
ROWS = 8


async def ask(app, number):
    """Send one request to an application; return the status and the body of its answer."""
    schema = {"const": number}
    body = {
        "messages": [{"role": "user", "content": "a number"}],
        "max_tokens": 10,
        "response_format": {"type": "json_schema", "json_schema": {"name": "number", "schema": schema}},
    }
    waiting = [{"type": "http.request", "body": json.dumps(body).encode()}]
    sent = []

    async def receive():
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop()

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": [], "query_string": b""}
    await app({**scope, "http_version": "1.1", "scheme": "http", "server": ("x", 80), "raw_path": b""}, receive, send)
    return sent[0]["status"], json.loads(b"".join(message.get("body", b"") for message in sent))


@pytest.mark.parametrize("max_waiting", [REQUESTS, 100])
def test_a_thousand_requests_at_once(tiny_model, max_waiting):
    pytest.importorskip("starlette", reason="the test group has it")
    from structgen.serving.app import ServerOptions, make_app

    app = make_app(tiny_model, ServerOptions(max_rows=ROWS, max_waiting=max_waiting))

    async def all_at_once():
        return await asyncio.gather(*(ask(app, number) for number in range(REQUESTS)))

    answers = asyncio.run(all_at_once())
    statuses = Counter(status for status, _ in answers)
    assert set(statuses) <= {200, 429}
    assert statuses[200] >= min(REQUESTS, ROWS + max_waiting)
    assert (statuses[429] > 0) == (max_waiting < REQUESTS)
    for number, (status, answer) in enumerate(answers):
        if status == 200:
            assert json.loads(answer["choices"][0]["message"]["content"]) == number
        else:
            assert answer["error"]["code"] == "queue_full"
    assert asyncio.run(ask(app, 7))[0] == 200  # and it goes on
