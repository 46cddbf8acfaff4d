"""Words for what may come next in a text, found from its Earley set. For messages.

For each scannable item of the set:

1. Its dotted rule leads to its rule. A rule that was written down has a name. For other rules, the grammar's
   `Describer` says in words what the symbol is, and at which location of the schema it was asked for.
2. A terminal that has begun, or that has no words, is described by its automaton: the bytes that must come, all of its
   texts, or the set of bytes that may come first.

Items that are the same thing become one: `a key: "name" or "age"`. Nothing is computed or kept while masks are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.grammar.tables import Capture, GrammarTables, Lookahead, Origins, Symbol, terminal_number
from structgen.engine.regex.tree import Literal, LiteralSet
from structgen.engine.vocabulary.marks import MARK_BYTE, MARK_LENGTH, token_of

__all__ = ["THE_END", "ExpectationFinder", "Expected", "joined", "shown"]

MAX_SHOWN = 8  # number of texts of one kind
MAX_TEXT_BYTES = 60  # of one text that is shown
MAX_ITEMS = 2_000  # number of items of a set that are described
MAX_LINKS = 1_000  # length of a chain of rules, each of which waits for the one before
MAX_BYTES = 20  # number of different bytes that are listed
MAX_RULES = 3  # number of rules that are named
IN_ANY_CASE = " in any case"
MAX_STATES = 200  # number of automaton states that a search for an example visits
SPACES = 1 << 0x20 | 1 << 0x09 | 1 << 0x0A | 1 << 0x0D
WHITE_SPACE = "white space"


@dataclass(frozen=True, slots=True)
class Expected:
    """Something that may come next in a text.

    Attributes:
        words: a description: `","`, `a key: "name" or "age"`, `an integer from 0 to 120`, `the end`.
        place: the rule of the grammar, or the location in the schema (`#` and a JSON pointer), that asks for it; may be
            empty.
        example: a shortest text that may be written there, in bytes; empty for the end.
    """

    words: str
    place: str
    example: bytes = b""

    def __str__(self) -> str:
        return f"{self.words} ({self.place})" if self.place else self.words


THE_END = Expected("the end", "")


class _Description(NamedTuple):
    """The description of one scannable item: `text` may be listed with the texts of other items of the same `what`."""

    what: str
    text: str
    location: str
    example: bytes


class ExpectationFinder:
    """Describes what may follow an item set of a grammar.

    It is made for one question, or a few, and keeps the bodies that it has looked up.

    Args:
        sets: the item sets of the grammar.
        tables: the grammar in normal form.
        origin: returns the rules that terminals come from, where the tables' names say less.
        name_of: returns the name of a token, for token terminals.
    """

    def __init__(
        self, sets: ItemSetStore, tables: GrammarTables, origin: Origins | None, name_of: Callable[[int], bytes]
    ) -> None:
        self.sets = sets
        self._name_of = name_of
        self._rules = sets.rules
        self._automata: AutomatonStore = sets.automata
        self._describer = tables.describer
        self._tables = tables
        self._names = tables.names
        self._origin = origin
        self._bodies: dict[int, list[Sequence[Symbol | Lookahead]]] = {}

    def expected(self, set_id: int) -> tuple[Expected, ...]:
        """Describe what may come after a set.

        Raises:
            LimitExceededError: automaton_states, or a limit of the grammar's source.
        """
        sets = self.sets
        sets.close(set_id)
        descriptions: dict[_Description, None] = {}  # each once, in order
        first, last = sets.table.first_scan[set_id], sets.table.last_scan[set_id]
        for scan in range(first, min(last, first + MAX_ITEMS)):
            item = (sets.scans.position[scan], sets.scans.state[scan], sets.scans.group[scan])
            descriptions[self._describe(*item)] = None
        found = _grouped(descriptions)
        if len(found) > 1:
            found = [one for one in found if one.words != WHITE_SPACE]
        if sets.table.accepting[set_id]:
            found.append(THE_END)
        return tuple(found)

    def open_rules(self, set_id: int) -> tuple[str, ...]:
        """Return the rules, or locations in the schema, that are open after a set, the outermost first.

        Where the text so far can be read in several ways, these are the rules of the deepest of the first few ways.
        """
        sets = self.sets
        sets.close(set_id)
        first, last = sets.table.first_scan[set_id], sets.table.last_scan[set_id]
        found: list[str] = []
        for scan in range(first, min(last, first + MAX_SHOWN)):
            chain = self._chain(sets.scans.position[scan], sets.scans.group[scan])
            found = chain if len(chain) > len(found) else found
        return tuple(reversed(found))

    def _chain(self, position: int, group: int) -> list[str]:
        """Return the rules of an item and of the items that wait for it, the innermost first."""
        origin = self._origin_of(position, self._own_location(position) or "")
        found = [origin] if origin else []
        for _ in range(MAX_LINKS):
            location = self._own_location(position)
            if location and (not found or found[-1] != location):
                found.append(location)
            waiting = self.sets.waiting(group)
            if not waiting:
                break
            position, group = waiting[0]
        return found

    def ends_taken_text(self, set_id: int, byte: int) -> bool:
        """Return whether a set refuses a byte only because it would end a text that must not come again.

        Such a text is a key that the object has already. The automaton of its terminal does allow the byte.
        """
        sets, automata = self.sets, self._automata
        items = range(sets.table.first_scan[set_id], sets.table.last_scan[set_id])
        return bool(sets.table.captures[set_id]) and any(automata.next(sets.scans.state[item], byte) for item in items)

    # -- one item ---------------------------------------------------------------------------------------------------

    def _describe(self, position: int, state: int, group: int) -> _Description:
        """Describe one scannable item."""
        location = self._location(position, group)
        location = self._origin_of(position, location) or location
        if self._tables.marks and self._automata.first_bytes(state) == 1 << MARK_BYTE:
            return _Description(self._tokens(state), "", location, b"")
        what, text = self._words(position, group)
        example = self._automata.shortest_text(state, MAX_STATES) or b""
        if self._is_white_space(state):
            return _Description(WHITE_SPACE, "", "", example)
        if state == self._rules.start_state[position] and (what or text):
            return _Description(what, text, location, example)
        forced, is_free = self._forced(state)
        if forced:
            purpose = f", for {what}" if what and not text else ""
            return _Description("", shown(forced) + (IN_ANY_CASE if is_free else "") + purpose, location, example)
        if what and not text:
            some = self._automata.first_bytes(state)
            detail = f" ({class_words(some)})" if some.bit_count() <= MAX_BYTES else ""
            return _Description(f"more of {what}{detail}", "", location, example)
        return _Description(*self._by_automaton(state), location, example)

    def _tokens(self, state: int) -> str:
        """Return words for a token terminal."""
        ids: list[int] = []
        states = [(state, b"")]
        while states and len(ids) <= MAX_SHOWN:
            state, mark = states.pop()
            if len(mark) == MARK_LENGTH:
                ids.append(token_of(mark))
                continue
            some = self._automata.first_bytes(state)
            following = [byte for byte in range(255, -1, -1) if some >> byte & 1]
            states += [(self._automata.next(state, byte), mark + bytes([byte])) for byte in following]
        if len(ids) > MAX_SHOWN:
            return "one of many tokens"
        return "the token " + joined(shown(self._name_of(token_id)) for token_id in ids)

    def _words(self, position: int, group: int) -> tuple[str, str]:
        """Return the words that the grammar's source has for a terminal; none in rules that were written down."""
        for _ in range(2):
            rule = self._rules.rule_at(position)
            head = self._rules.head_of(rule) if rule >= 0 else -1
            key = self._rules.key_of(head) if head >= 0 else None
            if key is not None and self._describer is not None:
                body, at = self._body(head, rule, position)
                return self._describer.words(key, body, at)
            waiting = self.sets.waiting(group)
            if head < len(self._names) or not waiting:
                break
            position, group = waiting[0]  # a captured terminal has a nonterminal of its own
        return "", ""

    def _origin_of(self, position: int, location: str) -> str:
        """Return the rules that a terminal was written in, if normalization has moved it to another one."""
        symbols = self._tables.symbols
        if self._origin is None or position >= len(symbols) or symbols[position] > -2:
            return ""
        regex = self._tables.terminals[terminal_number(symbols[position])]
        known = self._origin()
        parts = [regex]
        if regex not in known and isinstance(regex, LiteralSet):  # normalization has put literals together
            parts = [Literal(text) for text in regex.texts]
        names = [name for name in known.get(parts[0], ()) if all(name in known.get(part, ()) for part in parts)]
        return "" if location in names or len(names) > MAX_RULES else joined(names)

    def _location(self, position: int, group: int) -> str:
        """Return the rule, or the location in the schema, of a dotted rule.

        Where it has none, it is that of the item that waits for it.
        """
        for _ in range(MAX_LINKS):
            location = self._own_location(position)
            if location is not None:
                return location
            waiting = self.sets.waiting(group)
            if not waiting:
                break
            position, group = waiting[0]
        return ""

    def _own_location(self, position: int) -> str | None:
        """Return the rule, or the location in the schema, of a dotted rule itself; None where it has none."""
        rule = self._rules.rule_at(position)
        head = self._rules.head_of(rule) if rule >= 0 else -1
        key = self._rules.key_of(head) if head >= 0 else None
        if key is not None and self._describer is not None:
            body, at = self._body(head, rule, position)
            return self._describer.location(key, body, at)
        return self._names[head] if 0 <= head < len(self._names) else None

    def _body(self, head: int, rule: int, position: int) -> tuple[Sequence[Symbol | Lookahead], int]:
        """Return the body of a rule as its source made it, and the index of its part after the dot."""
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
        """Return whether a terminal may end here, and only white space may come within it."""
        some = self._automata.first_bytes(state)
        return bool(self._automata.table.accepting[state]) and some != 0 and not some & ~SPACES

    def _forced(self, state: int) -> tuple[bytes, bool]:
        """Return the bytes that must come next within a terminal, and whether the case of letters is free."""
        automata, out, is_free = self._automata, bytearray(), False
        while len(out) <= MAX_TEXT_BYTES and (not automata.table.accepting[state] or not out):
            some = automata.first_bytes(state)
            byte = some.bit_length() - 1
            target = automata.next(state, byte) if some else 0
            if some.bit_count() == 2 and byte < 0x80 and chr(byte).islower() and some >> (byte & ~0x20) & 1:
                if automata.next(state, byte & ~0x20) != target:
                    break
                is_free = True
            elif some.bit_count() != 1:
                break
            out.append(byte)
            state = target
        return bytes(out), is_free

    def _by_automaton(self, state: int) -> tuple[str, str]:
        """Return words for the rest of a terminal, or its text where there is only one."""
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
        """Return all texts of a terminal from a state; None if there are more than a few, or if they are long."""
        found: list[bytes] = []
        work = [(state, b"")]
        for _ in range(MAX_SHOWN * MAX_TEXT_BYTES):
            if not work:
                return sorted(found)
            state, text = work.pop()
            if self._automata.table.accepting[state]:
                found.append(text)
            some = self._automata.first_bytes(state)
            if len(found) > MAX_SHOWN or len(text) >= MAX_TEXT_BYTES or len(work) + some.bit_count() > MAX_SHOWN:
                return None
            work.extend(
                (self._automata.next(state, byte), text + bytes([byte])) for byte in range(256) if some >> byte & 1
            )
        return None


