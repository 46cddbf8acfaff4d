"""`structgen trace --serve`: an HTTP client gets the page, and the steps while they are made."""

import http.client
import json
import re
import threading
from typing import Literal
from urllib.parse import urlsplit

import pydantic
import pytest

import structgen
from structgen import cli
from structgen.diagnostics.live_trace import LiveTrace

PROMPT = "Is it </script> good?"
Word = Literal["yes", "no"]


@pytest.fixture
def live():
    with LiveTrace(PROMPT) as made:
        yield made


def get(url, path="/", host=None):
    """The status, the type and the body of a page."""
    address = urlsplit(url).netloc
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request("GET", path, headers={"Host": host or address})
    answer = connection.getresponse()
    found = answer.status, answer.getheader("Content-Type"), answer.read().decode()
    connection.close()
    return found


def events(text):
    """The events of a body: for each the kind and the data."""
    return [(kind, json.loads(data)) for kind, data in re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)]


def test_the_page_is_a_trace_without_steps(live):
    status, kind, page = get(live.url)
    assert (status, kind) == (200, "text/html; charset=utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert json.loads(data)["prompt"] == PROMPT
    assert json.loads(data)["steps"] == []
    assert json.loads(data)["is_live"]
    assert json.loads(data)["vocabulary_size"] == -1  # not known yet: the page would write "undefined"
    assert "seconds" not in json.loads(data)  # the page adds up those of the steps


def test_steps_arrive_while_the_answer_is_written(live, tiny_model):
    connection = http.client.HTTPConnection(urlsplit(live.url).netloc, timeout=60)
    connection.request("GET", "/events")
    stream = connection.getresponse()
    arrived = []

    def arrives(index, step):
        live.add(index, step)
        lines = [stream.readline() for _ in range(3)]  # before the next step is made
        arrived.append(events(b"".join(lines).decode()))

    found = structgen.trace(tiny_model, PROMPT, Word, on_step=arrives)
    live.end(found)
    assert [one[0][0] for one in arrived] == ["step"] * len(found.steps)
    assert [one[0][1][0] for one in arrived] == list(range(len(found.steps)))
    assert [one[0][1][1]["token_id"] for one in arrived] == [step.token_id for step in found.steps]
    ((kind, rest),) = events(stream.read().decode())
    connection.close()
    assert (kind, rest["text"], rest["summary"]) == ("end", found.text, found.summary)
    assert "steps" not in rest


def test_a_page_that_is_opened_late_gets_all_steps(live, tiny_model):
    found = structgen.trace(tiny_model, PROMPT, Word, on_step=live.add)
    live.end(found)
    for _ in range(2):
        got = events(get(live.url, "/events")[2])
        assert [kind for kind, _ in got] == ["step"] * len(found.steps) + ["end"]
        assert got == [(kind, data) for kind, data in events("".join(live.events()))]


def test_an_attempt_begins_with_step_0(live, tiny_model):
    class Never(pydantic.BaseModel):
        word: Word

        @pydantic.field_validator("word")
        def refuse(cls, value):
            raise ValueError("never good")

    indices = []
    found = structgen.trace(tiny_model, PROMPT, Never, max_retries=1, on_step=lambda index, step: indices.append(index))
    assert indices.count(0) == 2
    assert indices[-len(found.steps) :] == list(range(len(found.steps)))


@pytest.mark.parametrize(
    "path, host, status", [("/other", None, 404), ("/", "example.com", 403), ("/events", "x", 403)]
)
def test_other_pages_and_hosts_are_refused(live, path, host, status):
    assert get(live.url, path, host)[0] == status


def test_the_command_serves_until_it_is_interrupted(tmp_path, monkeypatch, capsys, tiny_model):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("structgen.models.loading.load", lambda name: tiny_model)
    pages = []
    monkeypatch.setattr(LiveTrace, "wait", lambda live: pages.append(get(live.url, "/events")[2]))
    assert cli.main(["trace", "--choices", "yes, no", "--serve", PROMPT]) == 0
    out, err = capsys.readouterr()
    kind, rest = events(pages[0])[-1]
    assert (kind, rest["text"]) == ("end", out.strip())
    assert "http://127.0.0.1:" in err
    assert (tmp_path / "trace.html").exists()


def test_a_port_that_is_taken_is_a_wrong_command_line(live, capsys, monkeypatch):
    monkeypatch.setattr("structgen.models.loading.load", lambda name: pytest.fail("the model was loaded"))
    port = str(urlsplit(live.url).port)
    assert cli.main(["trace", "--choices", "yes, no", "--serve", "--port", port, PROMPT]) == 2
    assert "structgen: " in capsys.readouterr().err


def test_a_closed_page_does_not_stop_the_run(live, tiny_model):
    connection = http.client.HTTPConnection(urlsplit(live.url).netloc, timeout=60)
    connection.request("GET", "/events")
    connection.getresponse()
    connection.close()
    live.end(structgen.trace(tiny_model, PROMPT, Word, on_step=live.add))
    assert events(get(live.url, "/events")[2])[-1][0] == "end"


def test_the_server_ends_with_its_context(tiny_model):
    with LiveTrace(PROMPT) as live:
        assert get(live.url)[0] == 200
    with pytest.raises(OSError):
        get(live.url)
    assert not [thread for thread in threading.enumerate() if thread.name == "structgen trace"]
