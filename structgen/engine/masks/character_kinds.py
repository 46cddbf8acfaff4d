"""Kinds of characters: those below each node of a trie, and those that leave an automaton's state as it is.

Inside a JSON string nearly every character leads back to the same state. Where only such characters come below a node
of the vocabulary's trie, all tokens there stay inside, and a walk may skip the subtree: of 270,000 nodes it visits some
thousands.

A kind is a bit of a 64-bit mask: a few ranges of ASCII that patterns tell apart, every other ASCII character, and
groups of the characters of two, three and four bytes in UTF-8. One bit stands for bytes that are no characters. Most
small letters are kinds of their own: where a pattern looks for a word, only its first letter leads to another state.

    node    below it    kinds_below
    `a`     b, c, "     b | c | "      a walk may skip the node if b, c and " are kinds that `CharacterKinds.loops` has
"""

from __future__ import annotations

from array import array

from structgen.engine.arrays import enlarged, grown, zeros
from structgen.engine.automata.payload_tables import OTHER_CHARS
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD, FIRST_LEAD, SAMPLES
from structgen.engine.vocabulary.token_trie import TokenTrie

__all__ = [
    "ALL_KINDS",
    "FIRST_KIND_BEYOND_ASCII",
    "CharacterKinds",
    "TrieCharacters",
    "alphabet_of",
    "kind_of",
    "kinds_in",
    "kinds_outside",
]

_RANGES = (b"0123456789", b"bcdf", b"jkqvwxyz", b"ABCDEF", b"GHIJKLMNOPQRSTUVWXYZ")
_OTHERS = [bytes([byte]) for byte in range(32, 128) if not any(byte in taken for taken in _RANGES)]
_CONTROLS = (b"\t", b"\n", b"\r")
_ASCII = [*_RANGES, *_OTHERS, *_CONTROLS, bytes(set(range(32)) - set(b"\t\n\r"))]
KIND_OF = array("i", [next(kind for kind, taken in enumerate(_ASCII) if byte in taken) for byte in range(128)])

# Kinds beyond ASCII go by the first two bytes. White space, ends of lines and control characters, which patterns leave
# out, are not tied to other characters. U+2000 to U+207F are a kind of their own, as dashes and quotation marks are
# among them.
FIRST_KIND_BEYOND_ASCII = len(_ASCII)
SPACES_E2, OTHER_SPACES, TWO_BYTES, THREE_BYTES, FOUR_BYTES = range(len(_ASCII), len(_ASCII) + 5)

# Declared as C integers in the .pxd, so not importable from here.
BROKEN = FOUR_BYTES + 1
FIRST_BEYOND = FIRST_KIND_BEYOND_ASCII
ALL_CHARACTERS = int("1" * BROKEN, 2)  # no shift: compiled, that would be one of 32 bits
ALL_64_BITS = 2**64 - 1
UNKNOWN = -1
SAMPLE_BEYOND_ASCII = "中".encode()

