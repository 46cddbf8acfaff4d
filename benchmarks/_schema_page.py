"""The page docs/json-schema.md, from the text in `_schema_page.md` and the results of `json_schema.py`."""

from __future__ import annotations

import dataclasses
import importlib
import re
import textwrap
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
    "unevaluated": "Unevaluated items and properties",
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
    "`python benchmarks/json_schema.py` gives every engine the same schemas and the same texts. A text is an instance "
    "as `json.dumps(…, ensure_ascii=False)` writes it, split by the tokenizer. The engine computes a mask before each "
    "token and at the end. A case is a group of the official JSON-Schema-Test-Suite, or a real schema of MaskBench, "
    "with its instances. A case is right if the engine accepts each valid instance and no invalid one. It is also "
    "right if no instance is valid and the engine says that no value satisfies the schema. A schema of the suite that "
    "does not name its draft gets the `$schema` of its folder."
)
LEGEND = (
    "The columns of the engines show the share of cases that are wholly right. For the other cases, a letter and a "
    "count show what happened: the engine **r**efused the schema, it **a**ccepted an invalid instance, it refused a "
    "**v**alid instance, or it **f**ailed (no answer within the limit, a crash, or an error in the middle of a text). "
    "A dot means that no case uses the keyword. The last two rows count instances."
)
BY_KEYWORD = (
    "A case counts for every keyword that occurs anywhere in its schema. The cases are the groups of the official "
    "suite (drafts 2020-12 and 7, with formats) and the real schemas. A case that is not right counts against each "
    "keyword in its schema, whether or not that keyword is the cause."
)
WIDTH = 120  # characters of a line of text in the page


def page(results: dict[str, Any]) -> str:
    """Return the whole page.

    In the template, `{module.NAME}` is replaced by a constant of a module below `structgen.schema`.
    """
    text = re.sub(r"\{([\w.]+)\.([A-Z_]+)\}", lambda found: str(_constant(*found.groups())), TEMPLATE.read_text())
    measured = "\n\n".join(_measured(results)) if results else "No results yet."
    return text.replace("<!-- bounds -->", _bounds()).replace("<!-- measured -->", measured)


def _constant(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"structgen.schema.{module}"), name)


def _measured(results: dict[str, Any]) -> Iterable[str]:
    yield "## Measured"
    yield _filled(PROTOCOL)
    yield _about(results)
    yield totals(results)
    yield _filled(LEGEND)
    yield "## Keyword by keyword"
    yield _filled(BY_KEYWORD)
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
    return _table(["engine", "version", "date", "tokenizer", "limit per schema", "settings"], rows, numbers=0)


def totals(results: dict[str, Any]) -> str:
    """Return a Markdown table of the totals, by suite and engine."""
    rows = []
    for title, prefix in SUITES.items():
        tallies = [_sum(run["files"], prefix) for run in results.values()]
        rows.append([title, _count(tallies), *map(_cell, tallies)])
    tallies = [Counter(run["real"].get("", {})) for run in results.values()]
    rows.append(["real schemas", _count(tallies), *map(_cell, tallies)])
    instances = [_sum(run["files"], "") + Counter(run["real"].get("", {})) for run in results.values()]
    for count in ("wrongly_accepted", "wrongly_refused"):
        words = f"instances {count.replace('_', ' ')}"
        rows.append(
            [words, str(max(tally["instances"] for tally in instances)), *(str(tally[count]) for tally in instances)]
        )
    return _table(["", "cases", *results], rows)


def _sum(files: dict[str, dict[str, int]], prefix: str) -> Counter[str]:
    """Add up the tallies of a folder's files, without its subfolders; of all files if the prefix is empty."""
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
    return _table(["keyword", "drafts", "suite groups", *engines, "real schemas", *engines], rows, text=2)


def _used(results: dict[str, Any]) -> list[str]:
    """Return all keywords that `keywords_of` found, the most frequent first."""
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
        yield "It refuses no schema of these data."
        return
    rows = []
    for keyword, found in sorted(
        run["refusals"].items(), key=lambda pair: (-pair[1]["suite"] - pair[1]["real"], pair[0])
    ):
        message = found["example"].partition(": ")[2].partition("\n")[0].replace("|", "\\|")
        rows.append([f"`{keyword}`", str(found["suite"]), str(found["real"]), message])
    yield "Each row is the keyword, or the limit, that the error names, with one message as an example."
    yield _table(["keyword", "suite groups", "real schemas", "example"], rows, numbers=2)


def _bounds() -> str:
    from structgen.limits import Limits

    attributes = (Limits.__doc__ or "").partition("Attributes:")[2]
    said = dict(re.findall(r"^\s{8}(\w+): (.*(?:\n\s{9,}.*)*)", attributes, re.MULTILINE))
    rows = [
        [f"`{field.name}`", f"{field.default:,}", " ".join(said[field.name].split())]
        for field in dataclasses.fields(Limits)
    ]
    return _table(["limit", "default", "what it bounds"], rows, numbers=1, text=1)


def _filled(text: str) -> str:
    """Wrap a paragraph to the width of the page."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _count(tallies: list[Counter[str]]) -> str:
    cases = max((tally["cases"] for tally in tallies), default=0)
    return str(cases) if cases else "·"


def _cell(tally: Counter[str]) -> str:
    """Return a cell such as `98.0 %, r 1, v 1`. The share is never rounded up to 100 % or down to 0 %."""
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
    """Return a table in Markdown.

    Args:
        head: the titles of the columns.
        rows: the cells.
        text: the number of columns at the left that are aligned to the left.
        numbers: the number of columns after these that are aligned to the right; by default all.
    """
    right = len(head) - text if numbers is None else numbers
    rule = ["---"] * text + ["---:"] * right + ["---"] * (len(head) - text - right)
    lines = [head, rule, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
