"""Requests of real servers, each with a check of its answers."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12, "pattern": "^[A-Z][a-z]+$"},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 3, "uniqueItems": True},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
OPTIONS = {**PERSON, "x-structgen": {"whitespace": "single", "property_order": "any"}}
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "tag",
        "begin": "<call>",
        "content": {"type": "json_schema", "json_schema": {"type": "integer", "minimum": 3, "maximum": 99}},
        "end": "</call>",
    },
}
# Each kind of request, as fields of `structured_outputs`, and a regex of its texts; for schemas the schema.
REQUESTS: list[tuple[dict[str, Any], Any]] = [
    ({"json": PERSON}, PERSON),
    ({"json": OPTIONS}, PERSON),
    ({"regex": "[0-9]{4}-[0-9]{2}"}, "[0-9]{4}-[0-9]{2}"),
    ({"choice": ["alpha", "beta", "gamma ray"]}, "alpha|beta|gamma ray"),
    ({"grammar": 'root ::= "id-" [a-f]{2,5}'}, "id-[a-f]{2,5}"),
    ({"grammar": 'start ::= "ja;" | "nein;" #\'[a-z]{3}\';'}, "ja;|nein;[a-z]{3}"),
    ({"grammar": 'start: "<" WORD ("," WORD)~1..2 ">"\nWORD: /[a-z]{2,4}/'}, "<[a-z]{2,4}(,[a-z]{2,4}){1,2}>"),
    ({"structural_tag": json.dumps(TAG)}, r"<call>.+</call>"),
]
# Requests that must be refused, with a part of the message.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"json": {"type": "object", "properties": {"a": {"type": "colour"}}}}, "#/properties/a"),
    ({"json": "null"}, "must be an object or a boolean"),
    ({"regex": "("}, "line 1, column"),
    ({"regex": r"[^\s\S]"}, "matches no text"),
    ({"grammar": 'root ::= "a" (\n'}, "line"),
    ({"json": {"x-structgen": {"whitespace": "much"}}}, "x-structgen"),
]
# Intersected patterns: a mask takes seconds, and compiling all of it longer.
ATTACK = "start: T\nT: " + " & ".join(f"/(?s:.)*{letter}(?s:.){{{20 + at}}}/" for at, letter in enumerate("abcdefgh"))


def is_valid(text: str, wanted: Any) -> bool:
    """Return whether a text is one of a request's: a schema, or a regex in Python's syntax."""
    if isinstance(wanted, str):
        return re.fullmatch(wanted, text) is not None
    try:
        jsonschema.validate(json.loads(text), wanted)
    except (ValueError, jsonschema.ValidationError):
        return False
    return True