# What comes next in UTF-8: a character, or none ever again. Numbers above say which continuation bytes must come.
BOUNDARY = 0
NO_TEXT = -1
_STARTS = (
    # first and last leading byte, bounds of the second byte, bytes after that, kind
    (0xC2, 0xC2, 0x80, 0xA0, 0, OTHER_SPACES),
    (0xC2, 0xC2, 0xA1, 0xBF, 0, TWO_BYTES),
    (0xC3, 0xDF, 0x80, 0xBF, 0, TWO_BYTES),
    (0xE0, 0xE0, 0xA0, 0xBF, 1, THREE_BYTES),
    (0xE1, 0xE1, 0x80, 0x99, 1, THREE_BYTES),
    (0xE1, 0xE1, 0x9A, 0x9A, 1, OTHER_SPACES),
    (0xE1, 0xE1, 0x9B, 0x9F, 1, THREE_BYTES),
    (0xE1, 0xE1, 0xA0, 0xA0, 1, OTHER_SPACES),
    (0xE1, 0xE1, 0xA1, 0xBF, 1, THREE_BYTES),
    (0xE2, 0xE2, 0x80, 0x81, 1, SPACES_E2),
    (0xE2, 0xE2, 0x82, 0xBF, 1, THREE_BYTES),
    (0xE3, 0xE3, 0x80, 0x80, 1, OTHER_SPACES),
    (0xE3, 0xE3, 0x81, 0xBF, 1, THREE_BYTES),
    (0xE4, 0xEC, 0x80, 0xBF, 1, THREE_BYTES),
    (0xED, 0xED, 0x80, 0x9F, 1, THREE_BYTES),
    (0xEE, 0xEE, 0x80, 0xBF, 1, THREE_BYTES),
    (0xEF, 0xEF, 0x80, 0xBA, 1, THREE_BYTES),
    (0xEF, 0xEF, 0xBB, 0xBB, 1, OTHER_SPACES),
    (0xEF, 0xEF, 0xBC, 0xBF, 1, THREE_BYTES),
    (0xF0, 0xF0, 0x90, 0xBF, 2, FOUR_BYTES),
    (0xF1, 0xF3, 0x80, 0xBF, 2, FOUR_BYTES),
    (0xF4, 0xF4, 0x80, 0x8F, 2, FOUR_BYTES),
)
START_COUNT = len(_STARTS)
BACKSLASH = 1 << KIND_OF[ord("\\")]
STARTS = array("i", [_number for _row in _STARTS for _number in _row[2:]])  # four numbers for each
STARTS_OF_LEAD = array("i", bytes(4 * 256))  # by byte: the entries of _STARTS, as bits
for _at, (_first, _last, _, _, _, _) in enumerate(_STARTS):
    for _lead in range(_first, _last + 1):
        STARTS_OF_LEAD[_lead] |= 1 << _at
ALL_KINDS = 2**64 - 1  # for other modules; also the bits that no kind has


def kind_of(byte: int) -> int:
    """Return the kinds of the characters that a byte begins, as a mask; 0 for a continuation byte."""
    one = 1
    if byte < 0x80:
        return one << KIND_OF[byte]
    return 0 if byte < 0xC0 else kinds_of_starts(STARTS_OF_LEAD[byte]) or one << BROKEN


def kinds_of_starts(starts: int) -> int:
    """Return the kinds of some entries of `_STARTS`, given as bits."""
    found = 0
    one = 1
    for index in range(START_COUNT):
        if starts >> index & 1:
            found |= one << STARTS[4 * index + 3]
    return found


def kind_of_pair(lead: int, second: int) -> int:
    """Return the kind of the characters that two bytes begin, as a mask; 0 if no character begins so."""
    one = 1
    for index in range(START_COUNT):
        if STARTS_OF_LEAD[lead] >> index & 1 and STARTS[4 * index] <= second <= STARTS[4 * index + 1]:
            return one << STARTS[4 * index + 3]
    return 0


def kinds_in(text: bytes) -> int:
    """Return the kinds of the characters of a text, as a mask.

    If only the first byte of a character is there, at the end of the text, all kinds that it begins are among them.
    """
    found = 0
    for index in range(len(text)):
        byte = text[index]
        if byte < FIRST_LEAD or index + 1 == len(text):
            found |= kind_of(byte)
        else:
            found |= kind_of_pair(byte, text[index + 1]) or kind_of(byte)
    return found


def kinds_outside(alphabet: int) -> int:
    """Return the kinds none of whose characters are in an alphabet; see `Alphabets`."""
    found = ALL_CHARACTERS
    one = 1
    if alphabet >> 128:
        found = (one << FIRST_BEYOND) - 1
    for half in range(2):
        bits = alphabet >> 64 * half & ALL_64_BITS
        for byte in range(64):
            if bits >> byte & 1:
                found &= ~kind_of(64 * half + byte)
    return found


def alphabet_of(kinds: int) -> int:
    """Return an alphabet with all characters of some kinds."""
    found = 0
    one = 1  # a Python integer: a C integer has fewer than 128 bits
    for byte in range(128):
        if kinds & kind_of(byte):
            found |= one << byte
    return found | OTHER_CHARS if kinds >> FIRST_BEYOND else found


