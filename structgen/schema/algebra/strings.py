"""Sets of strings, as decoded text: bounds on the length and regular languages, or finitely many texts.

Lengths are in code points. Questions that the regexes' trees do not answer go to automata, which each thread keeps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf
from typing import TypeVar

from structgen.engine.automata.finite_languages import count_texts, is_finite, repeats_a_byte, texts_of
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD
from structgen.engine.deadlines import spend
from structgen.engine.regex.tree import (
    ANY_CHAR,
    Complement,
    Regex,
    Repeat,
    intersection,
    literal_set,
)
from structgen.schema.algebra.arrays import Inexpressible
from structgen.schema.algebra.lengths import bounds, fewest, has_other_than, lengths, repeated
from structgen.schema.algebra.text_grammars import JsonContent, TextGrammar

__all__ = ["ALL_STRINGS", "Language", "StringSet"]

_MAX_LENGTHS_COUNTED = 64  # of a set with more lengths, the texts of so many are counted first
_CHARACTERS = 0x110000 - 0x800  # code points without surrogates
_MAX_FIRST_STATES = 200  # states that are visited before short texts are counted
_MAX_FIRST_BYTES = 32  # bytes of these short texts
_LARGE_NAME = 4_096  # characters of a language's name


@dataclass
class Language:
    """A regular set of texts with a name. Two languages of the same name are equal.

    Attributes:
        name: names its origin: a pattern with its dialect, or a format.
        regex: matches the whole decoded text.
        outer: returns a wider regex for a format that validators read differently; None if they agree. Texts that
            match only `outer` are in neither the language nor its complement. It is large, and only complements need
            it, so it is made when it is first asked for.
        sizes: given where the regex's tree does not tell them: the length of the shortest text in code points, the
            length up to which all lengths occur, and a lower bound on the number of texts.
    """

    name: str
    regex: Regex = field(compare=False, repr=False)
    outer: Callable[[], Regex] | None = field(default=None, compare=False, repr=False)
    sizes: tuple[int, float, float] | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def is_large(self) -> bool:
        """The name holds a long text, most likely of one request. Caches that outlive the request must not hold it."""
        return len(self.name) > _LARGE_NAME

    @property
    def is_format(self) -> bool:
        """It is one of the formats that are known by name."""
        return self.name.startswith("format ")

    @property
    def surely_holds(self) -> bool:
        """It surely has a text: it is a format without parameters. One with bounds, such as of dates, may have none."""
        return self.is_format and self.name.count(" ") == 1

    @property
    def widest(self) -> Regex:
        """The regex that a complement excludes."""
        return self.regex if self.outer is None else self.outer()

    def is_within(self, low: int, high: int | None) -> bool:
        """Return whether all texts surely have a length from `low` to `high`, in code points; None is without bound."""
        least, most = _bounds(self)
        return low <= least and (high is None or most <= high)

    def matches(self, text: str) -> bool:
        """Return whether a text is in the language. A text with a lone surrogate is in none."""
        return _matches(self.regex, text)

    def may_match(self, text: str) -> bool:
        """Return whether a text is in the language for some validator."""
        return _matches(self.widest, text)


@dataclass(unsafe_hash=True)
class StringSet:
    """Texts that satisfy all of these conditions.

    Attributes:
        low: the least length, in code points.
        high: the greatest length; None without a bound.
        within: the texts are in all of these languages.
        outside: the texts are in none of these.
        excluded: single texts that are not members.
        texts: all texts of the set, in this order; None if it is not given as a list.
        grammars: the texts are in all of these context-free sets. A set with further conditions than the least length 1
            can be intersected, but has no rules.
    """

    low: int = 0
    high: int | None = None
    within: tuple[Language, ...] = ()
    outside: tuple[Language, ...] = ()
    excluded: tuple[str, ...] = ()
    texts: tuple[str, ...] | None = None
    grammars: tuple[TextGrammar | JsonContent, ...] = ()
    _listed: frozenset[str] | None = field(default=None, init=False, compare=False, hash=False, repr=False)

    @property
    def has_pattern(self) -> bool:
        """The texts are bounded by languages other than formats, whose automata the process keeps."""
        return any(not language.is_format for language in (*self.within, *self.outside))

    def contains(self, text: str) -> bool:
        """Return whether a text is a member."""
        spend(1)
        if len(text) < self.low or (self.high is not None and len(text) > self.high):
            return False
        if self.excluded or self.texts is not None:
            if self._listed is None:  # there may be many, and a question for each of many keys
                excluded = frozenset(self.excluded)
                self._listed = excluded if self.texts is None else frozenset(self.texts) - excluded
            if (text in self._listed) == (self.texts is None):
                return False
        if not all(x.matches(text) for x in self.within) or any(x.may_match(text) for x in self.outside):
            return False
        return all(grammar.matches(text) for grammar in self.grammars)

    def intersect(self, other: StringSet) -> StringSet | None:
        """Return the texts that are in both, or None if there are none."""
        if self.texts is not None:
            return _finite(self.texts, other)
        if other.texts is not None:
            return _finite(other.texts, self)
        high = self.high
        if other.high is not None and (high is None or other.high < high):
            high = other.high
        both = StringSet(
            max(self.low, other.low),
            high,
            _joined(self.within, other.within),
            _joined(self.outside, other.outside),
            _joined(self.excluded, other.excluded),
            grammars=_joined(self.grammars, other.grammars),
        )
        return None if both.is_empty() else both

    def complement(self) -> list[StringSet]:
        """Return sets whose union is every other text.

        Raises:
            Inexpressible: the set is context-free.
        """
        if self.grammars:
            raise Inexpressible(self._context_free)
        parts: list[StringSet] = []
        if self.texts is not None:
            parts.append(StringSet(excluded=self.texts))
        if self.low:
            parts.append(StringSet(high=self.low - 1))
        if self.high is not None:
            parts.append(StringSet(low=self.high + 1))
        others = (StringSet(outside=(language,)) for language in self.within)
        parts.extend(other for other in others if not other.is_empty())  # the pattern "" matches every text
        parts.extend(StringSet(within=(language,)) for language in self.outside)
        if self.excluded:
            parts.append(StringSet(texts=self.excluded))
        return parts

    def others(self) -> list[StringSet]:
        """Return disjoint sets whose union is every other text. Raises as `complement` does."""
        if self.grammars:
            raise Inexpressible(self._context_free)
        parts: list[StringSet] = []
        before = StringSet()
        for asked in self._conditions():
            parts.extend(both for other in asked.complement() if (both := before.intersect(other)) is not None)
            both = before.intersect(asked)
            if both is None:
                break
            before = both
        return parts

    def _conditions(self) -> list[StringSet]:
        """Return sets of one condition each whose intersection is this set. Both bounds on the length are one."""
        if self.texts is not None:
            return [self]
        parts = [StringSet(self.low, self.high)] if self.low or self.high is not None else []
        parts.extend(StringSet(within=(language,)) for language in self.within)
        parts.extend(StringSet(outside=(language,)) for language in self.outside)
        return [*parts, StringSet(excluded=self.excluded)] if self.excluded else parts

    def split(self, other: StringSet) -> tuple[StringSet | None, list[StringSet]]:
        """Return the texts that are in another set too, and disjoint sets of those that are not."""
        inside = self.intersect(other)
        if inside is None and all(language.outer is None for language in other.within):
            return None, [self]
        return inside, [both for rest in other.others() if (both := self.intersect(rest)) is not None]

    @property
    def _context_free(self) -> str:
        """The keyword of the first context-free condition, for errors."""
        return self.grammars[0].name.partition(" ")[0]

    def is_surely_endless(self) -> bool:
        """Return whether there are infinitely many members, as far as one look at the conditions shows."""
        if self.texts is not None or self.high is not None or self.grammars or len(self.within) > 1:
            return False
        if self.outside:
            return self._has_each_length()
        return not self.within or _lengths(self.within[0])[1] == inf

    def surely_many(self) -> float:
        """Return a lower bound of the number of members, as far as one look at the conditions shows; `inf` at most."""
        if self.is_surely_endless():
            return inf
        if self.high is None or self.texts is not None or self.within or self.outside or self.grammars:
            return 0
        return max(0, float(_CHARACTERS) ** min(self.high, 4) - len(self.excluded))

    def count(self, at_most: int) -> int:
        """Return the number of members, or `at_most` if there are more."""
        if self.texts is not None:
            return min(len(self.texts), at_most)
        if self.grammars:  # not known
            return at_most
        if self.is_surely_endless():  # more than any excluded ones
            return at_most
        is_simple = self.high is None and not self.outside and len(self.within) < 2
        if is_simple and not self.low and _fewest(self.within[0]) - len(self.excluded) >= at_most:
            return at_most
        if self.high is not None and self.high - self.low > _MAX_LENGTHS_COUNTED:  # many lengths make many texts
            shorter = replace(self, high=self.low + _MAX_LENGTHS_COUNTED)
            if shorter.count(at_most) == at_most:
                return at_most
        return _count(self, at_most)

    def listed(self, at_most: int) -> tuple[str, ...] | None:
        """Return all members, or None if there are more than `at_most`."""
        if self.count(at_most + 1) > at_most:
            return None
        return _listed(self) if self.texts is None else self.texts

    def is_empty(self) -> bool:
        """Return whether no text is a member."""
        if self.texts is not None:
            return not self.texts
        if self.high is not None and self.high < self.low:
            return True
        if self.grammars:  # a grammar has a text; with further conditions, the set is refused
            return False
        if not self.within and not self.outside and not (self.excluded and self.high is not None):
            return False
        if not self.outside and not self.excluded and len(self.within) == 1 and _surely_holds(self):
            return False
        if not self.excluded and self.high != 0 and self._has_each_length():
            return False
        # The other conditions come first: together with a format, their automata have many more states.
        plain = tuple(language for language in self.within if not language.is_format)
        if len(plain) < len(self.within) and replace(self, within=plain).is_empty():
            return True
        return _is_empty(self)

    def _has_each_length(self) -> bool:
        """Return whether the texts are surely all but those of some languages, with one of each allowed length from 1.

        It is some character, repeated: `!!!` does not match `^[a-z]`.
        """
        return not self.within and has_other_than([_repeated(language) for language in self.outside])

    @property
    def text_units(self) -> int:
        """Approximate length of the source texts that its languages hold."""
        return sum([len(language.name) for language in self.within if language.is_large])

    def regex(self, *, widest: bool = False) -> Regex:
        """Return a regex of the members, over decoded text; with `widest`, of the members for any validator.

        Raises:
            Inexpressible: the set is context-free.
        """
        if self.grammars:
            raise Inexpressible(self._context_free)
        if self.texts is not None:
            return literal_set(text.encode() for text in self.texts)
        parts: list[Regex] = [language.widest if widest else language.regex for language in self.within]
        if self.low or self.high is not None or not parts:
            parts.append(Repeat(ANY_CHAR, self.low, self.high))
        parts.extend(Complement(language.regex if widest else language.widest) for language in self.outside)
        excluded = [text.encode() for text in self.excluded if _is_scalar(text)]
        if excluded:
            parts.append(Complement(literal_set(excluded)))
        return intersection(*parts)


class _Stores(threading.local):
    """The automata of one thread, kept for the regexes that they were made of."""

    def __init__(self) -> None:
        self.store = AutomatonStore()


_STORES = _Stores()
_MAX_STATES_KEPT = 50_000  # automaton states of one thread's store


def forget_automata() -> None:
    """Never use the automata of this thread again, after an interrupt may have left a table half written."""
    _STORES.store = AutomatonStore()


def _store() -> AutomatonStore:
    if _STORES.store.count > _MAX_STATES_KEPT:
        _STORES.store = AutomatonStore()
    return _STORES.store


def _matches(regex: Regex, text: str) -> bool:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return False
    store = _store()
    return bool(store.matches(store.add(regex), data))


def _state(store: AutomatonStore, strings: StringSet) -> int:
    """Return the automaton state of a set without listed texts. Each language is translated once per store."""
    within = [language.regex for language in strings.within]
    if strings.low or strings.high is not None or not within:
        within.append(_of_length(strings.low, strings.high))
    outside = [language.widest for language in strings.outside]
    excluded = [text.encode() for text in strings.excluded if _is_scalar(text)]
    if excluded:
        outside.append(literal_set(excluded))
    return store.meet(within, outside)


@lru_cache(maxsize=1024)
def _of_length(low: int, high: int | None) -> Regex:
    return Repeat(ANY_CHAR, low, high)


def _is_empty(strings: StringSet) -> bool:
    if any(language.is_large for language in (*strings.within, *strings.outside)):
        return _state(AutomatonStore(), strings) == DEAD
    return _is_empty_of_small(strings)


@lru_cache(maxsize=1024)
def _is_empty_of_small(strings: StringSet) -> bool:
    return _state(_store(), strings) == DEAD


def _count(strings: StringSet, at_most: int) -> int:
    if any(language.is_large for language in (*strings.within, *strings.outside)):
        return _counted(AutomatonStore(), strings, at_most)
    return _count_of_small(strings, at_most)


@lru_cache(maxsize=1024)
def _count_of_small(strings: StringSet, at_most: int) -> int:
    return _counted(_store(), strings, at_most)


def _counted(store: AutomatonStore, strings: StringSet, at_most: int) -> int:
    state = _state(store, strings)
    if repeats_a_byte(store, state):
        return at_most
    is_known_finite = is_finite(store, state, _MAX_FIRST_STATES)
    # If so many states do not decide it, short texts are counted first: often there are enough of them. E-mail
    # addresses, for instance, are finitely many, but their automaton has hundreds of thousands of states.
    if is_known_finite is None and count_texts(store, state, at_most, _MAX_FIRST_BYTES) < at_most:
        is_known_finite = is_finite(store, state)
    return count_texts(store, state, at_most) if is_known_finite else at_most


@lru_cache(maxsize=1024)
def _listed(strings: StringSet) -> tuple[str, ...]:
    store = AutomatonStore()
    return tuple(sorted(text.decode() for text in texts_of(store, _state(store, strings))))


def _lengths(language: Language) -> tuple[int | None, float]:
    return language.sizes[:2] if language.sizes is not None else _lengths_of_tree(language)


@lru_cache(maxsize=1024)
def _lengths_of_tree(language: Language) -> tuple[int | None, float]:
    shortest, endless = lengths(language.regex)
    return shortest, inf if endless else shortest or 0


@lru_cache(maxsize=1024)
def _bounds(language: Language) -> tuple[float, float]:
    return bounds(language.regex)


def _fewest(language: Language) -> float:
    return language.sizes[2] if language.sizes is not None else _fewest_of_tree(language)


@lru_cache(maxsize=1024)
def _fewest_of_tree(language: Language) -> float:
    return fewest(language.regex)


@lru_cache(maxsize=1024)
def _repeated(language: Language) -> int:
    return repeated(language.widest)


def _surely_holds(strings: StringSet) -> bool:
    """Return whether a set of one language surely has a text of an allowed length, without building automata."""
    if strings.within[0].surely_holds and strings.low == 0 and strings.high is None:
        return True
    shortest, longest = _lengths(strings.within[0])
    if shortest is None:
        return False
    if strings.high is not None and shortest > strings.high:
        return False
    return strings.low <= longest


def _is_scalar(text: str) -> bool:
    return not any(0xD800 <= ord(character) <= 0xDFFF for character in text)


def _finite(texts: tuple[str, ...], other: StringSet) -> StringSet | None:
    if other.texts is not None:
        known = set(other.texts)
        spend(len(texts) >> 3)
        kept = tuple(text for text in texts if text in known)
    else:
        kept = tuple(text for text in texts if _is_in(other, text))
    return StringSet(texts=kept) if kept else None


def _is_in(strings: StringSet, text: str) -> bool:
    spend(1)
    return strings.contains(text)


_T = TypeVar("_T")


def _joined(left: tuple[_T, ...], right: tuple[_T, ...]) -> tuple[_T, ...]:
    if not right or left == right:
        return left
    return tuple(dict.fromkeys((*left, *right)))


ALL_STRINGS = (StringSet(),)
