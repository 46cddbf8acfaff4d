"""Writes tools/function_order.txt: the functions of the compiled modules that compiles and masks run.

    python tools/function_order.py     # needs valgrind, the compiled modules, a Python with its symbols, and SmolLM2

The schemas are those of benchmarks/data. First come the functions of their compiles and masks with any tokens; then
those that the masks of proper tokenizations run besides, on random walks with the tokens of SmolLM2. A function is
followed by those that it calls, the one it calls most first, and those that they call. `setup.py` gives this order to
the linker. Run it again when much of the compiled code has changed; until then, a new function stands among those that
run seldom, and takes a little longer.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tools" / "function_order.txt"
HEAD = """\
# The functions of the compiled modules that compiles and masks run, by their names in C. A * is the number of a method.
# Written by tools/function_order.py: do not edit.
"""
COLLECTED = ("methodcaller_call", "*Matcher_fill_next_token_bitmask", "*Matcher_accept_token")
"""What is collected is all that runs below these: the first is Python's, through which PROGRAM compiles."""
ANY = f"""
import operator, sys
sys.path[:0] = ["{ROOT}", "{ROOT / "benchmarks"}"]
import _fixed_work, structgen
_fixed_work.count()  # imports what is imported late
compile = structgen.compile
structgen.compile = lambda *given: operator.methodcaller("__call__", *given)(compile)
_fixed_work.count()
"""
PROPER = f"""
import os, sys
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path[:0] = ["{ROOT}", "{ROOT / "benchmarks"}"]
import proper
from _peers import load_tokenizer
from structgen.engine.vocabulary.vocabulary import Vocabulary
proper.cold_walks(Vocabulary.from_huggingface(load_tokenizer()), proper.cases(proper.DATA, None), 1, 0)
"""
LINE = re.compile(r"(c?fn|calls)=(?:\((\d+)\))?(?: ?(.*))?")
VARIANT = re.compile(r"(\.(isra|constprop|part)\.\d+|'\d+)+$")
"""Endings that gcc gives to a function's variants, and callgrind to the levels of a recursion."""
PART = re.compile(r"(\d+)(?=_?[A-Za-z])")
Calls = dict[str, Counter[str]]


def calls_of(lines: list[str]) -> Calls:
    """Return how often each function calls each other, from a file of callgrind."""
    calls: Calls = defaultdict(Counter)
    names: dict[str, str] = {}
    function = callee = ""
    for line in lines:
        found = LINE.match(line)
        if not found:
            continue
        kind, number, text = found.groups()
        if kind == "calls":
            calls[function][callee] += int(text.split()[0])
            continue
        name = names.setdefault(number, text)  # a name is written once, then its number stands for it
        if kind == "fn":
            function = name
            calls.setdefault(function, Counter())
        else:
            callee = name
    return calls


def in_order(calls: Calls) -> list[str]:
    """Return the functions, each followed by those that it calls."""
    called = {callee for of_one in calls.values() for callee in of_one}
    order: dict[str, None] = {}
    waiting = [*calls, *sorted(calls.keys() - called)]  # the last is taken first: functions that nothing calls
    while waiting:
        function = waiting.pop()
        if function not in order:
            order[function] = None
            waiting += [callee for callee, _ in reversed(calls[function].most_common())]
    return list(order)


def pattern_of(name: str) -> str:
    """Return the pattern of a function's name, in which the number of a method is a *: others are written before it.

    Cython writes `__pyx_pw_9structgen_6engine_6arrays_3count`: each part with its length, then number and name.
    """
    name = VARIANT.sub("", name)
    kind = re.match(r"__pyx_(?:pw|pf|gb)_", name)
    if not kind:
        return name
    at = kind.end()
    while (part := PART.match(name, at)) and name[part.end() + int(part[1]) :][:1] == "_":
        at = part.end() + int(part[1]) + 1
    return name[:at] + re.sub(r"^\d+", "*", name[at:])


def functions_of(program: str) -> list[str]:
    """Return the functions that a program runs, in the order in which they should stand."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "calls")
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no"]
        command += [f"--toggle-collect={function}" for function in COLLECTED]
        subprocess.run([*command, f"--callgrind-out-file={output}", sys.executable, "-c", program], check=True)
        return in_order(calls_of(output.read_text().splitlines()))


def main() -> int:
    """Write the file."""
    functions = [name for program in (ANY, PROPER) for name in functions_of(program)]
    patterns = dict.fromkeys(pattern_of(name) for name in functions if name.lower().startswith("__pyx_"))
    FILE.write_text(HEAD + "".join(f"{pattern}\n" for pattern in patterns))
    print(len(patterns), "functions")
    return 0 if patterns else 1


if __name__ == "__main__":
    sys.exit(main())
