"""Removal of texts that the tokenizer cannot spell from the terminals of a grammar.

The pattern `<(b|i|s)>` would lead into `<s>`, which is a special token of Llama 2 and stands for no text: after `<s`,
nothing could follow. Without this text, the terminal is `<(b|i)>`.

Only terminals that may leave no other way are changed:

- for the text of a special token, those with a part that matches nothing but last bytes of such texts (`>`): elsewhere
  the masks choose another byte;
- for a text that the tokenizer would change, those with a literal that holds it, or a class of such characters only.

Texts that several terminals of the rules make up together are refused, see `rules_together.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from operator import and_, or_
from typing import TypeVar

from structgen.engine.grammar.composition import with_terminals
from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.regex import tree as rx
from structgen.engine.vocabulary.marks import is_mark
from structgen.limits import Limits
from structgen.tokenization.pre_tokens.character_classes import composes
from structgen.tokenization.unspellable.rules_together import check_changed_texts, check_special_texts, terminals_of
from structgen.tokenization.unspellable.special_texts import SpecialTexts

__all__ = ["Spellable"]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

MAX_KEPT = 4096  # terminals whose narrowed form is kept
MAX_CLASS = 256  # characters of a class that is looked at; of more, some stay as they are
MAX_TOGETHER = 5  # characters that are looked at together
MAX_ASKED = 5000  # texts of more than two characters that the normalizer is asked about
ALL_BYTES = (1 << 256) - 1
DIGITS = sum(1 << byte for byte in b"0123456789.")
ABOVE_ASCII = ALL_BYTES ^ (1 << 128) - 1


class Spellable:
    """The part of a grammar that a tokenizer can spell.

    Args:
        unspelled: the texts of special tokens, which no text may hold; none of them empty.
        keeps: whether the tokenizer leaves a text as it is. If it does not, it changes any text that holds this one.
        may_join: whether it may change a character together with one before it.
    """

    def __init__(
        self,
        unspelled: Sequence[bytes],
        keeps: Callable[[str], bool],
        may_join: Callable[[str], bool] = composes,
    ) -> None:
        self.unspelled = tuple(unspelled)
        self._keeps = keeps
        self._may_join = may_join
        self._special_texts = SpecialTexts(unspelled)
        self._needed = [(_mask(text), 1 << text[-1]) for text in unspelled]
        self._last = reduce(or_, (last for _, last in self._needed), 0)
        self._last_bytes = frozenset(text[-1] for text in unspelled)
        self._plain: dict[rx.Regex, bool] = {}  # see `_is_plain`
        self._begun = [_mask(text[:-1]) for text in unspelled]
        self._known: dict[int, tuple[rx.Regex, rx.Regex]] = {}
        self._alike: dict[rx.Regex, rx.Regex | None] = {}  # None for a regex that stays as it is
        self._changed: dict[tuple[rx.Regex, ...], set[bytes]] = {}
        self._known_bytes: dict[rx.Regex, tuple[int, int]] = {}

    def terminal(self, regex: rx.Regex) -> rx.Regex:
        """Return a regex without texts that cannot be spelled, if it may lead into one and leave no other way."""
        if is_mark(regex):
            return regex
        known = self._known.get(id(regex))
        if known is None:
            if len(self._known) >= MAX_KEPT:
                self._known.clear()
            known = self._known[id(regex)] = (regex, self._narrowed_as_before(regex))
        return known[1]

    def _narrowed_as_before(self, regex: rx.Regex) -> rx.Regex:
        """Return what `terminal` returns; another grammar may have had an equal terminal."""
        try:
            is_known = regex in self._alike
        except RecursionError:  # it nests too deep to be compared
            return self._narrowed(regex)
        if not is_known:
            if len(self._alike) >= MAX_KEPT:
                self._alike.clear()
            narrowed = self._narrowed(regex)
            self._alike[regex] = None if narrowed is regex else narrowed
        return self._alike[regex] or regex

    def _narrowed(self, regex: rx.Regex) -> rx.Regex:
        if isinstance(regex, rx.Sequence) and all(map(self._is_plain, regex.parts)):
            return regex
        texts = self._changed_texts_within(regex)
        refused = [rx.sequence(rx.ANY_BYTES, rx.literal_set(texts), rx.ANY_BYTES)] if texts else []
        if self._may_lead_into(regex):
            refused.append(self._special_texts.holding)
        return rx.difference(regex, rx.choice(*refused)) if refused else regex

    def _is_plain(self, part: rx.Regex) -> bool:
        """Return whether a part of a terminal is surely the same in its narrowed form, beside others of that kind.

        So are most literals, such as keys, of which a grammar has many. The white space and the colon after a key are
        the same for all keys, so the result is kept.
        """
        if not isinstance(part, rx.Literal):
            return _kept(self._plain, part, self._has_only_plain_texts)
        text = part.data.decode(errors="ignore")
        return self._last_bytes.isdisjoint(part.data) and self._keeps(text) and not any(map(self._may_join, text))

    def _has_only_plain_texts(self, part: rx.Regex) -> bool:
        """Return the same for a part that is not a literal."""
        found, named = self._named_in([part])
        return not (found or any(map(self._may_join, named)) or self._bytes_of(part)[1] & self._last)

    def tables(self, tables: GrammarTables, limits: Limits) -> GrammarTables:
        """Return a grammar of a schema with narrowed terminals; others were narrowed before.

        Raises:
            VocabularyError: rules of the grammar make up a text that cannot be spelled.
        """
        changed = tables if tables.source is None else with_terminals(tables, self.terminal)
        together = self._changed_texts(regex for regex in terminals_of(changed) if not is_mark(regex))
        if together:
            check_changed_texts(changed, together, limits)
        if self.unspelled:
            check_special_texts(changed, self._special_texts, limits)
        return changed

    def _changed_texts_within(self, regex: rx.Regex) -> set[bytes]:
        """Return the same as `_changed_texts`, for one regex.

        Of the terminal of a key, only its exceptions differ, the keys before it. They do not count.
        """
        key = tuple([part for part in _conditions(regex) if not isinstance(part, rx.Complement)])
        return _kept(self._changed, key, self._changed_texts)

    def _changed_texts(self, regexes: Iterable[rx.Regex]) -> set[bytes]:
        """Return texts in some regexes that the tokenizer would change.

        These are literals, characters of classes that have no others, and such literals and characters side by side.
        """
        found, named = self._named_in(regexes)
        return {text.encode() for text in found | self._changed_together(named)}

    def _named_in(self, regexes: Iterable[rx.Regex]) -> tuple[set[str], set[str]]:
        """Return the literals and characters in some regexes that the tokenizer would change; and all characters."""
        found: set[str] = set()
        named: set[str] = set()
        for part in _parts(regexes):
            if isinstance(part, rx.Literal | rx.LiteralSet):
                texts = part.texts if isinstance(part, rx.LiteralSet) else (part.data,)
                whole = [text.decode(errors="ignore") for text in texts]
                found.update(text for text in whole if text and not self._keeps(text))
                named.update(*whole)
            elif isinstance(part, rx.Chars | rx.ByteSet):
                characters = _few_characters(part)
                if not any(map(self._keeps, characters)):
                    found.update(characters)
                named.update(characters)
        return found, named

    def _changed_together(self, named: set[str]) -> set[str]:
        """Return texts that the tokenizer would change although it leaves each part of them.

        These are accents after the characters that they are composed with, or in another order than the normalizer's.
        """
        joining = sorted(filter(self._may_join, named))
        changed: set[str] = set()
        if not joining:
            return changed
        texts = sorted(named)
        for size in range(2, MAX_TOGETHER + 1):
            if size > 2 and len(texts) * len(joining) > MAX_ASKED:
                break
            longer = [text + last for text in texts for last in joining]
            new = [text for text in longer if not any(text[at:] in changed for at in range(1, size))]
            texts = [text for text in new if self._keeps(text)]
            changed.update(set(new).difference(texts))
        return changed

    def _may_lead_into(self, regex: rx.Regex) -> bool:
        """Return whether a regex may lead into a special token's text, and leave no other way."""
        used, alone = self._bytes_of_all(self._without_exceptions(regex))
        if not alone & self._last:  # so for nearly all keys
            return False
        return any(alone & last and not needed & ~used for needed, last in self._needed)

    def _without_exceptions(self, regex: rx.Regex) -> rx.Regex:
        """Return a whole terminal without the exceptions that no special token's text can match.

        Take any string but a word of letters. Once `<|` is written, the text is no such word, whatever follows. So for
        special tokens, which begin with `<|`, the exception does not matter.
        """
        left = [part for part in _conditions(regex) if not self._ends_before(part)]
        return rx.intersection(*left) if left else rx.ANY_BYTES

    def _ends_before(self, part: rx.Regex) -> bool:
        """Return whether a part is a complement, and no excluded text holds a special token without its last byte."""
        if not isinstance(part, rx.Complement):
            return False
        used, _ = self._bytes_of(part.body)
        return all(begun & ~used for begun in self._begun)

    def _bytes_of_all(self, regex: rx.Regex) -> tuple[int, int]:
        """Return `_bytes_of` for a whole terminal. The result is kept."""
        return _kept(self._known_bytes, regex, self._bytes_of)

    def _bytes_of(self, regex: rx.Regex) -> tuple[int, int]:
        """Return the bytes in a regex's texts, and those that a part matches alone or among other last bytes.

        Both are bits of numbers; they may hold too many bytes, but never too few.
        """
        if isinstance(regex, rx.Literal | rx.LiteralSet | rx.Substrings | rx.Runs):
            used = _mask(_texts_of(regex))
            return used, used & self._last
        if isinstance(regex, rx.Chars | rx.ByteSet):
            used = regex.mask if isinstance(regex, rx.ByteSet) else _mask_of_ranges(regex.ranges)
            return used, used if not used & ~self._last else 0
        if isinstance(regex, rx.Sequence | rx.Choice):
            inner = [self._bytes_of(part) for part in regex.parts]
            return reduce(or_, (used for used, _ in inner)), reduce(or_, (alone for _, alone in inner))
        if isinstance(regex, rx.Repeat | rx.Early):
            return self._bytes_of(regex.body)
        used = ALL_BYTES
        if isinstance(regex, rx.Intersection):
            used = reduce(and_, (self._bytes_of(part)[0] for part in regex.parts))
        elif isinstance(regex, rx.Multiple | rx.Remainders):
            used = DIGITS
        return used, used & self._last


