"""Sentences about JSON that breaks a schema before it is finished: `age: 200 is more than the maximum 120`.

The text is closed, so that a validator can read it:

    {"name": "Ann", "age": 200        {"name": "Ann", "age": 200}
    {"people": [{"ag                  {"people": [{"ag": null}]}

Then some of what the validator says is true only because the text is not finished: that a property is missing, that a
text is too short. So errors about what is still open are left out, except those that more text cannot mend.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonschema

from structgen.schema.options import SchemaOptions
from structgen.schema.sentences import sentences
from structgen.schema.validation import validator_for

__all__ = ["unfinished_sentences"]

_MAX_SENTENCES = 3
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|"(?:[^"\\]|\\.)*\\?\Z|[][{}:,]|[^][{}:,"\s]+', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}
_UNMENDABLE = {
    "object": {"additionalProperties", "maxProperties", "propertyNames", "type", "unevaluatedProperties"},
    "array": {"maxItems", "type", "uniqueItems"},
    "string": {"const", "enum", "format", "maxLength", "pattern", "type"},
    "number": {"const", "enum", "exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "type"},
}
"""By the kind of an open value: the keywords whose errors stand, whatever follows."""


class _Closed(NamedTuple):
    """A JSON text that was closed.

    Attributes:
        value: the value.
        kinds: of each open value, its kind, by the keys and indices that lead to it. "none" for a value that is not
            there yet.
        key: a key that is open at the end; None if none is.
    """

    value: Any
    kinds: dict[tuple[str | int, ...], str]
    key: str | None


def unfinished_sentences(schema: dict[str, Any] | bool, options: SchemaOptions, text: str) -> tuple[str, ...]:
    """Return what is wrong with the beginning of a JSON text, in sentences; nothing where that is not known.

    Args:
        schema: the JSON Schema.
        options: those that it is read with.
        text: the beginning. It is refused: some text before its end could still be finished.
    """
    try:
        closed = _closed(text)
        errors = [error for error in validator_for(schema, options).iter_errors(closed.value) if _stands(error, closed)]
        return tuple(sentences(errors)[:_MAX_SENTENCES])
    except (ValueError, RecursionError):  # the text is not JSON: the message about its bytes says more
        return ()


def _stands(error: jsonschema.ValidationError, closed: _Closed) -> bool:
    """Return whether an error stands, whatever follows the text."""
    kind = closed.kinds.get(tuple(error.absolute_path))
    if closed.key is not None and error.validator == "additionalProperties" and isinstance(error.schema, dict):
        return not any(name.startswith(closed.key) for name in error.schema.get("properties", ()))
    if error.context:  # of anyOf and oneOf: all alternatives are wrong, whatever follows
        return all(_stands(each, closed) for each in error.context)
    if kind == "number" and isinstance(error.instance, int | float):  # more digits bring it farther from 0
        grows = "inimum" if error.instance > 0 else "aximum"
        return error.validator in _UNMENDABLE[kind] and grows not in str(error.validator)
    return kind is None or error.validator in _UNMENDABLE.get(kind, ())


def _closed(text: str) -> _Closed:
    """Close a JSON text that breaks off.

    Raises:
        ValueError: it is not the beginning of a JSON text, or breaks off within a literal.
    """
    tokens = [found.group() for found in _TOKEN.finditer(text)]
    opened: list[str] = []
    for token in tokens:
        if token in _CLOSING:
            opened.append(token)
        elif token in _CLOSING.values() and (not opened or _CLOSING[opened.pop()] != token):
            raise ValueError("a bracket closes nothing")
    last = tokens[-1] if tokens else ""
    is_string = last.startswith('"') and not _is_whole(last)
    text = text.rstrip()
    if is_string:
        text = _without_escape(text) + '"'
    before = tokens[-2] if len(tokens) > 1 else ""
    is_key = bool(opened) and opened[-1] == "{" and last.startswith('"') and before in ("{", ",")
    is_missing = is_key or last == ":"
    if is_missing:
        text += "null" if last == ":" else ": null"
    elif last == ",":
        text = text[:-1]
    value = json.loads(text + "".join(_CLOSING[each] for each in reversed(opened)))
    kinds = {path: "object" if bracket == "{" else "array" for path, bracket in zip(_last_paths(value), opened)}
    paths = list(_last_paths(value))
    if is_missing:
        kinds[paths[len(opened)]] = "none"
    elif is_string or last[:1] in "-0123456789":
        kinds[paths[len(opened)]] = "string" if is_string else "number"
    return _Closed(value, kinds, str(paths[len(opened)][-1]) if is_key and is_string else None)


def _is_whole(token: str) -> bool:
    """Return whether a string has its closing quote."""
    return re.fullmatch(r'"(?:[^"\\]|\\.)*"', token, re.DOTALL) is not None


def _without_escape(text: str) -> str:
    """Return an open string without an escape that breaks off at its end."""
    return re.sub(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z", r"\1", text)


def _last_paths(value: Any) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of a value, that of its last member, that of the last member of this, and so on."""
    path: tuple[str | int, ...] = ()
    yield path
    while value and isinstance(value, dict | list):
        last: str | int = next(reversed(value)) if isinstance(value, dict) else len(value) - 1
        value = value[last]  # type: ignore[index]
        path = (*path, last)
        yield path
