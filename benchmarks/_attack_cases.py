"""Schemas and grammars that cost far more than their size suggests. Used by `attacks.py` and its test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

__all__ = ["ATTACKS", "Attack"]


@dataclass(frozen=True)
class Attack:
    """One way to make a compile or a mask expensive.

    Attributes:
        title: what the attacker sends.
        make: returns the schema, or the text of a grammar, for a size.
        size: the size in the table of docs/limits.md.
        text: bytes that are accepted before the second mask.
        options: arguments of `structgen.compile`.
        kind: "schema", or the method of `structgen.Grammar` that reads the text.
    """

    title: str
    make: Callable[[int], Any]
    size: int
    text: bytes = b""
    options: tuple[tuple[str, Any], ...] = ()
    kind: str = "schema"


def if_chain(size: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {"0": {"type": "integer"}}
    for number in range(size):
        inner = {"$ref": f"#/$defs/{number}"}
        definitions[str(number + 1)] = {"if": inner, "then": inner, "else": {"items": inner}}
    return {"$defs": definitions, "$ref": f"#/$defs/{size}"}


def contains(size: int) -> dict[str, Any]:
    return {
        "type": "array",
        "allOf": [{"contains": {"const": i}, "minContains": 2, "maxContains": 3} for i in range(size)],
    }


def nested_not(size: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {"0": {"type": "string"}}
    for number in range(size):
        inner = {"$ref": f"#/$defs/{number}"}
        definitions[str(number + 1)] = {"not": {"anyOf": [inner, {"properties": {"k": inner}}]}}
    return {"$defs": definitions, "$ref": f"#/$defs/{size}"}


def shared_parts(size: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(size):
        schema = {"not": {"anyOf": [schema, {"properties": {"k": schema}}]}}
    return schema


def properties(size: int) -> dict[str, Any]:
    return {"type": "object", "properties": {f"key{i}": {"type": "integer"} for i in range(size)}}


def required(size: int) -> dict[str, Any]:
    return properties(size) | {"required": [f"key{i}" for i in range(size)]}


def different(size: int) -> dict[str, Any]:
    return {"type": "object", "properties": {f"key{i}": {"const": i} for i in range(size)}}


def look_ahead(size: int) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^(?=.*a.{{{size}}}$)(?=.*b.{{{size - 1}}}$)(?!.*c.{{{size}}}c)[a-d]+$"}


def look_ahead_inside(size: int) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^([a-c](?=.*a.{{{size}}}b)|[b-d](?!.*c.{{{size}}}d))*$"}


def patterns(size: int) -> dict[str, Any]:
    return {"type": "string", "allOf": [{"pattern": f"^(a|b)*a(a|b){{{i}}}c$"} for i in range(size)]}


def not_multiples(size: int) -> dict[str, Any]:
    primes = [n for n in range(2, 10 * size) if all(n % d for d in range(2, n))][:size]
    return {"type": "integer", "allOf": [{"not": {"multipleOf": prime}} for prime in primes]}


def enum(size: int) -> dict[str, Any]:
    return {"enum": [f"value {n * 7919} of many" for n in range(size)]}


def keys(size: int) -> dict[str, Any]:
    return {"type": "object", "patternProperties": {f"word{i}": {"type": "integer"} for i in range(size)}}


def pattern_keys(size: int) -> dict[str, Any]:
    return {"type": "object", "patternProperties": {f"^x{i}_": {"type": "integer"} for i in range(size)}}


def excluded(size: int) -> dict[str, Any]:
    return {"type": "string", "not": {"enum": [f"value {n * 7919} of many" for n in range(size)]}}


def clauses(size: int) -> dict[str, Any]:
    chance = Random(size)
    names = [f"k{i}" for i in range(size // 2)]
    parts = [
        {"anyOf": [{"properties": {name: {"const": chance.random() < 0.5}}, "required": [name]} for name in three]}
        for three in (chance.sample(names, 3) for _ in range(size))
    ]
    return {"type": "object", "properties": {name: {"type": "boolean"} for name in names}, "allOf": parts}


def one_of(size: int) -> dict[str, Any]:
    branches = [{"properties": {"type": {"enum": [f"t{i}"]}, f"p{i}": {"type": "string"}}} for i in range(size)]
    return {"required": ["type"], "oneOf": branches}


def not_one_of(size: int) -> dict[str, Any]:
    return {"not": {"oneOf": [{"required": [f"p{i}{j}" for j in range(3)]} for i in range(size)]}}


def required_one_of(size: int) -> dict[str, Any]:
    return {"type": "object", "oneOf": [{"required": [f"a{i}", f"b{i}"]} for i in range(size)]}


def conditions(size: int) -> dict[str, Any]:
    return {
        "type": "object",
        "allOf": [
            {"if": {"properties": {f"a{i}": {"const": i}}}, "then": {"required": [f"b{i}"]}} for i in range(size)
        ],
    }


def dependent(size: int) -> dict[str, Any]:
    return {"type": "object", "dependentSchemas": {f"a{i}": {"minProperties": i, f"x{i}": 1} for i in range(size)}}


def unevaluated(size: int) -> dict[str, Any]:
    node: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$recursiveAnchor": True,
        "anyOf": [
            {"contains": {"$recursiveRef": "#"}, "minContains": i, "properties": {f"p{i}": {"$recursiveRef": "#"}}}
            for i in range(1, size)
        ],
        "unevaluatedItems": {"type": "integer"},
        "unevaluatedProperties": {"$recursiveRef": "#"},
    }
    return node


def multiples(size: int) -> dict[str, Any]:
    return {"type": "integer", "allOf": [{"multipleOf": n} for n in range(1_009, 1_009 + 2 * size, 2)]}


def repeated_empty(depth: int) -> str:
    body = "[^x]*"
    for _ in range(depth):
        body = f"({body}){{0,99}}"
    return f"root ::= {body}"


def long_text(size: int) -> dict[str, Any]:
    return {"type": "string", "pattern": f"(a|b)*a(a|b){{{size}}}"}


def unique(size: int) -> dict[str, Any]:
    return {"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": f"^(a|b)*a(a|b){{{size}}}$"}}


def ambiguous(size: int) -> str:
    return "start ::= S; S ::= " + " | ".join("S S 'a'" + " S" * (n % 3) for n in range(size)) + " | 'a';"


def nesting(size: int) -> Any:
    schema: Any = {"type": "null"}
    for _ in range(size):
        schema = {"type": "array", "items": schema}
    return schema


def all_of_objects(size: int) -> dict[str, Any]:
    return {"allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(size)]}


ATTACKS = (
    Attack("chain of `if`/`then`/`else` definitions", if_chain, 30, b"["),
    Attack("`allOf` of `contains`, each with both counts", contains, 30, b"[0"),
    Attack("nestings of `not` and `anyOf`", nested_not, 25, b"{"),
    Attack("parts that are one Python object", shared_parts, 25, b"{"),
    Attack("properties in any order", properties, 100_000, b'{"key', (("property_order", "any"),)),
    Attack("properties in any order, all required", required, 100_000, b'{"key', (("property_order", "any"),)),
    Attack("properties of different schemas in any order", different, 100_000, b'{"key', (("property_order", "any"),)),
    Attack("properties in the schema's order", properties, 100_000, b'{"key'),
    Attack("pattern with three long look-aheads", look_ahead, 40, b'"ab'),
    Attack("pattern with look-aheads in a repetition", look_ahead_inside, 30, b'"ab'),
    Attack("`allOf` of patterns", patterns, 30, b'"abababababababababababababab'),
    Attack("integers that are no multiple of many primes", not_multiples, 30, b"12345"),
    Attack("integers that are multiples of many numbers", multiples, 30, b"12"),
    Attack("enum of strings", enum, 1_000_000, b'"value 7'),
    Attack("overlapping `patternProperties`", keys, 12, b'{"word'),
    Attack("`patternProperties` that begin differently", pattern_keys, 1_000, b'{"x'),
    Attack("excluded strings", excluded, 15_000, b'"value 7'),
    Attack("`allOf` of `anyOf` of three values", clauses, 60, b'{"k1', (("property_order", "any"),)),
    Attack("`oneOf` with an optional tag", one_of, 25, b"{"),
    Attack("`not` of a `oneOf`", not_one_of, 20, b"{"),
    Attack("`oneOf` of required keys", required_one_of, 60, b"{"),
    Attack("`allOf` of `anyOf` of required keys", all_of_objects, 30, b"{"),
    Attack("`allOf` of `if` on different keys", conditions, 30, b"{"),
    Attack("`dependentSchemas`", dependent, 30, b"{"),
    Attack("`$recursiveRef`, `unevaluated…` and `contains`", unevaluated, 8, b"["),
    Attack("pattern with exponentially many states", long_text, 60, b'"' + b"ab" * 40),
    Attack("`uniqueItems` of strings with a pattern", unique, 20, b'["' + b"ab" * 40),
    Attack("nested arrays", nesting, 100_000, b"[["),
    Attack("repetitions of what may be empty (GBNF)", repeated_empty, 3, b"ab", (), "gbnf"),
    Attack("regex with exponentially many states", lambda n: f"(a|b)*a(a|b){{{n}}}", 200, b"ab" * 300, (), "regex"),
    Attack("regex with nested repetitions", lambda n: "(" * n + "a" + "{1,50})" * n + "b", 6, b"a" * 30, (), "regex"),
    Attack("ambiguous grammar (KBNF)", ambiguous, 200, b"a" * 400, (), "kbnf"),
)
