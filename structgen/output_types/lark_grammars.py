r"""Lark grammars with the schemas and grammars that they use by `@name`.

llguidance writes several grammars as one JSON text. The first is the whole one; the others have names:

    {"grammars": [{"lark_grammar": "start: \"a\" @b"}, {"name": "b", "json_schema": {"type": "integer"}}]}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from structgen.errors import GrammarError
from structgen.kbnf.holes import names_of_grammars
from structgen.kbnf.reading.lark import read_lark
from structgen.kbnf.reading.lark_lexer import LarkDialect
from structgen.limits import Limits
from structgen.output_types.bound_schemas import BoundSchema, MakeGrammar, bound_schemas, with_written_schemas
from structgen.output_types.guidance_options import guidance_options

if TYPE_CHECKING:
    from structgen.kbnf import ast
    from structgen.kbnf.reading.lark import ImportPaths

__all__ = ["read_lark_grammar"]

_Read = tuple[str, "ast.Grammar", tuple[BoundSchema, ...]]
_FORM = 'it is {"grammars": [{"lark_grammar": "…"}, {"name": "…", "json_schema": {…}}]}'


def read_lark_grammar(
    text: str,
    dialect: LarkDialect,
    start: str,
    import_paths: ImportPaths,
    bind: Mapping[str, Any],
    limits: Limits | None,
    make: MakeGrammar,
) -> _Read:
    """Return the text of a grammar, its tree, and the schemas and grammars that its holes are bound to.

    Args:
        text: the grammar, or several as llguidance's JSON.
        dialect: see `Grammar.lark`.
        start: the rule that it begins at.
        import_paths: the folders of imported files.
        bind: the schema or grammar of each `@name`.
        limits: bounds on its size.
        make: makes the `Grammar` of a grammar within it.

    Raises:
        GrammarError, LimitExceededError: see `Grammar.lark`.
        TypeError: `bind` is no mapping, or the grammar no text.
        ValueError: there is no such dialect.
    """
    if not isinstance(text, str):
        raise TypeError(f"a Lark grammar is a text, not {type(text).__name__}")
    if dialect not in get_args(LarkDialect):
        raise ValueError(f"the dialect is one of {', '.join(get_args(LarkDialect))}, not {dialect!r}")
    bound = bound_schemas(bind)
    others: dict[str, Any] = {}
    main = text
    if text.lstrip().startswith("{") and dialect == "llguidance":  # no grammar begins so
        main, others = _listed(text)
    twice = [name for name in bound if name in others]
    if twice:
        raise GrammarError(
            f"the name {twice[0]!r} is bound, and a grammar of the list has it", hint="rename one of them"
        )
    reader = _Grammars(others, bound, dialect, import_paths, limits, make)
    try:
        source, tree, written = reader.read(main, start)
    except RecursionError as error:
        raise GrammarError("too many grammars are within one another", hint="write their rules into one") from error
    for name in bound:
        if name not in reader.used:
            raise GrammarError(f"no rule uses the bound grammar @{name}", hint="write it where its text belongs")
    imported = source.removeprefix(main)
    return (text + imported if others else source), tree, written


def _listed(text: str) -> tuple[str, dict[str, Any]]:
    """Return the first grammar of llguidance's JSON, and the others by name."""
    try:
        first, *more = json.loads(text)["grammars"]
        main, others = str(first["lark_grammar"]), {str(one["name"]): dict(one) for one in more}
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise GrammarError(f"the list of grammars cannot be read: {error!r}", hint=_FORM) from error
    if len(others) < len(more):
        raise GrammarError("two grammars of the list have the same name", hint="rename one of them")
    return main, others


class _Grammars:
    """The reader of a grammar and of those that it names.

    Args:
        others: the grammars and schemas beside it, as llguidance's JSON has them, by name.
        bound: the schemas and grammars of other names.
        dialect, import_paths, limits, make: see `read_lark_grammar`.

    Attributes:
        used: the names that were used so far.
    """

    def __init__(
        self,
        others: dict[str, Any],
        bound: dict[str, BoundSchema],
        dialect: LarkDialect,
        import_paths: ImportPaths,
        limits: Limits | None,
        make: MakeGrammar,
    ) -> None:
        self.used: set[str] = set()
        self._others = others
        self._bound = bound
        self._dialect = dialect
        self._import_paths = import_paths
        self._limits = limits
        self._make = make
        self._open: list[str] = []
        self._known: dict[str, BoundSchema] = {}

    def read(self, text: str, start: str) -> _Read:
        """Return the text of a grammar and of the files that it imports, its tree, and the content of its holes."""
        source, tree = read_lark(
            text,
            dialect=self._dialect,
            start=start,
            import_paths=self._import_paths,
            limits=self._limits,
            bound={**self._bound, **self._others},
        )
        bind = {name: self._schema(name) for name in sorted(names_of_grammars(tree))}
        return source, *with_written_schemas(tree, bind, source, self._make)

    def _schema(self, name: str) -> BoundSchema:
        """Return the schema or grammar of a name."""
        self.used.add(name)
        if name not in self._others:
            return self._bound[name]
        if name not in self._known:
            self._known[name] = self._read_listed(name)
        return self._known[name]

    def _read_listed(self, name: str) -> BoundSchema:
        """Return a schema or grammar of the list; each is read once."""
        other = self._others[name]
        if "lark_grammar" not in other:
            if "json_schema" not in other:
                raise GrammarError(f"the grammar {name!r} has neither 'lark_grammar' nor 'json_schema'", hint=_FORM)
            place = f"the grammar {name!r}"
            return BoundSchema(name, other["json_schema"], guidance_options(other["json_schema"], place), place)
        if name in self._open:
            way = " → ".join(f"@{one}" for one in (*self._open, name))
            raise GrammarError(f"these grammars use one another: {way}", hint="write their rules into one grammar")
        self._open.append(name)
        source, tree, written = self.read(str(other["lark_grammar"]), "start")
        self._open.pop()
        return BoundSchema(name, self._make(source, tree, written), {}, f"the grammar {name!r}")
