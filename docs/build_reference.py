"""Write docs/reference.md from the docstrings of all public names: `python docs/build_reference.py`."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

import structgen
from structgen.generation.settings import ConstraintOptions, GenerationOptions

PAGE = pathlib.Path(__file__).with_name("reference.md")
HEAD = """\
# Reference

All public names with their docstrings, functions first, then classes. The options of `generate` and `compile` are at
the end. `python docs/build_reference.py` generates this page.
"""


def build() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for name in sorted(structgen.__all__, key=lambda name: (name[0].isupper(), name.lower())):
        parts.append(_entry(f"structgen.{name}", getattr(structgen, name)))
    parts += [
        _entry(f"structgen.generation.settings.{kind.__name__}", kind) + "\n" + _defaults(kind)
        for kind in (GenerationOptions, ConstraintOptions)
    ]
    return "\n".join(parts)


def _entry(name: str, thing: Any) -> str:
    """Return the entry of one name: its docstring, and for a class those of its methods."""
    text = [f"## {name}\n", _docstring(thing)]
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        for member, value in sorted(vars(thing).items()):
            if not member.startswith("_") and inspect.getdoc(value) and _is_own(value):
                text += [f"### {name}.{member}\n", _docstring(value)]
    return "\n".join(text)


def _defaults(options: type) -> str:
    """Return the type and the default of each option, as `generate` has them."""
    parameters = inspect.signature(structgen.generate).parameters
    names = [name for name in parameters if name in options.__annotations__]
    shown = [f"{name}: {parameters[name].annotation} = {parameters[name].default!r}" for name in names]
    return "Types and defaults, as `generate` has them:\n\n" + "\n".join(["```text", *shown, "```\n"])


def _is_own(value: Any) -> bool:
    return isinstance(value, (property, classmethod, staticmethod)) or inspect.isroutine(value)


def _docstring(thing: Any) -> str:
    return f"```text\n{inspect.getdoc(thing)}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(build(), encoding="utf-8")
