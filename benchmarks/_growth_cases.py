"""Families of schemas and texts, each of which grows in one way. Used by `growth.py`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from _mask_run import Case

__all__ = ["FAMILIES", "Family"]


@dataclass(frozen=True)
class Family:
    """One way in which schemas and texts grow.

    Attributes:
        title: what grows.
        claim: how the cost of a token should grow with it, according to the design.
        sizes: the sizes, from small to large; only the long form uses the last one.
        make: returns the schema and the texts of a size.
    """

    title: str
    claim: str
    sizes: tuple[int, ...]
    make: Callable[[int], tuple[dict[str, Any], list[str]]]

    def case(self, size: int) -> Case:
        """Return the case of a size. Its schema has its own title, so that no cache takes it for another size."""
        schema, texts = self.make(size)
        name = f"{self.title} {size:,}"
        return Case(name, {"title": name} | schema, tuple(texts), (True,) * len(texts), self.title)


def record(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these properties, all required, and no others."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


STRING = {"type": "string"}
INTEGER = {"type": "integer"}


def items(size: int) -> tuple[dict[str, Any], list[str]]:
    schema = {"type": "array", "items": record(id=INTEGER, tag=STRING)}
    return schema, [json.dumps([{"id": number * 7, "tag": f"item {number % 10}"} for number in range(size)])]


def nesting(size: int) -> tuple[dict[str, Any], list[str]]:
    node = record(value=INTEGER, next={"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]})
    text = '{"value": 12, "next": ' * size + "null" + "}" * size
    return {"$defs": {"node": node}, "$ref": "#/$defs/node"}, [text]


def text_of(size: int) -> str:
    return json.dumps({"text": ("The quick brown fox jumps over the lazy dog. " * (size // 40 + 1))[:size]})


def max_length(size: int) -> tuple[dict[str, Any], list[str]]:
    return record(text=STRING | {"maxLength": size}), [text_of(90)]


def free_text(size: int) -> tuple[dict[str, Any], list[str]]:
    return record(text=STRING), [text_of(size)]


def bounded_text(size: int) -> tuple[dict[str, Any], list[str]]:
    return record(text=STRING | {"minLength": 1, "maxLength": 2 * size}), [text_of(size)]


def max_items(size: int) -> tuple[dict[str, Any], list[str]]:
    schema = {"type": "array", "items": INTEGER, "maxItems": size}
    return schema, [json.dumps([number * 37 for number in range(50)])]


def min_items(size: int) -> tuple[dict[str, Any], list[str]]:
    schema = {"type": "array", "items": {"enum": [0, 1]}, "minItems": size}
    return schema, [json.dumps([number % 2 for number in range(size)])]


def words_of(size: int) -> list[str]:
    return [f"{'aeiou'[number % 5]}{number * 7919 % size:06d}-{number % 97}" for number in range(size)]


def enum(size: int) -> tuple[dict[str, Any], list[str]]:
    words = words_of(size)
    return {"enum": words}, [json.dumps(words[number * (size - 1) // 9]) for number in range(10)]


def map_keys(size: int) -> tuple[dict[str, Any], list[str]]:
    return {"type": "object", "additionalProperties": STRING}, [json.dumps(dict.fromkeys(words_of(size), "a word"))]


def unique_strings(size: int) -> tuple[dict[str, Any], list[str]]:
    return {"type": "array", "items": STRING, "uniqueItems": True}, [json.dumps(words_of(size))]


def unique_numbers(size: int) -> tuple[dict[str, Any], list[str]]:
    values = [number * 7919 % 100_003 + number % 4 / 4 for number in range(size)]
    return {"type": "array", "items": {"type": "number"}, "uniqueItems": True}, [json.dumps(values)]


def optional_properties(size: int) -> tuple[dict[str, Any], list[str]]:
    names = [f"field_{number:04d}" for number in range(size)]
    schema = {"type": "object", "properties": dict.fromkeys(names, INTEGER), "additionalProperties": False}
    present = [names[number * (size - 1) // 9] for number in range(10)]
    return schema, [json.dumps(dict.fromkeys(present, 5))]


def any_of(size: int) -> tuple[dict[str, Any], list[str]]:
    branches = [
        record(kind={"const": f"kind {number:04d}"}, **{f"value_{number % 10}": INTEGER, "note": STRING})
        for number in range(size)
    ]
    chosen = [number * (size - 1) // 4 for number in range(5)]
    texts = [json.dumps({"kind": f"kind {at:04d}", f"value_{at % 10}": 3, "note": "a word or two"}) for at in chosen]
    return {"anyOf": branches}, texts


FAMILIES = {
    "items": Family("items of a list", "flat", (10, 100, 1_000, 10_000), items),
    "nesting": Family("depth of nesting", "flat", (10, 100, 1_000), nesting),
    "text": Family("characters of a string", "flat", (100, 1_000, 10_000), free_text),
    "bounded": Family("characters of a string with bounds", "flat", (100, 1_000, 10_000), bounded_text),
    "maxLength": Family("`maxLength`", "flat", (100, 10_000, 1_000_000), max_length),
    "maxItems": Family("`maxItems`", "flat, or logarithmic", (100, 10_000, 1_000_000), max_items),
    "minItems": Family("`minItems`, all written", "flat, or logarithmic", (10, 100, 1_000, 10_000), min_items),
    "keys": Family("keys of a map, each another one", "flat", (10, 100, 1_000, 10_000), map_keys),
    "unique": Family("strings of a list that must differ", "flat", (10, 100, 1_000, 10_000), unique_strings),
    "numbers": Family("numbers of a list that must differ", "flat", (10, 100, 1_000), unique_numbers),
    "enum": Family("strings of an `enum`", "flat", (10, 1_000, 100_000), enum),
    "optional": Family("optional properties, ten written", "flat", (10, 100, 1_000), optional_properties),
    "anyOf": Family("branches of `anyOf`", "flat", (10, 100, 1_000), any_of),
}
