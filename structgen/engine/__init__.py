"""The engine: from bytes and a grammar to bit masks of tokens. It knows neither JSON nor models.

    regex, regex_syntax   trees of regexes, and how they are parsed
    automata              byte automata of regexes, built as they are needed
    vocabulary            tokens, the trie of their bytes, bit masks
    grammar               the rules of a grammar as arrays
    earley                Earley sets, and the steps between them
    masks                 the tokens that may follow a set
    matching              compiled grammars, and one sequence on its way: matcher, expectations, explanations

A module with a `.pxd` beside it, here or in another package, is compiled by Cython if the installation has a C
compiler. Otherwise the same file runs as plain Python, and `UncompiledWarning` says so. With `STRUCTGEN_UNCOMPILED=1`
in the environment, plain Python runs even where compiled modules exist. This package decides which, so it is imported
before any such module.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType

__all__ = ["UncompiledWarning"]

_LIBRARY = __name__.rpartition(".")[0]
_FOLDER = os.path.dirname(os.path.dirname(__file__))


class UncompiledWarning(RuntimeWarning):
    """The hot modules are not compiled: everything works, but masks are made many times slower."""


class _SourceFinder:
    """Finds the library's modules as `.py` files and ignores compiled ones in the same folder."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, module = name.rpartition(".")
        if path is None or not f"{package}.".startswith(f"{_LIBRARY}."):
            return None
        location = os.path.join(path[0], f"{module}.py")
        return importlib.util.spec_from_file_location(name, location) if os.path.exists(location) else None


def _uncompiled_modules() -> list[str]:
    """Return the names of the modules that have a `.pxd` but no compiled file."""
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    missing = []
    for _, _, names in os.walk(_FOLDER):
        files = set(names)
        hot = (name.removesuffix(".pxd") for name in names if name.endswith(".pxd"))
        missing += [name for name in hot if not any(name + suffix in files for suffix in suffixes)]
    return sorted(missing)


def _warn_where_uncompiled() -> None:
    missing = _uncompiled_modules()
    if missing:
        warnings.warn(
            f"structgen runs uncompiled ({', '.join(missing)}), so masks are made many times slower. Reinstall it with "
            "a C compiler at hand to mend that; set STRUCTGEN_UNCOMPILED=1 to run without this warning",
            UncompiledWarning,
            stacklevel=3,
        )


if os.environ.get("STRUCTGEN_UNCOMPILED") == "1":
    sys.meta_path.insert(0, _SourceFinder)
else:
    _warn_where_uncompiled()
