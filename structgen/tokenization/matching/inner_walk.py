"""Tokens that surely lead on within a terminal: many of them decided in one walk, before others are checked singly.

Near the end of a string with `maxLength`, thousands of tokens are undecided: each leaves room for other characters. They
are in the order of their texts, so most of them differ from the one before in a byte or two:

    token       state of the string's automaton    state of the scanner    decided
    `is`        3 characters are left              after letters           leads on: a space may follow
    `isl`       2 characters are left              after letters           the same; only `l` is a new step
    `is",`      none: the string has ended         -                       left to `Verdicts`

The walk reads the bytes of all tokens from one array. Looking at the objects of some thousand tokens takes longer than
the walk: each of them is somewhere else in memory.
"""

from __future__ import annotations

from structgen.engine.arrays import zeros
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.tokenization.matching.checked_position import CheckedPosition
from structgen.tokenization.matching.continuations import Continuations
from structgen.tokenization.matching.inner_ways import InnerWays
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.token_sets import UndecidedTokens
from structgen.tokenization.matching.verdicts import Verdicts

__all__ = ["InnerWalk"]

# Declared as C integers in the .pxd, so not importable from here.
UNKNOWN = 0
GOOD = 1


class InnerWalk:
    """Walks along the tokens of one grammar, for the Earley sets of one epoch.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.
        ahead: the texts that may come next in the grammar.
        verdicts: the verdicts on tokens.
    """

    def __init__(
        self, compiled: CompiledGrammar, tokenization: ProperTokenization, ahead: Continuations, verdicts: Verdicts
    ) -> None:
        self._automata = compiled.sets.automata
        self._is_eager = compiled.eager
        self._scanner = tokenization.scanner
        self._ahead = ahead
        self._verdicts = verdicts
        self._inner = InnerWays.of(compiled)
        self._text = tokenization.texts.joined
        self._starts = tokenization.texts.starts
        self._usual = tokenization.usual
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
        is_free = self._ahead.is_free(steps.set_id)
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
                if at and not partials[depth] and self._verdicts.is_sure_within(at, is_free, states[depth], token):
                    verdicts[index] = GOOD
                    found[count] = token
                    count += 1
        if count:
            self._inner.keep(steps, item, self._ahead.kind_of(steps.set_id), found, count, len(usual))

    def _next(self, state: int, byte: int) -> int:
        """Return the state of an automaton after a byte; 0 if that ends it, or is none of its bytes."""
        after = self._automata.next(state, byte)
        return 0 if after and self._is_eager and self._automata.table.accepting[after] else after
