"""A shortest text that completes a text, from the item set that it has reached.

An item set says what is open. Take `{"a": [1` under a schema of lists of integers:

    items       "a number goes on", which returns to "the list goes on", which returns to "the object goes on", …
    shortest    ""                  +                "]"                +                "}"

So the completion of a set is that of one of its items: the rest of its terminal, the rest of its rule, and the rests
of the rules that wait for it. The lengths of rules come from `ShortestBodies`.

The captures of a grammar can refuse texts (an item that the list has already), and look-aheads can forbid them. There
the completion is tried out. If it is refused, a search over item sets, byte by byte, finds another one: A*, with the
length that was computed as its lower bound.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from structgen.engine.constants import EMPTY_TEXT, ROOT
from structgen.engine.deadlines import spend
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.grammar.shortest_bodies import FAR, ShortestBodies
from structgen.engine.grammar.tables import CAPTURES, END, TERMINAL
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.matching.token_classes import TokenClasses, subset
from structgen.engine.vocabulary.bitmask_kernel import TokenSubset

__all__ = ["ShortestCompletions", "completions_of", "shortest_completion"]

MAX_KEPT = 20_000  # completions that are remembered, and their tokens
MAX_KEPT_CLOSING = 1_000  # sets whose closing tokens are remembered
MAX_SETS = 3_000  # sets that a search reaches


def shortest_completion(matcher: Matcher) -> bytes | None:
    """Return bytes that make the text of a matcher a whole text of its language: as few as possible.

    They are the fewest for grammars and schemas whose rules are searched in short time. For others they complete the
    text, but there may be fewer.

    Args:
        matcher: the text; it stays as it is.

    Returns:
        The bytes; b"" where the text may end. None where no completion was found: the grammar has rules that never end,
        or refuses the texts that were tried.

    Raises:
        LimitExceededError: a bound of `Limits` was passed.

    Example:
        >>> vocabulary = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
        >>> matcher = structgen.compile({"type": "array", "items": {"type": "boolean"}}, vocabulary).matcher()
        >>> matcher.accept_bytes(b"[true, f")
        >>> shortest_completion(matcher)
        b'alse]'
    """
    return b"" if matcher.is_terminated else matcher.ask(_completion)


def completions_of(compiled: CompiledGrammar) -> ShortestCompletions:
    """Return the completions of a grammar's sets in this epoch. The lock is held."""
    known = compiled.completions
    if not isinstance(known, ShortestCompletions) or known.epoch != compiled.epoch:
        known = compiled.completions = ShortestCompletions(compiled)
    return known


def _completion(compiled: CompiledGrammar, set_id: int) -> bytes | None:
    return completions_of(compiled).completion(set_id)


