"""Random schemas that refer to themselves at the same value many times, and an evaluator that decides their values.

The evaluator is naive: it follows each keyword as the specification says it, with three answers. A subschema that is
reached again at the same value is undecided (None) there. So it ends, unlike `jsonschema`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from support.random_schemas import DRAFTS

__all__ = ["POOL", "DenseSchemas", "Evaluator", "TooManySteps"]

POOL: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 3, -1, 2.5, "", "a", "ab", "abcd", "1."),
    *([], [1], ["a", 2], [[], None], [{"a": 1}, {}]),
    *({}, {"a": 1}, {"ab": "x"}, {"a": "x", "b": 1}, {"a": {"a": 1}}, {"a": [], "ab": {"b": None}}),
)
"""Values to decide."""

_MAX_STEPS = 5_000  # of an evaluation: without answers that are kept, some take exponential time
_MODERN = ("2019-09", "2020-12")
_VALUES = (["a"], [1, None], ["ab", 3, []], [{"a": 1}], [True, "a"], [0, "abcd", {}])
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object", ["string", "null"], ["object", "number"])


class DenseSchemas:
    """Draws schemas of one draft.

    Args:
        rng: chance.
        draft: one of `DRAFTS`.
        parts: subschemas of one schema, about.
    """

    def __init__(self, rng: random.Random, draft: str, *, parts: int) -> None:
        self._rng = rng
        self._draft = draft
        self._left = parts
        self._targets = ["#"]

    def document(self) -> dict[str, Any]:
        """Return a whole schema, with definitions."""
        rng = self._rng
        definitions = "$defs" if self._draft in _MODERN else "definitions"
        names = [f"d{index}" for index in range(rng.choice((0, 0, 1, 2, 3)))]
        self._targets += [f"#/{definitions}/{name}" for name in names]
        root = self._combined(0)
        if names:
            root[definitions] = {name: self._combined(1) for name in names}
        if self._draft == "2020-12":
            root["$dynamicAnchor"] = "node"
        if self._draft == "2019-09":
            root["$recursiveAnchor"] = rng.random() < 0.7
        return {"$schema": DRAFTS[self._draft], **root}

    def _schema(self, depth: int) -> Any:
        rng = self._rng
        self._left -= 1
        chance = rng.random()
        if chance < 0.08:
            return {}
        if chance < 0.13 and self._draft != "draft4":
            return chance < 0.1
        if self._left <= 0 or depth > 5:
            return self._reference() if chance < 0.5 else self._scalars()
        found: dict[str, Any] = {}
        if chance < 0.4:
            found = self._reference()
        elif chance < 0.75:
            found = self._combined(depth)
        if not found or rng.random() < 0.35:
            found |= self._scalars() if rng.random() < 0.7 else self._members(depth + 1)
        return found

    def _reference(self) -> dict[str, Any]:
        if self._draft == "2020-12" and self._rng.random() < 0.3:
            return {"$dynamicRef": "#node"}
        if self._draft == "2019-09" and self._rng.random() < 0.3:
            return {"$recursiveRef": "#"}
        return {"$ref": self._rng.choice(self._targets)}

    def _combined(self, depth: int) -> dict[str, Any]:
        """Return keywords that combine subschemas of the same value, or of keys."""
        rng = self._rng
        keys = ["oneOf", "oneOf", "oneOf", "anyOf", "anyOf", "allOf", "not"]
        keys += ["if", "if"] if self._draft in ("draft7", *_MODERN) else []
        keys += ["propertyNames"] if self._draft != "draft4" else []
        keys += ["dependentSchemas" if self._draft in _MODERN else "dependencies"]
        found: dict[str, Any] = {}
        for _ in range(rng.choice((1, 1, 2))):
            key = rng.choice(keys)
            if key in ("oneOf", "anyOf", "allOf"):
                found[key] = [self._schema(depth + 1) for _ in range(rng.choice((1, 2, 2, 3, 3)))]
            elif key in ("dependentSchemas", "dependencies"):
                found[key] = {rng.choice(("a", "b")): self._schema(depth + 1)}
            else:
                found[key] = self._schema(depth + 1)
            if key == "if":
                found |= {side: self._schema(depth + 1) for side in ("then", "else") if rng.random() < 0.7}
        return found

    def _scalars(self) -> dict[str, Any]:
        """Return an assertion without subschemas."""
        rng = self._rng
        choices: list[dict[str, Any]] = [
            {"type": rng.choice(_TYPES)},
            {"enum": rng.choice(_VALUES)},
            {rng.choice(("minimum", "maximum")): rng.choice((0, 1, 2.5))},
            {"multipleOf": rng.choice((1, 2, 0.5))},
            {"minLength": rng.choice((1, 2, 3))},
            {"maxLength": rng.choice((0, 1, 3))},
            {"pattern": rng.choice(("a", "^a", r"\.", "^[ab]*$"))},
            {"required": rng.choice((["a"], ["ab"], ["a", "b"]))},
            {rng.choice(("minProperties", "maxProperties")): rng.choice((1, 2))},
            {rng.choice(("minItems", "maxItems")): rng.choice((1, 2))},
        ]
        return rng.choice(choices)

    def _members(self, depth: int) -> dict[str, Any]:
        """Return an assertion about items or properties."""
        key = self._rng.choice(("properties", "additionalProperties", "items"))
        inner = self._schema(depth)
        return {key: {self._rng.choice(("a", "ab")): inner} if key == "properties" else inner}


class TooManySteps(Exception):
    """An evaluation takes too long."""


class Evaluator:
    """Decides whether values satisfy a schema of `DenseSchemas`: True, False, or None where neither can be derived.

    Args:
        root: the schema.
    """

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._overrides = root["$schema"] not in (DRAFTS["2019-09"], DRAFTS["2020-12"])
        self._is_draft4 = root["$schema"] == DRAFTS["draft4"]
        self._open: set[tuple[int, str]] = set()
        self._steps = 0

    def __call__(self, value: Any) -> bool | None:
        """Return the answer for a value."""
        self._steps = 0
        return self._holds(self._root, value)

    def _holds(self, schema: Any, value: Any) -> bool | None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise TooManySteps
        if isinstance(schema, bool):
            return schema
        key = id(schema), _canonical(value)
        if key in self._open:
            return None
        self._open.add(key)
        try:
            if "$ref" in schema and self._overrides:
                return self._combines("$ref", schema, value)
            return _all([self._keyword(name, schema, value) for name in schema])
        finally:
            self._open.discard(key)

    def _keyword(self, name: str, schema: dict[str, Any], value: Any) -> bool | None:
        found = self._combines(name, schema, value)
        if isinstance(value, dict):
            found = _all([found, self._of_object(name, schema, value)])
        elif isinstance(value, list) and name == "items":
            found = _all(self._holds(schema[name], item) for item in value)
        return found if found is False or _holds_alone(name, schema[name], value, self._is_draft4) else False

    def _combines(self, name: str, schema: dict[str, Any], value: Any) -> bool | None:
        given = schema[name]
        if name in ("$ref", "$dynamicRef", "$recursiveRef"):
            return self._holds(self._target(given if name == "$ref" else "#"), value)
        if name in ("allOf", "anyOf", "oneOf"):
            answers = [self._holds(branch, value) for branch in given]
            if name == "allOf":
                return _all(answers)
            if name == "anyOf" or True not in answers:
                return _not(_all(map(_not, answers)))
            is_one = None if None in answers else True
            return False if answers.count(True) > 1 else is_one
        if name == "not":
            return _not(self._holds(given, value))
        if name == "if":
            condition, *sides = [
                self._holds(part, value) for part in (given, *map(schema.get, ("then", "else"), (True,) * 2))
            ]
            if condition is None:
                return sides[0] if sides[0] is sides[1] else None
            return sides[not condition]
        return True

    def _of_object(self, name: str, schema: dict[str, Any], value: dict[str, Any]) -> bool | None:
        given = schema[name]
        if name == "propertyNames":
            return _all(self._holds(given, key) for key in value)
        if name == "properties":
            return _all(self._holds(inner, value[key]) for key, inner in given.items() if key in value)
        if name == "additionalProperties":
            others = [member for key, member in value.items() if key not in schema.get("properties", {})]
            return _all(self._holds(given, member) for member in others)
        if name in ("dependencies", "dependentSchemas"):
            return _all(self._holds(inner, value) for key, inner in given.items() if key in value)
        return True

    def _target(self, reference: str) -> Any:
        found = self._root
        for name in reference.split("/")[1:]:
            found = found[name]
        return found


def _holds_alone(name: str, given: Any, value: Any, is_draft4: bool) -> bool:
    """Return whether a keyword without subschemas holds."""
    if name == "type":
        return any(_is_of(value, kind, is_draft4) for kind in (given if isinstance(given, list) else [given]))
    if name == "enum":
        return _canonical(value) in map(_canonical, given)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if name == "multipleOf":
            return not Fraction(value) % Fraction(given)
        return not (name == "minimum" and value < given) and not (name == "maximum" and value > given)
    if isinstance(value, str) and name == "pattern":
        return bool(re.search(given, value))
    if isinstance(value, dict) and name == "required":
        return all(key in value for key in given)
    unit = {str: "Length", list: "Items", dict: "Properties"}.get(type(value))
    return not (name == f"min{unit}" and len(value) < given) and not (name == f"max{unit}" and len(value) > given)


def _is_of(value: Any, kind: str, is_draft4: bool) -> bool:
    if isinstance(value, bool) or value is None:
        return kind == ("null" if value is None else "boolean")
    if isinstance(value, (int, float)):
        is_integer = isinstance(value, int) or (value.is_integer() and not is_draft4)
        return kind == "number" or (kind == "integer" and is_integer)
    return kind == {str: "string", list: "array", dict: "object"}[type(value)]


def _canonical(value: Any) -> str:
    """Return a text that tells a value from all that are not equal to it."""
    if isinstance(value, list):
        return f"[{','.join(map(_canonical, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(sorted(f'{key!r}:{_canonical(inner)}' for key, inner in value.items()))}}}"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"{float(value)!r}" if is_number else repr(value)


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _all(answers: Iterable[bool | None]) -> bool | None:
    known = list(answers)
    if False in known:
        return False
    return None if None in known else True
