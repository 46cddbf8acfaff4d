"""What do schemas and grammars made to exhaust a server cost? Writes the table of docs/limits.md.

    python benchmarks/attacks.py [--only PART ...] [--vocabulary bytes] [--write]

Each attack (`_attack_cases.py`) runs in a process of its own, with `Limits(compile_seconds=2)`. The process compiles
it, makes the first mask, accepts a few bytes and makes another mask. The table shows the first limit that was passed,
the wall-clock seconds of the compile and of the slowest call after it, the longest time that another thread had to
wait, and the resident memory: before the attack, at the peak, and when the constraint is gone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from _attack_cases import ATTACKS, Attack

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "limits.md"
MARK = "<!-- The table below is written by benchmarks/attacks.py. -->\n"
LIMITS = {"compile_seconds": 2.0}
MAX_SECONDS = 60  # for one process


def cost(
    number: int,
    *,
    size: int = 0,
    vocabulary: str = "smollm2",
    seconds: float = MAX_SECONDS,
    limits: dict[str, float] = LIMITS,
) -> dict[str, Any]:
    """Return what an attack costs in a process of its own; see `_attack_worker.py`.

    Args:
        number: the index in `ATTACKS`.
        size: its size; 0 for the size of the table.
        vocabulary: "bytes" or "smollm2".
        seconds: after so long the process is ended.
        limits: arguments of `structgen.Limits`.

    Raises:
        RuntimeError: the process failed or took too long.
    """
    command = [sys.executable, str(HERE / "_attack_worker.py"), str(number), str(size), vocabulary, json.dumps(limits)]
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path[1:]]),
    }
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment, check=False)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"{ATTACKS[number].title}: not done after {seconds} s") from error
    if done.returncode:
        raise RuntimeError(f"{ATTACKS[number].title}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def row(attack: Attack, found: dict[str, Any]) -> str:
    """Return a line of the table."""
    steps = found["steps"]
    after = [steps[name] for name in ("mask", "accept", "mask 2") if name in steps]
    error = f"`{found['errors'][0]}`" if found["errors"] else "none"
    slowest = f"{max(after):.2f}" if after else ""
    return (
        f"| {attack.title} | {attack.size:,} | {error} | {steps['compile']:.2f} | {slowest} | {found['gil']:.2f} "
        f"| {found['before_mb']:,}, {found['peak_mb']:,}, {found['after_mb']:,} |"
    )


HEAD = (
    "| attack | size | error | compile, s | slowest mask or accept, s | longest wait of a thread, s "
    "| memory before, at most, after, MB |\n"
    "| --- | ---: | --- | ---: | ---: | ---: | ---: |"
)


def main() -> None:
    """Run the attacks; print the table, and write it into the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[""], help="parts of titles")
    parser.add_argument("--vocabulary", choices=("smollm2", "bytes"), default="smollm2")
    parser.add_argument("--write", action="store_true", help="write the table into docs/limits.md")
    options = parser.parse_args()
    lines = [HEAD]
    print(HEAD, flush=True)
    for number, attack in enumerate(ATTACKS):
        if any(part in attack.title for part in options.only):
            lines.append(row(attack, cost(number, vocabulary=options.vocabulary)))
            print(lines[-1], flush=True)
    if options.write:
        before, _, _ = PAGE.read_text().partition(MARK)
        PAGE.write_text(before + MARK + "\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
