"""What may stand at a place of a text, in words: for messages, when they are asked for.

Nothing is kept for it. An item of an Earley set knows its position in the rules, and so its rule: in a grammar that
was written down the rule has a name, and the `Describer` of others is asked what the symbol is, and where that was
said. What has begun already, and what nobody has words for, is told by the automaton of its terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.grammar.tables import Capture, Lookahead, Symbol, terminal_number
from structgen.engine.regex.tree import Literal, LiteralSet

if TYPE_CHECKING:
    from structgen.engine.matching.compiled import CompiledGrammar

__all__ = ["THE_END", "ExpectationFinder", "Expected", "joined", "shown"]

MAX_SHOWN = 8  # texts of one kind
LONGEST_SHOWN = 60  # bytes of one text
MAX_ITEMS = 2_000  # of a set are looked at
LINKS = 1_000  # of a chain of rules, each of which waits for the one before
MAX_BYTES = 20
MAX_RULES = 3
IN_ANY_CASE = " in any case"
MAX_STATES = 200  # in a search for an example
SPACES = 1 << 0x20 | 1 << 0x09 | 1 << 0x0A | 1 << 0x0D
WHITE_SPACE = "white space"


@dataclass(frozen=True, slots=True)
class Expected:
    """Something that may stand at a place of a text.

    Attributes:
        words: what it is: `","`, `a key: "name" or "age"`, `an integer from 0 to 120`, `the end`.
        place: the rule of the grammar, or the place in the schema (a JSON pointer behind `#`), that asks for it; may be
            empty.
        example: bytes that may be written there, as short as possible; none for the end.
    """

    words: str
    place: str
    example: bytes = b""

    def __str__(self) -> str:
        return f"{self.words} ({self.place})" if self.place else self.words


THE_END = Expected("the end", "")


class _Told(NamedTuple):
    """What a scannable item stands for: `texts` may be listed with those of others that are the same `what`."""

    what: str
    text: str
    place: str
    example: bytes


class ExpectationFinder:
    """What the sets of a compiled grammar lead to. Made for one question, or a few: it keeps what it looked up."""

    def __init__(self, compiled: CompiledGrammar) -> None:
        self._sets = compiled.sets
        self._rules = compiled.sets.rules
        self._automata: AutomatonStore = compiled.sets.automata
        self._describer = compiled.tables.describer
        self._tables = compiled.tables
        self._names = compiled.tables.names
        self._origin = compiled.origin
        self._bodies: dict[int, list[Sequence[Symbol | Lookahead]]] = {}

    def expected(self, set_id: int) -> tuple[Expected, ...]:
        """What may stand behind a set.

        Raises:
            LimitExceededError: automaton_states, or what the grammar's source raises.
        """
        sets = self._sets
        sets.close(set_id)
        told: dict[_Told, None] = {}
        first, last = sets.first_scan[set_id], sets.last_scan[set_id]
        for scan in range(first, min(last, first + MAX_ITEMS)):
            told[self._told(sets.scan_position[scan], sets.scan_state[scan], sets.scan_group[scan])] = None
        found = _grouped(told)
        if len(found) > 1:
            found = [one for one in found if one.words != WHITE_SPACE]
        if sets.accepting[set_id]:
            found.append(THE_END)
        return tuple(found)

    def open_rules(self, set_id: int) -> tuple[str, ...]:
        """The rules, or places in the schema, that are under way behind a set, the outermost first.

        Where there are several ways to read the text so far, those of the one with the most, of the first few.
        """
        sets = self._sets
        sets.close(set_id)
        first, last = sets.first_scan[set_id], sets.last_scan[set_id]
        found: list[str] = []
        for scan in range(first, min(last, first + MAX_SHOWN)):
            chain = self._chain(sets.scan_position[scan], sets.scan_group[scan])
            found = chain if len(chain) > len(found) else found
        return tuple(reversed(found))

    def _chain(self, position: int, group: int) -> list[str]:
        """The places of an item and of what waits for it, the innermost first."""
        origin = self._origin_of(position, self._own_place(position) or "")
        found = [origin] if origin else []
        for _ in range(LINKS):
            place = self._own_place(position)
            if place and (not found or found[-1] != place):
                found.append(place)
            waiting = self._sets.waiting(group)
            if not waiting:
                break
            position, group = waiting[0]
        return found

    def is_accepted(self, set_id: int, byte: int) -> bool:
        """Whether a terminal may go on by a byte that the set refuses: it would end a text that must not come again."""
        sets, automata = self._sets, self._automata
        items = range(sets.first_scan[set_id], sets.last_scan[set_id])
        return bool(sets.captures[set_id]) and any(automata.next(sets.scan_state[item], byte) for item in items)

    # -- one item ---------------------------------------------------------------------------------------------------

    def _told(self, position: int, state: int, group: int) -> _Told:
        place = self._place(position, group)
        place = self._origin_of(position, place) or place
        what, text = self._words(position, group)
        example = self._automata.shortest_text(state, MAX_STATES) or b""
        if self._is_white_space(state):
            return _Told(WHITE_SPACE, "", "", example)
        if state == self._rules.start_state[position] and (what or text):
            return _Told(what, text, place, example)
        forced, is_free = self._forced(state)
        if forced:
            purpose = f", for {what}" if what and not text else ""
            return _Told("", shown(forced) + (IN_ANY_CASE if is_free else "") + purpose, place, example)
        if what and not text:
            some = self._automata.first_bytes(state)
            detail = f" ({class_words(some)})" if some.bit_count() <= MAX_BYTES else ""
            return _Told(f"more of {what}{detail}", "", place, example)
        return _Told(*self._by_automaton(state), place, example)

    def _words(self, position: int, group: int) -> tuple[str, str]:
        """What the describer says of a terminal; nothing where it was written down."""
        for _ in range(2):
            rule = self._rules.rule_at(position)
            head = self._rules.head_of(rule) if rule >= 0 else -1
            key = self._rules.key_of(head) if head >= 0 else None
            if key is not None and self._describer is not None:
                body, at = self._body(head, rule, position)
                return self._describer.words(key, body, at)
            waiting = self._sets.waiting(group)
            if head < len(self._names) or not waiting:
                break
            position, group = waiting[0]  # a captured terminal has a nonterminal of its own
        return "", ""

    def _origin_of(self, position: int, place: str) -> str:
        """The rules that a terminal comes from, where the one that it is in now is none of them."""
        symbols = self._tables.symbols
        if self._origin is None or position >= len(symbols) or symbols[position] > -2:
            return ""
        regex = self._tables.terminals[terminal_number(symbols[position])]
        known = self._origin()
        texts = [Literal(text) for text in regex.texts] if isinstance(regex, LiteralSet) else [regex]
        names = [name for name in known.get(texts[0], ()) if all(name in known.get(text, ()) for text in texts)]
        return "" if place in names or len(names) > MAX_RULES else joined(names)

    def _place(self, position: int, group: int) -> str:
        """The rule, or the place in the schema, that a position belongs to; that of what waits for it, if it has none
        of its own.
        """
        for _ in range(LINKS):
            place = self._own_place(position)
            if place is not None:
                return place
            waiting = self._sets.waiting(group)
            if not waiting:
                break
            position, group = waiting[0]
        return ""

    def _own_place(self, position: int) -> str | None:
        """The same, where it does not depend on what waits for it."""
        rule = self._rules.rule_at(position)
        head = self._rules.head_of(rule) if rule >= 0 else -1
        key = self._rules.key_of(head) if head >= 0 else None
        if key is not None and self._describer is not None:
            body, at = self._body(head, rule, position)
            return self._describer.location(key, body, at)
        return self._names[head] if 0 <= head < len(self._names) else None

    def _body(self, head: int, rule: int, position: int) -> tuple[Sequence[Symbol | Lookahead], int]:
        """The body of a rule as its source made it, and which of its parts stands at a position."""
        bodies = self._bodies.get(head)
        if bodies is None:
            bodies = self._bodies[head] = self._rules.bodies_of(head)
        body = bodies[rule - self._rules.first_rule[head]]
        left = position - self._rules.rule_starts[rule]
        for at, part in enumerate(body):
            left -= 0 if isinstance(part, Lookahead) else 2 if isinstance(part, Capture) else 1
            if left < 0:
                return body, at
        return body, len(body) - 1

    # -- automata ---------------------------------------------------------------------------------------------------

    def _is_white_space(self, state: int) -> bool:
        """Whether nothing but white space can come, within a terminal that allows some."""
        some = self._automata.first_bytes(state)
        return bool(self._automata.accepting[state]) and some != 0 and not some & ~SPACES

    def _forced(self, state: int) -> tuple[bytes, bool]:
        """The bytes that must come next within a terminal, up to the case of letters; and whether that is free."""
        automata, out, is_free = self._automata, bytearray(), False
        while len(out) <= LONGEST_SHOWN and (not automata.accepting[state] or not out):
            some = automata.first_bytes(state)
            byte = some.bit_length() - 1
            target = automata.next(state, byte) if some else 0
            if some.bit_count() == 2 and byte < 0x80 and chr(byte).isalpha() and some >> (byte & ~0x20) & 1:
                if automata.next(state, byte & ~0x20) != target:
                    break
                is_free = True
            elif some.bit_count() != 1:
                break
            out.append(byte)
            state = target
        return bytes(out), is_free

    def _by_automaton(self, state: int) -> tuple[str, str]:
        """Words for what a terminal goes on with, and its text."""
        texts = self._texts(state)
        if texts is not None:
            return ("", shown(texts[0])) if len(texts) == 1 else (joined(map(shown, texts)), "")
        some = self._automata.first_bytes(state)
        without_space = some & ~SPACES
        if some & SPACES and without_space.bit_count() == 1:
            return "", shown(bytes([without_space.bit_length() - 1]))
        example = self._automata.shortest_text(state, MAX_STATES)
        such_as = f", such as {shown(example)}" if example and len(example) > 1 else ""
        return f"{class_words(some)}{such_as}", ""

    def _texts(self, state: int) -> list[bytes] | None:
        """All texts of a terminal from a state; None where they are more than a few, or long."""
        found: list[bytes] = []
        work = [(state, b"")]
        for _ in range(MAX_SHOWN * LONGEST_SHOWN):
            if not work:
                return sorted(found)
            state, text = work.pop()
            if self._automata.accepting[state]:
                found.append(text)
            some = self._automata.first_bytes(state)
            if len(found) > MAX_SHOWN or len(text) >= LONGEST_SHOWN or len(work) + some.bit_count() > MAX_SHOWN:
                return None
            work.extend(
                (self._automata.next(state, byte), text + bytes([byte])) for byte in range(256) if some >> byte & 1
            )
        return None


def _grouped(told: Iterable[_Told]) -> list[Expected]:
    """Items that are the same thing become one, with all their texts."""
    groups: dict[tuple[str, str], list[_Told]] = {}
    for one in told:
        key = (one.what, one.place) if one.what else (one.text, one.place)
        groups.setdefault(key, []).append(one)
    found: list[Expected] = []
    for (name, place), members in groups.items():
        texts = list(dict.fromkeys(one.text for one in members if one.text)) if members[0].what else []
        words = f"{name}: {joined(texts)}" if texts else name
        example = min((one.example for one in members), key=len)
        found.append(Expected(words, place, example))
    return found


def joined(texts: Iterable[str]) -> str:
    """Some texts in one: `a, b or c`; of many the first few, and how many more there are."""
    listed = list(texts)
    if len(listed) > MAX_SHOWN:
        return f"{', '.join(listed[:MAX_SHOWN])} or {len(listed) - MAX_SHOWN} more"
    return " or ".join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))


def shown(data: bytes) -> str:
    r"""A text for messages: in quotes, or in back quotes where it has quotes itself.

    >>> print(shown(b","), shown(b'"name"'), shown(b"\xff\n"))
    "," `"name"` "\xff\n"
    """
    text = printable(data if len(data) <= LONGEST_SHOWN else data[:LONGEST_SHOWN] + "…".encode())
    return f"`{text}`" if '"' in text else f'"{text}"'


def printable(data: bytes) -> str:
    """A text in which nothing is hidden: control characters, and bytes that are no UTF-8, are escaped."""
    text = data.decode(errors="backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def class_words(some: int) -> str:
    """Words for a set of bytes, given as bits.

    >>> class_words(sum(1 << byte for byte in b"0123456789-"))
    '"-" or "0" to "9"'
    """
    if some.bit_count() > 128:
        missing = [bytes([byte]) for byte in range(0x20, 0x7F) if not some >> byte & 1]
        return "any character" + (f" but {joined(map(shown, missing))}" if missing else "")
    parts: list[str] = []
    byte = 0
    while byte < 0x80:
        if some >> byte & 1:
            first = byte
            while byte < 0x7F and some >> byte + 1 & 1:
                byte += 1
            if byte - first > 1:
                parts.append(f"{shown(bytes([first]))} to {shown(bytes([byte]))}")
            else:
                parts += [shown(bytes([each])) for each in range(first, byte + 1)]
        byte += 1
    if some >> 0x80:
        parts.append("a character beyond ASCII")
    return joined(parts)
