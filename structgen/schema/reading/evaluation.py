"""Evaluated properties and items: those that `unevaluatedProperties` and `unevaluatedItems` do not apply to.

They depend on which subschemas a value satisfies. So the values are sorted into cases, each with one answer: for
`anyOf`, a case for every set of branches that may match; for `if`, one for each side. Branches that a tag tells apart
never match together. Branches that evaluate nothing make no cases, and cases with the same answer are merged.

    {"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"properties": {"b": {"type": "null"}}}]}

has two cases: values that satisfy the second branch, with `a` and `b` evaluated, and the others, with `a` evaluated.

Where a subschema refers to itself, it may be undecided whether a value satisfies a branch
(`reading/fixed_points.py`). The value is in none of the cases then, although they may all have the same answer. So the
cases overlap there, and each has a bound in place of the answer: values to accept have at least so much evaluated,
values to refuse at most so much.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from structgen.errors import LimitExceededError, SchemaError
from structgen.schema.algebra import ANY, NONE, Node, any_of, complement, is_decided, meet
from structgen.schema.reading.nodes import NodeSpace
from structgen.schema.reading.refs import REFERENCES
from structgen.schema.reading.scopes import Location, pointer
from structgen.schema.reading.tags import groups_that_may_meet

__all__ = ["Case", "Evaluated", "Evaluation", "Kind"]

Kind = Literal["properties", "items"]

_MAX_CASES = 1024
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_OBJECTS = ("properties", "patternProperties", "dependencies", "dependentSchemas")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The evaluated properties, or items, of a value.

    Attributes:
        everything: all properties or items are evaluated.
        names: names of evaluated properties.
        patterns: patterns of names of evaluated properties.
        prefix: the number of first items that are evaluated.
        within: nodes; items in one of them are evaluated.
    """

    everything: bool = False
    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    prefix: int = 0
    within: frozenset[Node] = frozenset()

    def and_also(self, other: Evaluated) -> Evaluated:
        """Return what one or the other evaluates."""
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
"""A set of values, and what is evaluated of those that satisfy the schema."""

_NO_CASES: list[Case] = [(ANY, _NOTHING)]


def _check_forms(known: dict[str, Any], location: Location) -> None:
    for keywords, kind, form in ((_LISTS, list, "a list of schemas"), (_OBJECTS, dict, "an object")):
        for key in keywords:
            if key in known and not isinstance(known[key], kind):
                raise SchemaError(f"{key} must be {form}", pointer=pointer(location), keyword=key)


