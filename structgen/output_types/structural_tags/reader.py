"""The state of reading one structural tag: rules and schemas so far, and how each type of format is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

from structgen.kbnf import ast
from structgen.kbnf.composition import renamed
from structgen.kbnf.rewriting import free_name, sequence
from structgen.output_types.bound_schemas import BoundSchema
from structgen.output_types.free_text import any_text, up_to
from structgen.output_types.structural_tags.fields import Fields, refuse

__all__ = ["MakePart", "ReadFormat", "Reader", "Scope", "flat"]

MakePart: TypeAlias = Callable[[str, ast.Grammar], Any]
"""Returns the `Grammar` of a part of a structural tag, given a text that tells it from others, and its tree."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The tag around a format.

    Attributes:
        ends: the end marks of the tag. Free text in it ends where the first of them begins.
        end_tokens: the token at the end of the tag, by id or name. It is no free token.
        mark: the end mark, where the format is free text and nothing else is in the tag; else "".
    """

    ends: tuple[str, ...] = ()
    end_tokens: tuple[int | str, ...] = ()
    mark: str = ""


class Reader:
    """Reads formats, and collects their rules and schemas.

    Args:
        readers: a function for each type of format.
        make_grammar: makes the `Grammar` of a text and its tree.
        special_tokens: names of tokens that have no text. Where a mark holds one, it is a token terminal.

    Attributes:
        special_tokens: see above.
        rules: the rules so far.
        schemas: the schemas so far.
    """

    def __init__(
        self, readers: Mapping[str, ReadFormat], make_grammar: MakePart, special_tokens: Collection[str] = ()
    ) -> None:
        self.special_tokens = tuple(special_tokens)
        self._readers = readers
        self._make_grammar = make_grammar
        longest_first = sorted(filter(None, special_tokens), key=len, reverse=True)
        self._special = re.compile(f"({'|'.join(map(re.escape, longest_first))})") if longest_first else None
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

    def text(self, text: str) -> ast.Expression:
        """Return a text, with token terminals in place of the special tokens in it."""
        if self._special is None:
            return ast.Literal(text.encode())
        pieces = self._special.split(text)  # a text, a token, a text, …
        parts = [ast.Token((piece,)) if at % 2 else ast.Literal(piece.encode()) for at, piece in enumerate(pieces)]
        return sequence([part for part in parts if part != ast.Literal(b"")])

    def text_after(self, text: str, written: str, pointer: str) -> ast.Expression:
        """Return the rest of a text.

        Args:
            text: the text.
            written: its beginning, which is left out.
            pointer: the location of the text.

        Raises:
            GrammarError: a special token stands partly in its beginning.
        """
        for found in self._special.finditer(text) if self._special is not None else ():
            if found.start() < len(written) < found.end():
                refuse(f"the trigger {written!r} ends inside the special token {found.group()!r}", pointer)
        return self.text(text[len(written) :])

    def up_to(self, mark: str, marks: Collection[str], excludes: Collection[str]) -> ast.Expression:
        """Return text up to the first mark, the mark included; see `free_text.up_to`."""
        if self._special is None or self._special.search(mark) is None:
            return ast.RegexTerminal(up_to(mark, marks, excludes))
        # Free text holds no special token, so the mark is where its token is.
        return sequence([self.any_text([*marks, *excludes]), *flat(self.text(mark))])

    def any_text(self, excludes: Collection[str], max_chars: int | None = None, mark: str = "") -> ast.Expression:
        """Return text without some texts in it; see `free_text.any_text`."""
        key = (frozenset(excludes), max_chars, mark)
        if key not in self._texts:
            self._texts[key] = any_text(excludes, max_chars, mark)
        return self._texts[key]

    def text_of_tokens(
        self, excludes: Collection[str], max_chars: int | None, mark: str, max_tokens: int, location: str
    ) -> ast.Expression:
        """Return text without some texts in it, of at most some tokens.

        Args:
            excludes: see `free_text.any_text`.
            max_chars: see `free_text.any_text`.
            mark: see `free_text.any_text`.
            max_tokens: the number of tokens after which the text ends.
            location: for messages.
        """
        if not max_tokens:
            return ast.Literal(b"")
        name = self._free("text")
        tree = ast.Grammar((ast.Rule(name, any_text(excludes, max_chars, mark)),), name)
        grammar = self._make_grammar(f"{sorted(excludes)} {max_chars} {mark!r}", tree)
        bound = BoundSchema(name, grammar, {}, location, max_tokens=max_tokens)
        self.schemas.append(bound)
        return ast.Hole(name, bound)

    def _free(self, name: str) -> str:
        found = free_name(name, self._names)
        self._names.add(found)
        return found


def flat(expression: ast.Expression) -> tuple[ast.Expression, ...]:
    """Return the parts of a sequence; any other expression alone, and nothing for the empty text."""
    if isinstance(expression, ast.Sequence):
        return expression.parts
    return () if expression == ast.Literal(b"") else (expression,)


ReadFormat: TypeAlias = Callable[[Reader, Fields, Scope], ast.Expression]
"""Returns the expression of a format, given its keys and the tag around it."""
