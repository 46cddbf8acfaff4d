"""Prompts with named parts in braces, as `str.format` has them: of typed functions, and of tables of prompts."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

import pydantic_core

__all__ = ["filled", "names_in"]


class _Formatter(string.Formatter):
    """A formatter like `str.format` that writes data as JSON."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec or isinstance(value, str):
            return format(value, format_spec)
        if isinstance(value, (Mapping, Sequence, set, frozenset)) or hasattr(value, "__pydantic_serializer__"):
            return pydantic_core.to_json(value, by_alias=True, fallback=str).decode()
        return str(value)


def filled(template: str, values: Mapping[str, Any]) -> str:
    """Return the prompt of some values. Texts are inserted as they are; models, lists and dicts as JSON.

    Example:
        >>> filled("Rate {film} from 1 to {top}.", {"film": "Alien", "top": 5})
        'Rate Alien from 1 to 5.'
    """
    return _Formatter().vformat(template, (), values)


def names_in(template: str) -> list[str]:
    """Return the names of the values that a template needs; those without attributes and indices.

    Raises:
        ValueError: a brace is not closed.
    """
    fields = [field for _, field, _, _ in string.Formatter().parse(template) if field is not None]
    return [field.split(".")[0].split("[")[0] for field in fields]
