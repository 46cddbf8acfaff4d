"""Schemas that are exported to other engines."""

from __future__ import annotations

from typing import Any

from support.models import TYPES

__all__ = ["SCHEMAS"]

_NAMES = """
    string:plain string:short string:whole string:bounded_pattern string:words string:quotes string:stripped
    string:astral integer:plain integer:bounded integer:multiple_bounded integer:signed_64 number:plain number:near
    number:unit number:halves number:decimal_digits scalar:bool scalar:none scalar:any scalar:date scalar:datetime
    scalar:uuid scalar:ipv4 scalar:enum scalar:mixed_enum choice:union choice:models choice:tagged collection:list
    collection:list_bounded collection:list_long collection:matrix collection:tuple collection:dict
    collection:dict_bounded collection:dict_pattern_keys collection:dict_enum_keys collection:recursive_alias
    model:Person model:OddNames model:ManyOptional model:Allowing model:Tree model:Calculation model:Wide model:Series
"""
SCHEMAS: dict[str, Any] = {name: TYPES[name] for name in _NAMES.split()} | {
    "pattern and length": {"type": "string", "pattern": "^(ab|c)*d?$", "minLength": 3, "maxLength": 6},
    "pattern somewhere and length": {"type": "string", "pattern": "ab", "maxLength": 4},
    "two patterns": {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "b$"}], "maxLength": 5},
    "not one of": {"type": "string", "not": {"enum": ["a", "b"]}, "maxLength": 2},
    "counts": {"properties": {"a": {}, "b": {}}, "additionalProperties": False, "minProperties": 1},
    "names of rules": {
        "type": "object",
        "properties": {"start": {"$ref": "#"}, "value": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["value"],
        "additionalProperties": False,
    },
    "open": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
}