class TrieCharacters:
    """The characters below the nodes of a trie.

    Args:
        trie: the trie.

    Attributes:
        kinds_below: uint64 by node, the kinds of the characters below it, as a mask. A character that is cut off at
            the end of a token counts as a whole one.
        kinds_with: uint64 by node, the same with the node's own character; only where a character begins at the node.
            The second byte of a character tells its kind, so those of all characters that begin with the node's byte.
        characters: int32 by node, the number of characters that have begun up to it.
        height: int32 by node, the greatest number of bytes that come below it.
        most_below: int32 by node, the greatest number of characters of a token that goes on below it; 0 for none.
        inner: int32, the nodes at the end of a character that have others below them. Bytes that are no characters do
            not count.
        first_inner: int32[nodes + 1], the inner nodes from node n to m - 1 are `inner[first_inner[n]:first_inner[m]]`.
    """

    def __init__(self, trie: TokenTrie) -> None:
        count = trie.node_count
        self.kinds_below = array("Q", bytes(8 * max(count, 1)))
        self.kinds_with = array("Q", bytes(8 * max(count, 1)))
        self.characters = zeros(max(count, 1))
        self.height = zeros(max(count, 1))
        self.most_below = zeros(max(count, 1))
        parent = zeros(max(count, 1))
        bits = array("Q", bytes(8 * max(count, 1)))
        expected = zeros(max(count, 1))
        self._read(trie, parent, bits, expected)
        self._gather(trie, parent, bits, expected)
        self.inner = zeros(max(count, 1))
        self.first_inner = zeros(count + 1)
        self._find_inner(trie, expected)

    def _find_inner(self, trie: TokenTrie, expected: array[int]) -> None:
        inner, first_inner = self.inner, self.first_inner
        size = 0
        for node in range(trie.node_count):
            first_inner[node] = size
            if expected[node] == BOUNDARY and trie.node_end[node] > node + 1:
                inner[size] = node
                size += 1
        first_inner[trie.node_count] = size

    def _gather(self, trie: TokenTrie, parent: array[int], bits: array[int], expected: array[int]) -> None:
        """Give each node its height, and the kinds of its children and below them. Children come after parents.

        Below a node within a character there are bytes that are no characters, whatever they are below its parent.
        """
        kinds_below, kinds_with, height, most_below = self.kinds_below, self.kinds_with, self.height, self.most_below
        token_start, characters = trie.token_start, self.characters
        one = 1
        for node in range(trie.node_count - 1, -1, -1):
            above = parent[node]
            kinds_with[node] = bits[node] | kinds_below[node]
            if above >= 0:
                most = most_below[node]
                if most == 0 and token_start[node] < token_start[node + 1]:
                    most = characters[node]
                if most > most_below[above]:
                    most_below[above] = most
                kinds_below[above] |= kinds_with[node]
                if height[node] >= height[above]:
                    height[above] = height[node] + 1
            if expected[node] != BOUNDARY:
                kinds_below[node] |= one << BROKEN

    def _read(self, trie: TokenTrie, parent: array[int], bits: array[int], expected: array[int]) -> None:
        """Read the paths from the root as UTF-8.

        Find for each node its parent, the kind of its character, as a bit, and what must come next. The second byte of
        a character tells its kind. If a token ends before it, the first one has all kinds that it begins.
        """
        path = zeros(trie.max_depth + 2, -1)
        node_byte, node_depth, characters = trie.node_byte, trie.node_depth, self.characters
        one = 1
        for node in range(trie.node_count):
            depth = node_depth[node]
            byte = node_byte[node]
            before = path[depth - 1] if depth > 1 else -1
            parent[node] = before
            path[depth] = node
            state = expected[before] if before >= 0 else BOUNDARY
            begun = 0 if 0x80 <= byte < 0xC0 else 1
            characters[node] = begun + (characters[before] if before >= 0 else 0)
            following = _after(state, byte)
            expected[node] = following
            if following == NO_TEXT:
                bits[node] = one << BROKEN
            elif state == BOUNDARY:
                if byte < 0x80 or trie.token_start[node] < trie.token_start[node + 1]:
                    bits[node] = kind_of(byte)
            elif node_byte[before] >= FIRST_LEAD:
                bits[node] = kind_of_pair(node_byte[before], byte)


