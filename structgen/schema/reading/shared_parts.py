"""The size of schemas whose parts are shared: as Python objects they may be much smaller than as text.

With 30 nestings of `s = {"anyOf": [s, {"items": s}]}` the text would have a billion subschemas, and the JSON encoder
would not end. So sizes are computed before it is called; without shared parts that is one look at each value.
"""

from __future__ import annotations

import marshal
from typing import Any

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["check_size", "small_key"]

_MAX_VALUES = 5_000_000
_FEW_VALUES = 20_000  # written at once, so parts that they share do no harm
_FEW_LEVELS = 100
_LARGEST_NUMBER = 2**63  # of a small key; Python may refuse to write larger ones
_MARSHAL_VERSION = 2  # the last one in which equal values have equal bytes


def small_key(content: list[Any]) -> bytes | None:
    """Return a key for content with few values and few levels; None for other content.

    Keys are equal for equal content only: 1, 1.0 and true differ, and members in another order. Python's `marshal`
    takes less time than JSON. Nothing is read back from it.

    Args:
        content: the content. There is no key where it has other types than those of JSON data that Python has read.
    """
    return marshal.dumps(content, _MARSHAL_VERSION) if _is_small(content) else None


def _is_small(content: list[Any]) -> bool:
    """Return whether content has few values, few levels, and the types of JSON data only."""
    count = 0
    level: list[Any] = [content]
    for _ in range(_FEW_LEVELS):
        deeper: list[Any] = []
        for part in level:
            count += len(part)
            if count > _FEW_VALUES:
                return False
            if type(part) is dict:
                members = part
                for name, value in members.items():
                    if type(name) is not str or not _is_plain(value, deeper):
                        return False
            else:
                for value in part:
                    if not _is_plain(value, deeper):
                        return False
        level = deeper
        if not level:
            spend(count)
            return True
    return False


def _is_plain(value: Any, deeper: list[Any]) -> bool:
    """Return whether a value has a type of JSON data. A list or object is appended to those of the next level."""
    kind = type(value)
    if kind is str:
        return True
    if kind is dict or kind is list:
        deeper.append(value)
        return True
    if kind is int:
        return bool(-_LARGEST_NUMBER < value < _LARGEST_NUMBER)
    return kind is float or kind is bool or value is None


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
