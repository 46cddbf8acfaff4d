"""Builds the hot modules with Cython; everything else about the package is in pyproject.toml.

All of them are one library, `structgen/_compiled`: see `ORDER`. `structgen/engine/__init__.py` finds the modules in it.

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
import zlib
from importlib.machinery import EXTENSION_SUFFIXES
from multiprocessing.pool import ThreadPool

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import LinkError
from setuptools.modified import newer

HERE = pathlib.Path(__file__).parent
BUILD = os.environ.get("STRUCTGEN_BUILD", "optional")
CHECKS_BOUNDS = os.environ.get("STRUCTGEN_BOUNDS") == "1"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKS_BOUNDS,
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
    "tokenization.matching.bridges",
    "tokenization.matching.last_texts",
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

LIBRARY = "structgen._compiled"
"""The library. As a module, it has the names of those in it, `MODULES`."""
SHARED = "structgen._cython_runtime"
"""The module with Cython's own functions: with a copy in each module, gcc would work twice as long."""
MAX_DIMENSIONS = 2
"""Of arrays in compiled modules. By default each array has room for the sizes of 8 dimensions, 208 bytes, and a grammar
holds 60 arrays."""
BUILD_FOLDER = f"build/c{MAX_DIMENSIONS}{'_bounds' * CHECKS_BOUNDS}"
"""For the C. Modules with another number of dimensions do not fit together, so their C is never used again. Cython
writes a module's C anew only if its source is newer, so C with checks of indices has a folder of its own."""
WARNINGS = 2
"""The level from which Cython's warnings are shown. One of level 1 is about Cython's own functions."""
COPIES = {"engine.arrays", "engine.masks.set_masks"}
"""Modules with a copy of these functions all the same: they copy masks and arrays, which costs 100 instructions more by
the general function."""

ORDER = HERE / "tools" / "function_order.txt"
"""The functions that compiles and masks run, written by `tools/function_order.py`. They stand first in the library, and
those that call one another stand side by side. A compile runs 240 KB of code, the places of whose pages the processor
has to look up. In one library for each module, it was spread over 330 pages, and is here on 250: compiles take 6 to 9 %
less time, and the slowest hundredth of the masks 2 to 9 %. A name that is no function any more does nothing."""
FIRST = "SECTIONS {{ .text_first : {{ {} }} }} INSERT BEFORE .text;\n"
"""For the linker: functions that stand before all others."""

MODULES_PER_LINE = 10
"""Of the progress where it is written to a file."""
PROCESSES = (os.cpu_count() or 0) if sys.platform == "linux" else 0
"""Of Cython: forked ones, which have the defaults that are set here."""


def extensions() -> list[Extension]:
    """One library of all modules that have a .pxd beside them: its sources are C."""
    if BUILD not in ("optional", "require", "skip"):
        raise SystemExit(f"STRUCTGEN_BUILD={BUILD}: it is skip, require, or not set")
    if BUILD == "skip":
        return []
    from Cython.Compiler import Errors, Options

    files = sorted(p.relative_to(HERE).with_suffix("") for p in (HERE / "structgen").rglob("*.pxd"))
    modules = {".".join(file.parts): f"{file.as_posix()}.py" for file in files if file.name != "__init__"}
    if PROCESSES:
        multiprocessing.set_start_method("fork", force=True)
    _tell(f"writing the C of {len(modules)} modules", is_last=True)
    Errors.LEVEL = WARNINGS
    Options.buffer_max_dims = MAX_DIMENSIONS + 1  # Cython wants one more than there are
    gc.disable()  # collections take half of Cython's time, and free little: each process writes a share of the modules
    shared = f"{SHARED.replace('.', '/')}.c"
    found = _translated({SHARED: shared, LIBRARY: _list_of([*modules, SHARED])}, DIRECTIVES)
    alike: dict[tuple[bool, ...], dict[str, str]] = {}
    for name, source in modules.items():
        part = name.partition(".")[2]
        kind = (part in PLAIN, part in PUBLIC, part in ACYCLIC, part in COPIES)
        alike.setdefault(kind, {})[name] = source
    for (is_plain, is_public, is_acyclic, has_copies), modules_alike in alike.items():
        # A class's own `no_gc` is a decorator beside it, for which plain Python would need Cython.
        Options.get_directive_defaults()["no_gc"] = is_acyclic
        directives = DIRECTIVES | {"binding": is_public}
        if is_plain:
            directives |= {"boundscheck": True, "wraparound": True}
        found |= _translated(modules_alike, directives, shared=None if has_copies else SHARED)
    gc.enable()
    return [CompiledLibrary(found)]


def _list_of(modules: list[str]) -> str:
    """Write the source of the library's own module; return its path."""
    file = pathlib.Path(BUILD_FOLDER, "_compiled.py")
    text = f"MODULES = frozenset({sorted(modules)!r})\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
    return file.as_posix()


