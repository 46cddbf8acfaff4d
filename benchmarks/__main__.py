"""Run the benchmarks in this folder, and store what they print.

    python benchmarks                                   # the short form of all of them: results/NAME.md
    python benchmarks NAME ... [--full] [-- ARGUMENTS]  # some of them; the long form: results/NAME-full.md

A benchmark is a file that answers one question, which is the first line of its docstring. It prints Markdown tables to
stdout, after the machine, the versions and the date (`_report.heading`). Each file can also be run alone, with more
options (`--help`). Options after `--` are passed to each named benchmark.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SHORT = {
    "alignment": ["--seeds", "1", "--particles", "4", "16", "--prompts", "3"],
    "ambiguity": ["--longest", "800", "--runs", "1"],
    "batches": ["--batches", "1", "16"],
    "first_masks": ["--first", "3"],
    "json_schema": ["--page-only"],
    "languages": ["--tokens", "200"],
    "mask_stores": ["--languages", "go", "json", "sql"],
}
"""Arguments of the short form, for benchmarks that need some."""
FULL = {
    "alignment": [],
    "ambiguity": [],
    "batches": ["--rounds", "3"],
    "end_to_end": ["--prompts", "50"],
    "end_to_end_batches": ["--prompts", "24"],
    "first_masks": ["--first", "30"],
    "growth": ["--full", "--rounds", "3", "--seconds", "60"],
    "json_schema": [],
    "languages": [],
    "mask_stores": [],
    "masks": ["--rounds", "5", "--slow", "50"],
    "memory": ["--schemas", "1000", "--generations", "100000"],
    "proper": ["--first", "300", "--walks", "300"],
}
"""Arguments of the long form. The other benchmarks have one form only."""
NAMED_ONLY = {"vllm_server"}
"""Benchmarks that need an environment of their own: they run only where they are named."""


def benchmarks() -> dict[str, Path]:
    """Return the files of the benchmarks, by name."""
    return {file.stem: file for file in sorted(HERE.glob("*.py")) if not file.name.startswith("_")}


def run(file: Path, arguments: list[str], result: Path) -> bool:
    """Run one benchmark and store what it prints; return False if it failed."""
    question = (ast.get_docstring(ast.parse(file.read_text())) or file.stem).splitlines()[0]
    told = [Path(one).name if Path(one).is_absolute() else one for one in arguments]  # no folders of this machine
    command = " ".join(["python", f"benchmarks/{file.name}", *told])
    print(f"== {command}: {question}", flush=True)
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
    said = []
    run_it = [sys.executable, str(file), *arguments]
    with subprocess.Popen(run_it, stdout=subprocess.PIPE, text=True, env=environment) as done:
        for line in done.stdout or ():
            print(line, end="", flush=True)
            said.append(line)
    if done.returncode == 0:
        result.parent.mkdir(exist_ok=True)
        result.write_text(f"# {question}\n\n    {command}\n\n{''.join(said)}")
    return done.returncode == 0


def main(argv: list[str]) -> int:
    own, passed_on = (argv[: argv.index("--")], argv[argv.index("--") + 1 :]) if "--" in argv else (argv, [])
    parser = argparse.ArgumentParser(prog="python benchmarks", usage="%(prog)s [NAME ...] [--full] [-- ARGUMENTS]")
    files = benchmarks()
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(files))
    parser.add_argument("--full", action="store_true", help="the long form")
    options = parser.parse_args(own)
    if not set(options.names) <= set(files):
        print(
            f"there is no benchmark {', '.join(sorted(set(options.names) - set(files)))}; there are {', '.join(files)}"
        )
        return 2
    form, ending = (FULL, "-full") if options.full else (SHORT, "")
    passed = [
        run(files[name], [*form.get(name, []), *passed_on], HERE / "results" / f"{name}{ending}.md")
        for name in options.names or sorted(set(files) - NAMED_ONLY)
        if not options.full or name in FULL
    ]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
