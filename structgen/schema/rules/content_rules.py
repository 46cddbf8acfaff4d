r"""Rules of JSON strings whose value is JSON text again: Pydantic's `Json[T]`.

The rules are those of the inner values; each terminal has the spellings of its characters (`escaped`), as in
`text_rules`:

    inner text        {"a":[1]}
    string            "{\"a\":[1]}"

The inner rules capture nothing, like those of an export: an additional key may come twice, which its readers accept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from structgen.engine.grammar.tables import Lazy, Symbol
from structgen.engine.regex.tree import Regex
from structgen.schema.algebra import Inexpressible, Node, ObjectSet
from structgen.schema.algebra.text_grammars import JsonContent
from structgen.schema.json_text.strings import QUOTE
from structgen.schema.own_keywords import JSON_CONTENT
from structgen.schema.reading.emptiness import children
from structgen.schema.rules.objects import ObjectRules
from structgen.schema.rules.string_rules import StringRules

if TYPE_CHECKING:
    from structgen.schema.rules.lazy_rules import LazyRules

__all__ = ["ContentRules"]


class ContentRules(StringRules):
    """The rules of the strings that hold JSON of one node; see `SetRules`.

    Kinds of nonterminals: "first", the whole string; "in", a nonterminal of the inner rules.

    Attributes:
        part: the condition on the string.
    """

    def __init__(self, lazy: LazyRules, part: JsonContent, number: int) -> None:
        super().__init__(number, JSON_CONTENT)
        self.part = part
        self._inner = lazy.without_captures()

    def check(self) -> None:
        """Make the rules of all inner nodes once, to find out whether they can be made.

        Raises:
            Inexpressible: they cannot.
        """
        inner = self._inner
        waiting, seen = [self.part.node], {self.part.node}
        while waiting:
            node = waiting.pop()
            if not inner.holds(node):
                continue
            for symbol in inner.alternatives(node):
                self._check_symbol(symbol)
            for members in inner.shapes[node].objects:
                self._check_keys(members)
            new = [child for child in children(inner.shapes[node]) if child not in seen]
            seen.update(new)
            waiting += new

    def _check_symbol(self, symbol: Symbol) -> None:
        if not isinstance(symbol, Lazy):
            self._own(symbol)
            return
        for body in self._inner.bodies(symbol.key):
            for part in body:
                self._own(part)

    def _check_keys(self, members: ObjectSet) -> None:
        rules, _ = self._inner.rules_of(members)
        if members.classes and members.low > 1:
            raise Inexpressible("minProperties", "the object stands inside a string")
        if isinstance(rules, ObjectRules) and rules.states.asks_other_keys:
            raise Inexpressible(JSON_CONTENT, "conditions on other keys inside a string")
        for keys, _ in members.classes:
            self._spell(self._inner.notation.keys(keys, tuple(members.properties)))

    def _own(self, symbol: Symbol) -> Symbol:
        if isinstance(symbol, Lazy):
            return Lazy((self._number, "in", symbol.key))
        if isinstance(symbol, Regex):
            return self._spell(symbol)
        raise TypeError("the rules inside a string capture nothing")

    def bodies(self, kind: str, state: Any) -> Sequence[Sequence[Symbol]]:
        """Return the bodies of a kind of nonterminal in a state. See `SetRules.bodies`."""
        if kind == "first":
            node: Node = self.part.node
            return [(QUOTE, self._own(self._inner.symbol(node)), QUOTE)]
        return [[self._own(symbol) for symbol in body] for body in self._inner.bodies(state)]
