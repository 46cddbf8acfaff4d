"""Words for the rules of YAML texts, as `wording` has them for JSON: after `age: `, "an integer from 0 to 120"."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from structgen.engine.grammar.tables import Capture, Lazy, Lookahead, Symbol
from structgen.engine.regex.tree import Literal
from structgen.schema.rules.arrays import ArrayRules
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.wording import (
    is_shared,
    item_location,
    node_of_part,
    node_words,
    property_location,
    shown_location,
    subschemas_of,
)
from structgen.schema.yaml_text.keys import key_of

__all__ = ["YamlDescriber"]

_DIFFERENT = " that differs from those before"


class YamlDescriber:
    """The `Describer` of the rules of YAML texts, whose keys are a key of `LazyRules` and a place.

    Args:
        lazy: the rules of the schema.
    """

    def __init__(self, lazy: LazyRules) -> None:
        self._lazy = lazy

    def words(self, key: Any, body: Sequence[Symbol | Lookahead], at: int) -> tuple[str, str]:
        """Describe a symbol; see `Describer`."""
        inner, symbol = key[0], body[at]
        if symbol == Literal(b"\n"):
            return "a line break", ""
        if _is_value(inner) and at == 0:
            return node_words(self._lazy, inner[1]) + (_DIFFERENT if inner[0] == "without" else ""), ""
        if isinstance(symbol, Capture):
            return "a key", ""
        if isinstance(symbol, Literal):
            name = _name_in(symbol)
            return ("", json.dumps(symbol.data.decode())) if name is None else ("a key", json.dumps(name))
        of: Any = symbol.key[0] if isinstance(symbol, Lazy) and isinstance(symbol.key, tuple) else None
        return (node_words(self._lazy, of[1]) if of is not None and _is_value(of) else ""), ""

    def location(self, key: Any, body: Sequence[Symbol | Lookahead], at: int) -> str | None:
        """Return the schema location that asks for a symbol; see `Describer`."""
        lazy, inner = self._lazy, key[0]
        node = inner[1] if _is_value(inner) else node_of_part(lazy, lazy.numbered(inner[0]).part)
        if node is None or is_shared(lazy, node):
            return None
        if _is_value(inner):
            return shown_location(lazy.space.location(node))
        subschemas = subschemas_of(lazy, node)
        if isinstance(lazy.numbered(inner[0]), ArrayRules):
            return item_location(subschemas, inner, is_item=at == 0 and inner[1] == "item")
        before = body[at - 1] if at else None
        name = _name_in(before) if isinstance(before, Literal) else None
        return property_location(subschemas, name, isinstance(inner[1], int) and at == 0)


def _is_value(inner: Any) -> bool:
    """Return whether a key of `LazyRules` stands for whole values."""
    return inner[0] in ("value", "without")


def _name_in(symbol: Literal) -> str | None:
    """Return the key in a terminal, after a line break and blanks; None for other terminals."""
    text = symbol.data.lstrip(b"\n ").removeprefix(b"- ")
    return key_of(text) if text.endswith(b":") else None
