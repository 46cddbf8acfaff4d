"""Masks from a mask store along a text, before and after each step of its streamlining.

The masks of all steps must be equal: what a step removes, the parser would have refused, or its answer is known. This
is checked on real programs (`StoredMasks.compare`), as V. Tran-Thien did for the publication.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from structgen.diagnostics.grammar_statistics.contexts import Sentences
from structgen.diagnostics.grammar_statistics.lexed_contexts import LexedTables
from structgen.diagnostics.grammar_statistics.lexers import Lexer
from structgen.diagnostics.grammar_statistics.mask_store import STEPS, Streamlining
from structgen.diagnostics.grammar_statistics.spans import Span
from structgen.diagnostics.grammar_statistics.token_spanner import TokenSpannerTable
from structgen.limits import Limits

__all__ = ["Compared", "StoredMasks"]


class Compared(NamedTuple):
    """The result of `StoredMasks.compare`.

    Attributes:
        masks: positions at which masks were compared.
        equal: for each step after the first of `STEPS`, the positions at which its mask is that of the whole store.
        asked: for each of `STEPS`, the sequences that were put to the parser.
    """

    masks: int
    equal: tuple[int, ...]
    asked: tuple[int, ...]


class StoredMasks:
    """The masks of a mask store.

    Args:
        lexer: the lexer.
        lexed: its grammar.
        tokens: the text of each token id.
        limits: bounds on the item sets.
    """

    def __init__(
        self, lexer: Lexer, lexed: LexedTables, tokens: Mapping[int, bytes], limits: Limits | None = None
    ) -> None:
        limits = limits or Limits()
        self._lexer = lexer
        self._tokens = tokens
        self._table = TokenSpannerTable(lexer, tokens)
        self._streamlining = Streamlining(lexer, lexed, limits)
        self._parser = Sentences(lexed.tables, limits)
        self._rows: dict[int, tuple[dict[Span, int], ...]] = {}

    def _row(self, state: int) -> tuple[dict[Span, int], ...]:
        """Return the entries of a state for each step: what is asked, with the tokens as bits."""
        if state not in self._rows:
            found: tuple[dict[Span, int], ...] = tuple([{} for _ in STEPS])
            for sequence, tokens in self._table.inverse(state).items():
                part = self._streamlining.seen(sequence)
                asked = (part, *self._streamlining.steps(part)) if self._streamlining.is_legal(part) else (part,)
                bits = sum(1 << token for token in tokens)
                for entries, key in zip(found, asked):
                    entries[key] = entries.get(key, 0) | bits
            self._rows[state] = found
        return self._rows[state]

    def masks(self, state: int, item_set: int) -> list[int]:
        """Return the mask of each step, with bit t for token t, at a state of the lexer and an item set."""
        return [self._mask(entries, item_set) for entries in self._row(state)]

    def _mask(self, entries: dict[Span, int], item_set: int) -> int:
        mask = 0
        for asked, bits in entries.items():
            if self._parser.follow(item_set, asked):
                mask |= bits
        return mask

    def compare(self, token_ids: Iterable[int]) -> Compared:
        """Compare the masks before each token of a text, up to the first token that is not in the mask.

        Args:
            token_ids: the ids of the tokens, in order.
        """
        state, item_set = 0, self._parser.start
        positions = 0
        equal = [0] * (len(STEPS) - 1)
        asked = [0] * len(STEPS)
        for token in token_ids:
            whole, *streamlined = self.masks(state, item_set)
            positions += 1
            for step, mask in enumerate(streamlined):
                equal[step] += mask == whole
            for step, entries in enumerate(self._row(state)):
                asked[step] += len(entries)
            found = self._lexer.read(state, self._tokens[token])
            if found is None or not whole >> token & 1:
                break
            emitted, state = found
            item_set = self._parser.follow(item_set, self._streamlining.seen(emitted))
        return Compared(positions, tuple(equal), tuple(asked))
