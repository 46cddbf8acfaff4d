"""Values that Pydantic reads as one type and then as another, as in `validate_as(str).validate_as(int)`.

The second type reads what the first one has made of the JSON. It is known which texts pass both where the second type
reads the values of the first one as they are:

    int, then int with gt=3                    an int with both constraints
    a union, then str with a pattern           the union, and a string with the pattern
    list[int], then set[int]                   a list, and a set
    str, then int                              refused by name: which strings are integers is not known here
    int, a user's function, then int           an int; a warning names the constraints of the second one
"""

from __future__ import annotations

from typing import Any

from structgen.schema.pydantic.constraints import constraint_of, warn_of_bound
from structgen.schema.pydantic.core_schemas import REWRITES, follows_user_function

__all__ = ["joined_steps"]

_CHECKS = ("predicate_func", "val_func")
_LENGTHS = frozenset({"min_length", "max_length"})
_NOTES = frozenset({"metadata", "serialization", "strict"})
_FIXED = frozenset({"bool", "date", "datetime", "decimal", "float", "int", "none", "str", "time", "timedelta", "uuid"})
"""Types that read their own values as they are."""
_ALSO_FIXED = frozenset({"any", "dataclass", "definition-ref", "enum", "literal", "model"})
_TEXTS_OR_OTHERS = frozenset({"any", "bytes", "literal", "nullable", "union"})
"""Types whose texts are read as `str` as they are; other values are not read."""
_COLLECTIONS = frozenset({"dict", "frozenset", "list", "nullable", "set", "tuple", "union"})
_OF_ITEMS = frozenset({"frozenset", "list", "set"})


def joined_steps(steps: list[Any]) -> list[Any] | None:
    """Return the core schemas that all apply to the JSON of a chain of types; None if that cannot be said.

    Warns of constraints that apply to what a user's function returns: they are left out.

    Args:
        steps: the core schemas of the types.
    """
    joined = [steps[0]]
    if steps[0]["type"] == "is-instance":
        return joined
    function = _user_function(steps[0])
    for given in steps[1:]:
        step = given["schema"] if given["type"] == "function-wrap" and not follows_user_function(given) else given
        if function is not None:
            if len(step.keys() - _NOTES) > 1 and step["type"] in _FIXED:
                warn_of_bound(f"the second {step['type']}", function)
        elif not _reads_same(joined[-1], step):
            return None
        elif step != joined[-1] and step["type"] != "any":
            joined.append(step)
        function = function or _user_function(step)
    return joined


def _user_function(schema: Any) -> Any | None:
    """Return the user's function that makes the value of a core schema, or None."""
    if schema["type"] == "chain":
        return next(filter(None, map(_user_function, schema["steps"])), None)
    function = schema["function"]["function"] if follows_user_function(schema) else None
    return None if _is_of_structgen(function) else function


def _is_of_structgen(function: Any) -> bool:
    """Return whether a function checks the text of an annotation of structgen, such as `SubstringOf`."""
    return str(getattr(function, "__module__", "")).startswith("structgen.")


def _reads_same(first: Any, second: Any) -> bool:
    """Return whether a type surely reads the JSON of another type's values as it reads those values."""
    first, second = _without_checks(first), _without_checks(second)
    if first["type"] == "chain":
        return _reads_same(first["steps"][-1], second)
    if second["type"] in ("any", "chain"):
        return second["type"] == "any" or _reads_same(first, second["steps"][0])
    if second["type"] == "str" and first["type"] in _TEXTS_OR_OTHERS:
        return not _rewrites(first)
    if first["type"] == second["type"] == "str" and len(second.keys() - _NOTES - REWRITES) == 1:
        return True  # it has no constraints
    if not _is_fixed(first):
        return False
    if first["type"] in _FIXED:
        return bool(first["type"] == second["type"])
    if first["type"] in _OF_ITEMS and second["type"] in _OF_ITEMS:
        keeps_number = first["type"] == "list" or second["type"] != "list" or _LENGTHS.isdisjoint(second)
        return keeps_number and first.get("items_schema") == second.get("items_schema")
    return _without_notes(first) == _without_notes(second)


def _without_checks(schema: Any) -> Any:
    """Return the core schema inside functions that check a value and do not change it."""
    while schema["type"] in ("function-after", "function-before"):
        function = schema["function"]["function"]
        is_check = constraint_of(function) is not None or getattr(function, "__name__", "") in _CHECKS
        if not is_check and not _is_of_structgen(function):
            break
        schema = schema["schema"]
    return schema


def _rewrites(schema: Any) -> bool:
    """Return whether a type changes strings."""
    choices = schema.get("choices", [schema["schema"]] if schema["type"] == "nullable" else [])
    parts = [choice[0] if isinstance(choice, tuple) else choice for choice in choices]
    return not REWRITES.isdisjoint(schema) or any(map(_rewrites, parts))


def _is_fixed(schema: Any) -> bool:
    """Return whether a type surely reads its own values as they are."""
    kind = schema["type"]
    if kind in _COLLECTIONS:
        parts = [schema.get(name, []) for name in ("schema", "keys_schema", "values_schema", "items_schema", "choices")]
        flat = [part for given in parts for part in (given if isinstance(given, list) else [given])]
        return all(_is_fixed(part[0] if isinstance(part, tuple) else part) for part in flat)
    return kind in _ALSO_FIXED or (kind in _FIXED and REWRITES.isdisjoint(schema))


def _without_notes(schema: Any) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name not in _NOTES and name not in _LENGTHS}
