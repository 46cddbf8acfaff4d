"""The size of schemas whose parts are shared: as Python objects they may be much smaller than as text.

With 30 nestings of `s = {"anyOf": [s, {"items": s}]}` the text would have a billion subschemas, and the JSON encoder
would not end. So sizes are computed before it is called; without shared parts that is one look at each value.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["check_size"]

_MAX_VALUES = 5_000_000


def check_size(content: Any, limits: Limits) -> None:
    """Check that a schema with shared parts is not too large as text.

    Args:
        content: JSON data.
        limits: `schema_nodes` bounds the values in the text, from five million up.

    Raises:
        LimitExceededError: schema_nodes.
        RecursionError: the schema is nested too deeply.
    """
    if _shares_parts(content) and _text_size(content, {}) > max(_MAX_VALUES, limits.schema_nodes):
        raise LimitExceededError("schema_nodes", limits.schema_nodes)


def _shares_parts(content: Any) -> bool:
    """Return whether one array or object occurs at more than one place."""
    ids: set[int] = set()
    found = 1
    waiting = [content]
    while waiting:
        part = waiting.pop()
        ids.add(id(part))
        if len(ids) < found:
            return True
        spend(len(part))
        for value in part.values() if isinstance(part, dict) else part:
            if isinstance(value, (dict, list, tuple)):
                waiting.append(value)
        found += 1
    return False


def _text_size(part: Any, known: dict[int, int]) -> int:
    """Return the number of values in the text of a part; each part is visited once."""
    found = known.get(id(part))
    if found is None:
        known[id(part)] = 0  # a part within itself: the encoder refuses it
        found = 1
        if isinstance(part, (dict, list, tuple)):
            found += sum([_text_size(value, known) for value in (part.values() if isinstance(part, dict) else part)])
        known[id(part)] = found
    return found
