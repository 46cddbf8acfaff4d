"""Runs every benchmark in this folder and keeps what it printed, with the machine it was taken on.

    python benchmarks [NAME ...]      # results/NAME.md; without names, all of them

A benchmark is a file that answers one question, the first line of its docstring, with a Markdown table on stdout.
"""

from __future__ import annotations

import ast
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def machine() -> str:
    """One line: processor, cores, Python."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = models[0] if models else platform.processor() or platform.machine()
    speed = "uncompiled" if os.environ.get("STRUCTGEN_UNCOMPILED") == "1" else "compiled"
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}, engine {speed}"


def run(file: Path) -> bool:
    """Runs one benchmark and keeps its table; False when it failed."""
    question = (ast.get_docstring(ast.parse(file.read_text())) or file.stem).splitlines()[0]
    print(f"== {file.stem}: {question}", flush=True)
    done = subprocess.run([sys.executable, str(file)], stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    if done.returncode == 0:
        result = HERE / "results" / f"{file.stem}.md"
        result.parent.mkdir(exist_ok=True)
        result.write_text(f"# {question}\n\n{machine()}\n\n{done.stdout}")
    return done.returncode == 0


def main(names: list[str]) -> int:
    files = [file for file in sorted(HERE.glob("*.py")) if not file.name.startswith("_")]
    known = {file.stem for file in files}
    if not set(names) <= known:
        print(f"there is no benchmark {', '.join(sorted(set(names) - known))}; there are {', '.join(sorted(known))}")
        return 2
    passed = [run(file) for file in files if not names or file.stem in names]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
