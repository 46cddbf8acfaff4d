"""JSON data in Python's own types: `dict`, `list`, `str`, `int` and `float` in place of their subclasses.

Schemas come as `OrderedDict`, as the maps of a YAML reader, or with members of a `StrEnum` among their values. Compiled
code reads dictionaries by their exact type.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.deadlines import spend

__all__ = ["plain_copy", "plain_data"]

_EXACT = {dict, list, tuple, str, int, float, bool, type(None)}
_SCALARS = (str, int, float)


def plain_data(content: Any) -> Any:
    """Return JSON data in Python's own types; the same object where it has no others. Shared parts stay shared."""
    return content if _is_plain(content) else plain_copy(content)


def plain_copy(content: Any) -> Any:
    """Return a copy of JSON data in Python's own types, which no caller can change. Shared parts stay shared."""
    copies: dict[int, Any] = {}
    made = _copy_of(content, copies)
    waiting = [content]
    for part in waiting:  # grows meanwhile
        spend(1 + len(part))
        copy = copies[id(part)]
        members = part.items() if isinstance(part, dict) else enumerate(part)
        for key, value in members:
            if isinstance(value, (dict, list, tuple)):
                if id(value) not in copies:
                    waiting.append(value)
                value = _copy_of(value, copies)
            else:
                value = _plain_scalar(value)
            if isinstance(part, dict):
                copy[_plain_scalar(key)] = value
            else:
                copy.append(value)
    return made


def _is_plain(content: Any) -> bool:
    """Return whether data has no subclasses of Python's own types."""
    if not _is_exact(content):
        return False
    seen: set[int] = set()
    waiting = [content] if isinstance(content, (dict, list, tuple)) else []
    while waiting:
        part = waiting.pop()
        spend(1 + len(part))
        if type(part) is dict:
            members = part
            for name, value in members.items():
                if type(name) is not str and not _is_exact(name):
                    return False
                if type(value) is not str and _waits(value, seen, waiting):
                    return False
        else:
            for value in part:
                if type(value) is not str and _waits(value, seen, waiting):
                    return False
    return True


def _waits(value: Any, seen: set[int], waiting: list[Any]) -> bool:
    """Return whether a value is of a subclass; a dictionary or list of an exact type waits to be looked at, once."""
    kind = type(value)
    if kind is dict or kind is list or kind is tuple:
        if id(value) not in seen:
            seen.add(id(value))
            waiting.append(value)
        return False
    return not _is_exact(value)


def _is_exact(value: Any) -> bool:
    """Return whether a value is of no subclass of the types of JSON data."""
    return type(value) in _EXACT or not isinstance(value, (dict, list, tuple, *_SCALARS))


def _copy_of(part: Any, copies: dict[int, Any]) -> Any:
    """Return the copy of a dictionary or list, empty at first; scalars have none."""
    if not isinstance(part, (dict, list, tuple)):
        return _plain_scalar(part)
    return copies.setdefault(id(part), {} if isinstance(part, dict) else [])


def _plain_scalar(value: Any) -> Any:
    """Return a text or number in Python's own type. Others stay as they are."""
    if type(value) in _EXACT or not isinstance(value, _SCALARS):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # of a member of an enum its value, not its name
    return int(value) if isinstance(value, int) else float(value)
