"""Tokens that surely lead on within a terminal: found once for all grammars that share the terminal's automaton.

A free JSON string is in one automaton state in all schemas, and Llama 3's tokens lead to some twenty states of the
scanner in it. So for each of these pairs it is kept which tokens lead on, whatever the grammar allows after the string:

    in a string, after a letter    `abc`    leads on: a space may follow, which cuts it off
                                   `",`     is not here: what follows depends on the grammar
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structgen.engine.masks.table_store import TableStore
from structgen.engine.masks.tables import TerminalMask
from structgen.engine.matching.compiled import CompiledGrammar, SharedTables
from structgen.engine.pair_table import PairTable
from structgen.errors import LimitExceededError
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.terminal_texts import TerminalTexts
from structgen.tokenization.matching.token_sets import unite_both
from structgen.tokenization.matching.token_steps import TokenSteps

__all__ = ["CAPTURED", "EAGER", "FREE", "InnerWays", "LeadingTokens"]

FREE = 0
CAPTURED = 1
EAGER = 2
# Declared as C integers in the .pxd, so not importable from here.
KINDS = 3
MAX_KEPT = 65_536  # positions
MAX_ROWS = 512  # masks, 16 kB each
MIN_ROW = 256  # tokens that are kept as a mask; a set of them would be larger


class LeadingTokens:
    """The tokens that are known to lead on from one position.

    Attributes:
        proven: tokens that were checked one by one; None for none, as from most positions.
        row: uint32[words], tokens that their cutting texts may follow within the terminal, and those of `keep`, if they
            are many; None for none.
        tried: the numbers of the cutters that `row` was made with, as bits.
    """

    def __init__(self) -> None:
        self.proven: set[int] | None = None
        self.row: Any = None
        self.tried = 0

    def add(self, token: int) -> None:
        """Add a token that was checked."""
        if self.proven is None:
            self.proven = set()
        self.proven.add(token)


class InnerWays:
    """The tokens that lead on within the terminals of one store of automata.

    A position is a state of an automaton, and the state of the scanner and the unfinished character before a token. It
    has three kinds:

        FREE        each byte that leads on within the terminal may come, see `Continuations.is_free`
        CAPTURED    the end of the terminal may be refused
        EAGER       the first text of the grammar is the whole text

    Args:
        shared: the automata.
        tokenization: the tokenizer.

    Attributes:
        tokenization: the same.
        texts: what is known of the texts within the terminals; for grammars that are eager, the second one.
    """

    def __init__(self, shared: SharedTables, tokenization: ProperTokenization) -> None:
        self._shared = shared
        self.tokenization = tokenization
        self.texts = (TerminalTexts(), TerminalTexts())
        self._places = PairTable()  # by state of the scanner and unfinished character: a number
        self._positions = PairTable()  # by state of an automaton, and this number and the kind: an index in `_known`
        self._known: list[LeadingTokens] = []
        self._row_count = 0

    @classmethod
    def of(cls, compiled: CompiledGrammar, tokenization: ProperTokenization) -> InnerWays:
        """Return the tokens for the automata of a grammar; made when first asked for.

        A tokenization that is made again has another scanner, whose states have other numbers.
        """
        known = compiled.shared.proper
        if isinstance(known, cls) and known.tokenization is tokenization:
            return known
        made = cls(compiled.shared, tokenization)
        compiled.shared.proper = made
        return made

    def at_item(self, steps: TokenSteps, item: int, kind: int) -> LeadingTokens:
        """Return the same as `after`, for a scannable item of the set that some steps begin at."""
        return self.after(steps.begun_within(item), steps.begun_state, steps.begun_partial, kind)

    def after(self, at: int, scanner_state: int, partial: int, kind: int) -> LeadingTokens:
        """Return the tokens that are known to lead on from a position."""
        place = self._places.get(scanner_state, partial)
        if place < 0:
            place = len(self._places)
            self._places.put(scanner_state, partial, place)
        position = self._positions.get(at, KINDS * place + kind)
        if position < 0:
            if len(self._known) >= MAX_KEPT or self._row_count >= MAX_ROWS:
                self._positions, self._known, self._row_count = PairTable(), [], 0
            position = len(self._known)
            self._positions.put(at, KINDS * place + kind, position)
            self._known.append(LeadingTokens())
        return self._known[position]

    def keep(self, steps: TokenSteps, item: int, kind: int, tokens: Any, count: int, words: int) -> None:
        """Keep tokens that lead on from a scannable item of the set that some steps begin at.

        Args:
            steps: the steps.
            item: the number of the item.
            kind: see `after`.
            tokens: int32[...], the tokens; the first `count` ones are kept.
            count: the number of tokens.
            words: the number of words of a mask.
        """
        known, one = self.at_item(steps, item, kind), 1
        if count < MIN_ROW and known.row is None:
            for index in range(count):
                known.add(tokens[index])
        else:
            row = self._row_of(known, words)
            for index in range(count):
                token = tokens[index]
                row[token >> 5] |= one << (token & 31)

    def _row_of(self, known: LeadingTokens, words: int) -> Any:
        """Return the mask of a position, made when first asked for."""
        if known.row is None:
            known.row = np.zeros(words, dtype=np.uint32)
            self._row_count += 1
        return known.row

    def find(self, known: LeadingTokens, at: int, cutters: int, vocabulary: Any, sure: Any) -> None:
        """Add the tokens whose cutting texts may follow within a terminal, at a position of the kind FREE.

        Args:
            known: gets the tokens.
            at: the state of the automaton.
            cutters: the number of the cutters.
            vocabulary: the tokens with their cutting texts.
            sure: uint32[words], the tokens that these texts surely cut off.
        """
        one = 1
        if not known.tried >> cutters & 1:
            known.tried |= one << cutters
            terminals = self._shared.terminals_of(vocabulary)
            try:
                table = terminals.get(at)
            except LimitExceededError:  # then each token is checked by itself
                table = _NOTHING
            if table.dense >= 0 or table.first_token < table.last_token:
                self._add(terminals.store, table, self._row_of(known, len(sure)), sure)

    def _add(self, store: TableStore, table: TerminalMask, row: Any, sure: Any) -> None:
        """Add those tokens of a table to a mask that another mask has."""
        one = 1
        if table.dense >= 0:
            unite_both(row, store.words_of(table), sure)
        for index in range(table.first_token, table.last_token):
            token = store.pool[index]
            row[token >> 5] |= sure[token >> 5] & (one << (token & 31))


_NOTHING = TerminalMask()
