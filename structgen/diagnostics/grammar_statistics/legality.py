"""Spans of tokens that may follow a terminal: in some context, or in every context."""

from __future__ import annotations

from typing import NamedTuple

from structgen.diagnostics.grammar_statistics.contexts import Contexts
from structgen.diagnostics.grammar_statistics.spans import Span, SpanSets

__all__ = ["Counted", "LegalSpans"]


class Counted(NamedTuple):
    """The numbers of entries of one automaton state; see `Statistics` in `statistics.py`."""

    legal: int
    conditional: int
    joint: int


class LegalSpans:
    """The legal spans among sets of spans.

    Args:
        contexts: the contexts of the grammar.
        sets: the numbered sets of spans.
    """

    def __init__(self, contexts: Contexts, sets: SpanSets) -> None:
        self._contexts = contexts
        self._sets = sets
        self._legal: dict[tuple[int, int], list[Span]] = {}

    def counted(self, terminal: int, spans: int) -> Counted:
        """Count the entries of an automaton state of a terminal, given its set of spans."""
        contexts = self._contexts
        legal = self.within(contexts.after(terminal), spans)
        trimmed = [contexts.trimmed((terminal, *span)) for span in legal]
        conditional = sum(len(part) > 1 for part in trimmed)
        joint = {contexts.merged(part) for part in set(trimmed)}
        return Counted(len(legal), conditional, len(joint))

    def within(self, item_set: int, spans: int) -> list[Span]:
        """Return the spans of a set that the grammar allows after an item set."""
        key = (item_set, spans)
        found = self._legal.get(key)
        if found is None:
            sets = self._sets
            found = self._legal[key] = [()] if sets.has_empty[spans] else []
            for part in sets.parts[spans]:
                terminal = sets.terminals[part]
                if after := self._contexts.step(item_set, terminal):
                    found += [(terminal, *rest) for rest in self.within(after, sets.rests[part])]
        return found
