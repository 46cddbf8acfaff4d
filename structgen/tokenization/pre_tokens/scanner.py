r"""A pre-tokenizer as a finite automaton over bytes, made as it is walked; and the tokens that fit each of its states.

A state is a set of guesses about the cuts (`split_guesses.py`) that fit the tokens so far; state 0 is the empty set.
Llama 3's pre-tokenizer splits `a   b` into `a`, two spaces, and ` b` (by `\s+(?!\S)`: all spaces of a run but the
last). After the tokens `a`, `  ` (64, 256) two guesses are left:

    the two spaces are a whole pre-token: there is a cut here, and one more space and a letter must follow
    the run of spaces continues, or the text ends

The token ` b` (293) fits the first guess, a third space fits both. `b` alone fits none: after it, the cut would have to
be one space earlier.

Between the bytes of a character a state waits: characters are put together by another automaton, of partial
characters, that all states share. A character counts only by the classes of the pre-tokenizer's regexes that it belongs
to, its *kind*. If there are splits of bytes, too (`levels.py`), a state does not wait: bytes within a character have
kinds of their own.

Assumes that the caller holds the vocabulary's lock: states are made on the way.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from structgen.engine.arrays import grown, zeros
from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.errors import VocabularyError
from structgen.tokenization.pre_tokens.characters import completions_of, is_last, may_follow
from structgen.tokenization.pre_tokens.levels import ByteSplits, Levels, OneLevel, TwoLevels
from structgen.tokenization.pre_tokens.split_guesses import Split

__all__ = ["Cutters", "Scanner", "TokenRows"]

# Declared as C integers in the .pxd, so not importable from here.
UNKNOWN = -1
MAX_KINDS = 256  # of characters, that a pre-tokenizer tells apart,
MAX_MANY_KINDS = 1024  # or one with more classes than:
MANY_CLASSES = 100
NO_TEXT = -2  # a character that no proper text holds, or bytes that are no UTF-8
FIRST_KIND = -3  # a character of kind k is FIRST_KIND - k
NOT_SURE = 0
SURE = 1
FITS = 1  # flags of a token in a walk: it fits, and its first or its second cutting text surely cuts it off
SURE_FIRST = 2
SURE_SECOND = 4
MIN_SHARED = 32  # tokens in a subtree whose flags are kept
MAX_FLAGS = 4096  # such subtrees
CUTTERS = 2  # cutting texts that a token has at most
NO_KIND = -1
BLOCK = 4096  # characters whose kinds are found at once
ROW = 64  # that differ only in their last byte
UNIFORM = ((0x40, 0xE0), (0xE1, 0xF0), (0xF0, 0x10F), (0x10F, 0x110))
"""Blocks that hold nothing but unassigned characters, or private ones, in every version of Unicode."""


Guesses: TypeAlias = frozenset[tuple[bool, Any]]
"""Guesses, each with whether a cut comes right after it: the first character that follows makes it."""


class TokenRows:
    """The tokens that fit a state, as masks: uint32[words], token t is bit t % 32 of word t // 32.

    Attributes:
        joins: tokens that can follow in the same pre-token, up to conflicts with the token before.
        begins: tokens that can follow as the first of another pre-token.
        sure_joins, sure_begins: those of them that their own cutting text surely cuts off; a mask for each `Cutters`.
    """

    def __init__(self, words: int) -> None:
        self.joins = np.zeros(words, dtype=np.uint32)
        self.begins = np.zeros(words, dtype=np.uint32)
        self.sure_joins = [np.zeros(words, dtype=np.uint32) for _ in range(CUTTERS)]
        self.sure_begins = [np.zeros(words, dtype=np.uint32) for _ in range(CUTTERS)]

    def share(self, empty: TokenRows, keeps_begins: bool) -> None:
        """Share masks that are not needed with an empty one.

        Args:
            empty: rows without tokens.
            keeps_begins: whether `begins` is needed.
        """
        self.begins = self.begins if keeps_begins else empty.begins
        self.sure_joins = empty.sure_joins
        self.sure_begins = empty.sure_begins


class Cutters:
    """The cutting texts of all tokens: a text that surely ends a token if it comes next.

    Attributes:
        cut_of: int32[tokens], the number of the text in the scanner's `cuts`; -1 for none.
        completions: by token, bytes before the text that complete the token's last character.
    """

    def __init__(self, cut_of: array[int], completions: dict[int, bytes]) -> None:
        self.cut_of = cut_of
        self.completions = completions

    def with_cuts(self, cuts: Sequence[bool]) -> list[int]:
        """Return the tokens whose cutting texts are some of the scanner's; by number of a text, whether it is one."""
        return [token for token, cut in enumerate(self.cut_of) if cut >= 0 and cuts[cut]]


