"""Constraints that Pydantic checks with functions of its own, moved into the types that they are on.

Pydantic writes a constraint into the core schema of a type where the type knows it, and around it as a function
otherwise:

    Annotated[int, Field(gt=0)]                     {"type": "int", "gt": 0}
    Annotated[int | float, Field(gt=0)]             a function around a union
    Annotated[int, validate_as(int).in_([1, 2])]    a function around an int, of `pydantic.experimental.pipeline`

`constraint_of` reads such a function, and `narrowed` returns a core schema that says the same without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from structgen.schema.own_keywords import REGEX_DIALECT
from structgen.schema.pydantic.core_schemas import FUNCTIONS, INNER, follows_user_function, is_own
from structgen.schema.schema_warnings import warn

__all__ = ["VALUES", "Constraint", "constraint_of", "narrowed", "warn_of_bound"]

VALUES = "x-structgen-values"
"""Key of a core schema for JSON Schemas of the values that it allows, which `narrowed` adds."""
_NONE: frozenset[str] = frozenset()
_BOUNDS = frozenset({"gt", "ge", "lt", "le"})
_LENGTHS = frozenset({"min_length", "max_length"})
_OTHER_BOUNDS = frozenset({"multiple_of", "max_digits", "decimal_places"})
_CONSTRAINTS = {
    "int": _BOUNDS | {"multiple_of"},
    "decimal": _BOUNDS | {"multiple_of"},
    "datetime": _BOUNDS | {"tz_constraint"},
    "url": frozenset({"max_length"}),
    **dict.fromkeys(("date", "float", "time", "timedelta"), _BOUNDS),
    **dict.fromkeys(("str", "list", "dict"), _LENGTHS),
}
"""Constraints of core schemas that mean the same inside a type as in a function around it."""
_LISTS = {"eq": "value", "in": "values", "not_eq": "value", "not_in": "values"}
_TEXTS = {
    "str_contains": ("substring", "{}"),
    "str_starts_with": ("prefix", r"\A{}"),
    "str_ends_with": ("suffix", r"{}\Z"),
}
_ADJECTIVES = {"tz_aware": "aware", "tz_naive": "naive"}
_DECODERS = ("EncodedBytes.", "EncodedStr.")  # their results are not as long as the texts that they read
_READ_TYPES = {"int": ((int,), (str, type(None))), "str": ((str,), (bool, float, int, type(None)))}
"""For some types of core schemas, the types of their values, and types of values that equal none of theirs."""
_REWRITES_LETTERS = frozenset({"to_lower", "to_upper"})


class Constraint(NamedTuple):
    """A constraint around a type.

    Args:
        check: raises an error for a value that breaks it.
        keywords: what it says, in the words of core schemas; `eq`, `in`, `not_eq` or `not_in` for a list of values.
    """

    check: Callable[[Any], Any]
    keywords: dict[str, Any]

    @property
    def name(self) -> str:
        """The keyword to name in an error."""
        return next(iter(self.keywords))

    @property
    def is_of_pipeline(self) -> bool:
        """Whether the constraint is of `pydantic.experimental.pipeline`. Pydantic's JSON Schema leaves it out."""
        return not isinstance(self.check, partial)


def constraint_of(function: Any) -> Constraint | None:
    """Return the constraint that a function of Pydantic checks, or None if it is another function."""
    if isinstance(function, partial):
        known = _BOUNDS | _LENGTHS | _OTHER_BOUNDS
        is_one = is_own(function) and function.keywords and known.issuperset(function.keywords)
        return Constraint(function, function.keywords) if is_one else None
    if getattr(function, "__module__", "") != "pydantic.experimental.pipeline":
        return None
    check: Any = _closed_over(function).get("func")
    if getattr(check, "__module__", "") != function.__module__:
        return None  # a predicate of the user
    keywords = _keywords(check.__qualname__.replace(".<locals>.<lambda>", ""), _closed_over(check))
    return Constraint(function, keywords) if keywords else None


