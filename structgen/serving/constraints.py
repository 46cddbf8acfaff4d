"""The constraint that a request asks for, in the fields of several servers.

| field | server | value |
|---|---|---|
| `response_format` | OpenAI | `text`, `json_object`, `json_schema`, `structural_tag` |
| `structured_outputs` | vLLM | one of `json`, `json_object`, `regex`, `choice`, `grammar`, `structural_tag` |
| `guided_json`, `guided_regex`, `guided_choice`, `guided_grammar` | vLLM before 0.12 | the same |
| `json_schema`, `grammar` | llama.cpp | a schema; GBNF |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import SchemaError
from structgen.integrations.serving.requests import Requested, read, read_choice, read_grammar, read_schema
from structgen.limits import Limits
from structgen.serving.problems import RequestError

__all__ = ["FIELDS", "Asked", "asked_of"]

MAX_CHARACTERS = 1 << 18  # of one schema or grammar

FIELDS = (
    "response_format",
    "structured_outputs",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    "guided_json_object",
    "json_schema",
    "grammar",
)
"""The fields of a request that ask for a constraint."""

_OBJECT = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A constraint, before it is compiled.

    Attributes:
        param: the field that asks for it.
        make: returns the schema or the grammar with its own options, for a vocabulary and limits; it may take as long
            as a compile.
    """

    param: str
    make: Callable[[Vocabulary, Limits], Requested]


def asked_of(body: Mapping[str, Any]) -> Asked | None:
    """Return the constraint that a request asks for; None for free text.

    Args:
        body: the request.

    Raises:
        RequestError: a field is wrong, or several ask for a constraint.
    """
    found = [asked for field in FIELDS if body.get(field) is not None for asked in _READERS[field](body[field], field)]
    if len(found) > 1:
        fields = ", ".join(asked.param for asked in found)
        raise RequestError(f"one constraint at a time: {fields} each ask for one", param=found[1].param)
    return found[0] if found else None


def _response_format(value: Any, param: str) -> list[Asked]:
    kind = _mapping(value, param).get("type")
    if kind == "text":
        return []
    if kind == "json_object":
        return _json_object(value.get("schema") or True, param)
    if kind == "json_schema":
        # OpenAI nests the schema; older clients of llama.cpp and the interface of responses do not.
        inner = value.get("json_schema")
        if isinstance(inner, Mapping) and ("schema" in inner or "schema" not in value):
            if "schema" not in inner:
                raise RequestError("a json_schema has a field schema", param=f"{param}.json_schema.schema")
            return _json(inner["schema"], f"{param}.json_schema.schema")
        if "schema" not in value:
            raise RequestError("a response_format of this type has a schema", param=f"{param}.json_schema")
        return _json(value["schema"], f"{param}.schema")
    if kind == "structural_tag":
        return _structural_tag(value, param)
    known = "text, json_object, json_schema, structural_tag"
    raise RequestError(f"the type {kind!r} is unknown; known are {known}", param=f"{param}.type")


def _structured_outputs(value: Any, param: str) -> list[Asked]:
    asked = {key: one for key, one in _mapping(value, param).items() if one is not None and one is not False}
    unknown = [key for key in asked if key not in _KINDS]
    if unknown:
        known = ", ".join(_KINDS)
        raise RequestError(f"{unknown[0]!r} is not supported; known are {known}", param=f"{param}.{unknown[0]}")
    if len(asked) != 1:
        raise RequestError(f"{param} has exactly one of {', '.join(_KINDS)}", param=param)
    (kind, one), *_ = asked.items()
    return _KINDS[kind](one, f"{param}.{kind}")


def _json_object(value: Any, param: str) -> list[Asked]:
    return _json(_OBJECT if value is True else value, param) if value else []


def _json(value: Any, param: str) -> list[Asked]:
    _check_size(value if isinstance(value, str) else json.dumps(value), param)
    try:
        requested = read_schema(value)
    except SchemaError as error:
        place = f"{param}#{error.pointer}" if error.pointer else param
        raise RequestError(str(error), param=place, code="invalid_schema") from error
    return [Asked(param, lambda *_: requested)]


def _regex(value: Any, param: str) -> list[Asked]:
    pattern = _text(value, param)
    return [Asked(param, lambda vocabulary, limits: read("regex", pattern, vocabulary, limits))]


def _choice(value: Any, param: str) -> list[Asked]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise RequestError("a choice is a list of texts", param=param)
    _check_size("".join(value), param)
    return [Asked(param, lambda *_: read_choice(value))]


def _grammar(value: Any, param: str) -> list[Asked]:
    text = _text(value, param)
    return [Asked(param, lambda _, limits: read_grammar(text, limits))]


def _gbnf(value: Any, param: str) -> list[Asked]:
    text = _text(value, param)
    return [Asked(param, lambda _, limits: read_grammar(text, limits, "gbnf"))]


def _structural_tag(value: Any, param: str) -> list[Asked]:
    value = value if isinstance(value, str) else _mapping(value, param)
    _check_size(value if isinstance(value, str) else json.dumps(value), param)
    return [Asked(param, lambda vocabulary, limits: read("structural_tag", value, vocabulary, limits))]


def _mapping(value: Any, param: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RequestError(f"{param} is an object, not {json.dumps(value)[:40]}", param=param)
    return value


def _text(value: Any, param: str) -> str:
    if not isinstance(value, str):
        raise RequestError(f"{param} is a text", param=param)
    _check_size(value, param)
    return value


def _check_size(text: str, param: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise RequestError(
            f"{param} has {len(text)} characters; at most {MAX_CHARACTERS} are read", param=param, code="too_large"
        )


_KINDS: dict[str, Callable[[Any, str], list[Asked]]] = {
    "json": _json,
    "json_object": _json_object,
    "regex": _regex,
    "choice": _choice,
    "grammar": _grammar,
    "structural_tag": _structural_tag,
}
_READERS: dict[str, Callable[[Any, str], list[Asked]]] = {
    "response_format": _response_format,
    "structured_outputs": _structured_outputs,
    "guided_json": _json,
    "guided_regex": _regex,
    "guided_choice": _choice,
    "guided_grammar": _grammar,
    "guided_json_object": _json_object,
    "json_schema": _json,
    "grammar": _gbnf,
}
