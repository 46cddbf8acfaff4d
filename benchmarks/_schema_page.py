"""The page docs/json-schema.md: the words of `_schema_page.md`, and in tables what a run of `json_schema.py` found."""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _schema_keywords import sections

__all__ = ["page", "totals"]

TEMPLATE = Path(__file__).with_name("_schema_page.md")
SECTIONS = {
    "core": "Core",
    "applicator": "Subschemas",
    "unevaluated": "What is left over",
    "validation": "Assertions",
    "format-annotation": "Formats",
    "content": "Contents of strings",
    "meta-data": "Annotations",
    "older drafts": "Older drafts only",
}
SUITES = {
    "draft 2020-12": "draft2020-12/",
    "draft 2020-12, optional formats": "draft2020-12/optional/format/",
    "draft 7": "draft7/",
    "draft 7, optional formats": "draft7/optional/format/",
}
PROTOCOL = (
    "`python benchmarks/json_schema.py` gives every engine the same schemas and the same texts: each instance as "
    "`json.dumps(…, ensure_ascii=False)` writes it and as the tokenizer splits it. Before each token, and at the end, "
    "a mask is asked for. A case is a group of the official JSON-Schema-Test-Suite, or a real schema of MaskBench, "
    "with its instances. It is right if each valid instance is let through and no invalid one; or if no instance is "
    "valid, and the engine says that nothing satisfies the schema. A schema of the suite that does not name its draft "
    "gets the `$schema` of its folder."
)
LEGEND = (
    "Of each engine: how many of the cases are wholly right; of the others, how many it **r**efuses to compile, in how "
    "many it **a**ccepts an invalid instance, in how many it refuses a **v**alid one, and how many **f**ail (no answer "
    "within the limit, a crash, or giving up in the middle of a text). A dot: no case uses it."
)


def page(results: dict[str, Any]) -> str:
    """The whole page.

    `{module.NAME}` in the template stands for a constant of a module of `structgen.schema`.
    """
    text = re.sub(r"\{(\w+)\.([A-Z_]+)\}", lambda found: str(_constant(*found.groups())), TEMPLATE.read_text())
    measured = "\n\n".join(_measured(results)) if results else "Nothing has been measured yet."
    return text.replace("<!-- bounds -->", _bounds()).replace("<!-- measured -->", measured)


def _constant(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"structgen.schema.{module}"), name)


def _measured(results: dict[str, Any]) -> Iterable[str]:
    yield "## Measured"
    yield PROTOCOL
    yield _about(results)
    yield totals(results)
    yield LEGEND
    yield "## Keyword by keyword"
    yield (
        "Cases are counted here by the keywords that occur in their schemas, wherever they stand: the groups of the "
        "official suite (drafts 2020-12 and 7, with formats), and the real schemas. A case that is not right counts "
        "for each keyword in its schema, be it at fault or not."
    )
    for section, keywords in sections().items():
        yield f"### {SECTIONS[section]}"
        yield _keyword_table(results, keywords)
    yield from _by_file(results)
    if "structgen" in results:
        yield from _refused(results["structgen"])


def _about(results: dict[str, Any]) -> str:
    rows = [
        [name, run["version"], run["date"], run["tokenizer"], f"{run['limit_seconds']:g} s", run["settings"]]
        for name, run in results.items()
    ]
    return _table(["engine", "version", "date", "tokenizer", "limit a schema", "settings"], rows, numbers=0)


def totals(results: dict[str, Any]) -> str:
    """Everything in a few lines: a table in Markdown."""
    rows = []
    for title, prefix in SUITES.items():
        tallies = [_sum(run["files"], prefix) for run in results.values()]
        rows.append([title, _count(tallies), *map(_cell, tallies)])
    tallies = [Counter(run["real"].get("", {})) for run in results.values()]
    rows.append(["real schemas", _count(tallies), *map(_cell, tallies)])
    instances = [_sum(run["files"], "") + Counter(run["real"].get("", {})) for run in results.values()]
    for count in ("wrongly_accepted", "wrongly_refused"):
        words = f"instances {count.replace('_', ' ')}, of all"
        rows.append(
            [words, str(max(tally["instances"] for tally in instances)), *(str(tally[count]) for tally in instances)]
        )
    return _table(["", "cases", *results], rows)


def _sum(files: dict[str, dict[str, int]], prefix: str) -> Counter[str]:
    """The tallies of the files of a folder, without its subfolders; of all files for ""."""
    found: Counter[str] = Counter()
    for file, tally in files.items():
        if not prefix or (file.startswith(prefix) and "/" not in file[len(prefix) :]):
            found.update(tally)
    return found


