"""Shapes without the strings and keys that cannot be written: those that a tokenizer does not spell, say.

Only where few texts are left: so that it is known how many keys an object may have, and how many items that differ; and
where none is. This is no part of the algebra, as what cannot be written is in no complement.
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
"""What can be written of the texts of a regex; itself, if that is all."""

_FEW = 64  # texts of a set
_STATES = 5_000  # that are made to tell


class Writable:
    """Takes what cannot be written out of shapes that are combined with no others any more.

    Args:
        narrowed: what can be.
        limits: bounds on automata.
    """

    def __init__(self, narrowed: Narrowed, limits: Limits) -> None:
        self._narrowed = narrowed
        self._limits = replace(limits, automaton_states=min(limits.automaton_states, _STATES))
        self._known: dict[StringSet, StringSet | None] = {}

    def shape(self, shape: Shape) -> Shape:
        """A shape without it."""
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
        """What is left of a set; None if that is nothing."""
        if strings.texts is not None or not strings.within or any(map(_has_many, strings.within)):
            return strings
        if strings not in self._known:
            self._known[strings] = self._left(strings)
        return self._known[strings]

    def _left(self, strings: StringSet) -> StringSet | None:
        if strings.high is None and len(strings.within) == 1 and lengths(strings.within[0].regex)[1]:
            return strings  # none is the longest
        try:
            written = string_regex(strings)
            left = self._narrowed(written)
            return strings if left is written else self._listed(strings, left)
        except (Inexpressible, LimitExceededError):  # as there are many
            return strings

    def _listed(self, strings: StringSet, left: Regex) -> StringSet | None:
        """What is left, text by text."""
        store = AutomatonStore(self._limits)
        state = store.add(strings.regex())
        if not is_finite(store, state) or count_texts(store, state, _FEW + 1) > _FEW:
            return strings
        texts = sorted(text.decode() for text in texts_of(store, state))
        lost = [text for text in texts if store.is_empty(intersection(left, quoted(every_form(text))))]
        if len(lost) == len(texts):
            return None
        return replace(strings, excluded=(*strings.excluded, *lost)) if lost else strings


def _has_many(language: Language) -> bool:
    return language.name.startswith("format ")
