"""Search for special tokens' texts along a text: an automaton whose states are the beginnings of such texts.

It is that of Aho and Corasick (1975). A state is the longest beginning of a special token's text that the text so far
ends with. With the special token `<|end|>`:

    text      `a`   `<`   `<|`   `<|e`   `<|ex`   `<|end|>`
    state     ``    `<`   `<|`   `<|e`   ``       completed: no state
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx

__all__ = ["NONE_BEGUN", "SpecialTexts"]

NONE_BEGUN = b""
MAX_STATES = 10_000  # of a terminal's automaton and this one together
_NO_TEXTS: frozenset[bytes] = frozenset()

_Pair = tuple[int, bytes]  # a state of a terminal's automaton, and one of this one


class SpecialTexts:
    """The automaton that looks for some texts.

    Args:
        texts: texts of special tokens; none of them empty.

    Attributes:
        holding: the regex of what holds one of them.
    """

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._texts = frozenset(texts)
        self._sizes = sorted({len(text) for text in self._texts})
        self._next = {NONE_BEGUN: 0}  # by beginning: the bytes that continue it, as bits of a number
        for text in self._texts:
            for size, byte in enumerate(text):
                self._next[text[:size]] = self._next.get(text[:size], 0) | 1 << byte
        self.holding = rx.sequence(rx.ANY_BYTES, rx.literal_set(self._texts), rx.ANY_BYTES)
        self._all_next: dict[bytes, int] = {}  # the same for all beginnings that a state ends with
        self._steps: dict[tuple[bytes, int], bytes | None] = {}

    def _after(self, state: bytes, text: bytes) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """Return the state after some more bytes, and no texts; or no state, and the texts that they complete."""
        for byte in text:
            following = self._step(state, byte)
            if following is None:
                return frozenset(), self._ended(state + bytes([byte]))
            state = following
        return frozenset((state,)), _NO_TEXTS

    def _step(self, state: bytes, byte: int) -> bytes | None:
        key = (state, byte)
        if key not in self._steps:
            text = state + bytes([byte])
            self._steps[key] = None if self._ended(text) else next(at for at in _endings(text) if at in self._next)
        return self._steps[key]

    def _ended(self, text: bytes) -> frozenset[bytes]:
        """Return the special tokens' texts that a text ends with."""
        endings = (text[-size:] for size in self._sizes if size <= len(text))
        return self._texts.intersection(endings)

    def ends(
        self, store: AutomatonStore, regex: rx.Regex, state: bytes, is_search: bool
    ) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """Return the states after the texts of a regex, and the special tokens' texts that some of them complete.

        Args:
            store: makes automata.
            regex: the regex.
            state: the state before its texts.
            is_search: whether to stop at the first text that ends with nothing begun.

        Raises:
            LimitExceededError: the automaton has too many states.
            OverflowError: both automata together have too many states.
        """
        if isinstance(regex, rx.Literal):
            return self._after(state, regex.data)
        ways, completed = self._ways(store, (store.add(regex), state), is_search)
        return frozenset(begun for at, begun in ways if store.is_accepting(at)), completed

    def forced_ends(self, store: AutomatonStore, regex: rx.Regex) -> tuple[frozenset[bytes] | None, frozenset[bytes]]:
        """Return the states after a regex's texts that pass a position from which all texts end with something begun.

        Nothing is begun before the regex, nor at that position.

        Returns:
            The states; None if from such a position all texts complete a special token's text: a dead end. And the
            special tokens' texts that some texts complete.

        Raises:
            LimitExceededError, OverflowError: see `ends`.
        """
        if isinstance(regex, rx.Literal):
            states, completed = self._after(NONE_BEGUN, regex.data)
            return states - {NONE_BEGUN}, completed
        ways, completed = self._ways(store, (store.add(regex), NONE_BEGUN))
        came_from: dict[_Pair, list[_Pair]] = {pair: [] for pair in ways}
        for pair, found in ways.items():
            for following in found:
                came_from[following].append(pair)
        ends = {pair for pair in ways if store.is_accepting(pair[0])}
        nothing_begun = {pair for pair in ways if not pair[1]}
        if not nothing_begun <= _reached(came_from, ends):
            return None, completed
        free = _reached(came_from, {pair for pair in ends if not pair[1]})
        forced = _reached(ways, nothing_begun - free)
        return frozenset(begun for _, begun in forced & ends), completed

    def _ways(
        self, store: AutomatonStore, first: _Pair, is_search: bool = False
    ) -> tuple[dict[_Pair, set[_Pair]], frozenset[bytes]]:
        """Return the pairs that texts pass, each with those that follow it; and the texts that are completed."""
        ways: dict[_Pair, set[_Pair]] = {first: set()}
        waiting = [first]
        completed = _NO_TEXTS
        for pair in waiting:  # grows meanwhile
            continuing = self._continuing(pair[1])
            for target, step in store.successors(pair[0]).items():
                found = {NONE_BEGUN} if step & ~continuing else set()
                for byte in _bytes_of(step & continuing):
                    following = self._step(pair[1], byte)
                    if following is None:
                        completed |= self._ended(pair[1] + bytes([byte]))
                    else:
                        found.add(following)
                if is_search and NONE_BEGUN in found and store.is_accepting(target):
                    return {(target, NONE_BEGUN): set()}, completed
                for following in found:
                    ways[pair].add((target, following))
                    if (target, following) not in ways:
                        ways[target, following] = set()
                        waiting.append((target, following))
            if len(ways) > MAX_STATES:
                raise OverflowError("a terminal has too many states")
        return ways, completed

    def _continuing(self, state: bytes) -> int:
        """Return the bytes after which something is begun or completed, as bits of a number."""
        known = self._all_next.get(state)
        if known is None:
            known = self._all_next[state] = reduce(or_, [self._next.get(ending, 0) for ending in _endings(state)])
        return known


def _endings(text: bytes) -> Iterator[bytes]:
    return (text[first:] for first in range(len(text) + 1))


def _bytes_of(mask: int) -> Iterator[int]:
    while mask:
        byte = mask.bit_length() - 1
        mask ^= 1 << byte
        yield byte


def _reached(ways: Mapping[_Pair, Iterable[_Pair]], first: set[_Pair]) -> set[_Pair]:
    """Return the pairs that ways lead to from some pairs; they themselves are among them."""
    found, waiting = set(first), list(first)
    while waiting:
        new = set(ways[waiting.pop()]) - found
        found |= new
        waiting += new
    return found