class ShortestCompletions:
    """Finds the completions of one grammar's item sets.

    Args:
        compiled: the grammar.

    Attributes:
        epoch: that of the item sets.
        classes: the classes of tokens of item sets; see `token_classes`.
    """

    def __init__(self, compiled: CompiledGrammar) -> None:
        self.epoch = compiled.epoch
        self.classes: dict[int, TokenClasses | None] = {}
        self._trie = compiled.marked.trie
        self._vocabulary = compiled.marked
        self._mask_words = (compiled.vocabulary.size + 31) // 32
        self._tokens: dict[bytes, list[int] | None] = {}
        self._ending: dict[bytes, list[int]] = {}
        self._towards: dict[int, TokenSubset] = {}
        self._closing: dict[int, NDArray[np.intp]] = {}
        self.sets: ItemSetStore = compiled.sets
        self._rules = self.sets.rules
        self._bodies = ShortestBodies(self._rules, compiled.tables.source)
        self._has_lookaheads = len(compiled.tables.lookaheads) > 0
        self._found: dict[int, bytes | None] = {}
        self._above: dict[int, int] = {ROOT: 0}  # by group: the length of what follows it, up to the end of the text

    def completion(self, set_id: int) -> bytes | None:
        """Return the bytes that complete a text which has reached a set; None if none were found.

        Raises:
            LimitExceededError: a bound of `Limits` was passed.
        """
        if set_id in self._found:
            return self._found[set_id]
        found = self._derived(set_id)
        if (self._has_lookaheads or self._rules.has_captures) and not self._is_read(set_id, found):
            found = self._searched(set_id)
        if len(self._found) >= MAX_KEPT:
            self._found.clear()
        self._found[set_id] = found
        return found

    def tokens(self, text: bytes) -> list[int] | None:
        """Return the fewest tokens that spell a completion; None if none do."""
        if text not in self._tokens:
            if len(self._tokens) >= MAX_KEPT:
                self._tokens.clear()
            self._tokens[text] = self._trie.fewest_tokens(text)
        return self._tokens[text]

    def tokens_towards(self, rest: list[int] | None) -> TokenSubset:
        """Return the tokens whose text ends with that of the first token of a rest, and the end tokens."""
        first = rest[0] if rest else -1
        found = self._towards.get(first)
        if found is None:
            text = self._vocabulary.spellings[first] if rest else b""
            tokens = np.array([*self._ending_with(text), *self._vocabulary.eos_token_ids], np.intp)
            words = np.zeros(self._mask_words, np.uint32)
            np.bitwise_or.at(words, tokens >> 5, (1 << (tokens & 31)).astype(np.uint32))
            found = self._towards[first] = subset(words)
        return found

    def closing_tokens(self, set_id: int) -> NDArray[np.intp]:
        """Return the tokens that end as the completion of a set begins, after which the completion is shorter.

        Those that begin with a space are left out: they would leave it at the end of a string.
        """
        found = self._closing.get(set_id)
        if found is None:
            text = self.completion(set_id) or b""
            first = self._vocabulary.spellings[(self.tokens(text) or [0])[0]]
            ending = {*self._ending_with(text[:1]), *self._ending_with(first)} if text.startswith(first) else ()
            spellings = self._vocabulary.spellings
            words = [token for token in sorted(ending) if not spellings[token].startswith(b" ")]
            closing = [token for token in words if self._is_closing(set_id, token, len(text))]
            if len(self._closing) >= MAX_KEPT_CLOSING:
                self._closing.clear()
            found = self._closing[set_id] = np.array(closing, np.intp)
        return found

    def _is_closing(self, set_id: int, token: int, length: int) -> bool:
        """Return whether a set's completion has fewer bytes than some after a token."""
        reached = self.sets.goto_all(set_id, self._vocabulary.spellings[token])
        after = self.completion(reached) if reached else None
        return after is not None and len(after) < length

    def _ending_with(self, text: bytes) -> list[int]:
        """Return the tokens whose text ends with a text; none for b""."""
        if text not in self._ending:
            spellings = self._vocabulary.spellings
            holding = self._trie.tokens_with(text[0]) if text else []
            self._ending[text] = [token for token in holding if spellings[token].endswith(text)]
        return self._ending[text]

    def _is_read(self, set_id: int, text: bytes | None) -> bool:
        """Return whether a text leads from a set to an end."""
        if text is None:
            return False
        for at in range(len(text)):
            set_id = self.sets.goto(set_id, text[at])
            if not set_id:
                return False
        return bool(self.sets.table.accepting[set_id])

    # -- by rules ---------------------------------------------------------------------------------------------------

    def _best_scan(self, set_id: int) -> tuple[int, int]:
        """Return the length of a shortest completion, and the item that it completes; -1 where the text may end."""
        sets = self.sets
        if sets.table.accepting[set_id]:
            return 0, -1
        sets.close(set_id)
        best = (FAR, -1)
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            spend(1)
            text = self._bodies.terminal_text(sets.scans.state[scan])
            if text is None or len(text) >= best[0]:
                continue
            length = len(text) + self._bodies.length_of_rest(sets.scans.position[scan] + 1)
            if length < best[0]:
                best = min(best, (length + self._length_above(sets.scans.group[scan]), scan))
        return best

    def _length_above(self, group: int) -> int:
        """Return the length of what follows the end of the nonterminal that a group waits for."""
        if group in self._above:
            return self._above[group]
        # Groups of left-recursive rules wait in themselves: so the lengths sink until none changes.
        found = {group: FAR}
        order = [group]
        for each in order:
            for _, above in self.sets.waiting(each):
                if above not in self._above and above not in found:
                    found[above] = FAR
                    order.append(above)
        changed = True
        while changed:
            changed = False
            for each in reversed(order):
                spend(1)
                length = min([self._through(row, found) for row in self.sets.waiting(each)], default=FAR)
                if length < found[each]:
                    found[each] = length
                    changed = True
        self._above.update(found)
        return found[group]

    def _through(self, row: tuple[int, int], found: dict[int, int]) -> int:
        """Return the length of the rest of an item that waits, and of what follows that."""
        position, above = row
        length = self._above[above] if above in self._above else found[above]
        return length if length >= FAR else length + self._bodies.length_of_rest(position + 1)

    def _derived(self, set_id: int) -> bytes | None:
        """Return the completion that the rules derive; None if there is none."""
        length, scan = self._best_scan(set_id)
        if length >= FAR:
            return None
        if scan < 0:
            return b""
        sets = self.sets
        out = bytearray(self._bodies.terminal_text(sets.scans.state[scan]) or b"")
        position, group = sets.scans.position[scan], sets.scans.group[scan]
        is_written = self._write_rest(out, position + 1, b"")
        while is_written and group != ROOT:
            read = self._read_of(set_id, group) + bytes(out)
            position, group = min(sets.waiting(group), key=lambda row: self._through(row, self._above))
            is_written = self._write_rest(out, position + 1, read)
        return bytes(out) if is_written else None

    def _read_of(self, set_id: int, group: int) -> bytes:
        """Return what was read of the nonterminal that a group waits for; b"" where it is not captured."""
        sets = self.sets
        text = sets.table.text[set_id]
        if text < EMPTY_TEXT:
            return b""
        return sets.texts.between(max(sets.groups.text[group], EMPTY_TEXT), text)

    def _write_rest(self, out: bytearray, position: int, before: bytes) -> bool:
        """Write a shortest text of a body from a position on; return whether there is one.

        Args:
            out: where it is written.
            position: the position.
            before: the text of the symbol before it.
        """
        rules = self._rules
        stack = [(position, -1)]  # open bodies: where each goes on, and where the text of the symbol before that begins
        while stack:
            spend(1)
            position, start = stack.pop()
            symbol = rules.symbols[position]
            if symbol == END:
                continue
            if symbol <= CAPTURES:
                position = rules.continuation(CAPTURES - symbol, before if start < 0 else bytes(out[start:]))
                if position < 0:
                    return False
                stack.append((position, len(out)))
            elif symbol == TERMINAL:
                stack.append((position + 1, len(out)))
                out += self._bodies.terminal_text(rules.start_state[position]) or b""
            else:
                body = self._bodies.best_body(symbol)
                if body < 0:
                    return False
                stack.append((position + 1, len(out)))
                stack.append((body, len(out)))
        return True

    # -- over item sets ---------------------------------------------------------------------------------------------

    def _searched(self, set_id: int) -> bytes | None:
        """Return the completion that a search over item sets finds; None if it reaches too many of them."""
        least, _ = self._best_scan(set_id)
        waiting = [(least, 0, set_id, b"")]
        best = {set_id: 0}
        while waiting and len(best) < MAX_SETS:
            _, _, reached, text = heapq.heappop(waiting)
            if self.sets.table.accepting[reached]:
                return text
            for byte in self._first_bytes(reached):
                target = self.sets.goto(reached, byte)
                if not target or best.get(target, FAR) <= len(text) + 1:
                    continue
                least, _ = self._best_scan(target)
                if least < FAR:
                    best[target] = len(text) + 1
                    heapq.heappush(waiting, (len(text) + 1 + least, -len(text), target, text + bytes((byte,))))
        return None

    def _first_bytes(self, set_id: int) -> list[int]:
        """Return bytes that lead on from a set: one of each kind that its terminals tell apart."""
        sets = self.sets
        found: set[int] = set()
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            for kind in sets.automata.successors(sets.scans.state[scan]).values():
                found.add((kind & -kind).bit_length() - 1)
        return sorted(found)
