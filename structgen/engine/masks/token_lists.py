"""Growing lists of tokens, which walks over a trie fill: flat int32 arrays that each walk uses again."""

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
        below: more tokens inside, all those below certain nodes, as they stand in `Trie.tokens` and in that order. Of
            each node there are four numbers: first, last, count and least. The token at an index from `first` to
            `last - 1` has the count `count + Trie.token_count[index]`, or `least` if that is more.
        is_ordered: whether `below` is in the order of `Trie.tokens`, each token once.
        exits: nodes at which the terminal may end within a token.
        lost: in a comparison of two states, the tokens after an exit that only the other state has.
        largest_count: the largest count of a token or an exit.
    """

    def __init__(self) -> None:
        self.inside = CountedTokens(FOUND_ROOM)
        self.rest = CountedTokens(FOUND_ROOM)
        self.below = TokenList(FOUND_ROOM)
        self.exits = CountedTokens(FOUND_ROOM)
        self.lost = TokenList(FOUND_ROOM)
        self.largest_count = 0
        self.is_ordered = True

    def clear(self) -> None:
        """Forget what the last walk has found."""
        self.inside.size = self.rest.size = self.below.size = self.exits.size = self.lost.size = 0
        self.largest_count = 0
        self.is_ordered = True

    def skip(self, first: int, last: int, count: int, least: int) -> int:
        """Add tokens inside to `below`, to the range that was added last if they come right after it; return 0."""
        below = self.below
        size = below.size
        # No local variable holds the array: compiled, that would count a reference, which takes longer than the rest.
        is_next = size > 0 and below.values[size - 3] == first
        if is_next and below.values[size - 2] == count and below.values[size - 1] == least:
            below.values[size - 3] = last
            return 0
        if size + 4 > len(below.values):
            below.reserve(4)
        below.values[size] = first
        below.values[size + 1] = last
        below.values[size + 2] = count
        below.values[size + 3] = least
        below.size = size + 4
        return 0

    def inside_count(self) -> int:
        """Return the number of all tokens inside."""
        count = self.inside.size
        for at in range(0, self.below.size, 4):
            count += self.below.values[at + 1] - self.below.values[at]
        return count

    def add_below(self, token_at: array[int], token_count: array[int]) -> None:
        """Move the tokens of `below` to `inside`, each with its count.

        Args:
            token_at: int32, `Trie.tokens`.
            token_count: int32, `Trie.token_count`.
        """
        inside, below = self.inside, self.below.values
        for at in range(0, self.below.size, 4):
            first, last, count, least = below[at], below[at + 1], below[at + 2], below[at + 3]
            if inside.size + last - first > len(inside.values):
                inside.reserve(last - first)
            tokens, counts, size = inside.values, inside.counts, inside.size
            for index in range(first, last):
                needed = count + token_count[index]
                tokens[size + index - first] = token_at[index]
                counts[size + index - first] = needed if needed > least else least
            inside.size = size + last - first
        self.below.size = 0
