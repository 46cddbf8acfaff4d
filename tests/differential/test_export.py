"""Schemas exported as KBNF text: read back it is the same language, and the published `kbnf` allows the same tokens."""

from __future__ import annotations

import importlib.util
import os
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.engine_process import EngineProcess
from support.export_schemas import SCHEMAS
from support.schemas import SCHEMAS as GENERATED
from support.schemas import document
from support.walks import Sampler, Walk, byte_vocabulary

import structgen
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.schema import SchemaOptions, resolve, schema_to_kbnf
from structgen.schema.rules.to_rules import _tables, read_schema

FULL = os.environ.get("STRUCTGEN_DIFFERENTIAL") == "full"
WALKS = 12 if FULL else 3
SECONDS = 20.0  # for kbnf to answer to one grammar
BYTES = {byte: bytes([byte]) for byte in range(256)}

KBNF_DIFFERS: dict[str, str] = {}
"""Schemas for which the published engine does not answer, or allows other tokens, with the cause."""


def _walks(compiled: CompiledGrammar, seed: str) -> list[Walk]:
    sampler = Sampler(compiled.vocabulary, longest=300, late=40)
    rng = random.Random(seed)
    return [sampler.walk(compiled, rng) for _ in range(WALKS)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("whitespace", ["any", "single"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_the_text_read_back_is_the_same_language(name, whitespace):
    vocabulary = byte_vocabulary()
    numbers = "any" if whitespace == "any" else "plain"
    text = structgen.export(SCHEMAS[name], "kbnf", whitespace=whitespace, numbers=numbers)
    printed = schema_to_kbnf(SCHEMAS[name], whitespace=whitespace, numbers=numbers)
    direct = CompiledGrammar(normalize(printed), vocabulary, eager=False)
    read_back = CompiledGrammar(normalize(parse(text)), vocabulary, eager=False)
    for one, other in ((direct, read_back), (read_back, direct)):
        for walk in _walks(one, name):
            mine, theirs = Matcher(one), Matcher(other)
            for byte in walk.text:
                assert mine.allowed_token_ids() == theirs.allowed_token_ids(), walk.text
                mine.accept_token(byte)
                theirs.accept_token(byte)
            assert mine.allowed_token_ids() == theirs.allowed_token_ids(), walk.text


def _runs(schema: Any) -> CompiledGrammar:
    """Return the grammar that the engine runs, without the two conditions that only text so far can tell."""
    source = resolve(schema, options=SchemaOptions(whitespace="any"))
    tables = read_schema(source.json_schema, _tables, source.options, captures=False)
    return CompiledGrammar(tables, byte_vocabulary(), eager=False)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(GENERATED.map(lambda schema: document(a=schema) | {"$ref": "#/$defs/a"}), st.integers(0, 9))
def test_the_grammar_that_runs_is_the_one_that_is_written(schema, seed):
    try:
        text = structgen.export(schema, "kbnf", numbers="any")
    except (structgen.SchemaError, structgen.LimitExceededError):
        assume(False)
    read_back = CompiledGrammar(normalize(parse(text)), byte_vocabulary(), eager=False)
    running = _runs(schema)
    sampler, rng = Sampler(byte_vocabulary(), longest=100, late=30), random.Random(seed)
    for one in (running, read_back):
        data = sampler.walk(one, rng).text
        mine, theirs = Matcher(running), Matcher(read_back)
        for byte in data:
            assert mine.allowed_token_ids() == theirs.allowed_token_ids(), data
            mine.accept_token(byte)
            theirs.accept_token(byte)
        assert mine.allowed_token_ids() == theirs.allowed_token_ids(), data


@pytest.fixture(scope="module")
def published():
    if importlib.util.find_spec("kbnf") is None:
        pytest.skip("the oracle, kbnf, is not installed")
    process = EngineProcess("kbnf_worker.py", BYTES, SECONDS)
    yield process
    process.close()


def _eager_steps(compiled: CompiledGrammar, text: bytes) -> list[list[int]]:
    """Return the allowed tokens before each byte of a text."""
    matcher = Matcher(compiled)
    steps = []
    for byte in text:
        steps.append(matcher.allowed_token_ids())
        matcher.accept_token(byte)
    assert matcher.is_accepting
    return steps


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_engine_allows_the_same_tokens(name, published):
    text = structgen.export(SCHEMAS[name], "kbnf", whitespace="single", numbers="any", end="\n")
    direct = CompiledGrammar(
        normalize(schema_to_kbnf(SCHEMAS[name], whitespace="single")), byte_vocabulary(), eager=False
    )
    texts = [walk.text + b"\n" for walk in _walks(direct, name) if walk.finished and walk.text]
    eager = CompiledGrammar(normalize(parse(text), keep_endless=True), Vocabulary.from_bytes(BYTES), eager=True)
    answer = published.ask(text, [list(data) for data in texts])
    if name in KBNF_DIFFERS:
        assert _difference(eager, texts, answer), "kbnf agrees now: take it off the table"
    else:
        assert not _difference(eager, texts, answer)


def _difference(eager: CompiledGrammar, texts: list[bytes], answer: dict[str, Any]) -> str:
    """Return the first difference from kbnf; "" for none."""
    if "walks" not in answer:
        return str(answer["error"])
    for data, steps in zip(texts, answer["walks"]):
        expected = _eager_steps(eager, data)
        for at, (bits, result) in enumerate(steps[: len(data)]):
            theirs = [byte for byte in range(256) if bytes.fromhex(bits)[byte >> 3] >> (byte & 7) & 1]
            if theirs != expected[at]:
                return f"after {data[:at]!r}: ours {bytes(expected[at])!r}, theirs {bytes(theirs)!r}"
            if result != ("Finished" if at + 1 == len(data) else "Ongoing"):
                return f"after {data[: at + 1]!r}: {result}"
    return ""
