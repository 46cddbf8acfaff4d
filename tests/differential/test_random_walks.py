"""Texts that masks allow are valid, and valid values can be written.

Texts are sampled under the masks of 200 Pydantic types and of MaskBench's schemas, in each mode of white space, over
bytes and over SmolLM2's tokens, and read by Pydantic and by `jsonschema`. The other way round, values that Pydantic
writes, and MaskBench's valid instances, are given to the matcher.

`STRUCTGEN_DIFFERENTIAL=full` takes all schemas, and many more walks.
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import re
import warnings
from typing import Any

import pydantic
import pytest
from support.models import REFUSED, TYPES
from support.smollm2 import smollm2_tokens
from support.texts import is_read
from support.walks import Sampler, byte_vocabulary

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError, UnsatisfiableSchemaError, UnsupportedSchemaError
from structgen.schema import SchemaWarning, resolve, schema_to_rules

FULL = os.environ.get("STRUCTGEN_DIFFERENTIAL") == "full"
WALKS = 30 if FULL else 3
REAL_WALKS = 10 if FULL else 1
SCHEMA_WALKS = 4 if FULL else 2  # for each vocabulary and mode, all six in the full form
SCHEMAS = 999 if FULL else 120
MODES = ("any", "single", "compact")
DATA = pathlib.Path(__file__).parents[3] / "shared" / "data" / "maskbench"
FILES = sorted(DATA.glob("*.json")) if DATA.is_dir() else []

NEVER_CHOSEN = {"string:contains", "string:anchored_choice"}
"""Types whose random texts may run on: few of them hold what the pattern looks for."""

NOT_READ_BACK = {
    "collection:json_text_of_integers": "Pydantic writes the value, and reads its text",
    "collection:dict_of_models": "a field without `init` is written and not read",
    "model:Computed": "a computed field is written and not read",
    "model:Nested": "a field without `init` is written and not read",
    "model:PairOf[Literal['k'], Point]": "a field without `init` is written and not read",
    "model:Point": "a field without `init` is written and not read",
    "model:Segment": "a field without `init` is written and not read",
    "number:decimal_multiple": "multiples are numbers, and Pydantic writes decimals as strings",
}
"""Why what Pydantic writes for a value of a type is not what the type's grammar writes."""

OUT_OF_BOUNDS = re.compile(rb'\d{65}|"-?[\d.]+E[+-]?\d+"')
"""Decimals that Pydantic writes in a form that the grammars do not use: over 64 digits, text with an exponent."""


@pytest.fixture(scope="module")
def byte_sampler() -> Sampler:
    return Sampler(byte_vocabulary())


@pytest.fixture(scope="module")
def real_sampler() -> Sampler:
    tokens = smollm2_tokens()
    end = max(tokens) + 1
    return Sampler(Vocabulary.from_bytes({**tokens, end: b""}, eos_token_ids=(end,)))


def _compiled(source: Any, whitespace: str, vocabulary: Vocabulary) -> CompiledGrammar:
    return CompiledGrammar(schema_to_rules(source, whitespace=whitespace), vocabulary)


# -- types -----------------------------------------------------------------------------------------------------------


def _read(name: str, sampler: Sampler, whitespace: str, count: int) -> list[Any]:
    """Return the values of random texts, as Pydantic reads them."""
    adapter = _adapter(name)
    compiled = _compiled(TYPES[name], whitespace, sampler.vocabulary)
    rng = random.Random(f"{name} {whitespace}")
    walks = [sampler.walk(compiled, rng) for _ in range(count)]
    finished = [walk.text for walk in walks if walk.finished]
    assert finished or name in NEVER_CHOSEN or count < 3
    return [adapter.validate_json(text) for text in finished]


def _adapter(name: str) -> pydantic.TypeAdapter[Any]:
    kind = TYPES[name]
    return kind if isinstance(kind, pydantic.TypeAdapter) else pydantic.TypeAdapter(kind)


def test_there_are_two_hundred_types():
    assert len(TYPES) >= 200


@pytest.mark.parametrize("name", TYPES)
def test_texts_of_types_are_read_by_pydantic(name, byte_sampler):
    for whitespace in MODES:
        _read(name, byte_sampler, whitespace, WALKS)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", TYPES)
def test_texts_of_real_tokens_are_read_by_pydantic(name, real_sampler):
    for whitespace in MODES if FULL else random.Random(name).sample(MODES, 1):
        _read(name, real_sampler, whitespace, REAL_WALKS)


@pytest.mark.parametrize("name", TYPES)
def test_what_pydantic_writes_is_let_through(name, byte_sampler):
    adapter = _adapter(name)
    compiled = _compiled(TYPES[name], "compact", byte_sampler.vocabulary)
    refused: list[bytes] = []
    for value in _read(name, byte_sampler, "compact", WALKS):
        try:
            text = adapter.dump_json(value, by_alias=True)
            adapter.validate_json(text)
        except ValueError:  # a secret, or bytes that are no UTF-8: not read again
            continue
        if not OUT_OF_BOUNDS.search(text) and not is_read(compiled, text):
            refused.append(text)
    if name not in NOT_READ_BACK:
        assert not refused


