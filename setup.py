"""Builds the hot modules of the engine with Cython; everything else about the package is in pyproject.toml.

STRUCTGEN_BUILD=skip      build no extension: the same files run as plain Python, slower.
STRUCTGEN_BUILD=require   fail when an extension cannot be built (what the tests use).
STRUCTGEN_BOUNDS=1        check every index in the compiled modules: slow, for finding faults of theirs.
By default a missing compiler costs speed, not the installation.
"""

import gc
import multiprocessing
import os
import pathlib
import sys
import threading

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

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
    "emit_code_comments": False,  # the Python lines: a tenth of the C
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
    "earley.runs",
    "grammar.rules",
    "grammar.tables",
    "masks.refused_texts",
    "masks.set_masks",
    "masks.tables",
    "masks.token_lists",
    "masks.trie_walk",
)
ACYCLIC = {
    *PLAIN,
    *(f"engine.{part}" for part in ENGINE),
    "schema.rules.states",
    "schema.reading.atoms",
    "schema.reading.scopes",
    "schema.rules.written_sets",
}
"""Modules whose classes, and inner functions, hold nothing that leads back to them. They are so many that they are kept
from the garbage collector: every 250 schemas it would go through all that the process holds, for 0.2 s beside
transformers."""

PUBLIC = {
    "engine.matching.batches",
    "engine.matching.compiled",
    "engine.matching.matcher",
    "engine.vocabulary.bitmask",
    "tokenization.matching.proper_matcher",
}
"""Modules whose functions and methods users call: help() shows their signatures. Elsewhere the objects that know the
signatures would be a tenth of the code."""

VECTORS = {
    "engine.arrays",
    "engine.masks.set_masks",
    "engine.masks.table_store",
    "engine.vocabulary.bitmask_kernel",
    "tokenization.matching.token_sets",
}
"""Modules for gcc's -O3: it makes vectors of their loops, and a row of logits takes 12 µs instead of 41."""
COLD = {
    "engine.automata.alphabets",
    "engine.automata.endings",
    "engine.masks.bound_room",
    "engine.masks.dotted_rule_masks",
    "engine.matching.batches",
    "engine.vocabulary.bitmask",
    "schema.rules.clause_choices",
    "schema.rules.clause_search",
    "tokenization.matching.blank_tokens",
    "tokenization.matching.bridges",
    "tokenization.matching.last_texts",
    "tokenization.matching.proper_matcher",
    "tokenization.matching.sure_cuts",
}
"""Modules for -Og, with which gcc takes half the time: they call Python most of the time."""
OPTIONS = [
    "-O2",
    "-fno-tree-vectorize",
    "-fno-gcse",
    "-falign-functions=1",
    "-falign-jumps=1",
    "-falign-loops=1",
    "-falign-labels=1",
]
"""For all other modules. The first visit of a place in a grammar, and most of a compile, run each instruction once or
a few times, so their time is that of fetching the code, and what counts is how few lines of the cache a run goes
through. -O2 moves what is unlikely out of the way. With -Os, the code is smaller, but a run jumps over all that is
unlikely: a tenth more lines are fetched, and compiles take 5 to 12 % longer. What the other options turn off makes code
longer for the sake of loops, of which there are few; clang knows these options, too. (Lines and instructions: valgrind
--tool=callgrind --cache-sim=yes.)"""

SHARED = "structgen._cython_runtime"
"""The module with Cython's own functions: with a copy in each module, gcc would work twice as long."""
MAX_DIMENSIONS = 2
"""Of arrays in compiled modules. By default each array has room for the sizes of 8 dimensions, 208 bytes, and a grammar
holds 60 arrays."""
BUILD_FOLDER = f"build/c{MAX_DIMENSIONS}"
"""For the C. Modules with another number of dimensions do not fit together, so their C is never used again."""
WARNINGS = 2
"""The level from which Cython's warnings are shown. One of level 1 is about Cython's own functions."""
COPIES = {"engine.arrays", "engine.masks.set_masks"}
"""Modules with a copy of these functions all the same: they copy masks and arrays, which costs 100 instructions more by
the general function."""

MODULES_PER_LINE = 10
"""Of the progress where it is written to a file."""
PROCESSES = (os.cpu_count() or 0) if sys.platform == "linux" else 0
"""Of Cython: forked ones, which have the defaults that are set here."""


