"""JSON within an element: no text of it may hold the mark that ends the element.

    <parameter=tags>["a</parameter>"]</parameter>

A reader takes the first `</parameter>` for the end, so the string "a</parameter>" is left out. Where that may leave too
few strings or keys, the schema is refused.
"""

from __future__ import annotations

from functools import partial

from structgen.limits import Limits
from structgen.schema.algebra import OPEN, Inexpressible, Node, ObjectSet, Shape, StringSet
from structgen.schema.json_text.terminals import string_regex
from structgen.schema.reading.emptiness import children
from structgen.schema.reading.excluded_texts import WithoutTexts
from structgen.schema.reading.writable import Narrowed
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.to_rules import expressed

__all__ = ["JsonInElements"]

_MAX_COUNTED = 10_000  # strings or keys; so many never run out


class JsonInElements:
    """The JSON of values within elements.

    Args:
        mark: the text that ends an element.
        limits: bounds on automata.
        narrowed: the texts of a terminal that can be written; None if all can.

    Attributes:
        change: returns a terminal without the texts that hold the mark.
    """

    def __init__(self, mark: str, limits: Limits, narrowed: Narrowed | None) -> None:
        self.change = WithoutTexts((mark,), limits, narrowed, is_json=True)
        self._mark = mark
        self._without = StringSet(outside=(self.change.held,))

    def check(self, lazy: LazyRules, root: Node) -> None:
        """Check the strings and keys of all JSON in the elements of a node.

        Raises:
            UnsupportedSchemaError: the mark leaves too few of them.
        """
        waiting = [node for part in lazy.shapes[root].objects for node in children(Shape(objects=(part,)))]
        values = [node for node in waiting if node in lazy.productive]
        inner = [node for value in values for node in children(lazy.shapes[value])]
        for value in values:
            expressed(partial(self._check_keys, lazy, lazy.shapes[value]), lazy.space, value)
        seen: set[Node] = set()
        while inner:
            node = inner.pop()
            if node not in seen and node in lazy.productive:
                seen.add(node)
                shape = lazy.shapes[node]
                expressed(partial(self._check_strings, shape), lazy.space, node)
                expressed(partial(self._check_keys, lazy, shape), lazy.space, node)
                inner += children(shape)

    def _check_strings(self, shape: Shape) -> None:
        for strings in shape.strings:
            self._check_set(strings, "pattern" if strings.texts is None else "enum")

    def _check_keys(self, lazy: LazyRules, shape: Shape) -> None:
        for part in shape.objects:
            for key in _keys_of(part):
                if self._mark in key and lazy.holds(part.at(key)):
                    raise self._refused("properties")
            if part.classes is not OPEN:
                for keys, _ in part.classes:
                    self._check_set(keys, "patternProperties")
            for keys, _ in (*part.somewhere, *part.overlapping):
                self._check_set(keys, "patternProperties")

    def _check_set(self, strings: StringSet, keyword: str) -> None:
        """Check that the mark leaves all strings of a set, or many.

        Raises:
            Inexpressible: it leaves few.
        """
        if strings.texts is not None:
            if any(self._mark in text for text in strings.texts):
                raise self._refused(keyword)
        elif (strings.within or strings.outside) and not strings.grammars:
            text = string_regex(strings)
            if self.change(text) is not text:
                left = strings.intersect(self._without)
                if left is None or left.count(_MAX_COUNTED) < strings.count(_MAX_COUNTED):
                    raise self._refused(keyword)

    def _refused(self, keyword: str) -> Inexpressible:
        return Inexpressible(keyword, f"in this notation, JSON cannot hold {self._mark!r}, which ends an argument")


def _keys_of(part: ObjectSet) -> list[str]:
    return [*part.properties, *part.required, *(literal.key for clause in part.clauses for literal in clause)]
