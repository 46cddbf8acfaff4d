"""Schemas exported to other engines: on random walks they allow the tokens that our matcher allows.

`STRUCTGEN_DIFFERENTIAL=full` takes more schemas, and more walks.
"""

from __future__ import annotations

import os
import random
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from support.engine_process import EngineProcess
from support.engines import DIALECTS, first_difference, is_installed
from support.export_schemas import SCHEMAS
from support.grammars import random_grammar
from support.kbnf_grammars import BY_HAND, realistic_grammar
from support.schemas import SCHEMAS as GENERATED
from support.schemas import document
from support.shared_data import NO_DATA, real_case, real_files
from support.smollm2 import smollm2_tokens
from support.walks import Sampler, byte_vocabulary

import structgen
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.schema import SchemaWarning, schema_to_kbnf

FULL = os.environ.get("STRUCTGEN_DIFFERENTIAL") == "full"
WALKS = 8 if FULL else 2
SECONDS = 30.0  # for an engine to answer to one grammar
REAL = 100 if FULL else 20
EXAMPLES = 200 if FULL else 15
"""Schemas of MaskBench, and generated ones, for each engine."""

LARGEST_TEXT = 300_000
"""Grammars that are longer are for no engine; they are left out here."""

REAL_VOCABULARY = [
    "string:bounded_pattern",
    "integer:bounded",
    "number:decimal_digits",
    "scalar:datetime",
    "collection:matrix",
    "collection:recursive_alias",
    "model:Person",
    "model:ManyOptional",
    "model:Allowing",
    "model:Calculation",
]
"""Schemas that are tried on the tokens of SmolLM2 as well."""


@pytest.fixture(scope="module", params=DIALECTS)
def engine(request):
    if not is_installed(request.param):
        pytest.skip(f"{request.param} is not installed")
    return request.param


def _process(engine: str, vocabulary: Vocabulary) -> EngineProcess:
    tokens = {token: vocabulary.token_bytes(token) or b"" for token in range(vocabulary.size)}
    return EngineProcess(f"engine_worker.py {engine}", tokens, SECONDS)


@pytest.fixture(scope="module")
def on_bytes(engine):
    process = _process(engine, byte_vocabulary())
    yield process
    process.close()


@pytest.fixture(scope="module")
def real_vocabulary():
    tokens = dict(enumerate(smollm2_tokens().values()))
    end = len(tokens)
    return Vocabulary.from_bytes({**tokens, end: b""}, eos_token_ids=(end,))


@pytest.fixture(scope="module")
def on_real_tokens(engine, real_vocabulary):
    if engine == "llama.cpp":
        pytest.skip("its vocabularies are files, and those of byte-level tokens need more than their bytes")
    process = _process(engine, real_vocabulary)
    yield process
    process.close()


def _check(
    engine: str, process: EngineProcess, grammar: ast.Grammar, text: str, vocabulary: Vocabulary, **options: bool
) -> None:
    compiled = CompiledGrammar(normalize(grammar), vocabulary, eager=False)
    sampler, rng = Sampler(vocabulary, longest=300, late=40), random.Random(text)
    walks = [sampler.walk(compiled, rng) for _ in range(WALKS)]
    difference = first_difference(engine, process, text, compiled, walks, **options)
    assert not difference, f"{difference}\n{text[:2000]}"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", SCHEMAS)
def test_the_same_bytes(engine, on_bytes, name):
    text = structgen.export(SCHEMAS[name], DIALECTS[engine], numbers="any")
    _check(engine, on_bytes, schema_to_kbnf(SCHEMAS[name]), text, byte_vocabulary())


@pytest.mark.parametrize("name", REAL_VOCABULARY)
def test_the_same_real_tokens(engine, on_real_tokens, real_vocabulary, name):
    text = structgen.export(SCHEMAS[name], DIALECTS[engine], whitespace="single", numbers="any")
    _check(engine, on_real_tokens, schema_to_kbnf(SCHEMAS[name], whitespace="single"), text, real_vocabulary)


@pytest.mark.parametrize("path", real_files()[:: max(1, len(real_files()) // REAL)], ids=lambda path: path.stem)
def test_real_schemas(engine, on_bytes, path):
    _check_if_exported(engine, on_bytes, real_case(path).schema)


@pytest.mark.skipif(not real_files(), reason=NO_DATA)
def test_there_are_real_schemas():
    assert len(real_files()) > 900


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(schema=GENERATED)
def test_generated_schemas(engine, on_bytes, schema):
    _check_if_exported(engine, on_bytes, document(s=schema) | {"$ref": "#/$defs/s"})


def _check_if_exported(engine: str, process: EngineProcess, schema: Any) -> None:
    """Check a schema if it can be exported: `uniqueItems` cannot, and a schema may have no value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        try:
            grammar = schema_to_kbnf(schema, whitespace="single")
            text = structgen.export(schema, DIALECTS[engine], whitespace="single", numbers="any")
        except (structgen.SchemaError, structgen.LimitExceededError):
            return
    if len(text) <= LARGEST_TEXT:
        _check(engine, process, grammar, text, byte_vocabulary())


@pytest.mark.parametrize("text", BY_HAND)
def test_grammars_by_hand(engine, on_bytes, text):
    _check_grammar(engine, on_bytes, parse(text))


@pytest.mark.parametrize("seed", range(400 if FULL else 25))
def test_random_grammars(engine, on_bytes, seed):
    rng = random.Random(seed)
    _check_grammar(engine, on_bytes, random_grammar(rng))
    _check_grammar(engine, on_bytes, parse(realistic_grammar(rng)))


REFUSED = ("not UTF-8", "derives no text", "left recursion", "may be empty", "cannot express")


def _check_grammar(engine: str, process: EngineProcess, grammar: ast.Grammar) -> None:
    source = structgen.Grammar("gbnf", "", False, grammar)  # as KBNF, it would not have the empty text
    try:
        text = structgen.export(source, DIALECTS[engine])
    except structgen.GrammarError as error:
        assert any(reason in str(error) for reason in REFUSED), error
        return
    # Other than JSON, these have U+0000, which llama.cpp has not.
    _check(engine, process, grammar, text, byte_vocabulary(), whole_characters=engine == "llama.cpp")