def _closed_over(function: Any) -> dict[str, Any]:
    """Return the variables that a function takes from the function around it."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    cells = getattr(function, "__closure__", None) or ()
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}


def _keywords(qualified_name: str, variables: dict[str, Any]) -> dict[str, Any]:
    """Return what a check of a pipeline says, from its name and its variables."""
    kind = qualified_name.rpartition(".")[2].removeprefix("check_")
    if kind == "len":
        lengths = {"min_length": variables["min_len"], "max_length": variables["max_len"]}
        return {name: length for name, length in lengths.items() if length}
    if kind in _TEXTS:
        name, form = _TEXTS[kind]
        return {kind: form.format(re.escape(variables[name]))}
    if kind == "pattern":
        pattern = variables["constraint"]
        return {kind: rf"\A(?:{pattern.pattern})" if pattern.flags == re.UNICODE else ""}
    if kind in _ADJECTIVES:
        return {"tz_constraint": _ADJECTIVES[kind]}
    return {kind: variables[_LISTS.get(kind, kind)]}


def warn_of_bound(keyword: str, function: Any) -> None:
    """Warn that no mask enforces a bound, because it applies to the result of a user's function.

    Args:
        keyword: the bound's name in `pydantic.Field`.
        function: the user's function.
    """
    name = getattr(function, "__name__", type(function).__name__)
    warn(
        f"{keyword} applies to what the validator {name} returns, so only the finished text is checked; to enforce it "
        "in masks, write Field before the validator in Annotated[…]"
    )


def narrowed(schema: Any, constraint: Constraint) -> Any | None:
    """Return a core schema with a constraint moved to each type inside; None if one of them cannot have it.

    Values that Pydantic cannot compare, such as None with a number, are left out: for them it raises TypeError.
    """
    kind = schema["type"]
    if kind == "union":
        options = [option[0] if isinstance(option, tuple) else option for option in schema["choices"]]
        if {"decimal", "float"} <= {option["type"] for option in options}:
            return None  # a number may be read as either, rounded or not
        found = [narrowed(option, constraint) for option in options if option["type"] != "none"]
        return None if None in found or not found else {**schema, "choices": found}
    if kind == "nullable":
        return narrowed(schema["schema"], constraint)
    if kind == "chain":  # a value is what the last step returns
        *steps, last = schema["steps"]
        inner = narrowed(last, constraint)
        return None if inner is None else {**schema, "steps": [*steps, inner]}
    if kind in ("literal", "bool"):
        expected = [value for value in schema.get("expected", (False, True)) if _holds(constraint, value)]
        return {"type": "literal", "expected": expected} if expected else None
    if kind == "enum":
        members = [member for member in schema["members"] if _holds(constraint, member)]
        return {**schema, "members": members} if members else None
    if kind in INNER:
        return narrowed(schema[INNER[kind]], constraint)
    if kind in FUNCTIONS and "schema" in schema and not follows_user_function(schema):
        if getattr(schema["function"]["function"], "__qualname__", "").startswith(_DECODERS):
            return None
        inner = narrowed(schema["schema"], constraint)
        return None if inner is None else {**schema, "schema": inner}
    return _narrowed_type(schema, constraint)


def _narrowed_type(schema: Any, constraint: Constraint) -> Any | None:
    """Return the core schema of a type with a constraint in it."""
    if constraint.keywords.items() <= schema.items():  # older releases also write a check around the type
        return schema
    if not _REWRITES_LETTERS.isdisjoint(schema):
        return None
    if constraint.name in _LISTS or constraint.name in (*_TEXTS, "pattern"):
        values = _values(schema["type"], *next(iter(constraint.keywords.items())))
        if values is not None and "strip_whitespace" in schema:
            values = {"allOf": [values, {"type": "string", "format": "x-stripped"}]}
        return None if values is None else {**schema, VALUES: [*schema.get(VALUES, ()), values]}
    known = _CONSTRAINTS.get(schema["type"], _NONE) - schema.keys()
    return {**schema, **constraint.keywords} if known.issuperset(constraint.keywords) else None


def _values(kind: str, name: str, given: Any) -> dict[str, Any] | None:
    """Return the JSON Schema of the values of a type that a pattern or a list allows.

    It is None if the type reads other values than the ones listed from JSON, or if no grammar says the pattern.
    """
    if name not in _LISTS:
        return {"type": "string", "pattern": given, REGEX_DIALECT: "python"} if kind == "str" and given else None
    values = [given] if name.endswith("eq") else given
    if not isinstance(values, (list, tuple, range, set, frozenset)):
        return None
    read, unlike = _READ_TYPES.get(kind, ((), ()))
    if not all(type(value) in (*read, *unlike) for value in values):
        return None
    found = sorted({value for value in values if type(value) in read})
    is_refused = name.startswith("not_")
    if not found:
        return {} if is_refused else {"not": {}}
    return {"not": {"enum": found}} if is_refused else {"enum": found}


def _holds(constraint: Constraint, value: Any) -> bool:
    try:
        constraint.check(value)
    except (TypeError, ValueError):
        return False
    return True
