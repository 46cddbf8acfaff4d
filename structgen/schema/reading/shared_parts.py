"""The size of schemas whose parts are shared: as Python objects they may be much smaller than as text.

With 30 nestings of `s = {"anyOf": [s, {"items": s}]}` the text would have a billion subschemas, and the JSON encoder
would not end. So sizes are computed before it is called; without shared parts that is one look at each value.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["SmallKey", "check_size", "content_of", "count_few", "small_key", "text_length"]

_MAX_VALUES = 5_000_000
_FEW_VALUES = 20_000  # written at once, so parts that they share do no harm
_FEW_LEVELS = 100
_LARGEST_NUMBER = 2**63  # of a small key; Python may refuse to write larger ones


class SmallKey(tuple[Any, ...]):
    """A key of content: its values in a row, after the length of all its texts.

    Each list or object is written after those that stand before it or are less deep: its length, then its members. In
    place of a member that is a list or an object stands its type.

        [{"a": [1.5]}, {}]      1 dict dict   1 "a" list   0   1 float "1.5"
    """

    __slots__ = ()


def text_length(key: Any) -> int:
    """Return the length of all texts in a key: a tuple of texts, small keys, tuples like it, and other values."""
    length = 0
    for part in key:
        kind = type(part)
        if kind is SmallKey:
            length += part[0]
        elif kind is tuple:
            length += text_length(part)
        elif kind is str or kind is bytes:
            length += len(part)
    return length


def small_key(content: list[Any]) -> SmallKey | None:
    """Return a key for content with few values and few levels; None for other content.

    Keys are equal for equal content only: 1, 1.0 and true differ, and members in another order. The texts in a key are
    those of the content, which is in memory anyway: nothing is written.

    Args:
        content: the content. There is no key where it has other types than those of JSON data that Python has read.
    """
    count = length = 0
    found: list[Any] = [0]
    level: list[Any] = [content]
    for _ in range(_FEW_LEVELS):
        deeper: list[Any] = []
        for part in level:
            size = len(part)
            count += size
            if count > _FEW_VALUES:
                return None
            found.append(size)
            if type(part) is dict:
                members = part
                for name, value in members.items():
                    if type(name) is not str:
                        return None
                    text = name  # compiled, its type is known, unlike that of a member
                    length += len(text)
                    found.append(text)
                    if type(value) is str:
                        text = value
                        length += len(text)
                        found.append(text)
                    elif not _add(value, found, deeper):
                        return None
            else:
                for value in part:
                    if type(value) is str:
                        text = value
                        length += len(text)
                        found.append(text)
                    elif not _add(value, found, deeper):
                        return None
        level = deeper
        if not level:
            spend(count)
            found[0] = length
            return SmallKey(found)
    return None


def content_of(key: SmallKey) -> list[Any]:
    """Return a copy of the content that a small key was made of."""
    values = iter(key)
    next(values)
    content: list[Any] = []
    waiting: list[Any] = [content]
    for part in waiting:  # grows meanwhile
        is_object = isinstance(part, dict)
        for _ in range(next(values)):
            name = next(values) if is_object else None
            value = next(values)
            if value is dict or value is list:
                value = value()
                waiting.append(value)
            elif value is bool:
                value = next(values) == "True"
            elif value is float:
                value = float(next(values))
            if is_object:
                part[name] = value
            else:
                part.append(value)
    return content


def _add(value: Any, found: list[Any], deeper: list[Any]) -> bool:
    """Add a value that is no text to a key, and lists and objects to those of the next level, too.

    Returns:
        Whether it has a type of JSON data.
    """
    kind = type(value)
    if kind is dict or kind is list:
        found.append(kind)
        deeper.append(value)
        return True
    if kind is bool or kind is float:  # 1 == 1.0 == True
        found.append(kind)
        found.append(repr(value))
        return True
    found.append(value)
    if kind is int:
        return bool(-_LARGEST_NUMBER < value < _LARGEST_NUMBER)
    return value is None


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
    count = count_few(content, _FEW_VALUES)
    if count:
        return count
    count = _count_unshared(content)
    if not count and _text_size(content, {}) > max(_MAX_VALUES, limits.schema_nodes):
        raise LimitExceededError("schema_nodes", limits.schema_nodes)
    return count


def count_few(content: Any, at_most: int) -> int:
    """Return the number of values in the text of a list or object, shared parts each time; 0 where they are more."""
    count = 1
    waiting = [content]
    while waiting:
        part = waiting.pop()
        count += len(part)
        if count > at_most:
            spend(count)
            return 0
        for value in part.values() if isinstance(part, dict) else part:
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
