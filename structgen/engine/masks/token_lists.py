"""Growing lists of tokens, which walks over a trie fill: flat int32 arrays that are used again for each walk."""

from __future__ import annotations

from array import array

from structgen.engine.arrays import grown_pool, zeros

__all__ = ["CountedTokens", "FoundTokens", "TokenList"]

# Declared as a C integer in the .pxd, so not importable from here.
FOUND_ROOM = 4096  # tokens for which a walk's lists have room at first


class TokenList:
    """A list of tokens, or of trie nodes.

    Args:
        room: the number of tokens for which there is room at first.

    Attributes:
        values: int32; the first `size` of them are the list.
        size: the number of tokens.
    """

    def __init__(self, room: int) -> None:
        self.values = zeros(room)
        self.size = 0

    def reserve(self, more: int) -> None:
        """Make room for more tokens."""
        while self.size + more > len(self.values):
            self.values = grown_pool(self.values, self.size)

    def add(self, value: int) -> None:
        """Append a token."""
        if self.size >= len(self.values):
            self.reserve(1)
        self.values[self.size] = value
        self.size += 1

    def extend(self, values: array[int], first: int, last: int) -> None:
        """Append `values[first:last]`."""
        if self.size + last - first > len(self.values):
            self.reserve(last - first)
        mine, size = self.values, self.size
        for index in range(first, last):
            mine[size + index - first] = values[index]
        self.size = size + last - first


class CountedTokens(TokenList):
    """A list of tokens, or of trie nodes, each with a count.

    Attributes:
        counts: int32, parallel to `values`. Tokens that are added without a count have none that may be read.
    """

    def __init__(self, room: int) -> None:
        super().__init__(room)
        self.counts = zeros(room)

    def reserve(self, more: int) -> None:
        """Make room for more tokens and their counts."""
        while self.size + more > len(self.values):
            self.values = grown_pool(self.values, self.size)
            self.counts = grown_pool(self.counts, self.size)

    def add_counted(self, value: int, count: int) -> None:
        """Append a token with its count."""
        if self.size >= len(self.values):
            self.reserve(1)
        self.values[self.size] = value
        self.counts[self.size] = count
        self.size += 1

    def extend_counted(self, values: array[int], first: int, last: int, count: int) -> None:
        """Append `values[first:last]`, all with one count."""
        if self.size + last - first > len(self.values):
            self.reserve(last - first)
        mine, counts, size = self.values, self.counts, self.size
        for index in range(first, last):
            mine[size + index - first] = values[index]
            counts[size + index - first] = count
        self.size = size + last - first


class FoundTokens:
    """The result of one walk over a trie. The next walk clears it and fills it again.

    Attributes:
        inside: tokens that the automaton reads to their last byte.
        rest: tokens that go on into what follows a counted class; in a comparison of two states, the tokens inside
            that only the other state has.
        exits: nodes at which the terminal may end within a token.
        lost: in a comparison of two states, the tokens after an exit that only the other state has.
        largest_count: the largest count of a token or an exit.
    """

    def __init__(self) -> None:
        self.inside = CountedTokens(FOUND_ROOM)
        self.rest = CountedTokens(FOUND_ROOM)
        self.exits = CountedTokens(FOUND_ROOM)
        self.lost = TokenList(FOUND_ROOM)
        self.largest_count = 0

    def clear(self) -> None:
        """Forget what the last walk has found."""
        self.inside.size = self.rest.size = self.exits.size = self.lost.size = self.largest_count = 0
