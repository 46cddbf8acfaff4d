"""Builds the hot modules of the engine with Cython; everything else about the package is in pyproject.toml.

STRUCTGEN_BUILD=skip      build no extension: the same files run as plain Python, slower.
STRUCTGEN_BUILD=require   fail when an extension cannot be built (what the tests use).
STRUCTGEN_BOUNDS=1        check every index in the compiled modules: slow, for finding faults of theirs.
By default a missing compiler costs speed, not the installation.
"""

import multiprocessing
import os
import pathlib
import sys

from setuptools import Extension, setup

HERE = pathlib.Path(__file__).parent
BUILD = os.environ.get("STRUCTGEN_BUILD", "optional")
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": os.environ.get("STRUCTGEN_BOUNDS") == "1",
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "annotation_typing": False,
    "show_performance_hints": False,
    "auto_pickle": False,
}
PLAIN = {"engine.regex.tree", *(f"schema.algebra.{part}" for part in ("arrays", "objects", "shape", "strings"))}
"""Modules that are not hot: their indices are checked, and may be negative."""
ENGINE = (
    "earley.completer",
    "earley.groups",
    "earley.item_columns",
    "earley.item_sets",
    "earley.kernels",
    "earley.predictor",
    "grammar.rules",
    "grammar.tables",
    "masks.refused_texts",
    "masks.set_masks",
    "masks.tables",
    "masks.token_lists",
    "masks.trie_walk",
)
ACYCLIC = {*PLAIN, *(f"engine.{part}" for part in ENGINE), "schema.rules.states", "schema.reading.scopes"}
"""Modules whose classes, and inner functions, hold nothing that leads back to them. They are so many that they are kept
from the garbage collector: every 250 schemas it would go through all that the process holds, for 0.2 s beside
transformers."""

VECTORS = {"engine.arrays", "engine.masks.set_masks", "engine.vocabulary.bitmask", "engine.vocabulary.bitmask_kernel"}
"""Modules for gcc's -O3: it makes vectors of their loops, and a row of logits takes 12 µs instead of 41. Elsewhere -O2
gives smaller code, and masks take a twentieth less time."""

SHARED = "structgen._cython_runtime"
"""The module with Cython's own functions: with a copy in each module, gcc would work twice as long."""
COPIES = {"engine.arrays", "engine.masks.set_masks"}
"""Modules with a copy of these functions all the same: they copy masks and arrays, which costs 100 instructions more by
the general function."""

PROCESSES = (os.cpu_count() or 0) if sys.platform == "linux" else 0
"""Of Cython: forked ones, which have the defaults that are set here."""


def extensions() -> list[Extension]:
    """One extension for each module that has a .pxd beside it."""
    if BUILD not in ("optional", "require", "skip"):
        raise SystemExit(f"STRUCTGEN_BUILD={BUILD}: it is skip, require, or not set")
    if BUILD == "skip":
        return []
    from Cython.Compiler import Options

    modules = sorted(p.relative_to(HERE).with_suffix("") for p in (HERE / "structgen").rglob("*.pxd"))
    found = [
        Extension(".".join(m.parts), [f"{m.as_posix()}.py"], extra_compile_args=_flags(".".join(m.parts[1:])))
        for m in modules
        if m.name != "__init__"
    ]
    if PROCESSES:
        multiprocessing.set_start_method("fork", force=True)
    shared = Extension(SHARED, [f"{SHARED.replace('.', '/')}.c"], extra_compile_args=_flags(SHARED))
    built: list[Extension] = _translated([shared], DIRECTIVES)
    alike: dict[tuple[bool, bool, bool], list[Extension]] = {}
    for extension in found:
        part = _part(extension)
        alike.setdefault((part in PLAIN, part in ACYCLIC, part in COPIES), []).append(extension)
    for (is_plain, is_acyclic, has_copies), extensions_alike in alike.items():
        # A class's own `no_gc` is a decorator beside it, for which plain Python would need Cython.
        Options.get_directive_defaults()["no_gc"] = is_acyclic
        directives = DIRECTIVES | ({"boundscheck": True, "wraparound": True} if is_plain else {})
        built += _translated(extensions_alike, directives, shared=None if has_copies else SHARED)
    built.sort(key=lambda extension: -os.path.getsize(extension.sources[0]))  # or a large one would be alone at the end
    for extension in built:
        extension.optional = BUILD != "require"  # cythonize does not take it over from what it was given
    return built


def _translated(
    extensions: list[Extension], directives: dict[str, object], shared: str | None = SHARED
) -> list[Extension]:
    """Return extensions whose sources are C."""
    from Cython.Build import cythonize

    found: list[Extension] = cythonize(
        extensions,
        compiler_directives=directives,
        build_dir="build",
        quiet=True,
        nthreads=PROCESSES,
        shared_utility_qualified_name=shared,
    )
    return found


def _flags(part: str) -> list[str]:
    """Return options for gcc; -w: its warnings are about C that nobody wrote."""
    return ["-O3" if part in VECTORS else "-O2", "-g0", "-w"]


def _part(extension: Extension) -> str:
    """Return the name of a module within the package."""
    return str(extension.name).partition(".")[2]


setup(ext_modules=extensions(), options={"build_ext": {"parallel": os.cpu_count()}})
