"""`unevaluatedItems` and `unevaluatedProperties` of the validator.

`jsonschema` validates nested `unevaluated…` keywords again at every level, 2ⁿ times for n levels, follows references in
a circle until the stack ends, and reads the patterns of keys as Python's. What counts as evaluated is the same as for
the grammar; see `reading/evaluation.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsonschema
from jsonschema.protocols import Validator
from referencing.exceptions import Unresolvable
from referencing.jsonschema import lookup_recursive_ref

from structgen.schema.reading.refs import REFERENCES
from structgen.schema.undecided import Errors, Keyword, answers, scope_of

__all__ = ["unevaluated"]

_Place = tuple[int, tuple[str, ...]]


def unevaluated(keyword: str, matches: Callable[[str, str], bool], ignored: Keyword) -> Keyword:
    """Return the check of `unevaluatedItems` or `unevaluatedProperties`.

    Args:
        keyword: the keyword's name.
        matches: whether a pattern of keys matches a key.
        ignored: the function that stands for keywords of other dialects.
    """
    kind = "array" if keyword == "unevaluatedItems" else "object"

    def check(validator: Any, rest: Any, instance: Any, schema: Any) -> Errors:
        if not validator.is_type(instance, kind):
            return
        found = _Evaluated(instance, keyword, matches, ignored).of(validator, own=True)
        for member, value in enumerate(instance) if kind == "array" else instance.items():
            if member in found:
                continue
            if rest is False:
                name = "items" if kind == "array" else "properties"
                yield jsonschema.ValidationError(f"unevaluated {name} are not allowed: {member!r}")
            else:
                yield from validator.descend(value, rest, path=member)

    return check


class _Evaluated:
    """Collects the evaluated members of one value: indices of an array, or keys of an object."""

    def __init__(self, instance: Any, keyword: str, matches: Callable[[str, str], bool], ignored: Keyword) -> None:
        self._instance = instance
        self._keyword = keyword
        self._matches = matches
        self._ignored = ignored
        self._everything = set(range(len(instance))) if isinstance(instance, list) else set(instance)
        self._under_way: set[_Place] = set()
        self._known: dict[_Place, set[Any]] = {}  # results of `of`: many references may lead to one subschema
        self._cut = 0  # how often a subschema under way was met

    def of(self, validator: Any, *, own: bool = False) -> set[Any]:
        """Return the members that a subschema evaluates. The value satisfies it.

        Args:
            validator: the validator of the subschema.
            own: the subschema holds the keyword that is being checked, which does not count itself.
        """
        schema = validator.schema
        place = id(schema), scope_of(validator)
        if not isinstance(schema, dict):
            return set()
        if place in self._under_way:
            self._cut += 1
            return set()
        if place in self._known:
            return self._known[place]
        cut = self._cut
        self._under_way.add(place)
        known = {key: value for key, value in schema.items() if self._knows(validator, key)}
        found = self._items(validator, known, own) if isinstance(self._instance, list) else self._keys(known, own)
        for key in known:
            if len(found) == len(self._everything):
                break
            for inner in self._inside(validator, key, schema):
                found = found | self.of(inner)
        self._under_way.remove(place)
        if cut == self._cut and not own:  # otherwise it depends on the subschemas around it
            self._known[place] = found
        return found

    def _knows(self, validator: Any, key: str) -> bool:
        return validator.VALIDATORS.get(key, self._ignored) is not self._ignored

    def _items(self, validator: Any, known: dict[str, Any], own: bool) -> set[Any]:
        items = known.get("items")
        has_list = isinstance(items, list)
        if ("items" in known and not has_list) or (has_list and "additionalItems" in known):
            return self._everything
        if self._keyword in known and not own:
            return self._everything
        first = known.get("prefixItems") or (items if has_list else None) or ()
        found = set(range(min(len(first), len(self._instance))))
        if "contains" in known and "prefixItems" in validator.VALIDATORS:  # not in draft 2019-09
            inner = validator.evolve(schema=known["contains"])
            found |= {index for index, item in enumerate(self._instance) if inner.is_valid(item)}
        return found

    def _keys(self, known: dict[str, Any], own: bool) -> set[Any]:
        if "additionalProperties" in known or (self._keyword in known and not own):
            return self._everything
        patterns = known.get("patternProperties", ())
        found = self._everything & set(known.get("properties", ()))
        return found | {key for key in self._instance if any(self._matches(pattern, key) for pattern in patterns)}

    def _inside(self, validator: Any, key: str, schema: dict[str, Any]) -> list[Any]:
        """Return the validators of the subschemas of a keyword that the value satisfies too."""
        value = schema[key]
        if key in REFERENCES:
            return self._target(validator, key, value)
        chosen: list[Any] = []
        if key == "allOf":
            chosen = value
        elif key in ("anyOf", "oneOf"):
            chosen = [branch for branch in value if answers(validator, branch, self._instance)[0]]
        elif key == "if":
            valid, other = answers(validator, value, self._instance)
            chosen = ([value, schema.get("then", True)] if valid else []) + (
                [] if other else [schema.get("else", True)]
            )
        elif key in ("dependencies", "dependentSchemas") and isinstance(self._instance, dict):
            chosen = [rule for name, rule in value.items() if name in self._instance and not isinstance(rule, list)]
        return [validator.evolve(schema=subschema) for subschema in chosen]

    @staticmethod
    def _target(validator: Validator, key: str, reference: str) -> list[Any]:
        resolver: Any = validator._resolver  # type: ignore[attr-defined]
        try:
            found = lookup_recursive_ref(resolver) if key == "$recursiveRef" else resolver.lookup(reference)
        except Unresolvable:
            return []
        return [validator.evolve(schema=found.contents, _resolver=found.resolver)]
