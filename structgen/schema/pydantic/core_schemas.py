"""What Pydantic's core schemas say that its JSON Schemas do not: whose functions constrain a type, what can be a member
of a set, and by which names a field is read.
"""

from __future__ import annotations

from functools import partial
from typing import Any

__all__ = [
    "FUNCTIONS",
    "deep_names",
    "is_behind_validator",
    "is_constraint",
    "is_hashable",
    "is_own",
    "is_told_apart",
    "narrowed",
    "other_names",
    "single_names",
]

_SCALARS = frozenset(
    {
        "bool", "bytes", "date", "datetime", "decimal", "enum", "float", "int", "literal", "none", "str", "time",
        "timedelta", "url", "uuid",
    }
)  # fmt: skip
_WRAPPERS = frozenset({"default", "function-after", "function-before", "function-wrap", "nullable"})
_TOLD_APART = frozenset({"bool", "enum", "float", "int", "none"})
_REWRITES = frozenset({"to_lower", "to_upper", "strip_whitespace"})
FUNCTIONS = frozenset({"function-after", "function-before", "function-plain", "function-wrap"})
_INNER = {"lax-or-strict": "lax_schema", "json-or-python": "json_schema"}
_NONE: frozenset[str] = frozenset()
_BOUNDS = frozenset({"gt", "ge", "lt", "le"})
_LENGTHS = frozenset({"min_length", "max_length"})
_OTHER_BOUNDS = frozenset({"multiple_of", "max_digits", "decimal_places"})
_CONSTRAINTS = {
    "int": _BOUNDS | {"multiple_of"},
    "float": _BOUNDS,
    "decimal": _BOUNDS | {"multiple_of"},
    **dict.fromkeys(("str", "list", "dict"), _LENGTHS),
}
"""Constraints that types have themselves, and that mean there what they mean around them."""


def is_constraint(function: Any) -> bool:
    """Whether a function is one of Pydantic's, for a constraint on a type that has none of that name: a union, say."""
    known = _BOUNDS | _LENGTHS | _OTHER_BOUNDS
    return isinstance(function, partial) and is_own(function) and bool(known.issuperset(function.keywords))


def is_own(function: Any) -> bool:
    """Whether a function is one of Pydantic's own."""
    module = getattr(getattr(function, "func", function), "__module__", None) or ""
    return bool(module.startswith("pydantic."))


def is_behind_validator(schema: Any) -> bool:
    """Whether what is constrained is what a function of the user returns: `validate_json` has the last word on it."""
    return schema["type"] in FUNCTIONS and not is_own(schema["function"]["function"])


def narrowed(schema: Any, constraint: Any) -> Any | None:
    """A core schema with a constraint put on each type inside; None where that cannot be said of one of them.

    What Pydantic cannot compare, such as None with a number, is left out: it raises TypeError.
    """
    kind = schema["type"]
    if kind == "union":
        options = [option[0] if isinstance(option, tuple) else option for option in schema["choices"]]
        if {"decimal", "float"} <= {option["type"] for option in options}:
            return None  # one number is read as either, and rounded or not
        found = [narrowed(option, constraint) for option in options if option["type"] != "none"]
        return None if None in found or not found else {**schema, "choices": found}
    if kind == "nullable":
        return narrowed(schema["schema"], constraint)
    if kind in ("literal", "bool"):
        expected = [value for value in schema.get("expected", (False, True)) if _holds(constraint, value)]
        return {"type": "literal", "expected": expected} if expected else None
    if kind == "enum":
        members = [member for member in schema["members"] if _holds(constraint, member)]
        return {**schema, "members": members} if members else None
    if kind in _INNER:
        return narrowed(schema[_INNER[kind]], constraint)
    if kind in FUNCTIONS and "schema" in schema and not is_behind_validator(schema):
        inner = narrowed(schema["schema"], constraint)
        return None if inner is None else {**schema, "schema": inner}
    known = _CONSTRAINTS.get(kind, _NONE) - schema.keys() if _REWRITES.isdisjoint(schema) else _NONE
    return {**schema, **constraint.keywords} if known.issuperset(constraint.keywords) else None


def _holds(constraint: Any, value: Any) -> bool:
    try:
        constraint(value)
    except (TypeError, ValueError):
        return False
    return True


def is_hashable(schema: Any) -> bool:
    """Whether what a core schema yields can be a member of a set, as far as is known."""
    kind = schema["type"]
    if kind in _SCALARS:
        return True
    if kind in _WRAPPERS:
        return is_hashable(schema["schema"])
    if kind == "json-or-python":
        return is_hashable(schema["json_schema"])
    if kind == "lax-or-strict":
        return is_hashable(schema["lax_schema"])
    if kind == "union":
        return all(is_hashable(c[0] if isinstance(c, tuple) else c) for c in schema["choices"])
    if kind == "tuple":
        return all(map(is_hashable, schema["items_schema"]))
    return bool(kind == "frozenset")


def is_told_apart(schema: Any) -> bool:
    """Whether JSON values that differ are read as members of a set that differ, as far as is known."""
    kind = schema["type"]
    if kind in ("nullable", "default"):
        return is_told_apart(schema["schema"])
    if kind == "str":
        return _REWRITES.isdisjoint(schema)
    if kind == "literal":
        return len(set(schema["expected"])) == len(schema["expected"])
    return kind in _TOLD_APART


def _fields(schema: Any) -> list[tuple[str, Any]]:
    while "schema" in schema and ("fields" not in schema or schema["type"] == "dataclass"):
        schema = schema["schema"]
    fields = schema.get("fields", {})
    return list(fields.items()) if isinstance(fields, dict) else [(field["name"], field) for field in fields]


def single_names(discriminator: list[Any]) -> list[str]:
    """The names among a tag's paths, or an alias's: those of one step."""
    if all(isinstance(step, str) for step in discriminator):
        return discriminator if len(discriminator) == 1 else []
    return [path[0] for path in discriminator if len(path) == 1 and isinstance(path[0], str)]


def deep_names(schema: Any) -> list[str]:
    """Fields that are read from inside of other values only."""
    return [
        name
        for name, field in _fields(schema)
        if isinstance(alias := field.get("validation_alias"), list) and alias and not single_names(_paths(alias))
    ]


def _paths(alias: list[Any]) -> list[Any]:
    return [alias] if isinstance(alias[0], str) else alias


def other_names(schema: Any) -> set[str]:
    """All names of fields, and those that they are read by."""
    names: set[str] = set()
    for name, field in _fields(schema):
        names.add(name)
        alias = field.get("validation_alias", [])
        if isinstance(alias, str):
            names.add(alias)
        else:
            names.update(_first_names(alias))
    return names


def _first_names(alias: list[Any]) -> set[str]:
    if alias and isinstance(alias[0], str):
        return {alias[0]}
    return {path[0] for path in alias if path and isinstance(path[0], str)}
