"""Questions to Pydantic's core schemas that its JSON Schemas do not answer.

Examples: which functions constrain a type, which types can be members of a set, and by which names a field is read.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from enum import Enum
from typing import Any

from pydantic_core import SchemaValidator, ValidationError, to_json

__all__ = [
    "FUNCTIONS",
    "INNER",
    "REWRITES",
    "all_names",
    "are_keys_shared",
    "deep_paths",
    "follows_user_function",
    "is_hashable",
    "is_outlines",
    "is_own",
    "is_read",
    "is_read_literal",
    "is_scalar",
    "keeps_values_distinct",
    "parts_of",
    "paths_beside",
    "single_names",
    "text_kind",
]

_SCALARS = frozenset(
    {
        "bool", "bytes", "date", "datetime", "decimal", "enum", "float", "int", "literal", "none", "str", "time",
        "timedelta", "url", "uuid",
    }
)  # fmt: skip
_WRAPPERS = frozenset({"default", "function-after", "function-before", "function-wrap", "nullable"})
_DISTINCT_KINDS = frozenset({"bool", "enum", "float", "int", "none"})
REWRITES = frozenset({"to_lower", "to_upper", "strip_whitespace"})
FUNCTIONS = frozenset({"function-after", "function-before", "function-plain", "function-wrap"})
INNER = {"lax-or-strict": "lax_schema", "json-or-python": "json_schema"}


def is_outlines(function: Any) -> bool:
    """Return whether a function is the validator of a type of outlines, such as `outlines.types.Regex`."""
    return getattr(function, "__module__", None) == "outlines.types.dsl"


def is_own(function: Any) -> bool:
    """Return whether a function is one of Pydantic's own."""
    module = getattr(getattr(function, "func", function), "__module__", None) or ""
    return bool(module.startswith("pydantic."))


def text_kind(schema: Any, *, is_strict: bool) -> str:
    """Return the kind of text that Pydantic's own functions make a value of: "str", "bytes", or "" for none.

    The options of the model, such as `str_max_length`, apply to that text first.

    Args:
        schema: the core schema of such functions, such as that of an IP address.
        is_strict: whether the model is strict.
    """
    kind = schema["type"]
    if kind not in FUNCTIONS and kind != "lax-or-strict":
        return ""
    while kind in FUNCTIONS or kind in INNER:
        if kind == "lax-or-strict":
            inner = schema["strict_schema" if schema.get("strict", is_strict) else "lax_schema"]
        else:
            inner = schema.get(INNER.get(kind, "schema"))
        if inner is None or (kind in FUNCTIONS and not _is_conversion(schema["function"]["function"])):
            return ""
        schema, kind = inner, inner["type"]
    return kind if kind in ("str", "bytes") else ""


def _is_conversion(function: Any) -> bool:
    return is_own(function) or getattr(function, "__module__", None) == "ipaddress"


def parts_of(schema: Any, skipped: Container[str], definitions: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a core schema and the maps inside of it, each once.

    Args:
        schema: the core schema.
        skipped: keys whose values are left out.
        definitions: core schemas by name; those that a part refers to are looked into, too.
    """
    pending = [schema]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending.extend(value)
        elif isinstance(value, dict) and id(value) not in seen:
            seen.add(id(value))
            yield value
            if value.get("type") == "definition-ref" and value["schema_ref"] in definitions:
                pending.append(definitions[value["schema_ref"]])
            pending.extend([part for key, part in value.items() if key not in skipped])


def follows_user_function(schema: Any) -> bool:
    """Return whether a constraint applies to the result of a user's function, which only `validate_json` can check."""
    return schema["type"] in FUNCTIONS and not is_own(schema["function"]["function"])


def is_scalar(schema: Any) -> bool:
    """Return whether a core schema reads one number, text or the like."""
    return schema["type"] in _SCALARS


def is_hashable(schema: Any) -> bool:
    """Return whether the values of a core schema can surely be members of a set."""
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


def is_read(reader: SchemaValidator, value: Any) -> bool:
    """Return whether Pydantic reads the JSON of a value."""
    try:
        reader.validate_json(to_json(value))
    except ValidationError:
        return False
    return True


def is_read_literal(literal: Any) -> bool:
    """Return whether Pydantic reads a value of `Literal[…]` from JSON."""
    return not isinstance(literal, bytes) and (not isinstance(literal, Enum) or isinstance(literal, (str, int, float)))


def keeps_values_distinct(schema: Any) -> bool:
    """Return whether different JSON values are surely read as different members of a set."""
    kind = schema["type"]
    if kind in ("nullable", "default"):
        return keeps_values_distinct(schema["schema"])
    if kind == "str":
        return REWRITES.isdisjoint(schema)
    if kind == "literal":
        return len(set(schema["expected"])) == len(schema["expected"])
    return kind in _DISTINCT_KINDS


def _fields(schema: Any) -> list[tuple[str, Any]]:
    while "schema" in schema and ("fields" not in schema or schema["type"] == "dataclass"):
        schema = schema["schema"]
    fields = schema.get("fields", {})
    return list(fields.items()) if isinstance(fields, dict) else [(field["name"], field) for field in fields]


def single_names(discriminator: list[Any]) -> list[str]:
    """Return the paths of a discriminator or an alias that have one step, as names."""
    if all(isinstance(step, str) for step in discriminator):
        return discriminator if len(discriminator) == 1 else []
    return [path[0] for path in discriminator if len(path) == 1 and isinstance(path[0], str)]


def deep_paths(schema: Any) -> dict[str, list[str | int]]:
    """Return the fields that are only read from inside other values, each with the first path to its value."""
    return {
        name: _paths(alias)[0]
        for name, field in _fields(schema)
        if isinstance(alias := field.get("validation_alias"), list) and alias and not single_names(_paths(alias))
    }


def paths_beside(schema: Any, *, reads_names: bool) -> list[list[Any]]:
    """Return the paths at which fields are looked for, although they are written elsewhere.

    Args:
        schema: the core schema of a model.
        reads_names: whether fields are read by their names, too.
    """
    found: list[list[Any]] = []
    for name, field in _fields(schema):
        alias = field.get("validation_alias") or name
        paths: list[list[Any]] = [[alias]] if isinstance(alias, str) else _paths(alias)
        own = [single_names(paths)[0]] if single_names(paths) else paths[0]
        found += [path for path in paths if path != own]
        if reads_names and [name] not in paths:
            found.append([name])
    return found


def are_keys_shared(schema: Any) -> bool:
    """Return whether two fields have one key in the JSON Schema that Pydantic makes, which holds only one of them."""
    keys: list[str] = []
    for name, field in _fields(schema):
        alias = field.get("validation_alias") or name
        keys.append(alias if isinstance(alias, str) else [*single_names(_paths(alias)), name][0])
    return len(set(keys)) < len(keys)


def _paths(alias: list[Any]) -> list[Any]:
    return [alias] if isinstance(alias[0], str) else alias


def all_names(schema: Any) -> set[str]:
    """Return the names of all fields and of their aliases."""
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
