"""The size of schemas whose parts are shared: as Python objects they may be much smaller than as text.

With 30 nestings of `s = {"anyOf": [s, {"items": s}]}` the text would have a billion subschemas, and the JSON encoder
would not end. So sizes are computed before it is called; without shared parts that is one look at each value.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["SmallKey", "check_size", "small_key"]

_MAX_VALUES = 5_000_000
_FEW_VALUES = 20_000  # written at once, so parts that they share do no harm
_FEW_LEVELS = 100
_OBJECT, _ARRAY, _INTEGER, _FLOAT, _CONSTANT = range(5)  # in a `SmallKey`


class SmallKey(tuple[Any, ...]):
    """A key that is equal for equal content; see `small_key`. Its first value is the number of characters."""

    __slots__ = ()


def small_key(content: list[Any]) -> SmallKey | None:
    """Return a key for content with few values and few levels; None for other content.

    The key has all values, level by level: texts and names as they are, other values after a number for their type. So
    1, 1.0 and true differ, and members in another order. Such a key takes less time than JSON.

        [{"a": [true], "b": "c"}, 5]     OBJECT, 2, INTEGER, 5, "a", ARRAY, 1, "b", "c", CONSTANT, True

    Args:
        content: the content. There is no key where it has other types than those of JSON data that Python has read.
    """
    found: list[Any] = [0]
    count = 0
    level: list[Any] = [content]
    for _ in range(_FEW_LEVELS):
        deeper: list[Any] = []
        for part in level:
            count += len(part)
            if count > _FEW_VALUES:
                return None
            if type(part) is dict:
                members = part
                for name, value in members.items():
                    if type(name) is not str:
                        return None
                    found.append(name)
                    if not _describe(value, found, deeper):
                        return None
            else:
                for value in part:
                    if not _describe(value, found, deeper):
                        return None
        level = deeper
        if not level:
            spend(count)
            found[0] = _characters(found)
            return SmallKey(found)
    return None


def _describe(value: Any, found: list[Any], deeper: list[Any]) -> bool:
    """Append a value to a key, and a list or object to those of the next level; return False for other types."""
    kind = type(value)
    if kind is str:
        found.append(value)
        return True
    if kind is dict or kind is list:
        found.append(_OBJECT if kind is dict else _ARRAY)
        found.append(len(value))
        deeper.append(value)
        return True
    if kind is int:
        found.append(_INTEGER)
        found.append(value)
        return True
    if kind is float:
        found.append(_FLOAT)
        found.append(repr(value))  # 0.0 and -0.0 are equal, and written differently
        return True
    found.append(_CONSTANT)
    found.append(value)
    return value is None or value is True or value is False


def _characters(found: list[Any]) -> int:
    count = 0
    for value in found:
        if type(value) is str:
            count += len(value)
    return count


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
