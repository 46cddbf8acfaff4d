"""What is logged, at which level, and the spans of OpenTelemetry."""

import logging
import subprocess
import sys
from typing import Literal

import pytest

import structgen
from structgen.reporting.telemetry import Span


@pytest.fixture(autouse=True)
def debug(caplog):
    caplog.set_level(logging.DEBUG, logger="structgen")


def messages(caplog, level):
    return [record.getMessage() for record in caplog.records if record.levelno == level]


VOCABULARY = structgen.Vocabulary.from_bytes({0: b"1", 1: b"2", 2: b""}, eos_token_ids=[2])


def test_a_compile_and_a_grammar_from_the_cache(caplog):
    structgen.clear_cache()
    structgen.compile({"enum": [1, 212]}, VOCABULARY)
    (told,) = messages(caplog, logging.DEBUG)
    assert told.startswith("compiled a grammar in ") and told.endswith(" s, for 3 tokens")
    caplog.clear()
    structgen.compile({"enum": [1, 212]}, VOCABULARY)
    assert messages(caplog, logging.DEBUG) == ["the grammar was in the cache"]


def test_a_slow_compile_is_an_info(caplog, monkeypatch):
    monkeypatch.setattr("structgen.compilation.compiler.SLOW_SECONDS", 0.0)
    structgen.compile({"enum": [1]}, VOCABULARY, cache=False)
    assert len(messages(caplog, logging.INFO)) == 1


def test_a_compile_that_fails(caplog):
    with pytest.raises(structgen.SchemaError):
        structgen.compile({"enum": []}, VOCABULARY)
    assert messages(caplog, logging.INFO)[-1].startswith("compiling failed after ")
    assert messages(caplog, logging.INFO)[-1].endswith("UnsatisfiableSchemaError")


def test_a_full_cache(caplog):
    structgen.clear_cache()
    limits = structgen.Limits(cache_bytes=1)
    for number in (1, 2):
        structgen.compile({"enum": [number]}, VOCABULARY, limits=limits)
    assert messages(caplog, logging.INFO) == ["the cache is full: 1 grammars were dropped (cache_bytes=1)"]


def refuse_once():
    answers = iter([ValueError("no, not that"), None])

    def validate(value):
        error = next(answers)
        if error is not None:
            raise error

    return validate


def test_a_retry_and_its_text(caplog, tiny_model):
    structgen.generate(tiny_model, "hi", Literal["a", "b"], max_retries=1, validate=refuse_once())
    assert messages(caplog, logging.INFO) == ["answer 1 was refused (ValueError); trying again"]
    assert any("no, not that" in text for text in messages(caplog, logging.DEBUG))
    assert not any("no, not that" in text for text in messages(caplog, logging.INFO))


def test_an_answer_that_the_budget_ends(caplog, tiny_model):
    structgen.generate(tiny_model, "hi", str, max_new_tokens=12, temperature=1.0, seed=1)
    assert messages(caplog, logging.INFO) == ["the budget of 12 tokens decided how the answer ends"]


class _Spans:
    """A tracer that keeps the spans."""

    def __init__(self):
        self.ended = []

    def start_span(self, name, context, *, attributes, start_time):
        self.name, self.attributes, self.events = name, attributes, []
        assert start_time > 0
        return self

    def record_exception(self, error):
        self.events.append(type(error).__name__)

    def set_status(self, status):
        self.events.append(status.status_code.name)

    def end(self):
        self.ended.append((self.name, self.attributes, self.events))


@pytest.fixture
def spans(monkeypatch):
    trace = pytest.importorskip("opentelemetry.trace", reason="the lint group has it")
    found = _Spans()
    monkeypatch.setattr(trace, "get_tracer", lambda name: found)
    return found


def test_spans_of_a_run(spans, tiny_model):
    structgen.clear_cache()
    generator = structgen.Generator(tiny_model, Literal["yes", "nope"])
    result = generator.run("hi")
    compiled, run = spans.ended
    assert compiled == ("structgen.compile", {"structgen.vocabulary_size": tiny_model.vocabulary.size}, [])
    assert run[0] == "structgen.run" and run[2] == []
    assert run[1]["gen_ai.usage.output_tokens"] == result.usage.completion_tokens
    assert run[1]["gen_ai.response.finish_reasons"] == (result.finish_reason,)
    assert run[1]["structgen.forced_tokens"] == result.usage.forced_tokens


def test_the_span_of_a_run_that_fails(spans, tiny_model):
    def validate(value):
        raise ValueError("no")

    with pytest.raises(structgen.ValidationFailedError):
        structgen.generate(tiny_model, "hi", Literal["yes", "nay"], validate=validate)
    name, attributes, events = spans.ended[-1]
    assert name == "structgen.run"
    assert attributes["structgen.refused_attempts"] == 1
    assert "gen_ai.response.finish_reasons" not in attributes
    assert events == ["ValidationFailedError", "ERROR"]


def test_nothing_is_imported_for_spans():
    code = (
        "import sys; from structgen.reporting.telemetry import Span; Span('a').end({}); "
        "assert not any(name.startswith('opentelemetry') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_span_knows_its_time():
    assert 0 <= Span("a").seconds < 60
