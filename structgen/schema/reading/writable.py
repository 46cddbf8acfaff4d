"""Shapes without strings and keys that cannot be written, because a tokenizer has no tokens for them.

Only sets of few texts are narrowed. That is enough to know how many keys an object can have, how many different items
an array can have, and which sets are empty. This is not part of the algebra: a text that cannot be written is in no
complement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import is_
from typing import TypeAlias

from structgen.engine.automata.finite_languages import count_texts, is_finite, texts_of
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import Regex, intersection
from structgen.errors import LimitExceededError
from structgen.limits import Limits
from structgen.schema.algebra import Inexpressible, Language, ObjectSet, Shape, StringSet
from structgen.schema.algebra.lengths import lengths
from structgen.schema.json_text.strings import every_form, quoted
from structgen.schema.json_text.terminals import string_regex

__all__ = ["Narrowed", "Writable"]

Narrowed: TypeAlias = Callable[[Regex], Regex]
"""Returns a regex of the texts that can be written; the same object if all can."""

_MAX_TEXTS = 64  # texts of a set that is narrowed
_MAX_STATES = 5_000  # automaton states made for one set


class Writable:
    """Removes what cannot be written from shapes. Those must not be combined with others any more.

    Args:
        narrowed: returns a regex of the texts that can be written.
        limits: bounds on automata.
    """

    def __init__(self, narrowed: Narrowed, limits: Limits) -> None:
        self._narrowed = narrowed
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
        kept = [(self._strings(keys), keys, node) for keys, node in part.classes]
        if all(left is keys for left, keys, _ in kept):
            return part
        return replace(part, classes=tuple([(left, node) for left, _, node in kept if left is not None]))

    def _strings(self, strings: StringSet) -> StringSet | None:
        """Return the strings of a set that can be written; None if there are none."""
        if strings.texts is not None or not strings.within or any(map(_has_many, strings.within)):
            return strings
        if strings not in self._known:
            self._known[strings] = self._left(strings)
        return self._known[strings]

    def _left(self, strings: StringSet) -> StringSet | None:
        if strings.high is None and len(strings.within) == 1 and lengths(strings.within[0].regex)[1]:
            return strings  # infinitely many lengths
        try:
            written = string_regex(strings)
            left = self._narrowed(written)
            return strings if left is written else self._listed(strings, left)
        except (Inexpressible, LimitExceededError):  # too large to narrow
            return strings

    def _listed(self, strings: StringSet, left: Regex) -> StringSet | None:
        """Return a set without the texts that cannot be written, tested one by one."""
        store = AutomatonStore(self._limits)
        state = store.add(strings.regex())
        if not is_finite(store, state) or count_texts(store, state, _MAX_TEXTS + 1) > _MAX_TEXTS:
            return strings
        texts = sorted(text.decode() for text in texts_of(store, state))
        lost = [text for text in texts if store.is_empty(intersection(left, quoted(every_form(text))))]
        if len(lost) == len(texts):
            return None
        return replace(strings, excluded=(*strings.excluded, *lost)) if lost else strings


def _has_many(language: Language) -> bool:
    return language.name.startswith("format ")
