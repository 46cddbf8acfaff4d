"""The application: keys, bounds, the queue, clients that go, faults of the model, metrics, the page."""

import asyncio
import json
import subprocess
import sys
import threading

import pytest

import structgen

BODY = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 60}
PATH = "/v1/chat/completions"


class Gated:
    """A model whose passes wait for a gate, and fail when they are told to."""

    def __init__(self, model):
        self.model, self.gate, self.error, self.passes = model, threading.Event(), None, 0
        self.gate.set()

    def __getattr__(self, name):
        return getattr(self.model, name)

    def session_batch(self):
        return GatedBatch(self, self.model.session_batch())


class GatedBatch:
    def __init__(self, model, batch):
        self.model, self.batch, self.session = model, batch, batch.session

    def forward(self, requests):
        self.model.passes += 1
        assert self.model.gate.wait(60)
        if self.model.error is not None:
            raise self.model.error
        return self.batch.forward(requests)


@pytest.fixture
def gated(tiny_model):
    return Gated(tiny_model)


def make(model, **options):
    pytest.importorskip("starlette")
    from structgen.serving.app import ServerOptions, make_app

    return make_app(model, ServerOptions(**options))


def client_of(app):
    from starlette.testclient import TestClient

    return TestClient(app)


async def call(app, body, *, gone=None, path=PATH):
    """Send one request as an ASGI server does; the client goes when `gone` is set. Return the sent messages."""
    sent, asked = [], [{"type": "http.request", "body": json.dumps(body).encode()}]

    async def receive():
        if asked:
            return asked.pop()
        await (gone or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": path,
        "raw_path": path.encode(), "query_string": b"", "headers": [], "scheme": "http", "server": ("x", 80),
    }  # fmt: skip
    await app(scope, receive, send)
    return sent


def status_of(sent):
    return sent[0]["status"]


def text_of(sent):
    return json.loads(b"".join(message.get("body", b"") for message in sent))["choices"][0]["message"]["content"]


