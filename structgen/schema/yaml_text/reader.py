"""From YAML text to JSON text: the reader of answers in YAML, by PyYAML with the core schema of YAML 1.2.

PyYAML reads the syntax. Its own types are those of YAML 1.1, so plain scalars get theirs here:

    null, Null, NULL, ~, no text            null
    true, True, TRUE, false, False, FALSE   booleans
    12, -3, 0o17, 0x1F                      integers
    1.5, .5, 1e3, +1.0                      numbers
    anything else                           strings: no, 12:30, 2024-05-01

Numbers in JSON's own form keep their digits, so that a `Decimal` is exact. Values that JSON does not have are refused:
`.inf`, `.nan`, tags of other types, keys that are not strings, and repeated keys. So are aliases, and more than one
document.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from types import ModuleType
from typing import Any, NamedTuple

from structgen.errors import StructgenError

__all__ = ["YamlSyntaxError", "YamlText", "begun_yaml_to_json", "read_yaml", "require_yaml", "yaml_to_json"]

_NULLS = frozenset(("null", "Null", "NULL", "~", ""))
_BOOLEANS = {name: value for value in ("true", "false") for name in (value, value.title(), value.upper())}
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_RADIX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_TAG = "tag:yaml.org,2002:"


class YamlSyntaxError(ValueError):
    """A text is not YAML, or not the YAML of one JSON value.

    Attributes:
        line, column: the position, both from 1.
    """

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.line = line
        self.column = column


def require_yaml() -> ModuleType:
    """Return PyYAML.

    Raises:
        StructgenError: it is not installed.
    """
    try:
        module = importlib.import_module("yaml")
    except ImportError as error:
        raise StructgenError("YAML needs the package PyYAML", hint="pip install 'structgen-llm[yaml]'") from error
    return module


def yaml_to_json(text: str) -> str:
    r"""Return the JSON text of the value of a YAML text.

    >>> yaml_to_json("name: no\ntags:\n- 1.50\n- null\n")
    '{"name":"no","tags":[1.50,null]}'

    Raises:
        YamlSyntaxError: the text is not YAML, or its value is not JSON; with the line and column.
        StructgenError: PyYAML is not installed.
    """
    return read_yaml(text).json_text


class YamlText(NamedTuple):
    """The value of a YAML text.

    Attributes:
        json_text: the value as JSON text.
        starts: the offset of each value in the YAML text, in characters, by the keys and indices that lead to it.
    """

    json_text: str
    starts: dict[tuple[str | int, ...], int]


def read_yaml(text: str) -> YamlText:
    """Return the value of a YAML text, and where its parts are.

    Raises:
        YamlSyntaxError, StructgenError: as `yaml_to_json`.
    """
    writer = _JsonWriter()
    for event in _events(text):
        writer.read(type(event).__name__, event)
    return YamlText(writer.text(), writer.starts)


def _events(text: str) -> Iterator[Any]:
    """Yield PyYAML's events of a text.

    Raises:
        YamlSyntaxError, StructgenError: as `yaml_to_json`.
    """
    yaml = require_yaml()
    try:
        yield from yaml.parse(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        raise _error(str(problem), mark or _mark_of(text, getattr(error, "position", 0))) from error


def begun_yaml_to_json(lines: str) -> str:
    r"""Return the beginning of the JSON text of a YAML text that begins with some whole lines.

    More lines only add to it. What they may change is left out: a value that is not there yet, the end of a collection,
    and the end of a block. A scalar of another style must be on one line, as structgen writes it.

    >>> begun_yaml_to_json("name: Ada\ntags:\n- a\n")
    '{"name":"Ada","tags":["a"'
    >>> begun_yaml_to_json("name: Ada\ntags:\n")
    '{"name":"Ada","tags":'
    >>> begun_yaml_to_json("- |\n  one\n")
    '["one'

    Raises:
        YamlSyntaxError, StructgenError: as `yaml_to_json`.
    """
    writer = _JsonWriter()
    last: Any = None  # a scalar, of which it is not known whether it has ended
    for event in _events(lines):
        if event.start_mark.index >= len(lines):  # the end of what is open at the end of the text
            break
        if last is not None:
            writer.read("ScalarEvent", last)
        last = event if type(event).__name__ == "ScalarEvent" else None
        if last is None:
            writer.read(type(event).__name__, event)
    if last is None or (last.style is None and not last.value):
        return writer.begun_text()
    writer.read("ScalarEvent", last)
    return writer.begun_text(last.value.rstrip("\n") if last.style == "|" else None)


class _Mark:
    """A position, as PyYAML gives it: both numbers from 0."""

    def __init__(self, line: int, column: int) -> None:
        self.line = line
        self.column = column


def _mark_of(text: str, position: int) -> _Mark:
    return _Mark(text.count("\n", 0, position), position - text.rfind("\n", 0, position) - 1)


def _error(message: str, mark: Any) -> YamlSyntaxError:
    return YamlSyntaxError(message, mark.line + 1, mark.column + 1)


class _JsonWriter:
    """A writer of JSON text from PyYAML's events. It does not recurse, so texts may nest to any depth."""

    def __init__(self) -> None:
        self._written: list[str] = []
        self._keys: list[set[str] | None] = []  # of each open map; None for a list
        self._is_key: list[bool] = []  # whether the next value of each open collection is a key
        self._is_first: list[bool] = []
        self._documents = 0
        self._path: list[str | int] = []  # the key or the index of the current value of each open collection
        self.starts: dict[tuple[str | int, ...], int] = {}

    def text(self) -> str:
        """Return the JSON text.

        Raises:
            YamlSyntaxError: there was no document.
        """
        if not self._documents:
            raise YamlSyntaxError("the text has no value", 1, 1)
        return "".join(self._written)

    def begun_text(self, open_string: str | None = None) -> str:
        """Return the JSON text so far.

        Args:
            open_string: what is sure of the string at the end, without the closing quote; None where it has ended.
        """
        if open_string is None:
            return "".join(self._written)
        return "".join(self._written[:-1]) + json.dumps(open_string, ensure_ascii=False)[:-1]

    def read(self, kind: str, event: Any) -> None:
        """Write an event of PyYAML.

        Raises:
            YamlSyntaxError: JSON has no such value.
        """
        if kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise _error("a second document begins", event.start_mark)
        elif kind == "AliasEvent":
            raise _error("an alias; structgen reads no aliases", event.start_mark)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            is_map = kind == "MappingStartEvent"
            if event.tag is not None and event.tag != _TAG + ("map" if is_map else "seq"):
                raise _error(f"the tag {event.tag}, which JSON has no type for", event.start_mark)
            if self._is_at_key():
                raise _error("a key that is not a string", event.start_mark)
            self._begin_value(event)
            self._path.append("" if is_map else -1)
            self._written.append("{" if is_map else "[")
            self._keys.append(set() if is_map else None)
            self._is_key.append(is_map)
            self._is_first.append(True)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._path.pop()
            self._keys.pop()
            self._is_key.pop()
            self._is_first.pop()
            self._written.append("}" if kind == "MappingEndEvent" else "]")
            self._end_value()
        elif kind == "ScalarEvent":
            self._scalar(event)

    def _scalar(self, event: Any) -> None:
        text = _scalar_json(event)
        if self._is_at_key():
            keys = self._keys[-1]
            if not text.startswith('"'):
                raise _error(f"the key {event.value!r} is not a string", event.start_mark)
            if keys is not None and text in keys:
                raise _error(f"the key {event.value!r} occurs twice", event.start_mark)
            if keys is not None:
                keys.add(text)
            self._written.append(f"{'' if self._is_first[-1] else ','}{text}:")
            self._is_first[-1] = False
            self._is_key[-1] = False
            self._path[-1] = event.value
            return
        self._begin_value(event)
        self._written.append(text)
        self._end_value()

    def _is_at_key(self) -> bool:
        return bool(self._is_key) and self._is_key[-1]

    def _begin_value(self, event: Any) -> None:
        if self._keys and self._keys[-1] is None:
            if not self._is_first[-1]:
                self._written.append(",")
            self._is_first[-1] = False
            index = self._path[-1]
            self._path[-1] = index + 1 if isinstance(index, int) else 0
        self.starts[tuple(self._path)] = event.start_mark.index

    def _end_value(self) -> None:
        if self._keys and self._keys[-1] is not None:
            self._is_key[-1] = True