class Scanner:
    """Follows a pre-tokenizer along the bytes of a text. All matchers of a vocabulary share it.

    Args:
        splits: the splits of the pre-tokenizer; none if the whole text is one pre-token.
        memberships: for some characters, whether they are of each class of the splits; None for a character that no
            proper text holds.
        cuts: ASCII texts that may make a cut before them, at most MAX_KINDS.
        free_bytes: bytes that any text may follow, as bits of a number.
        has_borders: whether a border between tokens is enough where a sure cut is asked for.
        leads: first bytes of characters above ASCII after which nothing has to fail, as bits of a number.
        byte_splits: the splits of bytes; None if there are none.
        ending_bytes: bytes before which a text may end, as added tokens begin with them; as bits of a number.

    Attributes:
        cuts_characters: whether a cut may come within a character.
        start: the state at the beginning of a text, and after most added tokens.
        opened: the state after an added token for each split that is an opening.
        cuts: the texts that may make a cut before them.
    """

    def __init__(
        self,
        splits: Sequence[Split],
        memberships: Callable[[str], Iterable[tuple[bool, ...] | None]],
        cuts: tuple[bytes, ...],
        free_bytes: int,
        has_borders: bool = False,
        leads: int = 0,
        byte_splits: ByteSplits | None = None,
        ending_bytes: int = 0,
    ) -> None:
        self.cuts_characters = byte_splits is not None
        self._levels: Levels = OneLevel(splits) if byte_splits is None else TwoLevels(splits, byte_splits)
        self.cuts = cuts
        self._has_borders = has_borders
        self._leads = leads
        self._free_bytes = free_bytes & ~ending_bytes, free_bytes  # where the text may not end before them, or may
        self._memberships = memberships
        self._kinds: dict[Any, int] = {}
        self._members: list[Any] = []
        self._sets: list[Guesses] = []
        self._numbers: dict[Guesses, int] = {}
        self._cuts: dict[int, int] = {}
        self._unions: dict[tuple[int, int], int] = {}
        self._ends: list[bool] = []
        classes = sum(len(split.program.leaves) for split in splits)
        self._row = MAX_MANY_KINDS if classes > MANY_CLASSES else MAX_KINDS
        self._steps = zeros(self._row, UNKNOWN)
        self._sure = zeros(self._row, UNKNOWN)
        self._prefixes = [b""]
        self._inner = [NO_KIND]
        self._forms: dict[int, list[tuple[int, ...]]] = {}
        self._characters = zeros(256, UNKNOWN)
        self._blocks: dict[int, list[int]] = {}
        self._block_kinds: dict[int, frozenset[int]] = {}
        self._cutting_bytes: dict[int, int] = {}
        self._completed: dict[tuple[int, int], bool] = {}
        self._completing: dict[int, list[int]] = {}
        self._flags: dict[tuple[int, int], bytearray] = {}
        self._number(frozenset())
        self.start = self._number(frozenset({(False, self._levels.opened())}))
        openings = [split for split in splits if split.behavior == "opening"]
        self.opened = tuple([self._number(frozenset({(False, self._levels.opened(opening))})) for opening in openings])
        self._last_start = len(self._sets) - 1

    # -- states -----------------------------------------------------------------------------------------------------

    def _number(self, guesses: Guesses) -> int:
        number = self._numbers.get(guesses)
        if number is None:
            number = self._numbers[guesses] = len(self._sets)
            self._sets.append(guesses)
            self._ends.append(_may_end(self._levels, guesses))
            while (number + 1) * self._row > len(self._steps):
                self._steps = grown(self._steps, len(self._steps), UNKNOWN)
                self._sure = grown(self._sure, len(self._sure), UNKNOWN)
        return number

    def is_start(self, state: int) -> bool:
        """Return whether a pre-token begins in a state in any case: at the beginning of a text or of a piece of it."""
        return self.start <= state <= self._last_start

    def cut(self, state: int) -> int:
        """Return the state with a cut guessed at this position."""
        known = self._cuts.get(state)
        if known is None:
            known = self._number(_with_cuts(self._sets[state]))
            self._cuts[state] = known
        return known

    def union(self, state: int, other: int) -> int:
        """Return the state with the guesses of two."""
        if state == other or not other:
            return state
        if not state:
            return other
        known = self._unions.get((state, other))
        if known is None:
            known = self._unions[state, other] = self._number(self._sets[state] | self._sets[other])
        return known

    def may_end(self, state: int) -> bool:
        """Return whether the text, or its piece up to an added token, may end here."""
        return self._ends[state]

    def step(self, state: int, kind: int) -> int:
        """Return the state after one more character of the same token."""
        after = self._steps[state * self._row + kind]
        return after if after != UNKNOWN else self._make_step(state, kind)

    def _make_step(self, state: int, kind: int) -> int:
        number = self._number(_after(self._levels, self._sets[state], self._members[kind]))
        self._steps[state * self._row + kind] = number
        return number

    def surely_cuts(self, state: int, cut: int) -> bool:
        """Return whether a text of `cuts`, if it comes next, makes sure that all tokens before it are proper.

        There must be a cut before it (or a border), whatever follows; also if it begins an added token, so that the
        text ends before it.
        """
        sure = self._sure[state * self._row + cut]
        if sure == UNKNOWN:
            after = self._left(state)
            for byte in self.cuts[cut]:  # it may itself be cut anywhere
                within, _ = self.follow(after, 0, bytes([byte]))
                after = self.union(within, self.follow(self.cut(after), 0, bytes([byte]))[0])
            is_free = self.may_end(state) or self._free_bytes[0] >> self.cuts[cut][0] & 1
            sure = SURE if is_free and _is_settled(self._levels, self._sets[after]) else NOT_SURE
            self._sure[state * self._row + cut] = sure
        return sure == SURE

    def _left(self, state: int) -> int:
        """Return the state with a cut guessed at this position; or, with borders, with a cut or none."""
        return self.union(self.cut(state), state) if self._has_borders else self.cut(state)

    def cutting_bytes(self, state: int) -> int:
        """Return the bytes that make sure of the same if they come next, as bits of a number.

        Only ASCII and `leads` are looked at, and of these only free bytes are returned.
        """
        known = self._cutting_bytes.get(state)
        if known is None:
            left = self._left(state)
            known = 0 if _is_waiting(self._levels, self._sets[left]) else self._leads
            is_settled: dict[int, bool] = {}  # the bytes lead to few states
            for byte in range(128):
                after = self.byte(0, byte)
                next_state = 0 if after == NO_TEXT else self.step(left, FIRST_KIND - after)
                if next_state not in is_settled:
                    is_settled[next_state] = _is_settled(self._levels, self._sets[next_state])
                known |= is_settled[next_state] << byte
            known &= self._free_bytes[self.may_end(state)]
            self._cutting_bytes[state] = known
        return known

    # -- characters -------------------------------------------------------------------------------------------------

    def byte(self, partial: int, byte: int) -> int:
        """Add a byte to a partial character.

        Returns:
            The number of the partial character with it; if it is complete, FIRST_KIND - kind, or NO_TEXT.
        """
        after = self._characters[partial * 256 + byte]
        return after if after != UNKNOWN else self._make_byte(partial, byte)

    def _make_byte(self, partial: int, byte: int) -> int:
        prefix = self._prefixes[partial]
        if (not prefix and byte < 0x80) or is_last(prefix):
            self._note(partial)
        elif may_follow(prefix, byte):
            number = len(self._prefixes)
            self._prefixes.append(prefix + bytes([byte]))
            self._inner.append(self._inner_kind(prefix + bytes([byte])))
            if (number + 1) * 256 > len(self._characters):
                self._characters = grown(self._characters, len(self._characters), UNKNOWN)
            self._characters[partial * 256 + byte] = number
        if self._characters[partial * 256 + byte] == UNKNOWN:
            self._characters[partial * 256 + byte] = NO_TEXT
        return self._characters[partial * 256 + byte]

    def _note(self, partial: int) -> None:
        """Find the kinds of the characters that one byte completes: they follow one another in Unicode."""
        prefix = self._prefixes[partial]
        first = 0x80 if prefix else 0
        code = ord((prefix + bytes([first])).decode())
        kinds, begin, place = self._kinds_of_block(code // BLOCK), code % BLOCK, partial * 256 + first
        for at in range(64 if prefix else 128):
            self._characters[place + at] = kinds[begin + at]

    def _kinds_of_block(self, block: int) -> list[int]:
        """Return what `byte` returns for each character of a block; asking for many at once costs little more."""
        for first, last in UNIFORM:
            if first <= block < last:
                block = first  # looking at them all would take a second
        known = self._blocks.get(block)
        if known is None:
            characters = [chr(code) for code in range(block * BLOCK, (block + 1) * BLOCK)]
            texts = "".join(" " if "\ud800" <= character <= "\udfff" else character for character in characters)
            found: Iterable[Any] = self._memberships(texts)
            if isinstance(self._levels, TwoLevels):
                found = self._levels.ends(block * BLOCK, found)
            known = [NO_TEXT if members is None else FIRST_KIND - self._kind(members) for members in found]
            self._blocks[block] = known
        return known

    def _all_kinds_of_block(self, block: int) -> frozenset[int]:
        """Return what `byte` returns for the characters of a block, each answer once."""
        known = self._block_kinds.get(block)
        if known is None:
            known = self._block_kinds[block] = frozenset(self._kinds_of_block(block))
        return known

    def _inner_kind(self, prefix: bytes) -> int:
        """Return the kind of the last byte of a partial character; NO_KIND without splits of bytes."""
        return self._kind(self._levels.inner(prefix)) if isinstance(self._levels, TwoLevels) else NO_KIND

    def _kind(self, members: Any) -> int:
        kind = self._kinds.get(members)
        if kind is None:
            kind = self._kinds[members] = len(self._members)
            self._members.append(members)
            if kind >= self._row:
                raise VocabularyError(
                    f"the tokenizer's pre-tokenizer tells more than {self._row} kinds of characters apart"
                )
        return kind

    def kind_of(self, text: bytes) -> int:
        """Return the kind of a character, given as bytes; -1 if no proper text holds it."""
        after = 0
        for index in range(len(text)):
            after = self.byte(after, text[index])
            if after == NO_TEXT:
                return -1
        return FIRST_KIND - after

    def kind_of_all(self, prefix: bytes) -> int:
        """Return the kind of all characters that begin with some bytes; -1 if they differ or no proper text holds one.

        The bytes are the first two or three of a character, or the first one of two: so all are in one block.
        """
        low, high = completions_of(prefix)
        after = {*self._kinds_of_block(low // BLOCK)[low % BLOCK : high % BLOCK + 1]}
        return FIRST_KIND - after.pop() if len(after) == 1 and NO_TEXT not in after else -1

    def text_of(self, partial: int) -> bytes:
        """Return the bytes of a partial character."""
        return self._prefixes[partial]

    def can_complete(self, state: int, partial: int) -> bool:
        """Return whether some character begins with a partial one, and fits a state."""
        known = self._completed.get((state, partial))
        if known is None:
            known = self._completed[state, partial] = self._find_completed(state, partial)
        return known

    def _find_completed(self, state: int, partial: int) -> bool:
        if self.cuts_characters:
            return any(self._accepts(state, form) for form in self._forms_of(partial))
        return any(self.step(state, kind) for kind in self._kinds_completing(partial))

    def _kinds_completing(self, partial: int) -> list[int]:
        """Return the kinds of the characters that begin with a partial one, found once for all states."""
        known = self._completing.get(partial)
        if known is None:
            low, high = completions_of(self._prefixes[partial])
            found: set[int] = set()
            for block in range(low // BLOCK, high // BLOCK + 1):
                first, last = max(low - block * BLOCK, 0), min(high - block * BLOCK, BLOCK - 1)
                if last - first == BLOCK - 1:
                    found.update(self._all_kinds_of_block(block))
                else:
                    found.update(self._kinds_of_block(block)[first : last + 1])
            known = self._completing[partial] = sorted(FIRST_KIND - after for after in found if after <= FIRST_KIND)
        return known

    def _accepts(self, state: int, kinds: tuple[int, ...]) -> bool:
        """Return whether bytes of some kinds fit a state, one after another, with any cuts between them."""
        for kind in kinds:
            state = self.union(self.step(state, kind), self.step(self.cut(state), kind))
        return state > 0

    def _forms_of(self, partial: int) -> list[tuple[int, ...]]:
        """Return the kinds of the bytes that complete a partial character, for all characters that begin so."""
        known = self._forms.get(partial)
        if known is None:
            prefix = self._prefixes[partial]
            low, high = completions_of(prefix)
            found: set[tuple[int, ...]] = set()
            for code in range(low, high, ROW):
                text = chr(code).encode()
                inner = [self._inner_kind(text[:size]) for size in range(len(prefix) + 1, len(text))]
                kinds = self._kinds_of_block(code // BLOCK)[code % BLOCK : code % BLOCK + ROW]
                found.update((*inner, FIRST_KIND - kind) for kind in {*kinds} - {NO_TEXT})
            known = self._forms[partial] = sorted(found)
        return known

    # -- texts and tokens -------------------------------------------------------------------------------------------

    def follow(self, state: int, partial: int, text: bytes) -> tuple[int, int]:
        """Return the state and the partial character after the bytes of one token."""
        for index in range(len(text)):
            after = self.byte(partial, text[index])
            if after >= 0:
                partial = after
                if not self.cuts_characters:
                    continue
                state = self.step(state, self._inner[after])
            else:
                partial = 0
                state = 0 if after == NO_TEXT else self.step(state, FIRST_KIND - after)
            if not state:
                break
        return state, partial

    def mark(self, state: int, partial: int, trie: TokenTrie, cutters: Sequence[Cutters], row: Any, sure: Any) -> None:
        """Walk the vocabulary for the tokens that fit a state.

        Args:
            state: the state before them.
            partial: the partial character before them.
            trie: the tokens.
            cutters: the cutting texts of tokens, CUTTERS of them.
            row: uint32[words], gets the tokens.
            sure: for each of the cutters uint32[words], gets those tokens that they surely cut off.
        """
        first, second = cutters
        sure_first, sure_second = sure
        states = zeros(trie.max_depth + 1)
        partials = zeros(trie.max_depth + 1)
        states[0], partials[0] = state, partial
        node = 0
        while node < trie.node_count:
            depth = trie.node_depth[node]
            state = self.descend(states, partials, depth, trie.node_byte[node])
            partial = partials[depth]
            first_token, end = trie.token_start[node], trie.node_end[node]
            if not state or (partial and not self.can_complete(state, partial)):
                node = end
            elif not partial and trie.token_start[end] - first_token >= MIN_SHARED:
                below = self._flags_below(node, state, trie, cutters)
                for index in range(first_token, trie.token_start[end]):
                    set_flags(trie.tokens[index], below[index - first_token], row, sure_first, sure_second)
                node = end
            else:
                for index in range(first_token, trie.token_start[node + 1]):
                    token = trie.tokens[index]
                    set_flags(token, self._flags_of(token, state, partial, first, second), row, sure_first, sure_second)
                node += 1

    def _flags_of(self, token: int, state: int, partial: int, first: Cutters, second: Cutters) -> int:
        """Return the flags of a token that leads to a state."""
        flags = FITS
        if self._is_cut_off(state, partial, token, first):
            flags |= SURE_FIRST
        if self._is_cut_off(state, partial, token, second):
            flags |= SURE_SECOND
        return flags

    def _flags_below(self, node: int, state: int, trie: TokenTrie, cutters: Sequence[Cutters]) -> bytearray:
        """Return FITS, SURE_FIRST and SURE_SECOND for the tokens of a node and below, where it leads to a state.

        After their first character, texts lead to few different states. So the flags of large subtrees are kept.
        """
        known = self._flags.get((node, state))
        if known is None:
            if len(self._flags) >= MAX_FLAGS:
                self._flags.clear()
            known = self._flags[node, state] = bytearray(trie.token_start[trie.node_end[node]] - trie.token_start[node])
            self._find_flags(node, state, trie, cutters, known)
        return known

    def _find_flags(self, top: int, state: int, trie: TokenTrie, cutters: Sequence[Cutters], found: Any) -> None:
        """Write the flags that `_flags_below` keeps. This is a hot loop."""
        first, second = cutters
        states = zeros(trie.max_depth + 1)
        partials = zeros(trie.max_depth + 1)
        states[trie.node_depth[top]] = state
        node = top
        while node < trie.node_end[top]:
            depth = trie.node_depth[node]
            state = states[depth] if node == top else self.descend(states, partials, depth, trie.node_byte[node])
            partial = partials[depth]
            if not state or (partial and not self.can_complete(state, partial)):
                node = trie.node_end[node]
                continue
            for index in range(trie.token_start[node], trie.token_start[node + 1]):
                flags = self._flags_of(trie.tokens[index], state, partial, first, second)
                found[index - trie.token_start[top]] = flags
            node += 1

    def ends(self, trie: TokenTrie, size: int) -> list[tuple[int, int]]:
        """Walk the vocabulary for the states after its tokens, each by itself.

        Args:
            trie: the tokens.
            size: the number of tokens.

        Returns:
            By token, the state after it, 0 if no proper text holds it; and the character that it leaves unfinished.
        """
        found = [(0, 0)] * size
        states = zeros(trie.max_depth + 1)
        partials = zeros(trie.max_depth + 1)
        states[0] = self.start
        node = 0
        while node < trie.node_count:
            depth = trie.node_depth[node]
            if not self.descend(states, partials, depth, trie.node_byte[node]):
                node = trie.node_end[node]
                continue
            for index in range(trie.token_start[node], trie.token_start[node + 1]):
                found[trie.tokens[index]] = (states[depth], partials[depth])
            node += 1
        return found

    def descend(self, states: array[int], partials: array[int], depth: int, byte: int) -> int:
        """Follow a byte to a depth of a trie, and return the state there; 0 if no proper text holds it."""
        after = self.byte(partials[depth - 1], byte)
        states[depth] = states[depth - 1]
        partials[depth] = 0
        if after >= 0:
            partials[depth] = after
            if self.cuts_characters:
                states[depth] = self.step(states[depth], self._inner[after])
        else:
            states[depth] = 0 if after == NO_TEXT else self.step(states[depth], FIRST_KIND - after)
        return states[depth]

    def _is_cut_off(self, state: int, partial: int, token: int, cutters: Cutters) -> bool:
        """Return whether a token that leads to a state is surely cut off by its cutting text."""
        cut = cutters.cut_of[token]
        if cut < 0:
            return False
        if partial:
            completion = cutters.completions.get(token)
            if completion is None:
                return False
            state, partial = self.follow(state, partial, completion)
        return state > 0 and not partial and self.surely_cuts(state, cut)


def set_flags(token: int, flags: int, row: Any, sure_first: Any, sure_second: Any) -> None:
    """Add a token with some flags to masks; see `Scanner.mark`."""
    one = 1
    if flags:
        row[token >> 5] |= one << (token & 31)
        if flags & SURE_FIRST:
            sure_first[token >> 5] |= one << (token & 31)
        if flags & SURE_SECOND:
            sure_second[token >> 5] |= one << (token & 31)


def _may_end(levels: Levels, guesses: Guesses) -> bool:
    return any(levels.may_end(guess) for is_cut, guess in guesses if not is_cut)


def _with_cuts(guesses: Guesses) -> Guesses:
    return frozenset((True, guess) for is_cut, guess in guesses if not is_cut)


def _after(levels: Levels, guesses: Guesses, step: Any) -> Guesses:
    """Return the guesses after a character that has a cut before it where one was guessed, and only there."""
    return frozenset(
        (False, after)
        for wants_cut, guess in guesses
        for is_cut, after in levels.options(guess, step)
        if is_cut == wants_cut
    )


def _is_settled(levels: Levels, guesses: Guesses) -> bool:
    return any(levels.is_settled(guess) for _, guess in guesses)


def _is_waiting(levels: Levels, guesses: Guesses) -> bool:
    return any(levels.is_waiting(guess) for _, guess in guesses)
