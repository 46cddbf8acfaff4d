"""Rules with other terminals: the rules of a source, in which each terminal is replaced when a body is made.

    source                      body                                    a function turns `<s>` into nothing
    ("value", 0)      ->        "a"  ("value", 1)                       the same object, as nothing changes
    ("value", 1)      ->        `<(b|s)>`                               `<b>`

The keys of nonterminals stay as they are. So rules that are made for many nonterminals at once (`Ladder`) stay so, and
a body without changed terminals costs one look-up for each of its terminals.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from structgen.engine.grammar.tables import Capture, GrammarTables, Ladder, Lazy, Lookahead, Refusals, Symbol
from structgen.engine.regex.tree import Regex

__all__ = ["ChangedTerminals", "are_same"]

# Declared as a C integer in the .pxd, so not importable from here.
MAX_KNOWN = 4096  # terminals whose replacement is kept


class ChangedTerminals:
    """The `RuleSource` and `Describer` of rules with other terminals.

    Args:
        tables: the grammar, which has a source.
        change: returns the terminal to take in place of another one; the same object to keep it.
    """

    def __init__(self, tables: GrammarTables, change: Callable[[Regex], Regex]) -> None:
        source = tables.source
        if source is None:
            raise ValueError("a grammar without a source has no bodies to change")
        self._source = source
        self._describer = tables.describer
        self._change = change
        self._bodies_or_ladder = getattr(source, "bodies_or_ladder", source.bodies)
        self._known: dict[int, tuple[Regex, Regex]] = {}  # by identity: the first of the pair is kept alive

    def bodies(self, key: Hashable) -> Sequence[Sequence[Symbol | Lookahead]]:
        """Return the bodies of a nonterminal; see `RuleSource`."""
        bodies: Sequence[Sequence[Symbol | Lookahead]] = self._changed_bodies(self._source.bodies(key))
        return bodies

    def bodies_or_ladder(self, key: Hashable) -> Sequence[Sequence[Symbol | Lookahead]] | Ladder:
        """Return the bodies of a nonterminal, or those of several; see `Ladder`."""
        found = self._bodies_or_ladder(key)
        if not isinstance(found, Ladder):
            changed: Sequence[Sequence[Symbol | Lookahead]] = self._changed_bodies(found)
            return changed
        ladder = found  # with a type in the .pxd
        bodies = self._changed_bodies(ladder.bodies)
        return ladder if bodies is ladder.bodies else Ladder(ladder.keys, bodies)

    def _changed_bodies(self, bodies: Any) -> Any:
        """Return some bodies with other terminals; the same object if nothing changes."""
        changed: Any = None
        for index in range(len(bodies)):
            body = bodies[index]
            other = self._changed_body(body)
            if other is not body:
                if changed is None:
                    changed = list(bodies)
                changed[index] = other
        return bodies if changed is None else changed

    def _changed_body(self, body: Sequence[Symbol | Lookahead]) -> Sequence[Symbol | Lookahead]:
        """Return a body with other terminals; the same object if nothing changes."""
        changed: list[Symbol | Lookahead] | None = None
        for index in range(len(body)):
            symbol = body[index]
            other = self._changed_symbol(symbol)
            if other is not symbol:
                if changed is None:
                    changed = list(body)
                changed[index] = other
        return body if changed is None else changed

    def _changed_symbol(self, symbol: Symbol | Lookahead) -> Symbol | Lookahead:
        """Return a symbol with another terminal; the same object if nothing changes."""
        if isinstance(symbol, (Lazy, Lookahead)):
            return symbol
        if not isinstance(symbol, Capture):
            return self._changed_terminal(symbol)
        capture = symbol  # with a type in the .pxd
        if isinstance(capture.of, Lazy):
            return capture
        of = self._changed_terminal(capture.of)
        return capture if of is capture.of else Capture(of, capture.then, capture.endless, capture.refuses)

    def _changed_terminal(self, regex: Regex) -> Regex:
        """Return the terminal to take in place of another one."""
        known = self._known.get(id(regex))
        if known is None:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            known = self._known[id(regex)] = (regex, self._change(regex))
        return known[1]

    def after(self, then: Hashable, text: bytes | None) -> Hashable | None:
        """Return the key of what follows a capture; see `RuleSource`."""
        return self._source.after(then, text)

    def refusals(self, then: Hashable, begun: bytes) -> Refusals:
        """Return the rests of refused texts; see `RuleSource`."""
        return self._source.refusals(then, begun)

    def remaining(self, then: Hashable, least: int) -> Regex:
        """Return the terminal of a capture without refused texts, replaced; see `RuleSource`."""
        return self._changed_terminal(self._source.remaining(then, least))

    def least_bytes(self, key: Hashable) -> int:
        """Return a lower bound of the bytes of a nonterminal's texts; see `RuleSource`."""
        return self._source.least_bytes(key)

    def forget(self) -> None:
        """Drop what was computed for written texts; see `RuleSource.forget`."""
        self._source.forget()

    def words(self, key: Hashable, body: Sequence[Symbol | Lookahead], at: int) -> tuple[str, str]:
        """Describe a symbol of a body; see `Describer`."""
        original = self._original(key, body)
        return ("", "") if original is None or self._describer is None else self._describer.words(key, original, at)

    def location(self, key: Hashable, body: Sequence[Symbol | Lookahead], at: int) -> str | None:
        """Return the rule or schema location that asks for a symbol; see `Describer`."""
        original = self._original(key, body)
        return "" if original is None or self._describer is None else self._describer.location(key, original, at)

    def _original(self, key: Hashable, body: Sequence[Symbol | Lookahead]) -> Sequence[Symbol | Lookahead] | None:
        """Return a body as the source made it; None if it made none that is changed to this one."""
        for original in self._source.bodies(key):
            if are_same(self._changed_body(original), body):
                return original
        return None


def are_same(body: Sequence[Symbol | Lookahead], other: Sequence[Symbol | Lookahead]) -> bool:
    """Return whether two bodies are equal: a source makes new objects each time."""
    return len(body) == len(other) and all(map(_is_same, body, other))


def _is_same(symbol: Symbol | Lookahead, other: Symbol | Lookahead) -> bool:
    if isinstance(symbol, Lazy) and isinstance(other, Lazy):
        return bool(symbol.key == other.key)
    if isinstance(symbol, Lookahead) and isinstance(other, Lookahead):
        return symbol.number == other.number
    if isinstance(symbol, Capture) and isinstance(other, Capture):
        return bool(symbol.then == other.then) and _is_same(symbol.of, other.of)
    return bool(symbol == other)