def extensions() -> list[Extension]:
    """One extension for each module that has a .pxd beside it."""
    if BUILD not in ("optional", "require", "skip"):
        raise SystemExit(f"STRUCTGEN_BUILD={BUILD}: it is skip, require, or not set")
    if BUILD == "skip":
        return []
    from Cython.Compiler import Errors, Options

    modules = sorted(p.relative_to(HERE).with_suffix("") for p in (HERE / "structgen").rglob("*.pxd"))
    found = [
        Extension(".".join(m.parts), [f"{m.as_posix()}.py"], extra_compile_args=_flags(".".join(m.parts[1:])))
        for m in modules
        if m.name != "__init__"
    ]
    if PROCESSES:
        multiprocessing.set_start_method("fork", force=True)
    shared = Extension(SHARED, [f"{SHARED.replace('.', '/')}.c"], extra_compile_args=_flags(SHARED))
    _tell(f"writing the C of {len(found)} modules", is_last=True)
    Errors.LEVEL = WARNINGS
    Options.buffer_max_dims = MAX_DIMENSIONS + 1  # Cython wants one more than there are
    gc.disable()  # collections take half of Cython's time, and free little: each process writes a share of the modules
    built: list[Extension] = _translated([shared], DIRECTIVES)
    alike: dict[tuple[bool, ...], list[Extension]] = {}
    for extension in found:
        part = _part(extension)
        alike.setdefault((part in PLAIN, part in PUBLIC, part in ACYCLIC, part in COPIES), []).append(extension)
    for (is_plain, is_public, is_acyclic, has_copies), extensions_alike in alike.items():
        # A class's own `no_gc` is a decorator beside it, for which plain Python would need Cython.
        Options.get_directive_defaults()["no_gc"] = is_acyclic
        directives = DIRECTIVES | {"binding": is_public}
        if is_plain:
            directives |= {"boundscheck": True, "wraparound": True}
        built += _translated(extensions_alike, directives, shared=None if has_copies else SHARED)
    gc.enable()
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
        build_dir=BUILD_FOLDER,
        quiet=True,
        nthreads=PROCESSES,
        shared_utility_qualified_name=shared,
    )
    return found


def _flags(part: str) -> list[str]:
    """Return options for gcc.

    -fno-plt: calls of Python's functions go there without a jump in between, which would be a line of the cache each.
    -w: its warnings are about C that nobody wrote.
    """
    level = ["-O3"] if part in VECTORS else ["-Og"] if part in COLD else OPTIONS
    return [*level, "-fno-plt", "-g0", "-w"]


def _tell(text: str, *, is_last: bool) -> None:
    """Say how far the build is: in a terminal, each text replaces the one before.

    Args:
        text: the text.
        is_last: the next text begins a line.
    """
    if not sys.stderr.isatty():
        print(f"structgen: {text}", file=sys.stderr, flush=True)
    else:
        print(f"\rstructgen: {text:70}", end="\n" if is_last else "", file=sys.stderr, flush=True)


def _part(extension: Extension) -> str:
    """Return the name of a module within the package."""
    return str(extension.name).partition(".")[2]


class BuildWithProgress(build_ext):
    """Builds extensions, and says how many are done: they take minutes on one core."""

    def build_extensions(self) -> None:
        """Build all extensions."""
        self._done = 0
        self._lock = threading.Lock()  # they are built in several threads
        super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        """Build one extension, also if nothing but its options for gcc have changed."""
        options = " ".join(ext.extra_compile_args)
        kept = pathlib.Path(self.build_temp, f"{ext.name}.options")
        if not kept.exists() or kept.read_text() != options:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(options)
        ext.depends = [*ext.depends, str(kept)]  # a module that is older than this file is built again
        super().build_extension(ext)
        with self._lock:
            self._done += 1
            is_last = self._done == len(self.extensions)
            if is_last or sys.stderr.isatty() or self._done % MODULES_PER_LINE == 0:
                _tell(f"{self._done} of {len(self.extensions)} modules are compiled", is_last=is_last)


setup(
    ext_modules=extensions(),
    options={"build_ext": {"parallel": os.cpu_count()}},
    cmdclass={"build_ext": BuildWithProgress},
)