@pytest.mark.parametrize("name", REFUSED)
def test_other_types_are_refused_by_name(name):
    kind, keyword = REFUSED[name]
    with pytest.raises(UnsupportedSchemaError) as caught:
        schema_to_rules(kind)
    assert caught.value.keyword == keyword


# -- MaskBench -------------------------------------------------------------------------------------------------------


def _sample(files: list[pathlib.Path]) -> list[pathlib.Path]:
    return files if len(files) <= SCHEMAS else sorted(random.Random(7).sample(files, SCHEMAS))


needs_data = pytest.mark.skipif(not FILES, reason="the shared data is not there")


def _case(path: pathlib.Path) -> dict[str, Any]:
    with path.open() as file:
        return json.load(file)


def _grammars(schema: Any, vocabulary: Vocabulary, modes: tuple[str, ...]) -> dict[str, CompiledGrammar]:
    """Return a schema's grammars by mode; skip the test where the schema is refused by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        try:
            return {mode: _compiled(schema, mode, vocabulary) for mode in modes}
        except UnsupportedSchemaError as error:
            assert error.keyword
            pytest.skip(f"refused: {error.keyword}")
        except UnsatisfiableSchemaError:
            return {}


@needs_data
@pytest.mark.parametrize("path", _sample(FILES), ids=lambda path: path.stem)
def test_texts_of_real_schemas_are_valid(path, byte_sampler, real_sampler):
    schema = _case(path)["schema"]
    parse = resolve(schema).parse
    rng = random.Random(path.stem)
    modes = MODES if FULL else tuple(rng.sample(MODES, 1))
    for sampler in (byte_sampler, real_sampler) if FULL else (rng.choice((byte_sampler, real_sampler)),):
        for compiled in _grammars(schema, sampler.vocabulary, modes).values():
            for _ in range(SCHEMA_WALKS):
                walk = sampler.walk(compiled, rng)
                if walk.finished:
                    parse(walk.text.decode())


def _names_in_order(schema: Any) -> dict[str, int]:
    """Return the names of all properties, with the position of each in the schema's text."""
    names: dict[str, int] = {}
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            for keyword in ("properties", "required"):
                if isinstance(value.get(keyword), (dict, list)):
                    for name in value[keyword]:
                        if isinstance(name, str):
                            names.setdefault(name, len(names))
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            stack.extend(reversed(value))
    return names


class _Writer:
    """Writes a value with the keys of its objects in an order that the grammar accepts."""

    def __init__(self, compiled: CompiledGrammar, schema: Any) -> None:
        self._matcher = Matcher(compiled)
        self._names = _names_in_order(schema)
        self._steps = 100_000

    def writes(self, value: Any) -> bool:
        return any(True for _ in self._value(value) if self._matcher.is_accepting)

    def _text(self, text: str) -> Any:
        """Yield once if the text is allowed; roll it back when that led nowhere."""
        self._steps -= 1
        if self._steps < 0:
            return
        before = self._matcher.fork()
        try:
            self._matcher.accept_bytes(text.encode())
            yield
        except TokenRejectedError:
            pass
        finally:
            self._matcher = before

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict) and value:
            keys = sorted(value, key=lambda key: self._names.get(key, len(self._names)))
            for _ in self._text("{"):
                yield from self._pairs(value, keys, "")
        elif isinstance(value, list) and value:
            for _ in self._text("["):
                yield from self._items(value, 0)
        else:
            yield from self._text(json.dumps(value, ensure_ascii=False))

    def _items(self, items: list[Any], index: int) -> Any:
        for _ in self._value(items[index]):
            if index + 1 == len(items):
                yield from self._text("]")
            else:
                for _ in self._text(", "):
                    yield from self._items(items, index + 1)

    def _pairs(self, value: dict[str, Any], keys: list[str], lead: str) -> Any:
        if not keys:
            yield from self._text("}")
        allowed = [key for key in keys if any(True for _ in self._key(key, lead))]
        for key in allowed:
            for _ in self._key(key, lead):
                for _ in self._value(value[key]):
                    # A key that could be written before this one, and cannot any more, will never be.
                    if all(other == key or any(True for _ in self._key(other, ", ")) for other in allowed):
                        yield from self._pairs(value, [other for other in keys if other != key], ", ")

    def _key(self, key: str, lead: str) -> Any:
        return self._text(f"{lead}{json.dumps(key, ensure_ascii=False)}: ")


@needs_data
@pytest.mark.parametrize("path", _sample(FILES), ids=lambda path: path.stem)
def test_valid_instances_are_let_through_but_for_the_order_of_keys(path, byte_sampler):
    case = _case(path)
    instances = [test["data"] for test in case["tests"] if test["valid"]]
    compiled = _grammars(case["schema"], byte_sampler.vocabulary, ("single",)).get("single")
    if compiled is None:
        assert not instances
        return
    for instance in instances:
        if not is_read(compiled, json.dumps(instance, ensure_ascii=False).encode()):
            assert _Writer(compiled, case["schema"]).writes(instance), instance
