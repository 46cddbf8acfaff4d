"""Subtrees of a vocabulary's trie in which the characters of each token decide whether it is inside.

Below such a node, each character is one after which the state stays open (`skippable_states.py`), or no text has it.
Where the state has a bound, the number of characters decides, too, but for tokens that come near the bound: these the
automaton reads. Take texts of exactly 12 characters, of which one is a digit:

    up to 11 characters     inside: the digit may still come
    12 characters           the automaton reads the token
    13 and more             refused
"""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.masks.character_kinds import kind_of
from structgen.engine.masks.skippable_states import SkippableStates
from structgen.engine.masks.tables import Trie
from structgen.engine.masks.token_lists import FoundTokens
from structgen.engine.masks.trie_walk import AutomatonPath

__all__ = ["DecidedSubtrees"]

# Declared as C integers in the .pxd, so not importable from here.
MAX_UNDECIDED = 2  # subtrees that a walk may visit in vain: each had a token that characters did not decide
# The automaton reads tokens below a node only if all of this holds (`_may_read`), as each character makes a state:
MAX_READ = 16  # they have at most so many characters,
MAX_NUMBERS = 4  # their numbers of characters differ by at most so much,
TOKENS_PER_STATE = 8  # and the node has so many tokens for each character that is read
BROKEN_KIND = kind_of(0xFF)


class DecidedSubtrees:
    """Adds the tokens of subtrees to those that a walk has found inside.

    Args:
        automata: the automata of the states.
        trie: the vocabulary's trie.
        spellings: the bytes of each token.
        skippable_states: tells which characters decide.
        found: gets the tokens.

    Attributes:
        nodes_visited: the number of nodes visited in this walk.
    """

    def __init__(
        self,
        automata: AutomatonStore,
        trie: Trie,
        spellings: Sequence[bytes],
        skippable_states: SkippableStates,
        found: FoundTokens,
    ) -> None:
        self._automata = automata
        self._trie = trie
        self._spellings = spellings
        self._skippable_states = skippable_states
        self._found = found
        self._undecided = 0
        self.nodes_visited = 0
        self._path = AutomatonPath(automata, trie.max_depth + 2)
        self._data = b""
        self._read = 0

    def begin(self) -> None:
        """Begin a walk."""
        self._undecided = self.nodes_visited = 0

    def add(self, top: int, number: int, state: int) -> bool:
        """Add the tokens at and below a node that stay inside a state by their characters alone.

        No state of the automaton is needed: long tokens, such as lines of dashes, would lead to a new one with each
        byte where characters are counted.

        Args:
            top: the node; `SkippableStates.decides` the tokens below it.
            number: the number of the state at the node.
            state: the state.

        Returns:
            Whether it is done. False, and nothing is added, if some token has too many characters to be sure.

        Raises:
            LimitExceededError: automaton_states.
        """
        found, trie, skippable_states = self._found, self._trie, self._skippable_states
        kinds, reach = skippable_states.kinds[number], skippable_states.reach[number]
        begun = trie.characters[top]
        is_alike = trie.kinds_below[top] & ~(kinds & ~BROKEN_KIND) == 0
        most = reach
        if trie.most_below[top] - begun > reach:
            most = skippable_states.most(number, state)
            if (
                most > reach
                and not (is_alike and self._may_read(top, reach, most))
                and self._undecided == MAX_UNDECIDED
            ):
                return False
        size = found.below.size
        last = found.below.values[size - 3] if size else 0
        found.skip(trie.token_start[top], trie.token_start[top + 1], 0, 0)
        if is_alike:
            return self._add_by_length(top, state, reach, most) or self._give_up(size, last)
        stop = trie.end[top]
        node = top + 1
        while node < stop:
            self.nodes_visited += 1
            end = trie.end[node]
            count = trie.characters[node] - begun
            own = kind_of(trie.byte[node])  # of the kinds that a byte beyond ASCII begins, all are absent or none
            if (own and not own & kinds) or count > most:
                node = end
                continue
            first, after = trie.token_start[node], trie.token_start[node + 1]
            if count <= reach and trie.kinds_below[node] & ~kinds == 0 and trie.most_below[node] - begun <= reach:
                found.skip(first, trie.token_start[end], 0, 0)
                node = end
                continue
            if first < after:
                if count > reach:
                    return self._give_up(size, last)
                found.skip(first, after, 0, 0)
            node += 1
        return True

    def _add_by_length(self, top: int, state: int, reach: int, most: int) -> bool:
        """Add the tokens below a node where each character is one that decides.

        Returns False if a match may end within a token, or if the automaton would have to read many tokens.

        Args:
            top: the node.
            state: the state there.
            reach: all tokens with at most so many characters below the node are inside.
            most: all tokens with more characters are refused.
        """
        found, trie = self._found, self._trie
        begun, above, count_at = trie.characters[top], trie.depth[top], trie.token_count
        first, last = trie.token_start[top + 1], trie.token_start[trie.end[top]]
        may_read = self._may_read(top, reach, most)
        self._path.enter(0, state)
        self._data, self._read = b"", 0
        for at in range(first, last):
            count = count_at[at] - begun
            if count <= reach:
                continue
            if count <= most:
                self.nodes_visited += 1
                self._begin_reading(self._spellings[trie.tokens[at]], above)
                if not may_read or not self._reads_on(above):
                    return False
                if above + self._read == len(self._data):
                    continue
            if first < at:
                found.skip(first, at, 0, 0)
            first = at + 1
        if first < last:
            found.skip(first, last, 0, 0)
        return True

    def _may_read(self, top: int, reach: int, most: int) -> bool:
        """Return whether the automaton may read tokens that have more than `reach` and up to `most` characters."""
        tokens = self._trie.token_start[self._trie.end[top]] - self._trie.token_start[top]
        return most <= MAX_READ and most - reach <= MAX_NUMBERS and tokens >= TOKENS_PER_STATE * most

    def _begin_reading(self, data: bytes, above: int) -> None:
        """Begin to read a token, after the bytes that it has in common with the one before.

        Args:
            data: the token.
            above: the bytes that lead to the node.
        """
        before = self._data
        most = min(above + self._read, len(data))
        same = above
        while same < most and data[same] == before[same]:
            same += 1
        self._data, self._read = data, same - above

    def _reads_on(self, above: int) -> bool:
        """Read the token with the automaton, to its end or to the first byte that is refused.

        Returns False if a match may end before the token's end.

        Args:
            above: the bytes that lead to the node.
        """
        automata, path, data = self._automata, self._path, self._data
        left = len(data) - above
        while self._read < left:
            state = path.state_at[self._read]
            automata.expand(state)
            path.enter(self._read, state)
            state = path.target(self._read, data[above + self._read])
            if state == 0:
                return True
            self._read += 1
            if automata.table.accepting[state] and self._read < left:
                return False
            path.state_at[self._read] = state
        return True

    def _give_up(self, size: int, last: int) -> bool:
        """Remove the tokens that were added for a node; return False.

        Args:
            size: the number of values in `FoundTokens.below` before.
            last: the token after the last of them.
        """
        below = self._found.below
        self._undecided += 1
        below.size = size
        if size:
            below.values[size - 3] = last
        return False
