r"""Terminals of a printed grammar: those that every schema shares get one rule each.

    string ::= #'"(?:[^\x00-\x1f"\\]|…)*"';       any JSON string; `key`, `integer`, `number` likewise
    comma ::= ws ',' ws;                          white space belongs to the rules of `,` and `:`
    colon ::= ws ':' ws;
    ws ::= #'[\t\n\r ]{0,64}';

`comma` and `colon` have rules of their own for the published `kbnf`: it removes the empty text from a rule by writing
all combinations of its parts that may be empty. A rule with `ws` beside every sign of an object of five properties
would have a million bodies.
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine.regex.tree import Literal, LiteralSet, Regex, Sequence
from structgen.kbnf import ast
from structgen.schema.json_text.layout import Layout
from structgen.schema.json_text.strings import JSON_KEY, JSON_STRING
from structgen.schema.json_text.terminals import INTEGER, NUMBER, PLAIN_INTEGER, PLAIN_NUMBER

__all__ = ["NAMES", "WrittenTerminals"]

NAMES = frozenset({"ws", "comma", "colon", "string", "key", "integer", "number"})
"""The names that the shared terminals may get."""

_MAX_WORDS = 64  # texts of an enum that are written as alternatives of literals
_WS, _COMMA, _COLON = ast.Reference("ws"), ast.Reference("comma"), ast.Reference("colon")


class WrittenTerminals:
    """The terminals of a grammar as expressions.

    Args:
        layout: the punctuation.
        fresh: makes the name of a rule from a wish.

    Attributes:
        rules: the rules of terminals that were used, in the order of their first use.
    """

    def __init__(self, layout: Layout, fresh: Callable[[str], str]) -> None:
        self.rules: dict[str, ast.Rule] = {}
        self._fresh = fresh
        self._layout = layout
        self._named: dict[int, ast.Reference] = {}  # by `id` of a regex, which is kept in `_kept`
        self._kept: list[Regex] = []
        self._shared = {id(JSON_STRING): "string", id(JSON_KEY): "key"}
        self._shared |= {id(INTEGER): "integer", id(PLAIN_INTEGER): "integer"}
        self._shared |= {id(NUMBER): "number", id(PLAIN_NUMBER): "number"}
        self._signs = {} if layout.gap is None else self._with_gaps(layout)

    def _with_gaps(self, layout: Layout) -> dict[int, tuple[ast.Expression, ...]]:
        """Return the expressions of the punctuation by the `id` of its regex."""
        return {
            id(layout.comma): (_COMMA,),
            id(layout.colon): (_COLON,),
            id(layout.open_object): (ast.Literal(b"{"), _WS),
            id(layout.open_array): (ast.Literal(b"["), _WS),
            id(layout.close_object): (_WS, ast.Literal(b"}")),
            id(layout.close_array): (_WS, ast.Literal(b"]")),
        }

    def symbols(self, regex: Regex, wish: str, origin: str = "") -> tuple[ast.Expression, ...]:
        """Return a terminal as symbols of a rule.

        Args:
            regex: the terminal.
            wish: a name for its rule.
            origin: the part of the schema that it comes from.
        """
        if isinstance(regex, Literal):
            return (ast.Literal(regex.data),)
        signs = self._signs.get(id(regex))
        if signs is not None:
            self._add_signs(signs)
            return signs
        if isinstance(regex, Sequence) and len(regex.parts) == 2 and regex.parts[1] is self._layout.colon:
            return (*self.symbols(regex.parts[0], wish), *self.symbols(regex.parts[1], wish))
        if isinstance(regex, LiteralSet) and len(regex.texts) <= _MAX_WORDS:
            return (ast.Choice(tuple(map(ast.Literal, regex.texts))),)
        known = self._named.get(id(regex))
        if known is not None:
            return (known,)
        name = self._shared.get(id(regex)) or wish
        if name not in NAMES or name in self.rules:
            name = self._fresh(name)
        self._named[id(regex)] = ast.Reference(name)
        self._kept.append(regex)
        self.rules[name] = ast.Rule(name, ast.RegexTerminal(regex), origin=origin)
        return (self._named[id(regex)],)

    def _add_signs(self, signs: tuple[ast.Expression, ...]) -> None:
        """Add the rules that the expression of a punctuation sign uses."""
        if all(node.name in self.rules for node in signs if isinstance(node, ast.Reference)):
            return
        gap = self._layout.gap
        assert gap is not None
        for reference, sign in ((_COMMA, b","), (_COLON, b":")):
            if reference in signs:
                self.rules[reference.name] = ast.Rule(reference.name, ast.Sequence((_WS, ast.Literal(sign), _WS)))
        self.rules["ws"] = ast.Rule("ws", ast.RegexTerminal(gap))