def _after(state: int, byte: int) -> int:
    """Return what comes next in UTF-8 after a byte.

    Args:
        state: what was to come next: BOUNDARY, NO_TEXT, or a number as it is returned.
        byte: the byte.

    Returns:
        1 to 3 for so many continuation bytes, 4 to 7 where the next byte has narrower bounds, BOUNDARY or NO_TEXT.
    """
    if state == NO_TEXT:
        return NO_TEXT
    if state == BOUNDARY:
        if byte < 0x80:
            return BOUNDARY
        if 0xC2 <= byte <= 0xDF:
            return 1
        if byte == 0xE0:
            return 4
        if byte == 0xED:
            return 5
        if 0xE1 <= byte <= 0xEF:
            return 2
        if byte == 0xF0:
            return 6
        if byte == 0xF4:
            return 7
        return 3 if 0xF1 <= byte <= 0xF3 else NO_TEXT
    low = 0xA0 if state == 4 else 0x90 if state == 6 else 0x80
    high = 0x9F if state == 5 else 0x8F if state == 7 else 0xBF
    if not low <= byte <= high:
        return NO_TEXT
    return state - 1 if state < 4 else 1 if state < 6 else 2


class CharacterKinds:
    """The kinds of characters that lead from given states to given states.

    Args:
        automata: the automata of the states.
    """

    def __init__(self, automata: AutomatonStore) -> None:
        self.automata = automata
        self._loop_of = zeros(1024)  # by state: one more than the index of its mask in _loops, or 0
        self._loops = array("Q", bytes(8 * 256))
        self._loop_count = 0
        self._first_class = zeros(256)  # by class map: one more than the index of its first class in what follows, or 0
        self._ascii_of_class = array("Q", bytes(8 * 1024))  # the kinds of the ASCII characters in a class
        self._starts_of_class = zeros(1024)  # the entries of _STARTS with a leading byte in a class, as bits
        self._class_count = 0

    def loops(self, state: int) -> int:
        """Return the kinds all of whose characters lead from a state back to it, and end no match within.

        An accepting state has none: its mask is 0.

        Raises:
            LimitExceededError: automaton_states.
        """
        while state >= len(self._loop_of):
            self._loop_of = grown(self._loop_of, len(self._loop_of))
        at = self._loop_of[state] - 1
        if at < 0:
            at = self._loop_count
            if at == len(self._loops):
                self._loops = enlarged(self._loops, "Q", 2 * at)
            if not self.automata.table.accepting[state]:
                self._loops[at] = self.returns(state)
            self._loop_count = at + 1
            self._loop_of[state] = at + 1
        return self._loops[at]

    def returns(self, state: int) -> int:
        """Return the kinds all of whose characters lead from a state back to it, and end no match but at their ends.

        If none of a few samples leads back, no other character is looked at, so that the states they lead to need not
        be made.

        Raises:
            LimitExceededError: automaton_states.
        """
        for index in range(len(SAMPLES)):
            if self.automata.next(state, SAMPLES[index]) == state:
                return self.between(state, state)
        return 0

    def between(self, start: int, goal: int) -> int:
        """Return the kinds all of whose characters lead from one state to another, and end no match within.

        The bytes of a class are looked at together, and none whose kinds other bytes have excluded already.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self._between(start, goal, ALL_CHARACTERS)

    def between_beyond_ascii(self, start: int, goal: int) -> int:
        """Return the kinds that `between` returns, and all kinds of ASCII characters.

        Raises:
            LimitExceededError: automaton_states.
        """
        one = 1
        ascii_kinds = (one << FIRST_BEYOND) - 1
        return ascii_kinds | self._between(start, goal, ALL_CHARACTERS & ~ascii_kinds)

    def _between(self, start: int, goal: int, found: int) -> int:
        """Return those of the kinds `found` that `between` returns."""
        automata = self.automata
        automata.derivatives.derive(start)
        number, targets = automata.partitions.map_at.values[start], automata.partitions.targets_at.values[start]
        first = self._classes_of(number)
        found = self._promising(number, targets, found)
        one = 1
        for at in range(automata.partitions.width_of[number]):
            own = self._ascii_of_class[first + at] & found
            starts = self._starts_of_class[first + at]
            if not (own | kinds_of_starts(starts)) & found:
                continue
            target = automata.live_target(targets + at)
            if target != goal:
                found &= ~own
            # Nearly always all characters that begin with the bytes of a class lead to the same state: then one look at
            # all second bytes is enough for those of two, of three and of four bytes.
            known = same = 0
            for index in range(START_COUNT):
                kind = one << STARTS[4 * index + 3]
                if not (starts >> index & 1 and found & kind):
                    continue
                more = STARTS[4 * index + 2]
                if not known >> more & 1:
                    known |= 1 << more
                    if self._all_lead_to(target, goal, 0x80, 0xBF, more):
                        same |= 1 << more
                if same >> more & 1:
                    continue
                if not self._all_lead_to(target, goal, STARTS[4 * index], STARTS[4 * index + 1], more):
                    found &= ~kind
            if not found:
                break
        return found

    def _promising(self, number: int, targets: int, found: int) -> int:
        """Return those of the kinds `found` that the first bytes of their characters do not exclude.

        No target is evaluated, so this costs little. A class of bytes that leads nowhere excludes the kinds of all
        characters that begin with them. A backslash with a target of its own is excluded, too: it begins an escape,
        after which few characters lead on, and the states of all escapes are many.

        Args:
            number: the class map of a state.
            targets: where its targets begin in the target pool.
            found: the kinds.
        """
        partitions = self.automata.partitions
        first = self._classes_of(number)
        for at in range(partitions.width_of[number]):
            target = partitions.target_pool[targets + at]
            if target == DEAD:
                found &= ~(self._ascii_of_class[first + at] | kinds_of_starts(self._starts_of_class[first + at]))
            elif target < 0 and self._ascii_of_class[first + at] == BACKSLASH and not self._starts_of_class[first + at]:
                found &= ~BACKSLASH
        return found

    def _has_dead(self, state: int, low: int, high: int) -> bool:
        """Return whether one of some bytes leads nowhere from a state; no target is evaluated.

        The partition of the state must be known.
        """
        partitions = self.automata.partitions
        classes, targets = partitions.map_at.values[state] * 256, partitions.targets_at.values[state]
        for byte in range(low, high + 1):
            if partitions.target_pool[targets + partitions.class_of[classes + byte]] == DEAD:
                return True
        return False

    def _classes_of(self, number: int) -> int:
        """Return where the classes of a class map begin in `_ascii_of_class` and `_starts_of_class`."""
        while number >= len(self._first_class):
            self._first_class = grown(self._first_class, len(self._first_class))
        first = self._first_class[number] - 1
        if first >= 0:
            return first
        partitions = self.automata.partitions
        first = self._class_count
        while first + 256 > len(self._ascii_of_class):
            self._ascii_of_class = enlarged(self._ascii_of_class, "Q", 2 * len(self._ascii_of_class))
            self._starts_of_class = grown(self._starts_of_class, len(self._starts_of_class))
        one = 1
        for byte in range(128):
            self._ascii_of_class[first + partitions.class_of[number * 256 + byte]] |= one << KIND_OF[byte]
        for lead in range(FIRST_LEAD, 256):
            self._starts_of_class[first + partitions.class_of[number * 256 + lead]] |= STARTS_OF_LEAD[lead]
        self._class_count = first + partitions.width_of[number]
        self._first_class[number] = first + 1
        return first

    def after_sample(self, state: int) -> int:
        """Return the state after a character of several bytes; DEAD if it cannot come next.

        If all such characters lead to the same state, it is this one.

        Raises:
            LimitExceededError: automaton_states.
        """
        for index in range(len(SAMPLE_BEYOND_ASCII)):
            state = self.automata.next(state, SAMPLE_BEYOND_ASCII[index])
        return state

    def _all_lead_to(self, state: int, goal: int, low: int, high: int, more: int) -> bool:
        """Return whether all continuations of a character that has begun lead to `goal`.

        Args:
            state: the state after the bytes of the character so far.
            goal: the state after the character.
            low: the smallest next byte.
            high: the largest next byte.
            more: the number of continuation bytes after the next byte.
        """
        automata = self.automata
        if not state or automata.table.accepting[state]:
            return False
        automata.derivatives.derive(state)
        if self._has_dead(state, low, high):
            return False
        classes, targets = automata.partitions.map_at.values[state] * 256, automata.partitions.targets_at.values[state]
        previous = UNKNOWN
        for byte in range(low, high + 1):
            place = targets + automata.partitions.class_of[classes + byte]
            if place == previous:
                continue
            previous = place
            target = automata.live_target(place)
            if more == 0:
                if target != goal:
                    return False
            elif not self._all_lead_to(target, goal, 0x80, 0xBF, more - 1):
                return False
        return True

    def leading_on(self, state: int, targets: dict[int, int]) -> int:
        """Return the kinds all of whose characters lead on from a state, and after or within which no match ends.

        Args:
            state: the state.
            targets: gets the states after these characters, each with the kinds that lead to it.

        Raises:
            LimitExceededError: automaton_states.
        """
        automata = self.automata
        automata.derivatives.derive(state)
        number, place = automata.partitions.map_at.values[state], automata.partitions.targets_at.values[state]
        first = self._classes_of(number)
        found = self._promising(number, place, ALL_CHARACTERS)
        one = 1
        for at in range(automata.partitions.width_of[number]):
            own = self._ascii_of_class[first + at] & found
            starts = self._starts_of_class[first + at]
            if not (own | kinds_of_starts(starts)) & found:
                continue
            target = automata.live_target(place + at)
            if not target or automata.table.accepting[target]:
                found &= ~own
            elif own:
                targets[target] = targets.get(target, 0) | own
            for index in range(START_COUNT):
                kind = one << STARTS[4 * index + 3]
                if (
                    starts >> index & 1
                    and found & kind
                    and not self._all_lead_on(
                        target, STARTS[4 * index], STARTS[4 * index + 1], STARTS[4 * index + 2], kind, targets
                    )
                ):
                    found &= ~kind
        return found

    def _all_lead_on(self, state: int, low: int, high: int, more: int, kind: int, targets: dict[int, int]) -> bool:
        """Return whether all continuations of a character that has begun lead on; arguments as in `_all_lead_to`."""
        automata = self.automata
        if not state or automata.table.accepting[state]:
            return False
        automata.derivatives.derive(state)
        if self._has_dead(state, low, high):
            return False
        classes, first = automata.partitions.map_at.values[state] * 256, automata.partitions.targets_at.values[state]
        previous = UNKNOWN
        for byte in range(low, high + 1):
            place = first + automata.partitions.class_of[classes + byte]
            if place == previous:
                continue
            previous = place
            target = automata.live_target(place)
            if more:
                if not self._all_lead_on(target, 0x80, 0xBF, more - 1, kind, targets):
                    return False
            elif not target or automata.table.accepting[target]:
                return False
            else:
                targets[target] = targets.get(target, 0) | kind
        return True

    def refused(self, state: int) -> int:
        """Return the kinds none of whose characters begin a text of a state.

        Raises:
            LimitExceededError: automaton_states.
        """
        automata = self.automata
        automata.derivatives.derive(state)
        number, place = automata.partitions.map_at.values[state], automata.partitions.targets_at.values[state]
        first = self._classes_of(number)
        found = ALL_CHARACTERS
        one = 1
        for at in range(automata.partitions.width_of[number]):
            own, starts = self._ascii_of_class[first + at], self._starts_of_class[first + at]
            if not (own | kinds_of_starts(starts)) & found or not automata.is_live(state, place + at):
                continue
            found &= ~own
            for index in range(START_COUNT):
                kind = one << STARTS[4 * index + 3]
                if starts >> index & 1 and found & kind and self._begins(place + at, index):
                    found &= ~kind
        return found

    def _begins(self, place: int, start: int) -> bool:
        """Return whether a second byte of an entry of `_STARTS` leads on from the target at a place."""
        state = self.automata.live_target(place)
        for byte in range(STARTS[4 * start], STARTS[4 * start + 1] + 1):  # noqa: SIM110  (it would not be compiled)
            if self.automata.leads_on(state, byte):
                return True
        return False
