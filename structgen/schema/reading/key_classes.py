"""Classes of keys that `patternProperties` and `additionalProperties` make: disjoint where there are few.

    {"^a": INTEGER, "b$": STRING}     keys that match both     INTEGER and STRING
                                      only the first           INTEGER
                                      only the second          STRING

n patterns that overlap make up to 2ⁿ classes. Where there would be many, the patterns stay conditions that may overlap.
"""

from __future__ import annotations

from dataclasses import replace

from structgen.engine.deadlines import Deadline
from structgen.schema.algebra import ALL_STRINGS, ANY, NONE, OPEN, KeyClass, Language, Node, StringSet, meet
from structgen.schema.algebra.any_text import ANY_OF_ECMA, any_text_of
from structgen.schema.algebra.prefixes import ByPrefix, prefix

__all__ = ["disjoint_classes", "merged", "overlapping_classes"]

_MAX_CLASSES = 16  # classes of keys; or two for each pattern, if that is more


def disjoint_classes(
    patterns: list[tuple[Language, Node]], rest: tuple[KeyClass, ...], deadline: Deadline
) -> tuple[KeyClass, ...] | None:
    """Split the keys by the patterns, and intersect the nodes of overlapping ones; None where there are many classes.

    Args:
        patterns: the languages of keys, with the nodes of values.
        rest: the classes of keys that match none.
        deadline: checked for each class.
    """
    split = _Split(deadline)
    for number, (language, node) in enumerate(patterns, start=1):
        split.add(language, node)
        if _is_many(split.count, number, len(patterns)):
            return None
    unmatched = split.unmatched()
    others = [(unmatched, node) for _, node in rest] if unmatched is not None else []
    return tuple((keys, node) for keys, node in (*split.matched(), *others) if node != NONE)


def _is_many(classes: int, added: int, patterns: int) -> bool:
    """Return whether patterns make too many classes of keys to split the keys by them.

    Args:
        classes: the classes that the patterns before have made.
        added: the number of these patterns.
        patterns: the number of all patterns.
    """
    return classes > max(_MAX_CLASSES, 2 * patterns) or classes > max(4 * _MAX_CLASSES, 4 * added)


def merged(patterns: list[tuple[Language, Node]]) -> list[tuple[Language, Node]]:
    """Return patterns with one language for all that have the same values: the keys that match any of them.

    Patterns whose languages differ between validators stay as they are.
    """
    by_node: dict[Node, list[Language]] = {}
    found: list[tuple[Language, Node]] = []
    for language, node in patterns:
        if language.outer is None:
            by_node.setdefault(node, []).append(language)
        else:
            found.append((language, node))
    for node, languages in by_node.items():
        name = f"{ANY_OF_ECMA}{sorted({language.name for language in languages})}"
        found.append(
            (
                languages[0]
                if len(languages) == 1
                else Language(name, any_text_of([language.regex for language in languages])),
                node,
            )
        )
    return found


def overlapping_classes(patterns: list[tuple[Language, Node]], rest: tuple[KeyClass, ...]) -> tuple[KeyClass, ...]:
    """Return the patterns, and the condition on keys that match none, as `ObjectSet.overlapping`."""
    found = [(StringSet(within=(language,)), node) for language, node in patterns if node != ANY]
    if rest is not OPEN:
        unmatched = StringSet(outside=tuple(dict.fromkeys(language for language, _ in patterns)))
        found.append((unmatched, rest[0][1] if rest else NONE))
    return tuple(found)


_Place = tuple[int, ...]  # of a class among all, in order: the number of its first pattern; then 0 or 1 for each split


class _Split:
    """Keys split by one pattern after the other. Only classes whose keys may begin alike are compared."""

    def __init__(self, deadline: Deadline) -> None:
        self.count = 0
        self._deadline = deadline
        self._matched: ByPrefix[tuple[_Place, StringSet, Node]] = ByPrefix()
        self._languages: ByPrefix[Language] = ByPrefix()
        self._outside: dict[Language, None] = {}

    def add(self, language: Language, node: Node) -> None:
        """Split all classes by a pattern whose values are in a node."""
        begin = prefix(language.widest)
        for other in self._matched.near(begin):
            classes = self._matched.lists[other]
            self._matched.lists[other] = []
            self.count -= len(classes)
            for place, keys, old in classes:
                self._deadline.check()
                inside, outside = _split(keys, language)
                if inside is not None:
                    both = (*place, 0) if outside is not None else place
                    self._add(max(begin, other, key=len), both, inside, meet(old, node))
                if outside is not None:
                    self._add(other, (*place, 1) if inside is not None else place, outside, old)
        fresh = self._fresh(language, begin)
        if fresh is not None:
            self._add(begin, (len(self._outside),), fresh, node)
        if language not in self._outside:
            self._outside[language] = None
            self._languages.add(begin, language)

    def _add(self, begin: bytes, place: _Place, keys: StringSet, node: Node) -> None:
        self._matched.add(begin, (place, keys, node))
        self.count += 1

    def _fresh(self, language: Language, begin: bytes) -> StringSet | None:
        """Return the keys of a language that no pattern before has; None if there are none."""
        if not begin:  # it may have all that are left
            left = self.unmatched()
            if left is None or left.intersect(StringSet(outside=(language,))) is None:
                return left
        mine = StringSet(within=(language,))
        others = [other for near in self._languages.near(begin) for other in self._languages.lists[near]]
        # Languages that share no key with this one are left out: most patterns overlap few others.
        near = [other for other in others if mine.intersect(StringSet(within=(other,))) is not None]
        return mine.intersect(StringSet(outside=tuple(near)))

    def unmatched(self) -> StringSet | None:
        """Return the keys that match no pattern; None if there are none."""
        return ALL_STRINGS[0].intersect(StringSet(outside=tuple(self._outside)))

    def matched(self) -> list[KeyClass]:
        """Return the classes of the keys that match some pattern."""
        found = sorted(
            ((place, keys, node) for some in self._matched.lists.values() for place, keys, node in some), key=_place
        )
        return [(keys, node) for _, keys, node in found]


def _place(entry: tuple[_Place, StringSet, Node]) -> _Place:
    return entry[0]


def _split(keys: StringSet, language: Language) -> tuple[StringSet | None, StringSet | None]:
    """Split keys into those in a language and the others; None for a part without keys.

    A set that is all on one side is returned as it is, so that sets stay small.
    """
    inside = keys.intersect(StringSet(within=(language,)))
    if inside is None:
        return None, keys
    outside = keys.intersect(StringSet(outside=(language,)))
    if outside is None:
        return keys, None
    if inside.outside:
        near = (other for other in inside.outside if not StringSet(within=(language, other)).is_empty())
        inside = replace(inside, outside=tuple(near))
    return inside, outside
