"""`x-guidance`, the key of a JSON Schema by which llguidance's Lark sets how its values are written."""

from __future__ import annotations

from typing import Any

from structgen.errors import SchemaError, UnsupportedSchemaError

__all__ = ["guidance_options"]

_KEY = "x-guidance"
_MODES = {(",", ":"): "compact", (", ", ": "): "single"}
_HINT = "whitespace_flexible: false, with the separators ',' and ':' or ', ' and ': ', is read"
_NO_EFFECT = frozenset({"coerce_one_of", "json_allow_general_unicode_escapes"})
"""`oneOf` is exact here, and every spelling of a string is read."""


def guidance_options(schema: Any, place: str) -> dict[str, Any]:
    """Return the options of `compile` that say the same as the `x-guidance` of a schema.

    Args:
        schema: JSON data.
        place: the words for the schema in messages.

    Raises:
        SchemaError: it is no object.
        UnsupportedSchemaError: no option says the same.
    """
    given = schema.get(_KEY) if isinstance(schema, dict) else None
    try:
        return {} if given is None else _options(given)
    except SchemaError as error:
        error.add_location(place)
        raise


def _options(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise SchemaError("x-guidance must be an object", pointer=f"/{_KEY}", keyword=_KEY)
    left = {name: value for name, value in given.items() if name not in _NO_EFFECT}
    separators = left.pop("item_separator", ","), left.pop("key_separator", ":")
    options: dict[str, Any] = {"lenient": True} if left.pop("lenient", False) else {}
    if left.pop("whitespace_flexible", True):
        if separators != (",", ":"):
            left["item_separator"] = separators
    elif separators in _MODES:
        options["whitespace"] = _MODES[separators]
    else:
        left["item_separator"] = separators
    if left:
        name = min(left)
        message = f"this {name} of x-guidance is not supported"
        raise UnsupportedSchemaError(message, pointer=f"/{_KEY}/{name}", keyword=_KEY, hint=_HINT)
    return options
