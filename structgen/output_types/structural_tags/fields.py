"""Keys of the JSON objects of a structural tag, checked when they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from structgen.errors import GrammarError

__all__ = ["Fields", "refuse"]

_MISSING: Any = object()

MAX_COUNT = 2**31 - 1
"""The largest number of characters, tokens or repetitions that a tag may give."""


def refuse(message: str, pointer: str, *, hint: str = "") -> NoReturn:
    """Raise the error of a location.

    Args:
        message: what is wrong.
        pointer: the location, as a JSON pointer without `#`.
        hint: what the caller can do.

    Raises:
        GrammarError: always.
    """
    raise GrammarError(f"{message} (at #{pointer})", hint=hint)


def escaped(name: str) -> str:
    """Return a key as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


class Fields:
    """The keys of one object. Each is read once; those that are left in the end are unknown.

    Args:
        data: the object.
        pointer: its location, as a JSON pointer without `#`.

    Attributes:
        pointer: see above.

    Raises:
        GrammarError: `data` is no object with texts as keys.
    """

    def __init__(self, data: Any, pointer: str) -> None:
        if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
            refuse(f"a structural tag is made of JSON objects, not of {type(data).__name__}", pointer)
        self._data = data
        self._left = set(data)
        self.pointer = pointer

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def at(self, name: str, index: int | None = None) -> str:
        """Return the location of a key's value, or of one of its items."""
        return f"{self.pointer}/{escaped(name)}" + ("" if index is None else f"/{index}")

    def value(self, name: str, default: Any = _MISSING) -> Any:
        """Return a key's value, of any type."""
        self._left.discard(name)
        found = self._data.get(name, default)
        if found is _MISSING:
            refuse(f"{name!r} is missing", self.pointer)
        return found

    def text(self, name: str, default: Any = _MISSING) -> str:
        """Return a key's text."""
        found: str = self._checked(name, default, "a text", lambda found: isinstance(found, str))
        if not _is_text(found):
            refuse("a lone surrogate cannot be written", self.at(name))
        return found

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a key's boolean."""
        found: bool = self._checked(name, default, "true or false", lambda found: isinstance(found, bool))
        return found

    def count(self, name: str, default: Any = _MISSING, *, least: int = 0) -> Any:
        """Return a key's integer, or None where that is the default."""
        words = f"an integer from {least} to {MAX_COUNT}"
        return self._checked(name, default, words, lambda found: _is_count(found, least))

    def items(self, name: str, default: Any = _MISSING, *, may_be_empty: bool = False) -> list[Any]:
        """Return a key's list."""
        words = "a list" if may_be_empty else "a list of at least one item"
        found: list[Any] = self._checked(
            name, default, words, lambda found: isinstance(found, list) and (may_be_empty or bool(found))
        )
        return found

    def texts(self, name: str, default: Any = _MISSING) -> list[str]:
        """Return a key's texts, none of them empty."""
        found = self.items(name, default, may_be_empty=default is not _MISSING)
        for index, text in enumerate(found):
            if not _is_text(text) or not text:
                refuse("it must be a text that is not empty", self.at(name, index))
        return found

    def done(self) -> None:
        """Refuse keys that were not read.

        Raises:
            GrammarError: there are some.
        """
        if self._left:
            name = min(self._left)
            refuse(f"{name!r} is unknown here", self.pointer, hint="remove it, or check its spelling")

    def _checked(self, name: str, default: Any, words: str, is_right: Callable[[Any], bool]) -> Any:
        found = self.value(name, default)
        if found is not default and not is_right(found):
            refuse(f"it must be {words}, not {found!r}", self.at(name))
        return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_COUNT
