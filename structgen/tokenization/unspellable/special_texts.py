"""The texts of special tokens, looked for along a text: an automaton whose states are the beginnings of such texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx

__all__ = ["NONE_BEGUN", "SpecialTexts"]

NONE_BEGUN = b""
MAX_STATES = 10_000  # of a terminal's automaton and this one together

_Place = tuple[int, bytes]  # a state of each


class SpecialTexts:
    """Follows texts. A state is the longest beginning of a special token's text that the text ends with; the automaton
    is that of Aho and Corasick (1975).

    Args:
        texts: those of the special tokens; none of them empty.
    """

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._texts = frozenset(texts)
        self._sizes = sorted({len(text) for text in self._texts})
        self._next = {NONE_BEGUN: 0}  # by beginning, the bytes that go on with it, as bits of a number
        for text in self._texts:
            for size, byte in enumerate(text):
                self._next[text[:size]] = self._next.get(text[:size], 0) | 1 << byte
        self.holding = rx.sequence(rx.ANY_BYTES, rx.literal_set(self._texts), rx.ANY_BYTES)
        self._all_next: dict[bytes, int] = {}  # the same of all beginnings that a state ends with
        self._steps: dict[tuple[bytes, int], bytes | None] = {}

    def behind(self, state: bytes, text: bytes) -> bytes | None:
        """The state behind some more bytes; None if they complete a special token's text."""
        for byte in text:
            after = self._step(state, byte)
            if after is None:
                return None
            state = after
        return state

    def _step(self, state: bytes, byte: int) -> bytes | None:
        key = (state, byte)
        if key not in self._steps:
            text = state + bytes([byte])
            is_complete = any(text[-size:] in self._texts for size in self._sizes if size <= len(text))
            self._steps[key] = None if is_complete else next(at for at in _endings(text) if at in self._next)
        return self._steps[key]

    def ends(
        self, store: AutomatonStore, regex: rx.Regex, state: bytes, is_search: bool
    ) -> tuple[frozenset[bytes], bool]:
        """The states behind the texts of a regex, and whether some of its texts complete a special token's.

        Args:
            store: makes automata.
            regex: the regex.
            state: the one before its texts.
            is_search: whether no others are asked for where it is found that nothing may be begun.

        Raises:
            LimitExceededError: automaton_states.
            OverflowError: it takes too many steps to tell.
        """
        if isinstance(regex, rx.Literal):
            after = self.behind(state, regex.data)
            return (frozenset(), True) if after is None else (frozenset((after,)), False)
        ways, completes = self._ways(store, (store.add(regex), state), is_search)
        return frozenset(begun for at, begun in ways if store.is_accepting(at)), completes

    def forced_ends(self, store: AutomatonStore, regex: rx.Regex) -> frozenset[bytes]:
        """The states behind the texts of a regex that begins where nothing is begun: behind those that have come to a
        place where nothing was begun, and from which all go on to where something is.

        Raises:
            LimitExceededError, OverflowError: see `ends`.
        """
        if isinstance(regex, rx.Literal):
            return frozenset(after for after in [self.behind(NONE_BEGUN, regex.data)] if after)
        ways, _ = self._ways(store, (store.add(regex), NONE_BEGUN))
        came_from: dict[_Place, list[_Place]] = {place: [] for place in ways}
        for place, found in ways.items():
            for after in found:
                came_from[after].append(place)
        ends = {place for place in ways if store.is_accepting(place[0])}
        free = _reached(came_from, {place for place in ends if not place[1]})
        forced = _reached(ways, {place for place in ways if not place[1]} - free)
        return frozenset(begun for _, begun in forced & ends)

    def _ways(
        self, store: AutomatonStore, first: _Place, is_search: bool = False
    ) -> tuple[dict[_Place, set[_Place]], bool]:
        """The places that texts come through, each with those that follow it; and whether some text is completed."""
        ways: dict[_Place, set[_Place]] = {first: set()}
        waiting = [first]
        completes = False
        for place in waiting:
            going_on = self._going_on(place[1])
            for target, step in store.successors(place[0]).items():
                found = {NONE_BEGUN} if step & ~going_on else set()
                for byte in _bytes_of(step & going_on):
                    after = self._step(place[1], byte)
                    if after is None:
                        completes = True
                    else:
                        found.add(after)
                if is_search and NONE_BEGUN in found and store.is_accepting(target):
                    return {(target, NONE_BEGUN): set()}, completes
                for after in found:
                    ways[place].add((target, after))
                    if (target, after) not in ways:
                        ways[target, after] = set()
                        waiting.append((target, after))
            if len(ways) > MAX_STATES:
                raise OverflowError("a terminal has too many states")
        return ways, completes

    def _going_on(self, state: bytes) -> int:
        """The bytes behind which a beginning stands, or a whole text, as bits of a number."""
        known = self._all_next.get(state)
        if known is None:
            known = self._all_next[state] = reduce(or_, [self._next.get(ending, 0) for ending in _endings(state)])
        return known

    def between(self, first: bytes, last: bytes) -> rx.Regex:
        """The texts, none of them empty, that lead from a state to another one."""
        longer = [begun for begun in self._next if len(begun) > len(last) and begun.endswith(last)]
        return rx.difference(
            self._ending_in([last], first) if last else rx.ANY_BYTES,
            rx.choice(self._ending_in(longer, first), self._completing(first)),
        )

    def _ending_in(self, begun: list[bytes], first: bytes) -> rx.Regex:
        """What ends with one of some beginnings, together with a state before it."""
        short = {text[size:] for text in begun for size in range(1, len(text)) if first.endswith(text[:size])}
        return rx.choice(rx.sequence(rx.ANY_BYTES, rx.literal_set(begun)), rx.literal_set(short))

    def _completing(self, first: bytes) -> rx.Regex:
        """What completes a special token's text, together with a state before it."""
        rests = {text[size:] for text in self._texts for size in range(1, len(text)) if first.endswith(text[:size])}
        return rx.choice(self.holding, rx.sequence(rx.literal_set(rests), rx.ANY_BYTES))


def _endings(text: bytes) -> Iterator[bytes]:
    return (text[first:] for first in range(len(text) + 1))


def _bytes_of(mask: int) -> Iterator[int]:
    while mask:
        byte = mask.bit_length() - 1
        mask ^= 1 << byte
        yield byte


def _reached(ways: Mapping[_Place, Iterable[_Place]], first: set[_Place]) -> set[_Place]:
    """Where ways lead from some places, they themselves among them."""
    found, waiting = set(first), list(first)
    while waiting:
        new = set(ways[waiting.pop()]) - found
        found |= new
        waiting += new
    return found
