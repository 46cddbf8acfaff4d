"""Random schemas of every draft, with every keyword of the draft, and random values that often satisfy them.

A schema is small, but the same part may refer to others, to itself, and to definitions that refer back. Names, letters
and numbers come from short lists, so that keywords meet one another.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

__all__ = ["DRAFTS", "RandomSchemas"]

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
"""The drafts by name, with the URI of each."""

_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_KEYS = ("a", "b", "c", "d")
_NAMES = ("one", "two", "three")
_TEXTS = ("", "a", "ab", "b1", "é", 'q"', "2020-01-31")
_PATTERNS = ("", "a", "^a", "b$", "^.?$", "^[ab]+$", "(?!a)b", "\\d", "^(?:ab|c){1,2}$", "(?<!b)a", "\\bb", "[^a]")
_FORMATS = ("date", "time", "date-time", "ipv4", "uuid", "email", "regex", "json-pointer", "duration", "unknown")
_NUMBERS = (-2, -1, 0, 1, 2, 3, 0.5, 1.5, -2.25, 10, 1e2)


class RandomSchemas:
    """Draws schemas of one draft.

    Args:
        rng: chance.
        draft: one of `DRAFTS`.
        parts: subschemas of one schema, about.
    """

    def __init__(self, rng: random.Random, draft: str, *, parts: int = 12) -> None:
        self._rng = rng
        self._draft = draft
        self._left = parts
        self._is_modern = draft in ("2019-09", "2020-12")
        self._definitions = "$defs" if self._is_modern else "definitions"

    def document(self) -> dict[str, Any]:
        """Return a whole schema, with definitions."""
        rng = self._rng
        names = _NAMES[: rng.choice((0, 1, 2, 3))]
        self._targets = [f"#/{self._definitions}/{name}" for name in names] + ["#"]
        root = self._schema(depth=0)
        if not isinstance(root, dict):
            root = {"allOf": [root]}
        if names:
            root[self._definitions] = {name: self._schema(depth=1) for name in names}
        if self._draft == "2019-09" and rng.random() < 0.15:
            root["$recursiveAnchor"] = rng.random() < 0.8
        if self._draft == "2020-12" and rng.random() < 0.15:
            root["$dynamicAnchor"] = "node"
        return {"$schema": DRAFTS[self._draft], **root}

    def value(self, depth: int = 0) -> Any:
        """Return a value of the alphabet of the schemas."""
        rng = self._rng
        kind = rng.choice(_TYPES if depth < 3 else _TYPES[:5])
        if kind == "array":
            return [self.value(depth + 1) for _ in range(rng.randrange(4))]
        if kind == "object":
            return {key: self.value(depth + 1) for key in rng.sample(_KEYS, rng.randrange(4))}
        if kind == "string":
            return rng.choice(_TEXTS)
        if kind in ("integer", "number"):
            return rng.choice(_NUMBERS)
        return rng.choice((True, False)) if kind == "boolean" else None

    def _schema(self, depth: int) -> Any:
        rng = self._rng
        self._left -= 1
        if rng.random() < 0.06 and self._draft != "draft4":
            return rng.random() < 0.7
        chosen: dict[str, Any] = {}
        deep = depth < 4 and self._left > 0
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            group = rng.choice(self._groups() if deep else [self._type, self._of_numbers, self._of_strings, self._list])
            chosen.update(group(depth + 1))
        if rng.random() < 0.2:
            chosen.update(self._type(depth))
        return chosen

    def _groups(self) -> list[Callable[[int], dict[str, Any]]]:
        found = [self._type, self._of_numbers, self._of_strings, self._of_arrays, self._of_objects, self._list]
        found += [self._of_arrays, self._of_objects, self._combined, self._combined, self._reference]
        if self._draft in ("draft7", "2019-09", "2020-12"):
            found.append(self._conditional)
        if self._is_modern:
            found += [self._unevaluated, self._dependent]
        else:
            found.append(self._dependencies)
        return found

    # --- groups of keywords ------------------------------------------------------------------------------------------

    def _some(self, **keywords: Callable[[], Any]) -> dict[str, Any]:
        names = list(keywords)
        chosen = self._rng.sample(names, min(len(names), self._rng.choice((1, 1, 2, 3))))
        return {name.rstrip("_"): keywords[name]() for name in names if name in chosen}

    def _several(self, depth: int) -> list[Any]:
        return [self._schema(depth) for _ in range(self._rng.choice((1, 2, 2, 3)))]

    def _by_key(self, depth: int) -> dict[str, Any]:
        return {key: self._schema(depth) for key in self._rng.sample(_KEYS, self._rng.choice((1, 2)))}

    def _keys(self) -> list[str]:
        return self._rng.sample(_KEYS, self._rng.choice((1, 1, 2)))

    def _count(self) -> int:
        return self._rng.choice((0, 1, 2, 3))

    def _type(self, depth: int) -> dict[str, Any]:
        rng = self._rng
        return {"type": rng.sample(_TYPES, rng.choice((2, 3))) if rng.random() < 0.3 else rng.choice(_TYPES)}

    def _of_numbers(self, depth: int) -> dict[str, Any]:
        rng = self._rng
        number = lambda: rng.choice(_NUMBERS)  # noqa: E731
        strict = (lambda: rng.random() < 0.5) if self._draft == "draft4" else number
        found = self._some(
            minimum=number,
            maximum=number,
            exclusiveMinimum=strict,
            exclusiveMaximum=strict,
            multipleOf=lambda: rng.choice((1, 2, 3, 0.5, 0.1, 7, 1e-3)),
        )
        if self._draft == "draft4":  # a boolean needs its bound
            for name in ("Minimum", "Maximum"):
                if f"exclusive{name}" in found:
                    found.setdefault(name.lower(), number())
        return found

    def _of_strings(self, depth: int) -> dict[str, Any]:
        rng = self._rng
        return self._some(
            minLength=self._count,
            maxLength=self._count,
            pattern=lambda: rng.choice(_PATTERNS),
            format=lambda: rng.choice(_FORMATS),
        )

    def _of_arrays(self, depth: int) -> dict[str, Any]:
        rng = self._rng
        one: Callable[[], Any] = lambda: self._schema(depth)  # noqa: E731
        several = lambda: self._several(depth)  # noqa: E731
        keywords: dict[str, Callable[[], Any]] = {
            "items": one if self._draft == "2020-12" or rng.random() < 0.5 else several,
            "minItems": self._count,
            "maxItems": self._count,
            "uniqueItems": lambda: rng.random() < 0.8,
        }
        if self._draft == "2020-12":
            keywords["prefixItems"] = several
        else:
            keywords["additionalItems"] = lambda: one() if rng.random() < 0.7 else False
        if self._draft != "draft4":
            keywords["contains"] = one
        found = self._some(**keywords)
        if "contains" in found and self._is_modern:
            found |= self._some(minContains=self._count, maxContains=self._count)
        return found

    def _of_objects(self, depth: int) -> dict[str, Any]:
        rng = self._rng
        one: Callable[[], Any] = lambda: self._schema(depth)  # noqa: E731
        keywords: dict[str, Callable[[], Any]] = {
            "properties": lambda: self._by_key(depth),
            "required": self._keys,
            "additionalProperties": lambda: one() if rng.random() < 0.6 else False,
            "patternProperties": lambda: {pattern: one() for pattern in rng.sample(_PATTERNS, rng.choice((1, 1, 2)))},
            "minProperties": self._count,
            "maxProperties": self._count,
        }
        if self._draft != "draft4":
            keywords["propertyNames"] = one
        return self._some(**keywords)

    def _list(self, depth: int) -> dict[str, Any]:
        rng = self._rng
        if rng.random() < 0.5 and self._draft != "draft4":
            return {"const": self.value()}
        values: list[Any] = []
        for _ in range(rng.choice((1, 2, 4))):
            value = self.value()
            if value not in values:
                values.append(value)
        return {"enum": values}

    def _combined(self, depth: int) -> dict[str, Any]:
        several = lambda: self._several(depth)  # noqa: E731
        return self._some(allOf=several, anyOf=several, oneOf=several, not_=lambda: self._schema(depth))

    def _conditional(self, depth: int) -> dict[str, Any]:
        found = {"if": self._schema(depth)}
        for keyword in ("then", "else"):
            if self._rng.random() < 0.7:
                found[keyword] = self._schema(depth)
        return found

    def _reference(self, depth: int) -> dict[str, Any]:
        rng = self._rng
        if self._draft == "2019-09" and rng.random() < 0.3:
            return {"$recursiveRef": "#"}
        if self._draft == "2020-12" and rng.random() < 0.2:
            return {"$dynamicRef": rng.choice(self._targets)}
        return {"$ref": rng.choice(self._targets)}

    def _unevaluated(self, depth: int) -> dict[str, Any]:
        rng = self._rng
        return self._some(
            unevaluatedItems=lambda: self._schema(depth) if rng.random() < 0.5 else False,
            unevaluatedProperties=lambda: self._schema(depth) if rng.random() < 0.5 else False,
        )

    def _dependent(self, depth: int) -> dict[str, Any]:
        return self._some(
            dependentRequired=lambda: {self._rng.choice(_KEYS): self._keys()},
            dependentSchemas=lambda: self._by_key(depth),
        )

    def _dependencies(self, depth: int) -> dict[str, Any]:
        rule = self._keys() if self._rng.random() < 0.5 else self._schema(depth)
        return {"dependencies": {self._rng.choice(_KEYS): rule}}
