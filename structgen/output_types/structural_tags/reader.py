"""The state of reading one structural tag: rules and schemas so far, and how each type of format is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

from structgen.kbnf import ast
from structgen.kbnf.composition import renamed
from structgen.output_types.bound_schemas import BoundSchema
from structgen.output_types.structural_tags.fields import Fields, refuse
from structgen.output_types.structural_tags.free_text import any_text

__all__ = ["ReadFormat", "Reader", "Scope"]


@dataclass(frozen=True, slots=True)
class Scope:
    """The tag around a format.

    Attributes:
        ends: the end marks of the tag. Free text in it ends where the first of them begins.
        end_tokens: the token at the end of the tag, by id or name. It is no free token.
    """

    ends: tuple[str, ...] = ()
    end_tokens: tuple[int | str, ...] = ()


class Reader:
    """Reads formats, and collects their rules and schemas.

    Args:
        readers: a function for each type of format.

    Attributes:
        rules: the rules so far.
        schemas: the schemas so far.
    """

    def __init__(self, readers: Mapping[str, ReadFormat]) -> None:
        self._readers = readers
        self.rules: list[ast.Rule] = []
        self.schemas: list[BoundSchema] = []
        self._names: set[str] = {"start"}
        self._texts: dict[tuple[Any, ...], ast.Expression] = {}

    def read(self, data: Any, pointer: str, scope: Scope) -> ast.Expression:
        """Return the expression of a format.

        Args:
            data: the format, a JSON object with a `type`.
            pointer: its location.
            scope: the tag around it.

        Raises:
            GrammarError: it is wrong; with the location.
        """
        fields = Fields(data, pointer)
        kind = fields.text("type")
        read = self._readers.get(kind)
        if read is None:
            close = get_close_matches(kind, list(self._readers), n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"one of {', '.join(self._readers)}"
            refuse(f"the type {kind!r} is unknown", fields.at("type"), hint=hint)
        found = read(self, fields, scope)
        fields.done()
        return found

    def read_all(self, fields: Fields, name: str, scope: Scope) -> list[ast.Expression]:
        """Return the expressions of a list of formats, the value of a key."""
        return [self.read(item, fields.at(name, index), scope) for index, item in enumerate(fields.items(name))]

    def rule(self, name: str, body: ast.Expression) -> ast.Reference:
        """Add a rule, whose name is the given one or like it. Return its use."""
        name = self._free(name)
        self.rules.append(ast.Rule(name, body))
        return ast.Reference(name)

    def grammar(self, name: str, tree: ast.Grammar) -> ast.Reference:
        """Add the rules of a grammar. Return the use of its start rule.

        Args:
            name: begins the names of its rules.
            tree: the grammar.
        """
        names: dict[str, str] = {}
        for rule in tree.rules:
            if rule.name not in names:
                names[rule.name] = self._free(name if rule.name == tree.start else f"{name}_{rule.name}")
        self.rules += renamed(tree.rules, names)
        return ast.Reference(names[tree.start])

    def schema(self, name: str, schema: Any, options: Mapping[str, Any], location: str) -> ast.Hole:
        """Add a schema. Return its use.

        Args:
            name: for its rules in an export.
            schema: anything that `structgen.compile` accepts.
            options: how the schema is read.
            location: for messages.
        """
        bound = BoundSchema(self._free(name), schema, options, location)
        self.schemas.append(bound)
        return ast.Hole(bound.name, bound)

    def any_text(self, excludes: Collection[str], max_chars: int | None = None) -> ast.Expression:
        """Return text without some texts in it."""
        key = (frozenset(excludes), max_chars)
        if key not in self._texts:
            self._texts[key] = ast.RegexTerminal(any_text(excludes, max_chars))
        return self._texts[key]

    def _free(self, name: str) -> str:
        found, number = name, 2
        while found in self._names:
            found, number = f"{name}_{number}", number + 1
        self._names.add(found)
        return found


ReadFormat: TypeAlias = Callable[[Reader, Fields, Scope], ast.Expression]
"""Returns the expression of a format, given its keys and the tag around it."""
