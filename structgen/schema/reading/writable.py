"""Shapes without strings and keys that cannot be written: a tokenizer has no tokens for them, or they are excluded.

Only sets of few texts are narrowed. That is enough to know how many keys an object can have, how many different items
an array can have, and which sets are empty. This is not part of the algebra: a text that cannot be written is in no
complement.

Of `enum: ["yes", "no"]` without "no", "yes" is left. Infinite sets are looked at only for whether anything is left, and
where texts are excluded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import is_
from typing import TypeAlias

from structgen.engine.automata.finite_languages import count_texts, is_finite, repeats_a_byte, texts_of
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import Literal, Regex, intersection
from structgen.errors import LimitExceededError
from structgen.limits import Limits
from structgen.schema.algebra import NONE, Inexpressible, Language, ObjectSet, Shape, StringSet
from structgen.schema.algebra.lengths import lengths
from structgen.schema.json_text.strings import canonical, every_form, quoted
from structgen.schema.json_text.terminals import string_regex
from structgen.schema.reading.excluded_texts import WithoutTexts

__all__ = ["Narrowed", "Spelled", "Writable"]

Narrowed: TypeAlias = Callable[[Regex], Regex]
"""Returns a regex of the texts that can be written; the same object if all can."""

_MAX_TEXTS = 64  # texts of a set that is narrowed
_MAX_STATES = 5_000  # automaton states made for one set
_MAX_VISITED_STATES = 1_000  # that are visited to find out whether a set is finite
_MAX_COUNTED = 1 << 31  # texts of a set; so many items or keys are not asked for
_MAX_NAMED = 3  # of what is left out, in a message
_MAX_BYTES = 64  # of the texts that are counted to find many


class Spelled:
    """Narrows terminals to the texts that a tokenizer can spell, and lists what a schema names and is left out.

    Args:
        narrowed: returns a regex of the texts that can be spelled.

    Attributes:
        lost: the values, keys and patterns without any text that can be spelled, as messages name them.
    """

    def __init__(self, narrowed: Narrowed) -> None:
        self._narrowed = narrowed
        self.lost: dict[str, None] = {}

    def __call__(self, regex: Regex) -> Regex:
        """Return a regex of the texts that can be spelled; the same object if all can."""
        return self._narrowed(regex)

    def shown(self) -> str:
        """Return the first names of what is left out; "" if nothing is."""
        names = list(self.lost)
        return ", ".join(names[:_MAX_NAMED]) + ", …" * (len(names) > _MAX_NAMED)


class Writable:
    """Removes what cannot be written from shapes. Those must not be combined with others any more.

    Args:
        narrowed: returns a regex of the texts that can be written.
        limits: bounds on automata.
    """

    def __init__(self, narrowed: Narrowed, limits: Limits) -> None:
        of_strings = narrowed.of_strings if isinstance(narrowed, WithoutTexts) else None
        self._held = None if of_strings is None else of_strings.held
        self._narrowed = of_strings or narrowed
        spelled = narrowed.narrowed if isinstance(narrowed, WithoutTexts) else narrowed
        self._spelled = spelled if isinstance(spelled, Spelled) else None
        self._limits = replace(limits, automaton_states=min(limits.automaton_states, _MAX_STATES))
        self._known: dict[StringSet, StringSet | None] = {}

    def shape(self, shape: Shape) -> Shape:
        """Return a shape without the strings and keys that cannot be written."""
        strings = tuple([left for part in shape.strings if (left := self._strings(part)) is not None])
        objects = tuple([self._with_keys(part) for part in shape.objects])
        if len(strings) == len(shape.strings) and all(map(is_, (*strings, *objects), (*shape.strings, *shape.objects))):
            return shape
        return replace(shape, strings=strings, objects=objects)

    def _with_keys(self, part: ObjectSet) -> ObjectSet:
        of_clauses = [literal.key for clause in part.clauses for literal in clause]
        named = dict.fromkeys((*part.properties, *part.required, *of_clauses))
        allowed = [key for key in named if part.properties.get(key) != NONE]
        lost = [key for key in allowed if self._strings(StringSet(texts=(key,))) is None]
        if lost:
            part = replace(part, properties={**part.properties, **dict.fromkeys(lost, NONE)})
        kept = [(self._strings(keys), keys, node) for keys, node in part.classes]
        if all(left is keys for left, keys, _ in kept):
            return part
        return replace(part, classes=tuple([(left, node) for left, _, node in kept if left is not None]))

    def _strings(self, strings: StringSet) -> StringSet | None:
        """Return the strings of a set that can be written; None if there are none."""
        if strings.texts is None and self._held is None and (not strings.within or any(map(_has_many, strings.within))):
            return strings
        if strings not in self._known:
            self._known[strings] = self._left(strings)
        return self._known[strings]

    def _left(self, strings: StringSet) -> StringSet | None:
        try:
            if strings.texts is not None:
                return self._listed(strings, strings.texts)
            has_end = self._held is not None or strings.high is not None or len(strings.within) != 1
            is_endless = not (has_end or not lengths(strings.within[0].regex)[1])
            if is_endless and self._narrowed(strings.within[0].regex) is strings.within[0].regex:
                return strings  # most patterns: their JSON form is made when a text first needs it
            written = string_regex(strings)
            left = self._narrowed(written)
            if left is written:
                return strings
            if self._spelled is not None and AutomatonStore(self._limits).is_empty(left):
                patterns = [language.name.partition(" ")[2] for language in strings.within]
                self._spelled.lost.update({f"a text of the pattern {pattern!r}": None for pattern in patterns})
                return None
            if is_endless:
                return strings
            kept = strings if self._held is None else self._without(strings, self._held)
            return None if kept is None else self._counted(kept, left)
        except (Inexpressible, LimitExceededError):  # too large to narrow
            return strings

    def _listed(self, strings: StringSet, texts: tuple[str, ...]) -> StringSet | None:
        """Return listed strings without those that cannot be written: they have the canonical form only."""
        held = self._held
        kept = texts if held is None else tuple([text for text in texts if not held.matches(text)])
        if kept and self._spelled is not None:
            written = string_regex(replace(strings, texts=kept))
            if self._narrowed(written) is not written:
                lost = dict.fromkeys([text for text in kept if self._is_lost(text)])
                self._spelled.lost.update({repr(canonical(text).decode()): None for text in lost})
                kept = tuple([text for text in kept if text not in lost])
        if len(kept) == len(texts):
            return strings
        return replace(strings, texts=kept) if kept else None

    def _is_lost(self, text: str) -> bool:
        written = Literal(canonical(text))
        left = self._narrowed(written)
        return left is not written and AutomatonStore(self._limits).is_empty(left)

    def _without(self, strings: StringSet, held: Language) -> StringSet | None:
        r"""Return the strings of a set whose canonical form holds no excluded text; the same object if there are many.

        With other forms, `\u0062` for "b", more could be written. But what is counted must be there in each.
        """
        kept = replace(strings, outside=(*strings.outside, held))
        store = AutomatonStore(self._limits)
        state = store.add(kept.regex())
        if store.is_empty(kept.regex()):
            return None
        if repeats_a_byte(store, state) or is_finite(store, state, _MAX_VISITED_STATES) is False:
            return strings
        return strings if count_texts(store, state, _MAX_COUNTED, _MAX_BYTES) == _MAX_COUNTED else kept

    def _counted(self, strings: StringSet, left: Regex) -> StringSet | None:
        """Return a set of few texts without the texts that cannot be written, tested one by one."""
        store = AutomatonStore(self._limits)
        state = store.add(strings.regex())
        if not is_finite(store, state) or count_texts(store, state, _MAX_TEXTS + 1) > _MAX_TEXTS:
            return strings
        texts = sorted(text.decode() for text in texts_of(store, state))
        lost = [text for text in texts if store.is_empty(intersection(left, quoted(every_form(text))))]
        if len(lost) == len(texts):
            return None
        if not lost:
            return strings
        return replace(strings, excluded=(*strings.excluded, *lost))


def _has_many(language: Language) -> bool:
    return language.name.startswith("format ")
