"""The size of schemas whose parts are shared: as Python objects they may be much smaller than as text.

With 30 nestings of `s = {"anyOf": [s, {"items": s}]}` the text would have a billion subschemas, and the JSON encoder
would not end. So sizes are computed before it is called; without shared parts that is one look at each value.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["check_size", "is_small"]

_MAX_VALUES = 5_000_000
_FEW_VALUES = 20_000  # written at once, so parts that they share do no harm
_FEW_LEVELS = 100
_SCALARS = frozenset({str, int, float, bool, type(None)})


def is_small(content: dict[str, Any] | list[Any]) -> bool:
    """Return whether content has few values, few levels, and no other types than JSON data that Python has read.

    Args:
        content: anything.
    """
    count = 0
    level = [content]
    for _ in range(_FEW_LEVELS):
        deeper: list[Any] = []
        for part in level:
            count += len(part)
            if count > _FEW_VALUES:
                return False
            values = part
            if type(part) is dict:
                members = part
                values = []
                for key, value in members.items():
                    if type(key) is not str:
                        return False
                    values.append(value)
            for value in values:
                kind = type(value)
                if kind is dict or kind is list:
                    deeper.append(value)
                elif kind not in _SCALARS:
                    return False
        level = deeper
        if not level:
            spend(count)
            return True
    return False


def check_size(content: Any, limits: Limits) -> int:
    """Check that a schema with shared parts is not too large as text.

    Args:
        content: JSON data.
        limits: `schema_nodes` bounds the values in the text, from five million up.

    Returns:
        The number of values in the text; 0 if they are many and parts are shared.

    Raises:
        LimitExceededError: schema_nodes.
        RecursionError: the schema is nested too deeply.
    """
    count = _count_few(content)
    if count:
        return count
    count = _count_unshared(content)
    if not count and _text_size(content, {}) > max(_MAX_VALUES, limits.schema_nodes):
        raise LimitExceededError("schema_nodes", limits.schema_nodes)
    return count


def _count_few(content: Any) -> int:
    """Return the number of values in the text, shared parts each time; 0 where they are many."""
    count = 1
    waiting = [content]
    while waiting:
        part = waiting.pop()
        count += len(part)
        if count > _FEW_VALUES:
            return 0
        if isinstance(part, dict):
            members = part
            for value in members.values():
                if isinstance(value, (dict, list, tuple)):
                    waiting.append(value)
        else:
            for value in part:
                if isinstance(value, (dict, list, tuple)):
                    waiting.append(value)
    spend(count)
    return count


def _count_unshared(content: Any) -> int:
    """Return the number of values; 0 if one array or object occurs at more than one place."""
    ids: set[int] = set()
    count = 1
    found = 1
    waiting = [content]
    while waiting:
        part = waiting.pop()
        ids.add(id(part))
        if len(ids) < found:
            return 0
        spend(len(part))
        count += len(part)
        for value in part.values() if isinstance(part, dict) else part:
            if isinstance(value, (dict, list, tuple)):
                waiting.append(value)
        found += 1
    return count


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
