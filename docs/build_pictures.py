"""Draw the pictures of docs/: `python docs/build_pictures.py`; `--trace` too, with playwright and Chromium.

pictures/mask.svg     one mask on a token trie, computed by a matcher
pictures/growth.svg   the figures of benchmarks/results/, as curves
pictures/trace.png    the page that `structgen trace` writes, by the embedded model
"""

from __future__ import annotations

import pathlib
import re
import sys
import tempfile

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

import structgen

ROOT = pathlib.Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
ALLOWED, REFUSED, LINE = "#1a7f4b", "#b3b3b3", "#3f51b5"
TOKENS = ["n", "na", "nam", "name", 'name"', 'name":', "names", "no", "nurse", "a", "ag", "age", 'age"', "agent"]


def allowed_tokens() -> set[str]:
    """Return the tokens that a matcher allows after `{"`, in an object with the keys `name` and `age`."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
    texts = ['{"', *TOKENS]
    vocabulary = structgen.Vocabulary.from_bytes(
        {number: text.encode() for number, text in enumerate(texts)}, eos_token_ids=[len(texts)]
    )
    matcher = structgen.compile({**schema, "additionalProperties": False}, vocabulary).matcher()
    matcher.accept_token(0)
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    structgen.fill_next_token_bitmask([matcher], mask)
    return {text for number, text in enumerate(texts) if mask[0, number // 32] >> (number % 32) & 1}


def draw_mask() -> None:
    """Draw a trie of tokens; those that a matcher allows are green."""
    allowed = allowed_tokens()
    nodes = sorted(TOKENS, key=len, reverse=True)
    prefixes = {node: [each for each in ["", *TOKENS] if each != node and node.startswith(each)] for node in nodes}
    parent = {node: max(found, key=len) for node, found in prefixes.items()}
    leaves = sorted(set(TOKENS) - set(parent.values()))
    rows = {leaf: float(number) for number, leaf in enumerate(leaves)}
    for node in [*nodes, ""]:
        if node not in rows:
            below = [rows[child] for child in nodes if parent[child] == node]
            rows[node] = sum(below) / len(below)
    _, axes = plt.subplots(figsize=(9, 4.4))
    colours = {node: ALLOWED if node in allowed else REFUSED for node in nodes} | {"": LINE}
    for node in nodes:
        ends = [parent[node], node]
        axes.plot([len(end) for end in ends], [rows[end] for end in ends], color=colours[node], zorder=1)
    for node, colour in colours.items():
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": colour, "linewidth": 1.5}
        text = node or 'after {"'
        axes.text(len(node), rows[node], text, color=colour, bbox=box, family="monospace", ha="center", va="center")
    axes.set_title("Green tokens may come next: the keys are name and age", fontsize=11)
    axes.set_xlabel("bytes of the token")
    axes.set_xlim(-0.6, 6.6)
    axes.invert_yaxis()
    axes.set_yticks([])
    axes.spines[["top", "left", "right"]].set_visible(False)
    _save("mask.svg")


def draw_growth() -> None:
    """Draw how the cost of a token grows with the text, from the tables of two benchmarks."""
    _, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
    _draw_table(left, "growth-full.md", "items of a list", "µs a token")
    left.set_title("A list of a schema, three engines", fontsize=11)
    left.set_xlabel("items")
    _draw_table(right, "ambiguity-full.md", "grammar", "")
    right.set_title("Grammars, structgen", fontsize=11)
    right.set_xlabel("tokens of the text")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", ylabel="µs a token")
        axes.legend(frameon=False, fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    _save("growth.svg")


def _draw_table(axes: Axes, file: str, first_cell: str, row_ending: str) -> None:
    """Draw the rows of a table of benchmarks/results/ as lines."""
    lines = (ROOT / "benchmarks" / "results" / file).read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first_cell} |"))
    sizes = [float(cell.replace(",", "")) for cell in _cells(lines[start])[1:-1]]
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return
        name, *values = _cells(line)
        if name.endswith(row_ending):
            label = re.sub(r"[:,] (`.*|µs a token)", "", name)
            axes.plot(sizes, [float(value.replace(",", "")) for value in values[: len(sizes)]], marker="o", label=label)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def _save(name: str) -> None:
    plt.rcParams["svg.hashsalt"] = "structgen"  # the same picture gives the same file
    plt.savefig(PICTURES / name, metadata={"Date": None} if name.endswith(".svg") else None, bbox_inches="tight")
    plt.close()


def draw_trace() -> None:
    """Photograph the page of a trace."""
    from playwright.sync_api import sync_playwright

    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 40},
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
            "status": {"enum": ["single", "married", "unknown"]},
        },
        "required": ["name", "age", "status"],
        "additionalProperties": False,
    }
    found = structgen.trace(structgen.load("smollm2"), "Ann is 34 years old. Describe her as JSON.", schema)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = pathlib.Path(folder) / "trace.html"
        page_file.write_text(found.to_html(), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 860})
        page.goto(page_file.as_uri())
        page.screenshot(path=str(PICTURES / "trace.png"))
        browser.close()


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    draw_mask()
    draw_growth()
    if "--trace" in sys.argv:
        draw_trace()