async def until(condition):
    for _ in range(6000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came")


def test_keys(tiny_model):
    client = client_of(make(tiny_model, api_key="secret"))
    assert client.post(PATH, json=BODY).status_code == 401
    wrong = client.get("/v1/models", headers={"authorization": "Bearer other"})
    assert wrong.status_code == 401 and wrong.json()["error"]["code"] == "invalid_api_key"
    assert client.get("/v1/models", headers={"authorization": "Bearer secret"}).status_code == 200
    assert client.get("/health").status_code == 200


def test_bodies_are_bounded_and_read(tiny_model):
    client = client_of(make(tiny_model, max_body_bytes=200))
    large = client.post(PATH, content=b" " * 300)
    assert large.status_code == 413 and "200 bytes" in large.json()["error"]["message"]
    assert "not JSON" in client.post(PATH, content=b"{").json()["error"]["message"]
    assert client.post(PATH, content=b"[" * 150).status_code == 400
    assert "JSON object" in client.post(PATH, content=b"[]").json()["error"]["message"]
    assert client.get(PATH).status_code == 405
    missing = client.get("/v1/embeddings")
    assert missing.status_code == 404
    assert missing.json()["error"]["message"] == "GET /v1/embeddings: Not Found"


def test_two_hundred_requests_at_once(tiny_model):
    """None is lost, and each gets its own answer."""
    app = make(tiny_model)
    words = [f"{'abcdefgh'[index % 8]}{index}" for index in range(200)]

    async def run():
        return await asyncio.gather(*(call(app, {**BODY, "guided_choice": [word]}) for word in words))

    found = asyncio.run(run())
    assert {status_of(sent) for sent in found} == {200}
    assert [text_of(sent) for sent in found] == words


def test_the_queue_is_bounded(gated):
    app = make(gated, max_rows=2, max_waiting=3)
    gated.gate.clear()

    async def run():
        tasks = [asyncio.ensure_future(call(app, {**BODY, "guided_regex": "[ab]{4}"})) for _ in range(5)]
        await until(lambda: gated.passes)
        refused = await call(app, BODY)
        gated.gate.set()
        return refused, await asyncio.gather(*tasks)

    refused, found = asyncio.run(run())
    assert status_of(refused) == 429 and (b"retry-after", b"1") in refused[0]["headers"]
    assert [status_of(sent) for sent in found] == [200] * 5


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_ends_its_run(gated, stream):
    """Nothing of it is left: not its row, not its place in the queue."""
    app = make(gated)
    service = app.state.service

    async def run():
        gone = asyncio.Event()
        gated.gate.clear()
        body = {**BODY, "stream": stream, "guided_regex": "[ab]{400}", "max_tokens": 500}
        task = asyncio.ensure_future(call(app, body, gone=gone))
        await until(lambda: gated.passes)
        if stream:  # the first piece is sent
            gated.gate.set()
        gone.set()
        await task
        gated.gate.set()
        await until(lambda: not service.answers.scheduler.waiting and not service.answers.scheduler.rows)
        before = gated.passes
        assert status_of(await call(app, {**BODY, "guided_choice": ["a"]})) == 200
        return before

    assert asyncio.run(run()) < 200
    assert not service.answers.running


def test_a_request_has_its_time(gated):
    app = make(gated)
    gated.gate.clear()

    async def run():
        late = await call(app, {**BODY, "timeout": 0.05, "guided_regex": "[ab]{4}"})
        gated.gate.set()
        return late, await call(app, {**BODY, "guided_choice": ["a"]})

    late, next_one = asyncio.run(run())
    assert status_of(late) == 408 and status_of(next_one) == 200


@pytest.mark.parametrize("stream", [False, True])
def test_a_fault_of_the_model_is_a_500_and_the_next_request_is_fine(gated, stream):
    client = client_of(make(gated))
    gated.error = RuntimeError("the device is lost")
    response = client.post(PATH, json={**BODY, "stream": stream, "guided_regex": "[ab]{4}"})
    assert response.status_code == 500 and "the device is lost" in response.json()["error"]["message"]
    gated.error = None
    assert client.post(PATH, json={**BODY, "guided_regex": "[ab]{4}"}).status_code == 200


def test_a_fault_within_a_stream_is_its_last_event(gated):
    app = make(gated)
    service = app.state.service

    async def run():
        body = {**BODY, "stream": True, "guided_regex": "[ab]{300}", "max_tokens": 400}
        task = asyncio.ensure_future(call(app, body))
        await until(lambda: gated.passes > 3)
        gated.error = RuntimeError("the device is lost")
        return await task

    sent = asyncio.run(run())
    text = b"".join(message.get("body", b"") for message in sent).decode()
    assert status_of(sent) == 200 and "the device is lost" in text.split("\n\n")[-3]
    assert not service.answers.running


def test_a_grammar_that_takes_too_long_is_refused_and_keeps_nobody_waiting(gated):
    """Good requests are answered meanwhile."""
    app = make(gated, mask_seconds=0.05)
    bomb = "start: A\nA: /(a|b|c|d|e)*a(a|b|c|d|e){18}/ & /(a|b|c|d|e)*b(a|b|c|d|e){19}/"  # its masks pass their limit

    async def run():
        slow = asyncio.ensure_future(call(app, {**BODY, "structured_outputs": {"grammar": bomb}}))
        await asyncio.sleep(0)
        good = await asyncio.gather(*(call(app, {**BODY, "guided_choice": ["a"]}) for _ in range(4)))
        return await slow, good

    slow, good = asyncio.run(run())
    assert status_of(slow) == 400 and [status_of(sent) for sent in good] == [200] * 4


def test_the_end_waits_for_requests(gated):
    app = make(gated, drain_seconds=30)
    service = app.state.service

    async def run():
        gated.gate.clear()
        task = asyncio.ensure_future(call(app, {**BODY, "guided_regex": "[ab]{4}"}))
        await until(lambda: gated.passes)
        closing = asyncio.ensure_future(asyncio.to_thread(service.close))
        await asyncio.sleep(0.05)
        refused = await call(app, BODY)
        gated.gate.set()
        await closing
        return await task, refused

    found, refused = asyncio.run(run())
    assert status_of(found) == 200 and status_of(refused) == 503


def test_masks_of_new_schemas_are_made_in_the_background(tiny_model, monkeypatch):
    warmed = []
    app = make(tiny_model, warm=True)
    monkeypatch.setattr("structgen.serving.answers.warm_in_background", warmed.append)
    tools = [{"type": "function", "function": {"name": "go", "parameters": {"type": "object", "properties": {}}}}]
    for body in (BODY, {**BODY, "guided_choice": ["a", "b"]}, {**BODY, "tools": tools, "tool_choice": "required"}):
        assert client_of(app).post("/v1/chat/completions", json=body).status_code == 200
    assert len(warmed) == 2  # free text has no schema


def test_metrics(tiny_model):
    client = client_of(make(tiny_model))
    client.post(PATH, json={**BODY, "guided_regex": "[ab]{4}"})
    client.post(PATH, json={"messages": []})
    text = client.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert lines[f'structgen_requests_total{{path="{PATH}",status="200"}}'] == "1"
    assert lines[f'structgen_requests_total{{path="{PATH}",status="400"}}'] == "1"
    assert int(lines["structgen_completion_tokens_total"]) >= 2
    assert lines['structgen_answer_seconds_bucket{le="+Inf"}'] == lines["structgen_answer_seconds_count"] == "1"
    assert text.count("# TYPE") == len({line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")})


def test_the_page_and_its_traces(tiny_model):
    client = client_of(make(tiny_model))
    assert "<title>structgen</title>" in client.get("/").text
    page = client.post("/trace", json={"prompt": "hi", "schema": '{"enum": [1, 2]}', "max_tokens": 20})
    assert page.status_code == 200 and '"steps": [{' in page.text
    wrong = client.post("/trace", json={"prompt": "hi", "schema": {"type": "no"}})
    assert wrong.status_code == 400 and wrong.json()["error"]["param"] == "schema#"
    assert client.post("/trace", json={"prompt": ""}).json()["error"]["param"] == "prompt"
    half = client.post("/trace", content=json.dumps({"prompt": "\ud800", "schema": True}))
    assert half.status_code == 400 and half.json()["error"]["param"] == "prompt"
    assert client.post("/trace", json={"prompt": "x", "schema": "{"}).json()["error"]["param"] == "schema"


def test_a_server_is_not_served():
    pytest.importorskip("uvicorn")
    openai = pytest.importorskip("openai")
    from structgen.serving.server import serve

    with pytest.raises(structgen.StructgenError, match="behind a server already"):
        serve(structgen.from_openai(openai.OpenAI(api_key="none"), "x"), host="127.0.0.1", port=1)


def test_the_package_imports_nothing_of_it():
    code = "import sys, structgen, structgen.cli; print([n for n in sys.modules if 'starlette' in n or 'serving' in n])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


HUGE = 10**400  # more than a float can be
FUNCTION = {"type": "function", "function": "f"}
NO_SCHEMA = {"format": {"type": "json_schema", "name": "x", "schema": {"type": "no"}}}
LONG = {"format": {"type": "json_schema", "name": "x", "schema": {"const": "x" * 60}}}
KWARGS = {"chat_template_kwargs": {"a": 1}}
NESTED = json.loads("[" * 900 + "]" * 900)


@pytest.mark.parametrize(
    ("path", "changes", "param"),
    [
        (PATH, {"seed": -1}, "seed"),
        (PATH, {"temperature": HUGE}, "temperature"),
        (PATH, {"temperature": 1, "top_p": 2}, "top_p"),
        (PATH, {"on_budget": "never"}, "on_budget"),
        (PATH, {"repetition_penalty": 0}, "repetition_penalty"),
        (PATH, {"logit_bias": {"1": HUGE}}, "logit_bias"),
        (PATH, {"logit_bias": {str(HUGE): 1}}, "logit_bias"),
        (PATH, {"logit_bias": {"-1": 1}}, "logit_bias"),
        (PATH, {"logit_bias": {"99999": 1}}, "logit_bias"),
        (PATH, {"reasoning": {"max_tokens": -5}}, "reasoning.max_tokens"),
        (PATH, {"tool_choice": FUNCTION}, "tool_choice"),
        (PATH, {"stop": "\ud800"}, "stop"),
        (PATH, {"chat_template_kwargs": {"tools": 1}}, "chat_template_kwargs"),
        (PATH, {"chat_template_kwargs": {"unknown": 1}}, "chat_template_kwargs"),
        (PATH, {"timeout": 0}, "timeout"),
        (PATH, {"timeout": float("nan")}, None),
        (PATH, {"\ud800": 1}, "\ud800"),
        (PATH, {"stream": "false"}, "stream"),
        (PATH, {"top_logprobs": 5}, "top_logprobs"),
        (PATH, {"tool_choice": "required"}, "tool_choice"),
        (PATH, {"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice"),
        (PATH, {"reasoning_effort": 5}, "reasoning_effort"),
        (PATH, {"messages": [{"role": "user", "content": "\ud800"}]}, "messages"),
        (PATH, {"messages": [{"role": "usr", "content": "x"}]}, "messages"),
        (PATH, {"messages": [{"role": "assistant", "tool_calls": NESTED}]}, "messages"),
        ("/v1/completions", {"prompt": "word " * 1500, "messages": None}, "prompt"),
        (
            "/v1/completions",
            {"prompt": "x", "messages": None, **KWARGS},
            "chat_template_kwargs",
        ),
        ("/v1/completions", {"prompt": "", "messages": None}, "prompt"),
        ("/v1/completions", {"prompt": ["a"] * 3000, "messages": None}, "prompt"),
        ("/v1/responses", {"input": [{"type": "reasoning"}, {"role": "user", "content": 5}]}, "input[1].content"),
        ("/v1/responses", {"input": "word " * 1500}, "input"),
        ("/v1/responses", {"input": "hi", "text": NO_SCHEMA}, "text.format.schema#"),
        ("/v1/responses", {"input": "hi", "text": LONG, "max_output_tokens": 2}, "max_output_tokens"),
        ("/v1/responses", {"input": "hi", "tools": 5}, "tools"),
        ("/v1/responses", {"input": "hi", "text": "json"}, "text"),
        ("/v1/responses", {"input": "hi", "instructions": 5}, "instructions"),
    ],
)
@pytest.mark.parametrize("constraint", [{}, {"response_format": {"type": "json_object"}}])
def test_a_wrong_field_is_named_and_is_no_fault_of_the_server(client, path, changes, param, constraint):
    own = {"temperature": 0} if path.endswith("responses") else {**BODY, **constraint}
    content = json.dumps({name: value for name, value in {**own, **changes}.items() if value is not None})
    response = client.post(path, content=content)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)


@pytest.mark.parametrize("streams", [False, True])
def test_half_of_a_surrogate_pair_comes_back_as_it_was_sent(client, streams):
    body = {"input": "hi", "metadata": {"a": "\ud800"}, "max_output_tokens": 4, "stream": streams}
    response = client.post("/v1/responses", content=json.dumps(body))
    assert response.status_code == 200 and r"\ud800" in response.text


def test_a_number_that_json_does_not_have_comes_back_as_null(client):
    response = client.post("/v1/responses", content='{"input": "hi", "metadata": {"a": 1e999}, "max_output_tokens": 4}')
    assert response.json()["metadata"] == {"a": None}