def _kept(known: dict[_Key, _Value], key: _Key, make: Callable[[_Key], _Value]) -> _Value:
    """Return `make(key)`, and keep the result in `known` for the next call; results are never None."""
    try:
        found = known.get(key)
    except RecursionError:  # it nests too deep to be compared
        return make(key)
    if found is None:
        if len(known) >= MAX_KEPT:
            known.clear()
        found = known[key] = make(key)
    return found


def _conditions(regex: rx.Regex) -> list[rx.Regex]:
    """Return the regexes that a text must match to match an intersection, those of inner intersections included."""
    if not isinstance(regex, rx.Intersection):
        return [regex]
    return [condition for part in regex.parts for condition in _conditions(part)]


def _parts(regexes: Iterable[rx.Regex]) -> Iterator[rx.Regex]:
    """Yield regexes and their parts, without those that are only complemented."""
    waiting = list(regexes)
    seen = set(map(id, waiting))
    while waiting:
        part = waiting.pop()
        yield part
        inner: Sequence[rx.Regex] = ()
        if isinstance(part, rx.Sequence | rx.Choice | rx.Intersection):
            inner = part.parts
        elif isinstance(part, rx.Repeat | rx.Early):
            inner = (part.body,)
        new = [each for each in inner if id(each) not in seen]
        seen.update(map(id, new))
        waiting += new


def _texts_of(regex: rx.Literal | rx.LiteralSet | rx.Substrings | rx.Runs) -> bytes:
    if isinstance(regex, rx.Literal):
        return regex.data
    return b"".join(regex.texts if isinstance(regex, rx.LiteralSet) else regex.units)


@lru_cache(MAX_KEPT)
def _few_characters(part: rx.Chars | rx.ByteSet) -> str:
    """Return the characters of a class, if there are few; else none."""
    if isinstance(part, rx.ByteSet):
        is_few = part.mask < 1 << 128 and part.mask.bit_count() <= MAX_CLASS
        return "".join(chr(byte) for byte in range(128) if part.mask >> byte & 1) if is_few else ""
    if sum(last - first + 1 for first, last in part.ranges) > MAX_CLASS:
        return ""
    return "".join(chr(code) for first, last in part.ranges for code in range(first, last + 1))


def _mask(text: bytes) -> int:
    return sum(1 << byte for byte in set(text))


def _mask_of_ranges(ranges: Sequence[tuple[int, int]]) -> int:
    found = 0
    for first, last in ranges:
        if last >= 128:
            found |= ABOVE_ASCII
        if first < 128:
            found |= (2 << min(last, 127)) - (1 << first)
    return found
