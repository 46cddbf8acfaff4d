r"""The arguments of a call as literals, of Gemma and of Python: as text and as data.

    gemma    {a:1,note:<|"|>x<|"|>,more:{b:null}}
    python   (a=1, note='x', more={'b': None})

White space may stand beside each sign, and both notations have the words of JSON and of Python: `null` and `None`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

__all__ = ["read_gemma", "read_python", "write_gemma", "write_python"]

_GAP = re.compile(r"\s*")
_BARE_KEY = re.compile(r"[^\s:=,(){}\[\]\"']+")
_WORD = re.compile(r"[^\s,(){}\[\]:=\"']+")
_WORDS = {"null": None, "None": None, "nil": None, "true": True, "True": True, "false": False, "False": False}
_LITERAL = {quote: re.compile(rf"{quote}((?:[^{quote}\\]|\\.)*){quote}", re.DOTALL) for quote in "'\""}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"', "/": "/", "\n": ""}


class _EndedError(Exception):
    """The text ends within the arguments."""


def read_gemma(text: str, start: int, mark: str) -> tuple[dict[str, Any], int]:
    """Read arguments in Gemma's notation.

    Args:
        text: the whole text.
        start: the position of the arguments.
        mark: the text before and after a string.

    Returns:
        The arguments, and the position after them; where the text ends within them, those so far, and -1.

    Raises:
        ValueError: they are not in the notation.
    """
    return _read(_Gemma(text, start, mark), "{", "}", ":")


def read_python(text: str, start: int) -> tuple[dict[str, Any], int]:
    """Read named arguments in Python's notation; see `read_gemma`."""
    return _read(_Python(text, start), "(", ")", "=")


def _read(reader: _Reader, opening: str, closing: str, separator: str) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    try:
        reader.expect(opening)
        reader.pairs(values, reader.bare_key, separator, closing)
    except _EndedError:
        return values, -1
    except RecursionError as error:
        raise ValueError("the arguments are nested too deeply") from error
    return values, reader.at


class _Reader:
    """A reader of one text.

    Args:
        text: the text.
        at: the position where it begins to read.

    Attributes:
        at: the position that it has come to.
    """

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at

    def string(self) -> str | None:
        """Read a string; return None where there is none."""
        raise NotImplementedError

    def key(self) -> str:
        """Read a key within a value."""
        raise NotImplementedError

    def takes(self, sign: str) -> bool:
        """Read a sign and the white space before it, if they come next."""
        self.skip()
        if not self._text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def expect(self, sign: str) -> None:
        """Read a sign."""
        if not self.takes(sign):
            self._refuse(repr(sign))

    def skip(self) -> None:
        """Read white space.

        Raises:
            _EndedError: nothing follows it.
        """
        found = _GAP.match(self._text, self.at)
        self.at = found.end() if found else self.at
        if self.at == len(self._text):
            raise _EndedError

    def pairs(self, values: dict[str, Any], key: Callable[[], str], separator: str, closing: str) -> None:
        """Read keys and values up to a closing sign, into `values`."""
        while not self.takes(closing):
            name = key()
            self.expect(separator)
            values[name] = self.value()
            if not self.takes(","):
                self.expect(closing)
                return

    def bare_key(self) -> str:
        """Read a key without quotes."""
        return self._match(_BARE_KEY, "a key")

    def value(self) -> Any:
        """Read a value."""
        self.skip()
        text = self.string()
        if text is not None:
            return text
        if self.takes("{"):
            values: dict[str, Any] = {}
            self.pairs(values, self.key, ":", "}")
            return values
        if self.takes("["):
            return self._items()
        word = self._match(_WORD, "a value")
        return _WORDS[word] if word in _WORDS else json.loads(word)

    def _items(self) -> list[Any]:
        items: list[Any] = []
        while not self.takes("]"):
            items.append(self.value())
            if not self.takes(","):
                self.expect("]")
                break
        return items

    def _match(self, pattern: re.Pattern[str], words: str) -> str:
        """Read a text that ends before another sign."""
        self.skip()
        found = pattern.match(self._text, self.at)
        if found is None:
            self._refuse(words)
        if found.end() == len(self._text):
            raise _EndedError
        self.at = found.end()
        return found.group()

    def _refuse(self, words: str) -> NoReturn:
        raise ValueError(f"no {words} at position {self.at}: {self._text[self.at : self.at + 40]!r}")


class _Gemma(_Reader):
    """A reader of Gemma's notation."""

    def __init__(self, text: str, at: int, mark: str) -> None:
        super().__init__(text, at)
        self._mark = mark

    def string(self) -> str | None:
        """Read a string between marks; return None where there is none."""
        rest = self._text[self.at : self.at + len(self._mark)]
        if rest != self._mark:
            if self._mark.startswith(rest):
                raise _EndedError
            return None
        start = self.at + len(self._mark)
        end = self._text.find(self._mark, start)
        if end < 0:
            raise _EndedError
        self.at = end + len(self._mark)
        return self._text[start:end]

    def key(self) -> str:
        """Read a key; some models write marks around it."""
        self.skip()
        marked = self.string()
        return self.bare_key() if marked is None else marked


class _Python(_Reader):
    """A reader of Python's notation. Some models write line breaks within strings."""

    def string(self) -> str | None:
        """Read a string in quotes; return None where there is none."""
        pattern = _LITERAL.get(self._text[self.at])
        if pattern is None:
            return None
        found = pattern.match(self._text, self.at)
        if found is None:
            raise _EndedError
        self.at = found.end()
        text = _ESCAPE.sub(_unescaped, found[1])
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins pairs of surrogates

    def key(self) -> str:
        """Read a key of a dict."""
        self.skip()
        key = self.string()
        if key is None:
            self._refuse("a key in quotes")
        return key


def _unescaped(found: re.Match[str]) -> str:
    number = found[1] or found[2] or found[3]
    return chr(int(number, 16)) if number else _SHORT.get(found[4], found[0])


# --- writing ---------------------------------------------------------------------------------------------------------


def write_gemma(value: Any, mark: str) -> str:
    """Return a value in Gemma's notation."""
    if isinstance(value, str):
        return f"{mark}{value}{mark}"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{write_gemma(one, mark)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(write_gemma(one, mark) for one in value) + "]"
    return json.dumps(value)


def write_python(arguments: Mapping[str, Any]) -> str:
    """Return named arguments in Python's notation."""
    return "(" + ", ".join(f"{key}={_literal(value)}" for key, value in arguments.items()) + ")"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        inner = json.dumps(value, ensure_ascii=False)[1:-1]
        return "'" + inner.replace('\\"', '"').replace("'", "\\'") + "'"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return repr(value) if value is None or isinstance(value, bool) else json.dumps(value)
