"""Instances of a JSON Schema, drawn by hypothesis-jsonschema."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import hypothesis
from hypothesis.internal.conjecture import utils
from hypothesis_jsonschema import _from_schema

__all__ = ["instances"]


class _Many:
    """`many` with `more()`, which hypothesis-jsonschema 0.23.1 calls and later releases of hypothesis have not."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._many: Any = utils.many(*args, **options)
        self._many.__enter__()
        self._left: Iterator[None] = iter(self._many)

    def more(self) -> bool:
        """Whether there is another element."""
        for _ in self._left:
            return True
        self._many.__exit__(None, None, None)
        return False

    def reject(self, why: str | None = None) -> None:
        """Leave out the last element."""
        self._many.reject(why)


if not hasattr(utils.many, "more"):
    _from_schema.cu = types.SimpleNamespace(**{**vars(utils), "many": _Many})


def instances(schema: dict[str, Any], count: int, seed: int) -> list[Any]:
    """Up to a number of instances; none where hypothesis-jsonschema cannot read the schema, or finds no instance.

    Schemas have no references: beside other keywords, it resolves them in a part of the schema, and fails.
    """
    found: list[Any] = []
    checks = list(hypothesis.HealthCheck)
    phases = [hypothesis.Phase.generate]

    def keep(value: Any) -> None:
        found.append(value)

    try:
        drawn = hypothesis.given(_from_schema.from_schema(schema))(keep)
        chosen = hypothesis.settings(max_examples=count, database=None, phases=phases, suppress_health_check=checks)
        chosen(hypothesis.seed(seed)(drawn))()
    except (hypothesis.errors.HypothesisException, AssertionError):  # its own assertion, of the pattern ""
        pass
    return found
