"""From JSON text to block-style YAML: the text that the masks let through, for examples in prompts and for tests."""

from __future__ import annotations

import json
import re
from typing import Any

from structgen.schema.yaml_text.characters import LINE_RANGES, character_class, is_plain
from structgen.schema.yaml_text.keys import key_text
from structgen.schema.yaml_text.scalars import quoted_canonical

__all__ = ["json_to_yaml"]

_LINES = re.compile(character_class(((0x0A, 0x0A), *LINE_RANGES)) + "+")
_EXPONENT = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)[eE]([-+]?)([0-9]+)")
_STEP = 2


class _Number(str):
    """The text of a number in JSON."""


def json_to_yaml(text: str, *, list_step: int = _STEP, blocks: bool = True) -> str:
    r"""Return the YAML text of the value of a JSON text. Numbers keep their digits, and objects their order.

    Args:
        text: the JSON text.
        list_step: the blanks before the dashes of a list in a map.
        blocks: whether strings of several lines are written as blocks with `|`; otherwise they are quoted.

    Raises:
        ValueError: the text is not JSON.

    >>> json_to_yaml('{"name": "Ada", "tags": ["no", "a b"]}', list_step=0)
    'name: Ada\ntags:\n- "no"\n- a b'
    """
    value = json.loads(text, parse_int=_Number, parse_float=_Number)
    return _Writer(list_step, blocks).text(value)


class _Writer:
    """A writer of values.

    Args:
        list_step, blocks: as for `json_to_yaml`.
    """

    def __init__(self, list_step: int, blocks: bool) -> None:
        self._list_step = list_step
        self._blocks = blocks
        self._keeps_break = False  # whether the last scalar is a block whose last line break belongs to it

    def text(self, value: Any) -> str:
        """Return the text of a whole value. It ends with a line break after a block that needs one only."""
        if isinstance(value, (dict, list)) and value:
            text = self._lines(value, 0)
        else:
            text = f"{self._scalar(value, -_STEP)}\n"
        return text if self._keeps_break else text.removesuffix("\n")

    def _lines(self, value: Any, margin: int) -> str:
        """Return the lines of a map or list, the first one without its margin."""
        separator = " " * margin
        if isinstance(value, list):
            return separator.join(f"- {self._after_dash(item, margin)}" for item in value)
        return separator.join(f"{key_text(key).decode()}{self._after_key(of, margin)}" for key, of in value.items())

    def _after_dash(self, value: Any, margin: int) -> str:
        if isinstance(value, (dict, list)) and value:
            return self._lines(value, margin + _STEP)
        return f"{self._scalar(value, margin)}\n"

    def _after_key(self, value: Any, margin: int) -> str:
        if not isinstance(value, (dict, list)) or not value:
            return f" {self._scalar(value, margin)}\n"
        margin += self._list_step if isinstance(value, list) else _STEP
        return f"\n{' ' * margin}{self._lines(value, margin)}"

    def _scalar(self, value: Any, margin: int) -> str:
        """Return a scalar or an empty collection; a block without its last line break.

        Args:
            value: the value.
            margin: of the lines around it; less than 0 for a whole text.
        """
        self._keeps_break = False
        if isinstance(value, _Number):
            return _number(value)
        if not isinstance(value, str):
            return json.dumps(value)
        if self._blocks and "\n" in value:
            block = _block(value, margin)
            if block is not None:
                self._keeps_break = value.endswith("\n")
                return block
        return value if is_plain(value) else quoted_canonical(value).decode()


def _number(text: str) -> str:
    """Return a number in a form that YAML 1.1 reads as well: with a point before an exponent and a sign in it."""
    found = _EXPONENT.fullmatch(text)
    if found is None:
        return text
    mantissa, sign, digits = found.groups()
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{sign or '+'}{digits}"


def _block(value: str, margin: int) -> str | None:
    """Return a string as a block, without its last line break; None where it cannot be one."""
    if not _LINES.fullmatch(value) or not value.strip("\n"):
        return None
    is_indented = value[0] in " \t\n"
    if is_indented and margin < 0:
        return None
    ends = len(value) - len(value.rstrip("\n"))
    header = "|" + ("2" if is_indented else "") + ("-", "", "+")[min(ends, 2)]
    lead = " " * (max(margin, 0) + _STEP)
    lines = value[: len(value) - min(ends, 1)].split("\n")
    return "\n".join([header, *(lead + line if line else "" for line in lines)])
