"""YAML while it is being written: its whole lines, read as the beginning of a JSON text.

name: Ada                the reader of partial JSON gets   {"name":"Ada","tags":["a"
tags:
  - a
  - b (no line break)    not read yet
"""

from __future__ import annotations

from typing import Any

from structgen.generation.partial_json import PartialReader, partial_value
from structgen.schema.yaml_text.reader import begun_yaml_to_json, yaml_to_json

__all__ = ["PartialYaml", "partial_yaml_value"]

_SHARE = 20  # of a long text, a twentieth must be new before it is read again, so that all reads take linear time


class PartialYaml:
    """Feeds a reader of partial JSON with a YAML text that grows.

    Args:
        reader: gets the JSON text.
    """

    def __init__(self, reader: PartialReader) -> None:
        self._reader = reader
        self._fed = ""
        self._next_size = 1

    def read(self, text: bytes, *, has_ended: bool) -> None:
        """Read the text so far.

        Args:
            text: the text, from its beginning.
            has_ended: whether it is the whole text.
        """
        lines = text if has_ended else text[: text.rfind(b"\n") + 1]
        if len(lines) < self._next_size and not has_ended:
            return
        self._next_size = len(lines) + max(1, len(lines) // _SHARE)
        json_text = yaml_to_json(lines.decode()) if has_ended else begun_yaml_to_json(lines.decode())
        self._reader.feed(json_text[len(self._fed) :].encode())
        self._fed = json_text
        if self._reader.tail == "number":
            self._reader.end_scalar()
        elif self._reader.tail == "string":
            self._reader.show_string()


def partial_yaml_value(text: str) -> Any:
    r"""Return the value of the whole lines of an incomplete text; None when there are none.

    Example:
        >>> partial_yaml_value("name: Ada\nage: 36\ntags:\n  - a\n  - b")
        {'name': 'Ada', 'age': 36, 'tags': ['a']}
    """
    begun = begun_yaml_to_json(text[: text.rfind("\n") + 1])
    return partial_value(begun + " ")  # the blank ends a number
