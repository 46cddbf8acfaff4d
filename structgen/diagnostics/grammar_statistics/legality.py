"""Which spans of tokens the grammar ever has behind a terminal, and which of these wherever it stands."""

from __future__ import annotations

from typing import NamedTuple

from structgen.diagnostics.grammar_statistics.contexts import Contexts
from structgen.diagnostics.grammar_statistics.spans import Span, SpanSets

__all__ = ["Counted", "LegalSpans"]


class Counted(NamedTuple):
    """How many entries a state has; see `structgen.diagnostics.grammar_statistics.statistics.Statistics`."""

    legal: int
    conditional: int
    joint: int


class LegalSpans:
    """The legal ones among sets of spans.

    Args:
        contexts: of the grammar.
        sets: in which the sets are numbers.
    """

    def __init__(self, contexts: Contexts, sets: SpanSets) -> None:
        self._contexts = contexts
        self._sets = sets
        self._legal: dict[tuple[int, int], list[Span]] = {}

    def counted(self, terminal: int, spans: int) -> Counted:
        """Counts the entries of a state of a terminal that has a set of spans."""
        contexts = self._contexts
        legal = self._within(contexts.after(terminal), spans)
        conditional = [span for span in legal if not contexts.is_always_legal(terminal, span)]
        joint = {(span[:-1], contexts.kinds[span[-1]]) for span in conditional}
        return Counted(len(legal), len(conditional), len(joint) + (len(legal) > len(conditional)))

    def _within(self, place: int, spans: int) -> list[Span]:
        """Those members of a set that the grammar has behind a place."""
        key = (place, spans)
        found = self._legal.get(key)
        if found is None:
            sets = self._sets
            found = self._legal[key] = [()] if sets.has_empty[spans] else []
            for part in sets.parts[spans]:
                terminal = sets.terminals[part]
                if behind := self._contexts.step(place, terminal):
                    found += [(terminal, *rest) for rest in self._within(behind, sets.rests[part])]
        return found
