"""The engine: from bytes and a grammar to bit masks of tokens. It knows neither JSON nor models.

    regex, regex_syntax   trees of regexes, and how they are parsed
    automata              byte automata of regexes, built as they are needed
    vocabulary            tokens, the trie of their bytes, bit masks
    grammar               the rules of a grammar as arrays
    earley                Earley sets, and the steps between them
    masks                 the tokens that may follow a set
    matching              compiled grammars, and one sequence on its way: matcher, expectations, explanations
    deadlines, turns      bounds on time and memory; how long a thread works before others run
    threads, worker_threads, fork_safety, garbage_collection   work beside other work
    constants, pair_table, whole_numbers   what several of these share

A module with a `.pxd` beside it, here or in another package, is compiled by Cython if the installation has a C
compiler. All compiled modules are one library, `structgen/_compiled`, so that what runs together lies together in
memory. Without it, the same files run as plain Python, and `UncompiledWarning` says so. With `STRUCTGEN_UNCOMPILED=1`
in the environment, plain Python runs even where the library exists. This package decides which, so it is imported
before any such module.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType

__all__ = ["UncompiledWarning"]

_PACKAGE = __name__.rpartition(".")[0]
_FOLDER = os.path.dirname(os.path.dirname(__file__))


class UncompiledWarning(RuntimeWarning):
    """The hot modules are not compiled: everything works, but masks are made many times slower."""


class _ModuleLoader(ExtensionFileLoader):
    """Makes a module of the library."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        # Python makes a module by the function `PyInit_` + the last part of its name, which several modules have. In
        # the library, it is `PyInit_` + all parts.
        whole = ModuleSpec(spec.name.replace(".", "_"), self, origin=spec.origin)
        module = super().create_module(whole)
        module.__name__ = spec.name
        module.__package__ = spec.parent
        return module


class _ModuleFinder:
    """Finds the modules of the library.

    Args:
        path: the library.
        modules: the names of its modules.
    """

    def __init__(self, path: str, modules: frozenset[str]) -> None:
        self._path = path
        self._modules = modules

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in self._modules:
            return None
        return spec_from_file_location(name, self._path, loader=_ModuleLoader(name, self._path))


def _find_compiled_modules() -> frozenset[str]:
    """Let Python find the modules of the library, if there is one. Return their names."""
    try:
        import structgen._compiled as library
    except ModuleNotFoundError:
        return frozenset()
    if not os.path.samefile(os.path.dirname(library.__file__), _FOLDER):
        return frozenset()  # of another installation, which an editable one finds, too
    sys.meta_path.insert(0, _ModuleFinder(library.__file__, library.MODULES))
    return library.MODULES


def _uncompiled_modules(compiled: frozenset[str]) -> list[str]:
    """Return the names, without those of packages, of the modules that have a `.pxd` and are not compiled."""
    missing = []
    for folder, _, files in os.walk(_FOLDER):
        package = _PACKAGE + folder.removeprefix(_FOLDER).replace(os.sep, ".")
        hot = (name.removesuffix(".pxd") for name in files if name.endswith(".pxd"))
        missing += [name for name in hot if f"{package}.{name}" not in compiled]
    return sorted(missing)


def _warn_of(missing: list[str]) -> None:
    warnings.warn(
        f"structgen runs uncompiled ({', '.join(missing)}), so masks are made many times slower. Reinstall it with a C "
        "compiler at hand to mend that; set STRUCTGEN_UNCOMPILED=1 to run without this warning",
        UncompiledWarning,
        stacklevel=3,
    )


if os.environ.get("STRUCTGEN_UNCOMPILED") != "1" and (_missing := _uncompiled_modules(_find_compiled_modules())):
    _warn_of(_missing)
