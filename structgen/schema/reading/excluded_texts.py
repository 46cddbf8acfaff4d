"""Terminals without some excluded texts.

In the format of Kimi K3, for example, no string of the arguments may hold `<|close|>`. In JSON, only what stands
between quotes counts: without "a", the string "cab" is left out, and `false` and `{"b": 1}` stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.errors import LimitExceededError
from structgen.limits import Limits
from structgen.schema.algebra import Language
from structgen.schema.json_text.strings import canonical

__all__ = ["WithoutTexts"]

_MAX_STATES = 20_000  # that are visited to find out whether a text may hold an excluded one
_ALL = (1 << 256) - 1
_LAST_ASCII = 0x7F
_WIDE = _ALL & ~((1 << (_LAST_ASCII + 1)) - 1)
_QUOTE = rx.Literal(b'"')
_NO_QUOTE = rx.ByteSet(_ALL & ~(1 << ord('"')))
_CONTENT = rx.star(
    rx.choice(rx.ByteSet(_ALL & ~(1 << ord('"') | 1 << ord("\\"))), rx.sequence(rx.Literal(b"\\"), rx.ByteSet(_ALL)))
)
"""Any characters of a JSON string, each of them whole: bytes other than `"` and `\\`, and escapes."""
_SIGNS = rx.ByteSet(sum(1 << byte for byte in b"-+.0123456789eE[]{},: \t\n\r"))
_SYNTAX = rx.star(rx.choice(_SIGNS, rx.literal_set([b"true", b"false", b"null", b"True", b"False", b"None"])))
_JSON = rx.choice(rx.sequence(_QUOTE, rx.ANY_BYTES), _SYNTAX)
"""The terminals of JSON begin with a quote, or are numbers, words, punctuation and white space; those words of Python
beside them are in no terminal of JSON."""
_ESCAPES = {sign: canonical(sign).decode()[1:-1] for sign in (*map(chr, range(0x20)), '"', "\\")}
_CHARS = rx.star(rx.ANY_CHAR)


class WithoutTexts:
    """Narrows a terminal to the texts that hold none of the excluded texts.

    Args:
        excludes: the excluded texts.
        limits: bounds on automata.
        narrowed: another narrowing, applied before this one.
        is_json: the terminals are JSON. Then only the characters between the quotes of a string count.
        has_quotes: strings have quotes, or are JSON. Then numbers, words and punctuation are left as they are.

    Attributes:
        of_strings: narrows strings in their JSON form, as far as the notation writes the excluded texts as JSON does;
            None if it may not.
        narrowed: the other narrowing.
        held: the strings, as decoded text, whose canonical form holds an excluded text.
    """

    def __init__(
        self,
        excludes: Sequence[str],
        limits: Limits,
        narrowed: Callable[[rx.Regex], rx.Regex] | None,
        *,
        is_json: bool = False,
        has_quotes: bool = False,
    ) -> None:
        found = rx.literal_set([text.encode() for text in excludes])
        self._parts = [(_set_of(text.encode()), _holding(rx.Literal(text.encode()))) for text in excludes]
        self._holding = _holding(found)
        # Where no excluded text has a quote, the characters after it do not matter: so few states are dead ends.
        self._quoted = rx.sequence(_QUOTE, _CONTENT, rx.repeat(rx.Literal(b"\\"), 0, 1), found, rx.ANY_BYTES)
        if any('"' in text for text in excludes):
            self._quoted = rx.sequence(_QUOTE, self._holding, _QUOTE, rx.star(_NO_QUOTE))
        self.held = Language(f"holding {list(excludes)!r}", rx.sequence(_CHARS, _decoded(excludes), _CHARS))
        self.of_strings: WithoutTexts | None = None
        if is_json:
            self.of_strings = self
        elif not any(sign in '"\\' or sign < " " for text in excludes for sign in text):
            self.of_strings = WithoutTexts(excludes, limits, narrowed, is_json=True)
        self._is_json = is_json
        self._has_quotes = has_quotes or is_json
        self._limits = limits
        self._few = replace(limits, automaton_states=min(limits.automaton_states, _MAX_STATES))
        self.narrowed = narrowed
        # By identity of the regex. The pair keeps the regex alive, so that no other object gets its identity.
        self._known: dict[int, tuple[rx.Regex, rx.Regex]] = {}

    def __call__(self, regex: rx.Regex) -> rx.Regex:
        """Return a terminal without the excluded texts; the same object if it has none."""
        known = self._known.get(id(regex))
        if known is None:
            left = regex if self.narrowed is None else self.narrowed(regex)
            known = self._known[id(regex)] = (regex, self._without(left))
        return known[1]

    def _without(self, regex: rx.Regex) -> rx.Regex:
        if not self._may_hold(regex):
            return regex
        store = AutomatonStore(self._limits)
        if self._has_quotes and store.is_empty(rx.difference(regex, _SYNTAX)):
            return regex
        is_json = self._is_json and store.is_empty(rx.difference(regex, _JSON))
        return rx.difference(regex, self._quoted if is_json else self._holding)

    def _may_hold(self, regex: rx.Regex) -> bool:
        """Return whether a text of a regex may hold an excluded one.

        Each is looked for by itself: in an address of at most 254 characters, three together need many more states.
        Most formats do not have the characters of a mark.
        """
        possible = _bytes_in(regex, {})
        left = [holding for needed, holding in self._parts if not needed & ~possible]
        try:
            store = AutomatonStore(self._few)
            return any(not store.is_empty(rx.intersection(regex, holding)) for holding in left)
        except LimitExceededError:
            return True


def _decoded(excludes: Sequence[str]) -> rx.Regex:
    r"""Return the runs of characters whose canonical form holds an excluded text, and no character too many.

    For "n", these are the character n and the end of line, whose form is `\n`.
    """
    found: list[rx.Regex] = []
    for text in excludes:
        found.append(_rest(text))
        for sign, form in _ESCAPES.items():
            ends = [form[at:] for at in range(1, len(form))]
            found += [
                rx.sequence(rx.Literal(sign.encode()), _rest(text[len(end) :])) for end in ends if _meet(end, text)
            ]
    return rx.choice(*found)


def _meet(form: str, text: str) -> bool:
    return text.startswith(form) or form.startswith(text)


def _rest(text: str) -> rx.Regex:
    """Return the runs of characters whose canonical form begins with a text, and no character too many."""
    plain = text[: next((at for at, sign in enumerate(text) if sign in _ESCAPES), len(text))]
    rest = text[len(plain) :]
    if not rest:
        return rx.Literal(plain.encode())
    begun = [(sign, rest[len(form) :]) for sign, form in _ESCAPES.items() if _meet(form, rest)]
    ways = [rx.sequence(rx.Literal(sign.encode()), _rest(left)) for sign, left in begun]
    return rx.sequence(rx.Literal(plain.encode()), rx.choice(*ways)) if ways else rx.ByteSet(0)


def _holding(regex: rx.Regex) -> rx.Regex:
    return rx.sequence(rx.ANY_BYTES, regex, rx.ANY_BYTES)


def _set_of(data: bytes) -> int:
    return sum(1 << byte for byte in set(data))


def _bytes_in(regex: rx.Regex, known: dict[int, int]) -> int:
    """Return a set of bytes, as bits, that holds every byte of a regex's texts. `known` has those of parts, by id."""
    found = known.get(id(regex))
    if found is None:
        found = known[id(regex)] = _bytes_of_parts(regex, known)
    return found


def _bytes_of_parts(regex: rx.Regex, known: dict[int, int]) -> int:
    found = 0
    match regex:
        case rx.Literal(data):
            return _set_of(data)
        case rx.LiteralSet(texts) | rx.Substrings(texts):
            return _set_of(b"".join(texts))
        case rx.ByteSet(mask):
            return mask
        case rx.Chars(ranges):
            for low, high in ranges:
                found |= _WIDE if high > _LAST_ASCII else 0
                found |= _set_of(bytes(range(low, min(high, _LAST_ASCII) + 1)))
            return found
        case rx.Sequence(parts) | rx.Choice(parts):
            for part in parts:
                found |= _bytes_in(part, known)
            return found
        case rx.Intersection(parts):
            found = _ALL
            for part in parts:
                found &= _bytes_in(part, known)
            return found
        case rx.Repeat(body) | rx.Early(body):
            return _bytes_in(body, known)
    return _ALL