def _translated(modules: dict[str, str], directives: dict[str, object], shared: str | None = SHARED) -> dict[str, str]:
    """Translate modules, given by name and source, to C. Return the names and the files with C."""
    from Cython.Build import cythonize

    found = cythonize(
        [Extension(name, [source]) for name, source in modules.items()],
        compiler_directives=directives,
        build_dir=BUILD_FOLDER,
        quiet=True,
        nthreads=PROCESSES,
        shared_utility_qualified_name=shared,
    )
    return {extension.name: extension.sources[0] for extension in found}


def _flags(part: str) -> list[str]:
    """Return options for gcc.

    -fno-plt: calls of Python's functions go there without a jump in between, which would be a line of the cache each.
    -ffunction-sections: the linker can put functions into an order.
    -w: its warnings are about C that nobody wrote.
    """
    level = ["-O3"] if part in VECTORS else ["-Og"] if part in COLD else OPTIONS
    return [*level, "-fno-plt", "-ffunction-sections", "-g0", "-w"]


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


class CompiledLibrary(Extension):
    """The library of all compiled modules.

    Attributes:
        modules: the C file of each module, by name.
    """

    def __init__(self, modules: dict[str, str]) -> None:
        super().__init__(LIBRARY, list(modules.values()), optional=BUILD != "require")
        self.modules = modules


class BuildLibrary(build_ext):
    """Compiles each module with its own options, and links all of them."""

    def build_extension(self, ext: CompiledLibrary) -> None:
        """Build the library; compile only what has changed."""
        self._count = len(ext.modules)
        self._done = 0
        self._lock = threading.Lock()
        # Largest first: a large one would be alone at the end.
        largest = sorted(ext.modules.items(), key=lambda module: -os.path.getsize(module[1]))
        with ThreadPool(os.cpu_count()) as pool:
            objects = pool.starmap(self._compiled, largest, chunksize=1)
        path = self.get_ext_fullpath(ext.name)
        try:
            self._link(ext, sorted(objects), path, self._order_options())
        except LinkError:
            if sys.platform != "linux":
                raise
            _tell("this linker cannot put functions into an order", is_last=True)
            self._link(ext, sorted(objects), path, [])

    def copy_extensions_to_source(self) -> None:
        """Put the library beside its sources, and remove what was built before there was one library."""
        super().copy_extensions_to_source()
        for ext in self.extensions:
            for name in ext.modules.keys() - {LIBRARY}:
                for suffix in EXTENSION_SUFFIXES:
                    HERE.joinpath(name.replace(".", "/") + suffix).unlink(missing_ok=True)

    def _compiled(self, name: str, source: str) -> str:
        """Return the object file of a module's C."""
        options = _flags(name.partition(".")[2])
        # Python calls a module by the function `PyInit_` + the last part of its name, which several have.
        macros = [] if name == LIBRARY else [(f"PyInit_{name.rpartition('.')[2]}", f"PyInit_{name.replace('.', '_')}")]
        folder = f"{self.build_temp}/{zlib.crc32(repr((options, macros)).encode()):08x}"
        (file,) = self.compiler.object_filenames([source], output_dir=folder)
        if self.force or not os.path.exists(file) or newer(source, file):
            self.compiler.compile([source], output_dir=folder, macros=macros, extra_postargs=options)
        with self._lock:
            self._done += 1
            is_last = self._done == self._count
            if is_last or sys.stderr.isatty() or self._done % MODULES_PER_LINE == 0:
                _tell(f"{self._done} of {self._count} modules are compiled", is_last=is_last)
        return str(file)

    def _order_options(self) -> list[str]:
        """Return options for the linker that put the functions of ORDER first."""
        if sys.platform != "linux":
            return []
        names = [line for line in ORDER.read_text().splitlines() if line and not line.startswith("#")]
        # gcc makes variants of a function, such as `name.part.0`.
        script = pathlib.Path(self.build_temp, "order.ld")
        script.write_text(FIRST.format("\n".join(f"*(.text.{name} .text.{name}.*)" for name in names)))
        return [f"-Wl,-T,{script}"]

    def _link(self, ext: CompiledLibrary, objects: list[str], path: str, options: list[str]) -> None:
        """Link the library anew: the order of functions may be all that has changed."""
        pathlib.Path(path).unlink(missing_ok=True)
        self.compiler.link_shared_object(
            objects,
            path,
            libraries=self.get_libraries(ext),
            library_dirs=ext.library_dirs,
            runtime_library_dirs=ext.runtime_library_dirs,
            extra_postargs=options,
            export_symbols=self.get_export_symbols(ext),
            debug=self.debug,
            build_temp=self.build_temp,
            target_lang="c",
        )


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildLibrary})
