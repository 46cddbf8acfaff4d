"""Which properties and items of a value the keywords beside `unevaluatedProperties` and `unevaluatedItems` evaluate.

That depends on which subschemas the value satisfies. So the values are sorted into cases, each of which has one answer:
for `anyOf`, every set of branches that may match; for `if`, one side and the other. Branches that evaluate nothing make
no cases, and cases of the same answer are one.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from structgen.errors import LimitExceededError
from structgen.limits import Limits
from structgen.schema.algebra import ANY, NONE, Node, any_of, complement, meet
from structgen.schema.reading.scopes import Location

__all__ = ["REFERENCES", "Case", "Evaluated", "Evaluation", "Kind"]

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""Keywords that apply another schema to the same value."""

Kind = Literal["properties", "items"]

_MAX_CASES = 1024


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What is evaluated of a value.

    Attributes:
        everything: all of its properties, or items.
        names, patterns: properties of these names, and those that match.
        prefix: how many of the first items.
        within: items that are in one of these nodes.
    """

    everything: bool = False
    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    prefix: int = 0
    within: frozenset[Node] = frozenset()

    def and_also(self, other: Evaluated) -> Evaluated:
        """What either of two evaluates."""
        if self.everything or other.everything:
            return _EVERYTHING
        if other == _NOTHING:
            return self
        return Evaluated(
            False,
            self.names | other.names,
            self.patterns | other.patterns,
            max(self.prefix, other.prefix),
            self.within | other.within,
        )


_NOTHING = Evaluated()
_EVERYTHING = Evaluated(True)

Case = tuple[Node, Evaluated]
"""Values, and what is evaluated of them if they satisfy the schema."""

_NO_CASES: list[Case] = [(ANY, _NOTHING)]


class Schemas(Protocol):
    """What is asked of the space of subschemas."""

    limits: Limits

    def node(self, schema: Any, place: Location) -> Node:
        """The node of a subschema."""

    def target(self, keyword: str, schema: dict[str, Any], place: Location) -> Node:
        """The node to which a reference leads."""

    def inside(self, atom: int) -> AbstractContextManager[tuple[dict[str, Any], Location]]:
        """What the subschema of an atom asserts, and where it is; meanwhile the scope of new nodes is its own."""

    def may_hold(self, node: Node) -> bool:
        """Whether a node may have a value: False is certain."""


class Evaluation:
    """The cases of one keyword.

    Args:
        space: the subschemas.
        kind: what is evaluated.
        contains: whether `contains` evaluates the items that it holds, as since draft 2020-12.
    """

    def __init__(self, space: Schemas, kind: Kind, *, contains: bool) -> None:
        self._space = space
        self._kind = kind
        self._contains = contains
        self._depth = 0
        self._with_key: dict[str, Node] = {}

    def cases(self, known: dict[str, Any], place: Location, *, own: bool = False) -> list[Case]:
        """Cases of the values of a schema, which are disjoint among its values.

        Args:
            known: the keywords of the schema.
            place: where it is.
            own: the schema is the one that holds the keyword at issue, which does not count.
        """
        found: list[Case] = [(ANY, self._own(known, place, own))]
        for key in known:
            if key in REFERENCES:
                found = self._both(found, self._of(self._space.target(key, known, place)))
            elif key == "allOf":
                for node in self._branches(known, key, place):
                    found = self._both(found, self._of(node))
            elif key == "anyOf":
                for node in self._branches(known, key, place):
                    found = self._both(found, self._optional(node, self._of(node)))
            elif key == "oneOf":
                found = self._both(found, self._one_of(self._branches(known, key, place)))
            elif key == "if":
                found = self._both(found, self._conditional(known, place))
            elif key in ("dependencies", "dependentSchemas"):
                for name, rule in known[key].items():
                    if not isinstance(rule, list):
                        node = self._space.node(rule, ((place, key), name))
                        found = self._both(found, self._optional(self._has(name, place), self._of(node)))
        return found

    def _of(self, node: Node) -> list[Case]:
        """The cases of a node, of values that satisfy it."""
        found = _NO_CASES
        if self._depth > self._space.limits.schema_depth:
            raise LimitExceededError("schema_depth", self._space.limits.schema_depth)
        self._depth += 1
        for atom in node:
            if isinstance(atom, int) and atom > 1:
                with self._space.inside(atom) as (known, place):
                    found = self._both(found, self.cases(known, place))
        self._depth -= 1
        return found

    def _branches(self, known: dict[str, Any], key: str, place: Location) -> list[Node]:
        return [self._space.node(branch, ((place, key), str(i))) for i, branch in enumerate(known[key])]

    def _has(self, name: str, place: Location) -> Node:
        """The values that have a property, if they are objects."""
        node = self._with_key.get(name)
        if node is None:
            schema = {"type": "object", "required": [name]}
            node = self._with_key[name] = self._space.node(schema, place)
        return node

    @staticmethod
    def _optional(node: Node, cases: list[Case]) -> list[Case]:
        """Cases that hold for the values of a node; nothing is evaluated of the others."""
        if all(evaluated == _NOTHING for _, evaluated in cases):
            return _NO_CASES
        return [*((meet(node, mine), evaluated) for mine, evaluated in cases), (complement(node), _NOTHING)]

    def _one_of(self, nodes: list[Node]) -> list[Case]:
        found = [(meet(node, mine), evaluated) for node in nodes for mine, evaluated in self._of(node)]
        return self._grouped(found) if any(evaluated != _NOTHING for _, evaluated in found) else _NO_CASES

    def _conditional(self, known: dict[str, Any], place: Location) -> list[Case]:
        condition = self._space.node(known["if"], (place, "if"))
        then = self._of(self._space.node(known.get("then", True), (place, "then")))
        otherwise = self._of(self._space.node(known.get("else", True), (place, "else")))
        matching = self._both(self._of(condition), then)
        if all(evaluated == _NOTHING for _, evaluated in (*matching, *otherwise)):
            return _NO_CASES
        no = complement(condition)
        found = [(meet(condition, mine), evaluated) for mine, evaluated in matching]
        return self._grouped([*found, *((meet(no, mine), evaluated) for mine, evaluated in otherwise)])

    def _both(self, left: list[Case], right: list[Case]) -> list[Case]:
        """The cases of values that are in a case of each."""
        if right == _NO_CASES:
            return left
        if len(left) * len(right) > _MAX_CASES:
            raise LimitExceededError(
                "schema_nodes", self._space.limits.schema_nodes, message=f"too many cases of evaluated {self._kind}"
            )
        return self._grouped(
            (meet(mine, theirs), evaluated.and_also(other)) for mine, evaluated in left for theirs, other in right
        )

    def _grouped(self, cases: Iterable[Case]) -> list[Case]:
        """Cases without those that are seen to have no values; one for each answer."""
        found: dict[Evaluated, list[Node]] = {}
        for node, evaluated in cases:
            if node != NONE and (node == ANY or self._space.may_hold(node)):
                found.setdefault(evaluated, []).append(node)
        return [(any_of(nodes), evaluated) for evaluated, nodes in found.items()]

    def _own(self, known: dict[str, Any], place: Location, own: bool) -> Evaluated:
        """What the keywords of one schema evaluate of their own."""
        if self._kind == "properties":
            if "additionalProperties" in known or ("unevaluatedProperties" in known and not own):
                return _EVERYTHING
            return Evaluated(
                names=frozenset(known.get("properties", ())), patterns=frozenset(known.get("patternProperties", ()))
            )
        items = known.get("items")
        has_list = isinstance(items, list)
        if "items" in known and not has_list:
            return _EVERYTHING
        if (has_list and "additionalItems" in known) or ("unevaluatedItems" in known and not own):
            return _EVERYTHING
        prefix = len(known.get("prefixItems", ()) or (items if isinstance(items, list) else ()))
        within: frozenset[Node] = frozenset()
        if self._contains and "contains" in known:
            within = frozenset({self._space.node(known["contains"], (place, "contains"))})
        return Evaluated(prefix=prefix, within=within)