def _keyword_table(results: dict[str, Any], keywords: dict[str, list[str]]) -> str:
    rows = []
    for keyword, drafts in keywords.items():
        names = [keyword, *(name for name in _used(results) if re.match(rf"{re.escape(keyword)}( \(|: )", name))]
        for name in names:
            cells = [f"`{name}`" if name == keyword else f"· `{name.removeprefix('format: ')}`", _drafts(drafts)]
            for tally in ("suite_keywords", "real_keywords"):
                tallies = [Counter(run[tally].get(name, {})) for run in results.values()]
                cells += [_count(tallies), *map(_cell, tallies)]
            rows.append(cells)
    engines = list(results)
    return _table(["keyword", "drafts", "groups of the suite", *engines, "real schemas", *engines], rows, text=2)


def _used(results: dict[str, Any]) -> list[str]:
    """All that `keywords_of` has found, most frequent first among the real schemas."""
    count: Counter[str] = Counter()
    for run in results.values():
        for tally in ("suite_keywords", "real_keywords"):
            count.update({name: found["cases"] for name, found in run[tally].items()})
    return [name for name, _ in sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))]


def _drafts(drafts: list[str]) -> str:
    order = ("4", "6", "7", "2019-09", "2020-12")
    if len(drafts) > 1 and drafts == list(order[order.index(drafts[0]) : order.index(drafts[-1]) + 1]):
        return "all" if len(drafts) == len(order) else f"{drafts[0]} to {drafts[-1]}"
    return ", ".join(drafts)


def _by_file(results: dict[str, Any]) -> Iterable[str]:
    yield "## The official suite, file by file"
    for title, prefix in SUITES.items():
        names = sorted({file for run in results.values() for file in run["files"]})
        names = [name for name in names if name.startswith(prefix) and "/" not in name[len(prefix) :]]
        rows = []
        for name in names:
            tallies = [Counter(run["files"].get(name, {})) for run in results.values()]
            rows.append([f"`{name.removeprefix(prefix)}`", _count(tallies), *map(_cell, tallies)])
        yield f"### {title[0].upper()}{title[1:]}"
        yield _table(["file", "groups", *results], rows)


def _refused(run: dict[str, Any]) -> Iterable[str]:
    yield "## What structgen refuses"
    if not run["refusals"]:
        yield "Nothing in these data."
        return
    rows = []
    for keyword, found in sorted(
        run["refusals"].items(), key=lambda pair: (-pair[1]["suite"] - pair[1]["real"], pair[0])
    ):
        message = found["example"].partition(": ")[2].partition("\n")[0].replace("|", "\\|")
        rows.append([f"`{keyword}`", str(found["suite"]), str(found["real"]), message])
    yield "By the keyword, or the limit, that the error names; with one message as an example."
    yield _table(["keyword", "groups of the suite", "real schemas", "for example"], rows, numbers=2)


def _bounds() -> str:
    from structgen.limits import Limits

    attributes = (Limits.__doc__ or "").partition("Attributes:")[2]
    said = dict(re.findall(r"^\s{8}(\w+): (.*(?:\n\s{9,}.*)*)", attributes, re.MULTILINE))
    rows = [
        [f"`{field.name}`", f"{field.default:,}", " ".join(said[field.name].split())]
        for field in dataclasses.fields(Limits)
    ]
    return _table(["limit", "default", "what it bounds"], rows, numbers=1, text=1)


def _count(tallies: list[Counter[str]]) -> str:
    cases = max((tally["cases"] for tally in tallies), default=0)
    return str(cases) if cases else "·"


def _cell(tally: Counter[str]) -> str:
    """`98 %, r 1, v 1`; never rounded up to 100 %, nor down to none."""
    if not tally["cases"]:
        return "·"
    share = 100 * tally["right"] / tally["cases"]
    if 0 < share < 100:
        share = min(max(share, 0.1), 99.9)
    parts = [f"{share:.1f} %" if 0 < share < 100 else f"{share:.0f} %"]
    letters = {"refused": "r", "accepts": "a", "refuses": "v", "failed": "f"}
    parts += [f"{letter} {tally[kind]}" for kind, letter in letters.items() if tally[kind]]
    return ", ".join(parts)


def _table(head: list[str], rows: list[list[str]], *, text: int = 1, numbers: int | None = None) -> str:
    """A table in Markdown.

    Args:
        head: the columns' titles.
        rows: the cells.
        text: how many columns from the left are aligned to the left.
        numbers: how many columns after them are aligned to the right; by default all.
    """
    right = len(head) - text if numbers is None else numbers
    rule = ["---"] * text + ["---:"] * right + ["---"] * (len(head) - text - right)
    lines = [head, rule, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