class Evaluation:
    """The cases of one keyword.

    Args:
        space: makes the nodes of subschemas.
        kind: what is evaluated, "properties" or "items".
        contains: `contains` evaluates the items that satisfy it, as in draft 2020-12 and later.
        refuses: the cases are for values to refuse.
        is_circular: the schema refers to itself at the same value.
    """

    def __init__(self, space: NodeSpace, kind: Kind, *, contains: bool, refuses: bool, is_circular: bool) -> None:
        self._space = space
        self._kind = kind
        self._contains = contains
        self._at_least = is_circular and not refuses
        self._at_most = is_circular and refuses
        self._under_way: dict[Node, None] = {}
        self._split: dict[Node, list[Case]] = {}  # results of `_of`
        self._cut = 0  # how often a node under way was met
        self._with_key: dict[str, Node] = {}

    def cases(self, known: dict[str, Any], location: Location, *, own: bool = False) -> list[Case]:
        """Split the values of a schema into cases. They are disjoint for the values that satisfy it.

        Args:
            known: the keywords of the schema.
            location: the schema's location.
            own: the schema holds the `unevaluated…` keyword that is being read, which does not count itself.

        Raises:
            SchemaError: a keyword has the wrong form; the schema may be read here before its shape is made.
        """
        _check_forms(known, location)
        found: list[Case] = [(ANY, self._own(known, location, own))]
        for key in known:
            if key in REFERENCES:
                found = self._both(found, self._of(self._space.target(key, known, location)))
            elif key == "allOf":
                for node in self._branches(known, key, location):
                    found = self._both(found, self._of(node))
            elif key == "anyOf":
                found = self._both(found, self._any_of(self._branches(known, key, location)), in_order=True)
            elif key == "oneOf":
                found = self._both(found, self._one_of(self._branches(known, key, location)))
            elif key == "if":
                found = self._both(found, self._conditional(known, location))
            elif key in ("dependencies", "dependentSchemas"):
                for name, rule in known[key].items():
                    if not isinstance(rule, list):
                        node = self._space.node(rule, ((location, key), name))
                        found = self._both(found, self._optional(self._has(name, location), self._of(node)))
        return found

    def _of(self, node: Node) -> list[Case]:
        """Split the values that satisfy a node into cases; once for each node, however many references lead to it."""
        known = self._split.get(node)
        if known is not None:
            return known
        found = _NO_CASES
        if node in self._under_way:  # a subschema that refers to itself evaluates nothing more by that
            self._cut += 1
            return found
        cut = self._cut
        if len(self._under_way) > self._space.limits.schema_depth:
            raise LimitExceededError("schema_depth", self._space.limits.schema_depth)
        self._under_way[node] = None
        for atom in node:
            if isinstance(atom, int) and atom > 1:
                with self._space.inside(atom) as (keywords, location):
                    found = self._both(found, self.cases(keywords, location))
        del self._under_way[node]
        if cut == self._cut:  # otherwise it depends on the nodes around it
            self._split[node] = found
        return found

    def _branches(self, known: dict[str, Any], key: str, location: Location) -> list[Node]:
        return [self._space.node(branch, ((location, key), str(i))) for i, branch in enumerate(known[key])]

    def _has(self, name: str, location: Location) -> Node:
        """Return the node of objects that have a property."""
        node = self._with_key.get(name)
        if node is None:
            schema = {"type": "object", "required": [name]}
            node = self._with_key[name] = self._space.node(schema, location)
        return node

    def _optional(self, node: Node, cases: list[Case]) -> list[Case]:
        """Return cases for the values of a node, and one for all others, of which nothing is evaluated."""
        if all(evaluated == _NOTHING for _, evaluated in cases):
            return _NO_CASES
        if self._at_most:
            return [*cases, (complement(node), _NOTHING)]
        others = ANY if self._at_least else complement(node)
        return [*self._grouped([(meet(node, mine), evaluated) for mine, evaluated in cases]), (others, _NOTHING)]

    def _any_of(self, nodes: list[Node]) -> list[Case]:
        """Return the cases of values that satisfy one or more of some branches.

        Branches that share no value, as with a tag that tells them apart, have no case together. Nor does a case need
        the complements of branches that it shares no value with.
        """
        each = [self._of(node) for node in nodes]
        if all(evaluated == _NOTHING for cases in each for _, evaluated in cases):
            return _NO_CASES
        groups = self._groups(nodes)
        if len(groups) == 1:
            return self._of_group(_NO_CASES, zip(nodes, each, strict=True))
        found: list[Case] = []
        for group in groups:
            first = group[0]
            if len(group) == 1:
                found += [(meet(nodes[first], mine), evaluated) for mine, evaluated in each[first]]
            else:
                any_branch = any_of(nodes[i] for i in group)
                found += self._of_group([(any_branch, _NOTHING)], [(nodes[i], each[i]) for i in group])
        return self._grouped(found)

    def _groups(self, nodes: list[Node]) -> list[list[int]]:
        """Return the indices of branches in groups: branches of two groups share no value that has members."""
        if self._at_least or self._at_most or len(nodes) == 1 or not all(map(is_decided, nodes)):
            return [[*range(len(nodes))]]
        kind: Literal["arrays", "objects"] = "objects" if self._kind == "properties" else "arrays"
        return groups_that_may_meet([self._space.tag(node, only=kind) for node in nodes])

    def _of_group(self, cases: list[Case], branches: Iterable[tuple[Node, list[Case]]]) -> list[Case]:
        """Split cases by which of some branches hold; beside each branch, the cases of its values."""
        for node, inside in branches:
            cases = self._both(cases, self._optional(node, inside))
        return cases

    def _one_of(self, nodes: list[Node]) -> list[Case]:
        found = [(meet(node, mine), evaluated) for node in nodes for mine, evaluated in self._of(node)]
        if all(evaluated == _NOTHING for _, evaluated in found):
            return _NO_CASES
        return self._grouped([*found, *_NO_CASES] if self._at_least else found)

    def _conditional(self, known: dict[str, Any], location: Location) -> list[Case]:
        condition = self._space.node(known["if"], (location, "if"))
        then = self._of(self._space.node(known.get("then", True), (location, "then")))
        otherwise = self._of(self._space.node(known.get("else", True), (location, "else")))
        matching = self._both(self._of(condition), then)
        if all(evaluated == _NOTHING for _, evaluated in (*matching, *otherwise)):
            return _NO_CASES
        no = complement(condition)
        found = [(meet(condition, mine), evaluated) for mine, evaluated in matching]
        found += [(meet(no, mine), evaluated) for mine, evaluated in otherwise]
        if self._at_least:
            found += _NO_CASES
        elif self._at_most:
            found += self._both(matching, otherwise)
        return self._grouped(found)

    def _both(self, left: list[Case], right: list[Case], *, in_order: bool = False) -> list[Case]:
        """Return the cases of values that are in a case of each list.

        Args:
            left: the first list.
            right: the second list. Values in none of its cases do not satisfy the schema.
            in_order: keep the cases where all of `right` evaluate the same, as their nodes have the keys in order.
        """
        if right == _NO_CASES:
            return left
        if len(left) * len(right) > _MAX_CASES:
            message = f"too many cases of evaluated {self._kind}"
            raise LimitExceededError("schema_nodes", _MAX_CASES, message=message, is_fixed=True)
        found: list[Case] = []
        for mine, evaluated in left:
            answers = [evaluated.and_also(other) for _, other in right]
            agreed = {*answers, evaluated} if in_order else set(answers)
            if right and len(agreed) == 1 and not (self._at_least or self._at_most):
                found.append((mine, answers[0]))
            else:
                found += [(meet(mine, theirs), answer) for (theirs, _), answer in zip(right, answers, strict=True)]
        return self._grouped(found)

    def _grouped(self, cases: Iterable[Case]) -> list[Case]:
        """Merge the cases with the same answer, and drop those that surely have no objects or arrays."""
        found: dict[Evaluated, list[Node]] = {}
        for node, evaluated in cases:
            if node == ANY or (node != NONE and self._matters(node)):
                found.setdefault(evaluated, []).append(node)
        return [(any_of(nodes), evaluated) for evaluated, nodes in found.items()]

    def _matters(self, node: Node) -> bool:
        """Return whether a node may hold a value with properties or items."""
        return self._space.may_hold(node) and self._space.known_scalar(node) is None

    def _own(self, known: dict[str, Any], location: Location, own: bool) -> Evaluated:
        """Return what the keywords of one schema evaluate, those that combine subschemas aside."""
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
            within = frozenset({self._space.node(known["contains"], (location, "contains"))})
        return Evaluated(prefix=prefix, within=within)