def _grouped(descriptions: Iterable[_Description]) -> list[Expected]:
    """Merge items that are the same thing into one, with all their texts."""
    groups: dict[tuple[str, str], list[_Description]] = {}
    for one in descriptions:
        key = (one.what, one.location) if one.what else (one.text, one.location)
        groups.setdefault(key, []).append(one)
    found: list[Expected] = []
    for (name, location), members in groups.items():
        texts = list(dict.fromkeys(one.text for one in members if one.text)) if members[0].what else []
        words = f"{name}: {joined(texts)}" if texts else name
        example = min((one.example for one in members), key=len)
        found.append(Expected(words, location, example))
    # The same thing may be expected by two rules, of which one has lost the rule that uses it, and so its location.
    located = {one.words for one in found if one.place}
    return [one for one in found if one.place or one.words not in located]


def joined(texts: Iterable[str]) -> str:
    """Join texts: `a, b or c`. Of many, list the first few and the number of the others."""
    listed = list(texts)
    if len(listed) > MAX_SHOWN:
        return f"{', '.join(listed[:MAX_SHOWN])} or {len(listed) - MAX_SHOWN} more"
    return " or ".join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))


def shown(data: bytes) -> str:
    r"""Return a text for messages: in quotes, or in back quotes where it contains quotes.

    >>> print(shown(b","), shown(b'"name"'), shown(b"\xff\n"))
    "," `"name"` "\xff\n"
    """
    text = printable(data if len(data) <= MAX_TEXT_BYTES else data[:MAX_TEXT_BYTES] + "…".encode())
    return f"`{text}`" if '"' in text else f'"{text}"'


def printable(data: bytes) -> str:
    """Return a text with control characters, and bytes that are not UTF-8, escaped."""
    text = data.decode(errors="backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def class_words(some: int) -> str:
    """Return words for a set of bytes, which is given as bits.

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
