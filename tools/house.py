"""Measures how the package is built, and fails where a bar is passed.

    python tools/house.py             # a table, one line for each room; exit status 1 if a bar is passed
    python tools/house.py --largest   # also the ten largest classes

The bars:

- no inheritance chain of our own classes is deeper than MAX_CHAIN;
- no class has more than MAX_METHODS methods or MAX_ATTRIBUTES attributes, inherited ones counted;
- no module has more than MAX_LINES lines;
- no module imports itself through others, imports for type checkers included;
- the top of the package holds at most MAX_TOP modules.

Data classes, named tuples, typed dictionaries and exceptions are not counted as classes. The source is parsed; nothing
of the package is imported.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "structgen"
MAX_CHAIN = 2  # classes
MAX_METHODS = 40
MAX_ATTRIBUTES = 30
MAX_LINES = 600
MAX_TOP = 8  # modules
DATA_BASES = {"NamedTuple", "TypedDict", "Protocol", "Enum", "IntEnum"}


@dataclass
class Module:
    """A source file: its dotted name, its tree, and which modules and classes its names stand for."""

    name: str
    is_package: bool
    text: str
    tree: ast.Module
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)

    @property
    def room(self) -> str:
        """The folder below the package, two levels deep at most."""
        parts = self.name.split(".") if self.is_package else self.name.split(".")[:-1]
        return ".".join(parts[1:3]) or "(top)"


@dataclass
class Size:
    """A class with everything that it inherits from the package's own classes."""

    chain: int
    methods: set[str]
    attributes: set[str]


def read_modules() -> dict[str, Module]:
    """Return the modules of the package by dotted name, with their imports resolved."""
    modules = {}
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        text = path.read_text(encoding="utf-8")
        modules[name] = Module(name, is_package, text, ast.parse(text))
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    target = whole if whole in modules else node.module
                    module.imports.add(target)
                    module.names[alias.asname or alias.name] = (node.module, alias.name)
            elif isinstance(node, ast.Import):
                module.imports |= {alias.name for alias in node.names}
        module.imports = {name for name in module.imports if name in modules and name not in (module.name, PACKAGE)}
    return modules


def import_cycles(modules: dict[str, Module]) -> list[list[str]]:
    """Return the strongly connected groups of modules that import one another (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in sorted(modules[name].imports):
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            at = stack.index(name)
            group = sorted(stack[at:])
            del stack[at:]
            if len(group) > 1:
                found.append(group)

    for name in modules:
        if name != PACKAGE and name not in index:
            visit(name)
    return found


def classes_of(module: Module) -> Iterator[ast.ClassDef]:
    """Yield the classes that count: no data classes, no exceptions."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ClassDef) or node.name.endswith(("Error", "Exception", "Warning")):
            continue
        decorators = {ast.unparse(one).split("(")[0].rpartition(".")[2] for one in node.decorator_list}
        bases = {_base_name(base) for base in node.bases}
        if "dataclass" not in decorators and not bases & DATA_BASES:
            yield node


def _base_name(base: ast.expr) -> str:
    base = base.value if isinstance(base, ast.Subscript) else base
    return base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""


class Classes:
    """The classes of the package, measured with what they inherit."""

    def __init__(self, modules: dict[str, Module]) -> None:
        self._modules = modules
        self._nodes = {(m.name, node.name): node for m in modules.values() for node in classes_of(m)}

    def sizes(self) -> dict[tuple[str, str], Size]:
        """Return the size of each class by module and name."""
        return {key: self._size(key) for key in self._nodes}

    def _size(self, key: tuple[str, str]) -> Size:
        node = self._nodes[key]
        size = Size(1, _methods(node), _attributes(node))
        for base in node.bases:
            home = (key[0], _base_name(base))
            home = home if home in self._nodes else self._modules[key[0]].names.get(home[1], home)
            if home in self._nodes and home != key:
                inherited = self._size(home)
                size.chain = max(size.chain, inherited.chain + 1)
                size.methods |= inherited.methods
                size.attributes |= inherited.attributes
        return size


def _methods(node: ast.ClassDef) -> set[str]:
    return {one.name for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))}


def _attributes(node: ast.ClassDef) -> set[str]:
    stored = (one for one in ast.walk(node) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store))
    return {one.attr for one in stored if isinstance(one.value, ast.Name) and one.value.id == "self"}


def code_lines(module: Module) -> int:
    """Return the number of lines that hold code: no blank ones, no comments, no docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING):
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def faults(modules: dict[str, Module], sizes: dict[tuple[str, str], Size]) -> list[str]:
    """Return one line for each bar that is passed."""
    found = [f"import cycle: {' -> '.join(group)}" for group in import_cycles(modules)]
    for (module, name), size in sizes.items():
        where = f"{module}.{name}"
        if size.chain > MAX_CHAIN:
            found.append(f"{where}: an inheritance chain of {size.chain}, at most {MAX_CHAIN}")
        if len(size.methods) > MAX_METHODS:
            found.append(f"{where}: {len(size.methods)} methods, at most {MAX_METHODS}")
        if len(size.attributes) > MAX_ATTRIBUTES:
            found.append(f"{where}: {len(size.attributes)} attributes, at most {MAX_ATTRIBUTES}")
    for path in sorted([*(ROOT / PACKAGE).rglob("*.py"), *(ROOT / PACKAGE).rglob("*.pxd")]):
        count = len(path.read_text(encoding="utf-8").splitlines())
        if count > MAX_LINES:
            found.append(f"{path.relative_to(ROOT)}: {count} lines, at most {MAX_LINES}")
    top = [path.name for path in (ROOT / PACKAGE).glob("*.py")]
    if len(top) > MAX_TOP:
        found.append(f"{PACKAGE}/: {len(top)} modules at the top, at most {MAX_TOP}")
    return found


def table(modules: dict[str, Module], sizes: dict[tuple[str, str], Size]) -> Iterator[str]:
    """Yield one line for each room: modules, code lines, longest module, deepest chain, largest class."""
    yield f"{'room':32} {'modules':>7} {'code':>6} {'longest':>7} {'chain':>5}  largest class (methods, attributes)"
    for room in sorted({module.room for module in modules.values()}):
        inside = [module for module in modules.values() if module.room == room]
        names = {module.name for module in inside}
        own = {key: size for key, size in sizes.items() if key[0] in names}
        largest = max(own, key=lambda key: len(own[key].methods) + len(own[key].attributes), default=None)
        told = f"{largest[1]} ({len(own[largest].methods)}, {len(own[largest].attributes)})" if largest else ""
        longest = max(len(module.text.splitlines()) for module in inside)
        chain = max((size.chain for size in own.values()), default=0)
        lines = sum(map(code_lines, inside))
        yield f"{room:32} {len(inside):>7} {lines:>6,} {longest:>7} {chain:>5}  {told}"


def main() -> int:
    """Print the table and the faults; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--largest", action="store_true", help="print the ten largest classes")
    options = parser.parse_args()
    modules = read_modules()
    sizes = Classes(modules).sizes()
    for line in table(modules, sizes):
        print(line)
    if options.largest:
        order = sorted(sizes, key=lambda key: -len(sizes[key].methods) - len(sizes[key].attributes))
        for key in order[:10]:
            print(f"{'.'.join(key)}: {len(sizes[key].methods)} methods, {len(sizes[key].attributes)} attributes")
    found = faults(modules, sizes)
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
