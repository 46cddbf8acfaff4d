"""Sentences for people about what a validator refuses: `age: 200 is more than the maximum 120`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

import jsonschema
import pydantic
from jsonschema.exceptions import best_match

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = ["reasons", "sentences"]

_MAX_SHOWN = 40  # characters of a value
_MAX_LISTED = 6  # values of an enum
_WHOLE = "the value"
_KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}

Words: TypeAlias = Callable[[Any, Any], str]
"""Says what is wrong with a value, given it and the keyword's value."""


def reasons(error: Exception) -> list[str]:
    """Return a sentence for each thing that a validation refused, without repetitions.

    Args:
        error: of Pydantic or jsonschema; of other errors the message is a sentence, or not, and nothing is returned.
    """
    if isinstance(error, jsonschema.ValidationError):
        return sentences([error])
    if not isinstance(error, pydantic.ValidationError):
        return []
    return list(dict.fromkeys(map(_sentence_of_pydantic, error.errors(include_url=False))))


def _sentence_of_pydantic(error: ErrorDetails) -> str:
    place, kind = _place(error["loc"]), error["type"]
    if kind == "missing":
        return f"{place} is required"
    if kind == "extra_forbidden":
        return f"{place} is not an allowed property"
    if kind in _KEYWORDS and (not kind.endswith(("_short", "_long")) or _is_as_long(error)):
        keyword, name = _KEYWORDS[kind]
        return f"{place}: {_WORDS[keyword](error['input'], error['ctx'][name])}"
    message = error["msg"]
    for prefix in ("Value error, ", "Assertion failed, "):
        message = message.removeprefix(prefix)
    return f"{place}: {message}"


def _is_as_long(error: ErrorDetails) -> bool:
    """Return whether Pydantic has counted the parts of the input: a text of JSON's, or items that it did not make one.

    The items of a set are counted without repetitions, and a number may be read as a text.
    """
    value, kind = error["input"], error["type"]
    if kind.startswith("string"):
        return isinstance(value, str)
    return isinstance(value, list | dict) and error["ctx"].get("actual_length") in (None, len(value))


def sentences(errors: Iterable[jsonschema.ValidationError]) -> list[str]:
    """Return a sentence for each thing that is wrong, without repetitions.

    Args:
        errors: the errors of a validator. Of an `anyOf` or `oneOf`, the error that comes closest counts.
    """
    found: dict[str, None] = {}
    for error in errors:
        closest = best_match([error]) or error
        found |= dict.fromkeys(_sentences_of(closest))
    return list(found)


def _sentences_of(error: jsonschema.ValidationError) -> Iterator[str]:
    path, keyword = tuple(error.absolute_path), error.validator
    wanted: Any = error.validator_value
    value: Any = error.instance
    if keyword == "required" and isinstance(value, Mapping):
        for key in wanted:
            if key not in value:
                yield f"{_place((*path, key))} is required"
    elif keyword == "additionalProperties" and wanted is False and isinstance(value, Mapping):
        schema = error.schema if isinstance(error.schema, Mapping) else {}
        for key in _extra(value, schema):
            close = _did_you_mean(key, schema.get("properties", {}))
            yield f"{_place((*path, key))} is not an allowed property{close}"
    elif keyword == "enum" and isinstance(wanted, list):
        listed = ", ".join([*map(_shown, wanted[:_MAX_LISTED]), *(["…"] if len(wanted) > _MAX_LISTED else [])])
        texts = [one for one in wanted if isinstance(one, str)]
        close = _did_you_mean(value, texts) if isinstance(value, str) else ""
        yield f"{_place(path)}: {_shown(value)} is none of {listed}{close}"
    elif isinstance(keyword, str) and keyword in _WORDS:
        yield f"{_place(path)}: {_WORDS[keyword](value, wanted)}"
    else:
        yield f"{_place(path)}: {error.message}"