def _scalar_json(event: Any) -> str:
    """Return the JSON text of a scalar event.

    Raises:
        YamlSyntaxError: JSON has no such value.
    """
    value: str = event.value
    is_plain, is_string = event.implicit
    if not is_plain and (is_string or event.tag in (_TAG + "str", "!")):
        return json.dumps(value, ensure_ascii=False)
    for name, text in _plain_types(value):
        if is_plain or event.tag == _TAG + name:
            if not text:
                raise _error(f"{value}, which is not a number of JSON", event.start_mark)
            return text
    raise _error(f"the tag {event.tag}, which does not fit {value!r}", event.start_mark)


def _plain_types(value: str) -> Iterator[tuple[str, str]]:
    """Yield the types that a plain scalar may have, the one without a tag first, and its JSON text in each.

    The text is empty where JSON has no such number.
    """
    if value in _NULLS:
        yield "null", "null"
    elif value in _BOOLEANS:
        yield "bool", _BOOLEANS[value]
    elif _RADIX.fullmatch(value):
        yield "int", _radix_json(value)
    elif _JSON_NUMBER.fullmatch(value):
        is_integer = value.lstrip("-").isdigit()
        yield ("int" if is_integer else "float"), value
        if is_integer:
            yield "float", f"{value}.0"
    elif _DECIMAL.fullmatch(value):
        digits = value.lstrip("+-")
        yield ("int" if digits.isdigit() else "float"), _decimal_json(value)
    elif _NOT_FINITE.fullmatch(value):
        yield "float", ""
    else:
        yield "str", json.dumps(value, ensure_ascii=False)


def _radix_json(value: str) -> str:
    """Return the JSON text of an octal or hexadecimal number; nothing for one with more digits than Python writes."""
    try:
        return str(int(value, 0))
    except ValueError:
        return ""


def _decimal_json(value: str) -> str:
    """Return the JSON text of a number in a form that JSON does not have: `+1`, `007`, `.5`, `1.`.

    It is empty for an exponent that no decimal number of Python can have.
    """
    digits = value.lstrip("+-")
    if digits.isdigit():
        return ("-" if value.startswith("-") else "") + (digits.lstrip("0") or "0")
    try:
        return str(Decimal(value)).replace("E", "e")
    except ArithmeticError:
        return ""
