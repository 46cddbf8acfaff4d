"""Output of benchmarks: Markdown tables, a heading with machine, versions and date, and pictures."""

from __future__ import annotations

import datetime
import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from _peers import version

__all__ = ["draw", "heading", "machine", "number", "percentile", "ratio", "table"]

PACKAGES = ("structgen", "llguidance", "xgrammar", "outlines", "transformers", "torch", "numpy")
NOTHING = "–"  # a cell without a number


def machine() -> str:
    """Return one line: processor, cores, Python, and whether the engine is compiled."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = models[0] if models else platform.processor() or platform.machine()
    speed = "uncompiled" if os.environ.get("STRUCTGEN_UNCOMPILED") == "1" else "compiled"
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}, engine {speed}"


def heading() -> str:
    """Return two lines to put above a table: the machine and its load; the date and the installed versions."""
    load = f"load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    versions = ", ".join(f"{name} {found}" for name in PACKAGES if (found := version(name)))
    return f"{machine()}, {load}\n\n{datetime.date.today().isoformat()}: {versions}"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, left: int = 1) -> str:
    """Return a Markdown table.

    Args:
        columns: the headings of the columns.
        rows: the cells. `number` formats them.
        left: the number of columns at the left that hold words; the others hold numbers.
    """
    lines = ["| " + " | ".join(columns) + " |"]
    lines.append("|" + "---|" * left + "---:|" * (len(columns) - left))
    lines += ["| " + " | ".join(map(number, row)) + " |" for row in rows]
    return "\n".join(lines)


def number(value: Any) -> str:
    """Format a cell: floats with about three significant digits, thousands with commas, None as a dash."""
    if value is None:
        return NOTHING
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    if value != value:
        return NOTHING
    size = abs(value)
    return f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def ratio(ours: float | None, theirs: float | None) -> str:
    """Format `ours / theirs` with two digits; a dash if one of them is missing."""
    return f"{ours / theirs:.2g}" if ours is not None and theirs else NOTHING


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the value below which `percent` of the values lie; None if there are no values."""
    import numpy as np

    return float(np.percentile(np.asarray(values), percent)) if len(values) else None


def draw(path: str, paint: Callable[[Any], None], *, size: tuple[float, float] = (8, 5)) -> None:
    """Draw a picture into a file of any format that matplotlib writes.

    Args:
        path: the path of the file.
        paint: draws on the axes that it is called with.
        size: width and height in inches.
    """
    try:
        import matplotlib
    except ImportError:
        print("--plot needs matplotlib", file=sys.stderr)
        return
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=size)
    paint(axes)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)
