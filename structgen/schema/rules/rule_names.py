"""Names of a printed grammar's rules, after the schema: models, fields, and the place in an object or array.

The schema `{"title": "Person", "properties": {"name": …, "age": …}}` has rules with these names:

    person              the object
    person_after_name   what may follow the value of `name`
    person_from_age     the pairs from `age` on
    person_other        a pair whose key the schema does not name
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from structgen.schema.algebra import ANY, Node, NumberSet, StringSet
from structgen.schema.algebra.nodes import AnyOf
from structgen.schema.reading.scopes import pointer
from structgen.schema.reading.space import Space
from structgen.schema.rules.object_states import ObjectStates, ShortState, index_of
from structgen.schema.rules.states import ArrayState

__all__ = ["ANY_VALUE", "RuleNames", "comment_of", "identifier", "kind_name", "origin_of"]

ANY_VALUE = "json"
_MAX_CHARACTERS = 40  # of a name that comes from a schema
_MAX_LEVELS = 50  # of a location that is looked at: each rule of a deeply nested schema has one
_MAX_COMMENT = 200  # characters of one description
_KEYWORDS = frozenset({"anyOf", "oneOf", "allOf", "items", "prefixItems", "additionalProperties", "if", "then", "else"})
_SPACES = re.compile(r"\s+")


class RuleNames:
    """The names that a grammar uses.

    Args:
        space: has the locations of the schema's nodes.
        root: the name of the schema's root, where it has no title.
        reserved: names that no rule gets by itself.
    """

    def __init__(self, space: Space, root: str, reserved: Iterable[str]) -> None:
        self._space = space
        self._root = root
        self._used = set(reserved)
        self._numbers: dict[str, int] = {}  # the last number after each base name

    def fresh(self, base: str) -> str:
        """Return a name that is not used yet: the base, or the base and a number."""
        name, number = base, self._numbers.get(base, 1)
        while name in self._used:
            number += 1
            name = f"{base}_{number}"
        self._numbers[base] = number
        self._used.add(name)
        return name

    def titled(self, node: Node) -> str:
        """Return a name after a node's title; "" where it has none."""
        name = identifier(_title(self._space, node))
        return self.fresh(name) if name else ""

    def of_node(self, node: Node) -> str:
        """Return a name for the values of a node: its title or the last part of its location."""
        if node == ANY:
            return ANY_VALUE
        location = self._space.location(node)
        title = _title(self._space, node)
        # A field is called by its key, a definition by its key as well: a model's title is its name there.
        for _ in range(_MAX_LEVELS):
            if location is None or not (location[1] in _KEYWORDS or location[1].isdigit()):
                break
            location = location[0]
        if location is None or location[0] == ():
            return identifier(title) or self._root
        return identifier(location[1]) or identifier(title) or self._root

    def of_object(self, base: str, kind: str, states: ObjectStates, state: ShortState) -> str:
        """Return a name for the rest of an object in a state.

        Args:
            base: the object's name.
            kind: "pair" or "then".
            states: the states of its set.
            state: the state.
        """
        if states.any_order:
            return f"{base}_{kind}"
        index, count = index_of(state), len(states.properties)
        if kind == "pair":
            return f"{base}_from_{_word(states.properties[index].key, index)}" if index < count else f"{base}_other"
        if not index or (index == count and states.classes):
            return f"{base}_more"
        return f"{base}_after_{_word(states.properties[index - 1].key, index - 1)}"

    def of_array(self, base: str, kind: str, state: ArrayState | int) -> str:
        """Return a name for the rest of an array in a state."""
        written = state.written if isinstance(state, ArrayState) else state
        return f"{base}_item_{written + 1}" if kind == "item" else f"{base}_after_{written}"


def identifier(text: str) -> str:
    """Return a text in snake case as a name of a rule; "" where nothing is left of it.

    >>> identifier("HTTPServer config")
    'http_server_config'
    """
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", text)
    text = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()[:_MAX_CHARACTERS].strip("_")
    return f"n{text}" if text[:1].isdigit() else text


def _word(key: str, index: int) -> str:
    return identifier(key) or str(index)


def kind_name(part: StringSet | NumberSet) -> str:
    """Return a name for a set of strings or integers that says what it holds; "" where no short name does.

    >>> kind_name(StringSet(high=40)), kind_name(NumberSet(0, high=120, multiple=1))
    ('string_up_to_40', 'integer_0_to_120')
    """
    if isinstance(part, StringSet):
        if part.outside or part.excluded or part.texts is not None or len(part.within) > 1:
            return ""
        name = "string"
        if part.within:
            kind, _, rest = part.within[0].name.partition(" ")
            name = identifier(rest.removeprefix("x-")) if kind == "format" else ""
        return name and name + _bounds(part.low or None, part.high)
    if part.values is not None or part.outside or part.multiple != 1 or part.low_open or part.high_open:
        return ""
    ends = [bound for bound in (part.low, part.high) if bound is not None]
    if any(not isinstance(bound, int) or bound < 0 or bound > 10**9 for bound in ends):
        return ""
    return "integer" + _bounds(part.low, part.high)  # type: ignore[arg-type]


def _bounds(low: int | None, high: int | None) -> str:
    if high is None:
        return "" if low is None else f"_from_{low}"
    if low == high:
        return f"_of_{high}"
    return f"_up_to_{high}" if low is None else f"_{low}_to_{high}"


# -- words of the schema ----------------------------------------------------------------------------------------------


def _schemas(space: Space, node: Node) -> list[dict[str, Any]]:
    """Return the subschemas that a node is made of."""
    found: list[dict[str, Any]] = []
    work = [node]
    while work:
        for atom in work.pop():
            if isinstance(atom, AnyOf):
                work.extend(atom.nodes)
            elif atom > 0 and isinstance(space.atoms.subschema(atom).schema, dict):
                found.append(space.atoms.subschema(atom).schema)
    return found


def _title(space: Space, node: Node) -> str:
    return next((one["title"] for one in _schemas(space, node) if isinstance(one.get("title"), str)), "")


def origin_of(space: Space, node: Node) -> str:
    """Return the JSON pointer of a node, for messages; "" for a node that is nested very deeply."""
    location = up = space.location(node)
    for _ in range(_MAX_LEVELS):
        if up is None:
            return pointer(location)
        up = up[0] or None
    return ""


def comment_of(space: Space, node: Node) -> str:
    """Return the descriptions of an object and of its properties, one a line; "" where there are none.

    A property's own rule has none: its object has it already.
    """
    location = space.location(node)
    is_property = location is not None and location[0] not in (None, ()) and location[0][1] == "properties"
    lines: list[str] = []
    for schema in _schemas(space, node):
        own = _description(schema)
        if own and not is_property:
            lines.append(f"{schema['title']}: {own}" if isinstance(schema.get("title"), str) else own)
        properties = schema.get("properties")
        if isinstance(properties, dict):
            for key, value in properties.items():
                if isinstance(value, dict) and _description(value):
                    lines.append(f"{key}: {_description(value)}")
    return "\n".join(dict.fromkeys(lines)).encode(errors="replace").decode()  # no file holds a lone surrogate


def _description(schema: dict[str, Any]) -> str:
    text = schema.get("description")
    if not isinstance(text, str):
        return ""
    text = _SPACES.sub(" ", text).strip()
    return text if len(text) <= _MAX_COMMENT else f"{text[:_MAX_COMMENT]}…"
