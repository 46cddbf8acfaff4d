"""Writes docs/reference.md out of the docstrings of all that is public: `python docs/build_reference.py`."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

import structgen
from structgen.generation.settings import ConstraintOptions, GenerationOptions

PAGE = pathlib.Path(__file__).with_name("reference.md")
HEAD = """\
# Reference

Everything public, out of the docstrings (`python docs/build_reference.py`). Options stand at the end.
"""


def build() -> str:
    """The text of the page."""
    parts = [HEAD]
    for name in sorted(structgen.__all__, key=lambda name: (name[0].isupper(), name.lower())):
        parts.append(_entry(f"structgen.{name}", getattr(structgen, name)))
    parts += [
        _entry(f"structgen.generation.settings.{kind.__name__}", kind)
        for kind in (GenerationOptions, ConstraintOptions)
    ]
    return "\n".join(parts)


def _entry(name: str, thing: Any) -> str:
    """One name, with its docstring; of classes the methods, too."""
    text = [f"## {name}\n", _docstring(thing)]
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        for member, value in sorted(vars(thing).items()):
            if not member.startswith("_") and inspect.getdoc(value) and _is_own(value):
                text += [f"### {name}.{member}\n", _docstring(value)]
    return "\n".join(text)


def _is_own(value: Any) -> bool:
    return isinstance(value, (property, classmethod, staticmethod)) or inspect.isroutine(value)


def _docstring(thing: Any) -> str:
    return f"```text\n{inspect.getdoc(thing)}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(build(), encoding="utf-8")
