"""JSON Schemas that are written in a grammar: `#json {…}` in KBNF, `%json {…}` in llguidance's Lark."""

from __future__ import annotations

from structgen.kbnf import ast

__all__ = ["json_hole"]


def json_hole(source: str, offset: int, schema: str, temperature: float | None = None) -> ast.Hole:
    """Return the hole of a schema. Its content is the schema as JSON text, and the line in the grammar.

    Args:
        source: the grammar.
        offset: the position of the schema in it.
        schema: the schema, as JSON text.
        temperature: see `ast.Hole`.
    """
    return ast.Hole("json", (schema.strip(), source.count("\n", 0, offset) + 1), temperature)
