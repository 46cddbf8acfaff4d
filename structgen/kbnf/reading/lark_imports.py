"""Imports of a Lark grammar: the files beside it, read and renamed into one set of definitions.

    %import .numbers.number -> value

    numbers.lark        %import common.INT
                        number: INT "." digits
                        digits: INT+

gives the definitions `value: numbers__INT "." numbers__digits` and `numbers__digits: numbers__INT+`. A name that is not
imported itself gets the name of its file before it, so that two files may use the same names. Definitions that the
imported ones do not use are left out. `%ignore` of an imported file has no effect, as in Lark.

All texts are kept in a row, so that an offset tells the file. `Sources.located` gives an error its position in a file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from structgen.errors import GrammarError
from structgen.kbnf.reading.kbnf_lexer import fail
from structgen.kbnf.reading.lark_common import COMMON
from structgen.kbnf.reading.lark_items import Definition, Import, Items, read_items
from structgen.kbnf.reading.lark_lexer import LarkDialect, LarkToken

__all__ = ["Sources"]

_MAX_DEPTH = 20  # files that import one another


@dataclass(slots=True)
class _Source:
    """A file in the row of texts: its path, its offset and its first line there, from 0."""

    path: Path
    begin: int
    line: int


class Sources:
    """The text of a grammar and those of the files that it imports.

    Args:
        text: the grammar.
        dialect: see `LarkDialect`.
        paths: the folders that are searched for imported files.
        begin, end: where the grammar is in the text; the whole text by default.

    Attributes:
        begin: see above.
        text: all texts in a row.
        items: the statements of the grammar, with the imported definitions.
        common: the imported terminals of `common`: its name there, by the name here.
    """

    def __init__(
        self,
        text: str,
        dialect: LarkDialect,
        paths: Sequence[str | os.PathLike[str]],
        *,
        begin: int = 0,
        end: int | None = None,
    ) -> None:
        self.text = text
        self.begin, self._end = begin, end
        self.common: dict[str, str] = {}
        self._dialect = dialect
        self._paths = tuple(Path(path) for path in paths)
        self._files: list[_Source] = []
        self._known: dict[Path, tuple[int, int]] = {}
        self.items = Items()

    def read(self) -> None:
        """Read the grammar, and the files that it imports.

        Raises:
            GrammarError: a text cannot be read, or a file or a name in it is missing.
        """
        self.items = read_items(self.text, self._dialect, begin=self.begin, end=self._end)
        self._import_all(self.items, self._paths, {alias: alias for alias in _aliases(self.items)}, 0)

    def located(self, error: GrammarError) -> GrammarError:
        """Return an error with the position in the file that it is about."""
        file = next((file for file in reversed(self._files) if error.line > file.line), None)
        if file is None:
            return error
        lines = self.text[file.begin :].split("\n")
        offset = sum(len(line) + 1 for line in lines[: error.line - file.line - 1]) + error.column - 1
        message = str(error).split("\n", 1)[0].removeprefix(f"line {error.line}, column {error.column}: ")
        source = self.text[file.begin :]
        return GrammarError.at(source, offset, f"in {file.path.name}: {message}", hint=error.hint)

    def _fail(self, statement: LarkToken, message: str, *, hint: str = "") -> NoReturn:
        fail(self.text, statement.offset, message, hint=hint)

    def _import_all(self, items: Items, folders: tuple[Path, ...], renamed: dict[str, str], depth: int) -> None:
        """Add the definitions that the imports of a file need, under their names in the grammar."""
        merged: dict[tuple[bool, tuple[str, ...]], Import] = {}
        for one in items.imports:
            key = one.is_relative, one.path
            merged[key] = replace(one, names={**merged[key].names, **one.names}) if key in merged else one
        for one in merged.values():
            names = {name: renamed[alias] for name, alias in one.names.items() if alias in renamed}
            if one.path == ("common",) and not one.is_relative:
                self._import_common(one, names)
            elif names:
                self._import_file(one, names, folders, depth)

    def _import_common(self, one: Import, names: dict[str, str]) -> None:
        for name, alias in names.items():
            if name not in COMMON:
                self._fail(one.statement, f"there is no terminal {name!r} in 'common'")
            if alias in self.items.definitions:
                self._fail(one.statement, f"{alias!r} is defined twice")
            self.common[alias] = name

    def _import_file(self, one: Import, names: dict[str, str], folders: tuple[Path, ...], depth: int) -> None:
        if depth >= _MAX_DEPTH:
            self._fail(one.statement, f"more than {_MAX_DEPTH} files import one another in a row")
        path, begin, end = self._opened(one, folders)
        items = read_items(self.text, self._dialect, begin=begin, end=end)
        aliases = _aliases(items)
        for name in names:
            if name not in items.definitions and name not in aliases:
                self._fail(one.statement, f"there is no rule or terminal {name!r} in {path.name}")
        prefix = "__".join(one.path)
        renamed = {name: names.get(name, f"{prefix}__{name}") for name in _used(items, list(names))}
        for name, definition in items.definitions.items():
            if name in renamed:
                self._add(renamed[name], definition, renamed)
        self._import_all(items, (path.parent, *self._paths), renamed, depth + 1)

    def _add(self, name: str, definition: Definition, renamed: dict[str, str]) -> None:
        here = {old: new for old, new in renamed.items() if old not in definition.parameters}
        body = _renamed(definition.body, here)
        if name in self.items.definitions and self.items.definitions[name].body != body:
            self._fail(definition.name, f"{name!r} is defined twice")
        attributes = definition.attributes
        if attributes is not None:
            stop, suffix = _renamed(attributes.stop, here), _renamed(attributes.suffix, here)
            attributes = replace(attributes, stop=stop, suffix=suffix)
        found = replace(definition, name=definition.name._replace(text=name), body=body, attributes=attributes)
        self.items.definitions[name] = found

    def _opened(self, one: Import, folders: tuple[Path, ...]) -> tuple[Path, int, int]:
        """Return the path of an imported file, and where its text begins and ends; add the text if it is new."""
        relative = Path(*one.path).with_suffix(".lark")
        path = next((folder / relative for folder in folders if (folder / relative).is_file()), None)
        if path is None:
            searched = ", ".join(map(str, folders))
            self._fail(
                one.statement,
                f"there is no file {relative} to import" + (f" in {searched}" if searched else ""),
                hint="import_paths=[…] names the folders with grammars to import" if not folders else "",
            )
        if path not in self._known:
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                self._fail(one.statement, f"cannot read {path}: {error}")
            begin = len(self.text) + 1
            self._files.append(_Source(path, begin, self.text.count("\n") + 1))
            self.text = f"{self.text}\n{text}"
            self._known[path] = begin, len(self.text)
        return path, *self._known[path]


def _aliases(items: Items) -> set[str]:
    return {alias for one in items.imports for alias in one.names.values()}


def _renamed(tokens: list[LarkToken], names: dict[str, str]) -> list[LarkToken]:
    return [token._replace(text=names.get(token.text, token.text)) for token in tokens]


def _used(items: Items, names: list[str]) -> set[str]:
    """Return the names that some names of a file use, themselves included."""
    known = items.definitions.keys() | _aliases(items)
    found: set[str] = set()
    while names:
        name = names.pop()
        if name in known and name not in found:
            found.add(name)
            definition = items.definitions.get(name)
            body = [] if definition is None else definition.body
            if definition is not None and definition.attributes is not None:
                body = [*body, *definition.attributes.stop, *definition.attributes.suffix]
            names += [token.text for token in body if token.kind in ("rule", "terminal")]
    return found
