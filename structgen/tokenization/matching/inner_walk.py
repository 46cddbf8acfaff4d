"""Tokens that surely lead on within a terminal: many are decided in one walk, before others are checked.

Near the end of a string with `maxLength`, thousands of tokens are undecided: each leaves room for others. They are in
the order of their texts, so most of them differ from the one before in a byte or two:

    token       state of the string's automaton    state of the scanner    decided
    `is`        3 characters are left              after letters           leads on: a space may follow
    `isl`       2 characters are left              after letters           the same; only `l` is a new step
    `is",`      none: the string has ended         -                       left to `Verdicts`

The walk reads the bytes of all tokens from one array. Looking at the objects of some thousand tokens takes longer than
the walk: each of them is somewhere else in memory.
"""

from __future__ import annotations

import numpy as np

from structgen.engine.arrays import zeros
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.pair_table import PairTable
from structgen.tokenization.matching.checked_position import CheckedPosition
from structgen.tokenization.matching.continuations import Continuations
from structgen.tokenization.matching.inner_ways import FREE, InnerWays
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.token_sets import UndecidedTokens

__all__ = ["InnerWalk"]

# Declared as C integers in the .pxd, so not importable from here.
UNKNOWN = 0
GOOD = 1
WORDS = 8  # of 256 bits
ALL_BITS = 0xFFFFFFFF  # of a word
MAX_KEPT = 65_536  # places


class InnerWalk:
    """Walks along the tokens of one grammar, for the Earley sets of one epoch.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.
        ahead: the texts that may come next in the grammar.
    """

    def __init__(self, compiled: CompiledGrammar, tokenization: ProperTokenization, ahead: Continuations) -> None:
        self._automata = compiled.sets.automata
        self._is_eager = compiled.eager
        self._scanner = tokenization.scanner
        self._ahead = ahead
        self._borders = None if tokenization.borders is None else tokenization.borders.words
        self._numbers = PairTable()  # by state of an automaton and of the scanner: see `_number_of`
        self._cutting = np.zeros(64 * WORDS, dtype=np.uint32)
        self._inner = InnerWays.of(compiled, tokenization)
        self._text = tokenization.texts.joined
        self._starts = tokenization.texts.starts
        self._usual = tokenization.texts.usual
        # By number of bytes: what is reached after so many.
        longest = tokenization.texts.longest
        self._scanner_states, self._partials, self._item_states = (zeros(longest + 1) for _ in range(3))

    def decide(self, undecided: UndecidedTokens, position: CheckedPosition) -> None:
        """Set the verdicts on tokens that surely lead on within one of the terminals of a set.

        Args:
            undecided: the tokens, in the order of their texts.
            position: the position before them. No added token begins before it, and no word whose tokens count.
        """
        steps = position.steps
        for item in range(steps.count):
            self._walk(undecided, position, item)

    def _walk(self, undecided: UndecidedTokens, position: CheckedPosition, item: int) -> None:
        """Follow all tokens along one scannable item, as far as it goes. This is a hot loop."""
        text, starts, usual, steps, one = self._text, self._starts, self._usual, position.steps, 1
        states, partials, item_states = self._scanner_states, self._partials, self._item_states
        states[0], partials[0], item_states[0] = steps.begun_state, steps.begun_partial, steps.begun_within(item)
        tokens, verdicts = undecided.tokens, undecided.verdicts
        kind = self._ahead.kind_of(steps.set_id, steps.scan_of(item))
        is_free = kind == FREE
        found = zeros(len(tokens))
        count = before = known = 0  # `known`: bytes of the token before that were followed
        for index in range(len(tokens)):
            token = tokens[index]
            if verdicts[index] == UNKNOWN and usual[token >> 5] & (one << (token & 31)):
                begin = starts[token]
                length = starts[token + 1] - begin
                depth = 0
                while depth < known and depth < length and text[begin + depth] == text[before + depth]:
                    depth += 1
                while depth < length and item_states[depth]:
                    byte = text[begin + depth]
                    depth += 1
                    item_states[depth] = self._next(item_states[depth - 1], byte)
                    self._scanner.descend(states, partials, depth, byte)
                before, known = begin, depth
                at = item_states[depth] if depth == length else 0
                if at and not partials[depth] and self._is_cut(at, is_free, states[depth], token):
                    verdicts[index] = GOOD
                    found[count] = token
                    count += 1
        if count:
            self._inner.keep(steps, item, kind, found, count, len(usual))

    def _is_cut(self, at: int, is_free: bool, scanner_state: int, token: int) -> bool:
        """Return whether a byte that surely cuts may come next in a terminal.

        Args:
            at: the state of the terminal's automaton after a token.
            is_free: whether the terminal is, see `Continuations.is_item_free`. Then the byte may end it.
            scanner_state: the state of the scanner after the token.
            token: the token.
        """
        first, borders = WORDS * self._number_of(at, is_free, scanner_state), WORDS * token
        if self._borders is None:
            return bool(self._cutting[first] != 0)
        if borders + WORDS > len(self._borders):
            return False
        found = 0
        for word in range(WORDS):
            found |= self._cutting[first + word] & self._borders[borders + word]
        return bool(found != 0)

    def _number_of(self, at: int, is_free: bool, scanner_state: int) -> int:
        """Return the place in `_cutting` of the bytes that lead on and cut: words; or a flag, without borders."""
        number = self._numbers.get(2 * at + is_free, scanner_state)
        if number < 0:
            if len(self._numbers) >= MAX_KEPT:
                self._numbers = PairTable()
            number = len(self._numbers)
            leading = self._ahead.leading_from(at) if is_free else self._ahead.bytes_within(at)
            leading = leading & self._scanner.cutting_bytes(scanner_state)
            if WORDS * number >= len(self._cutting):
                self._cutting = np.concatenate([self._cutting, np.zeros_like(self._cutting)])
            for word in range(WORDS):
                self._cutting[WORDS * number + word] = leading >> 32 * word & ALL_BITS
            if self._borders is None:
                self._cutting[WORDS * number] = leading != 0
            self._numbers.put(2 * at + is_free, scanner_state, number)
        return number

    def _next(self, state: int, byte: int) -> int:
        """Return the state of an automaton after a byte; 0 if that ends it, or is none of its bytes."""
        after = self._automata.next(state, byte)
        return 0 if after and self._is_eager and self._automata.table.accepting[after] else after