def _extra(value: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the keys of an object that a schema does not name, as far as Python reads its patterns."""
    patterns = schema.get("patternProperties", {})
    return [
        key
        for key in value
        if key not in schema.get("properties", {}) and not any(_matches(pattern, key) for pattern in patterns)
    ]


def _matches(pattern: str, key: str) -> bool:
    try:
        return re.search(pattern, key) is not None
    except re.error:
        return True


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, [one for one in known if one != name], n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _type(value: Any, wanted: Any) -> str:
    names = wanted if isinstance(wanted, list) else [wanted]
    return f"{_shown(value)} is not {' or '.join([_KINDS.get(name, str(name)) for name in names])}"


def _one_of(value: Any, wanted: Any) -> str:
    return f"{_shown(value)} does not fit exactly one of the {len(wanted)} alternatives"


_KEYWORDS = {
    "greater_than": ("exclusiveMinimum", "gt"),
    "greater_than_equal": ("minimum", "ge"),
    "less_than": ("exclusiveMaximum", "lt"),
    "less_than_equal": ("maximum", "le"),
    "multiple_of": ("multipleOf", "multiple_of"),
    "string_pattern_mismatch": ("pattern", "pattern"),
    "string_too_long": ("maxLength", "max_length"),
    "string_too_short": ("minLength", "min_length"),
    "too_long": ("maxItems", "max_length"),
    "too_short": ("minItems", "min_length"),
}
"""Pydantic's kinds of errors: the keyword that asks the same, and the name of its value in the error's context."""

_WORDS: dict[str, Words] = {
    "type": _type,
    "const": lambda value, wanted: f"{_shown(value)} is not {_shown(wanted)}",
    "minimum": lambda value, wanted: f"{_shown(value)} is less than the minimum {_shown(wanted)}",
    "maximum": lambda value, wanted: f"{_shown(value)} is more than the maximum {_shown(wanted)}",
    "exclusiveMinimum": lambda value, wanted: f"{_shown(value)} is not more than {_shown(wanted)}",
    "exclusiveMaximum": lambda value, wanted: f"{_shown(value)} is not less than {_shown(wanted)}",
    "multipleOf": lambda value, wanted: f"{_shown(value)} is not a multiple of {_shown(wanted)}",
    "minLength": lambda value, wanted: f"{_shown(value)} has {len(value)} characters, fewer than {wanted}",
    "maxLength": lambda value, wanted: f"{_shown(value)} has {len(value)} characters, more than {wanted}",
    "pattern": lambda value, wanted: f"{_shown(value)} does not match the pattern {wanted}",
    "format": lambda value, wanted: f"{_shown(value)} has not the format {wanted}",
    "minItems": lambda value, wanted: f"there are {len(value)} items, fewer than {wanted}",
    "maxItems": lambda value, wanted: f"there are {len(value)} items, more than {wanted}",
    "uniqueItems": lambda value, wanted: f"two items of {_shown(value)} are equal",
    "minProperties": lambda value, wanted: f"there are {len(value)} properties, fewer than {wanted}",
    "maxProperties": lambda value, wanted: f"there are {len(value)} properties, more than {wanted}",
    "anyOf": lambda value, wanted: f"{_shown(value)} fits none of the {len(wanted)} alternatives",
    "oneOf": _one_of,
    "not": lambda value, wanted: f"{_shown(value)} is excluded",
}


def _place(path: tuple[str | int, ...]) -> str:
    """Return the place of a value as people write it: `people[2].name`.

    >>> _place(("people", 2, "name"))
    'people[2].name'
    """
    written = ""
    for member in path:
        if isinstance(member, int):
            written += f"[{member}]"
        elif member.isidentifier():
            written += f".{member}" if written else member
        else:
            written += f"[{_json(member)}]"
    return written or _WHOLE


def _json(value: Any) -> str:
    """Return a value as JSON; a lone surrogate, which no terminal or file takes, as an escape."""
    return json.dumps(value, ensure_ascii=False, default=str).encode(errors="backslashreplace").decode()


def _shown(value: Any) -> str:
    text = _json(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
