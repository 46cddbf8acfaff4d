"""Which keywords of JSON Schema does each engine get right, on the official suite and on real schemas?

    python benchmarks/json_schema.py [--data FOLDER] [--tokenizer FOLDER] [--engines structgen llguidance xgrammar]
    python benchmarks/json_schema.py --page-only       # writes docs/json-schema.md from the results of the last run

structgen, llguidance and xgrammar get the same schemas and the same texts. A text is an instance as `json.dumps(…,
ensure_ascii=False)` writes it, split by the tokenizer. The engine computes a mask before each token and at the end. A
case is a group of the suite, or a real schema with its instances. A case is

- right: the engine accepted each valid instance and no invalid one; or it said that no value satisfies the schema, and
  no instance is valid;
- refused: the engine said that it does not support the schema;
- accepts: it accepted an invalid instance;
- refuses: it refused a valid instance;
- failed: it took too long, crashed, or raised an error in the middle of a text.

The folder of the data holds `json-schema-test-suite/` and `maskbench/`; STRUCTGEN_DATA names it by default. Engines
that are not installed, or not named, keep the numbers of their last run. The benchmark writes
`results/json_schema.json` and `docs/json-schema.md`, and prints the totals.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _schema_keywords import keywords_of
from _schema_page import page, totals
from _schema_process import EngineProcess

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "json_schema.json"
PAGE = HERE.parent / "docs" / "json-schema.md"
DATA = os.environ.get("STRUCTGEN_DATA") or str(HERE.parents[1] / "shared" / "data")
ENGINES = ("structgen", "llguidance", "xgrammar")
KINDS = ("right", "refused", "accepts", "refuses", "failed")
OPTIONS = {"property_order": "any"}
SCHEMAS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
}
"""The drafts of the suite that are run, and the `$schema` that their schemas get if they have none."""


def suite_cases(folder: Path) -> Iterator[tuple[str, str, Any, list[dict[str, Any]]]]:
    """Yield file, group, schema and tests of the suite: the required part, and the optional formats."""
    for draft, uri in SCHEMAS.items():
        for path in sorted([*(folder / draft).glob("*.json"), *(folder / draft).glob("optional/format/*.json")]):
            for group in json.loads(path.read_text()):
                schema = group["schema"]
                if isinstance(schema, dict):
                    schema = {"$schema": uri} | schema
                yield path.relative_to(folder).with_suffix("").as_posix(), group["description"], schema, group["tests"]


def real_cases(folder: Path, first: int | None) -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    """Yield name, schema and tests of real schemas, one per file, in a fixed random order."""
    paths = sorted(folder.glob("*.json"))
    random.Random(0).shuffle(paths)
    for path in paths[:first]:
        content = json.loads(path.read_text())
        yield path.stem, content["schema"], content["tests"]


def judge(
    engine: EngineProcess, schema: Any, tests: list[dict[str, Any]], options: dict[str, Any]
) -> tuple[Counter[str], dict[str, Any]]:
    """Run one case; return the counts of its outcome and of its instances', and the engine's answer."""
    texts = [json.dumps(test["data"], ensure_ascii=False) for test in tests]
    answer = engine.ask(schema, texts, options)
    allows = answer.get("allows", [False] * len(tests))
    found = Counter(cases=1, instances=len(tests))
    if answer["outcome"] in ("compiled", "empty"):
        for allowed, test in zip(allows, tests, strict=True):
            if isinstance(allowed, str):
                found["failed_instances"] += 1
            elif allowed != test["valid"]:
                found["wrongly_accepted" if allowed else "wrongly_refused"] += 1
        kinds = {"wrongly_accepted": "accepts", "failed_instances": "failed", "wrongly_refused": "refuses"}
        found[next((kind for count, kind in kinds.items() if found[count]), "right")] = 1
        found["empty"] = int(answer["outcome"] == "empty")
    else:
        found[answer["outcome"]] = 1
    return found, answer


class Record:
    """The tallies of one engine: by file of the suite, and by keyword in the suite and in real schemas."""

    def __init__(self) -> None:
        self.tallies: dict[str, dict[str, Counter[str]]] = {
            name: {} for name in ("files", "real", "suite_keywords", "real_keywords")
        }
        self.not_right: dict[str, str] = {}
        self.refusals: dict[str, dict[str, Any]] = {}

    def note(self, name: str, where: str, file: str, schema: Any, judged: tuple[Counter[str], dict[str, Any]]) -> None:
        """Count one case.

        Args:
            name: the name of the case.
            where: "suite" or "real".
            file: the file of the suite; "" for real schemas.
            schema: the schema; the case counts for each of its keywords.
            judged: the result of `judge`.
        """
        found, answer = judged
        keys = {("files" if where == "suite" else "real", file)}
        keys |= {(f"{where}_keywords", keyword) for keyword in keywords_of(schema)}
        for tally, key in keys:
            self.tallies[tally].setdefault(key, Counter()).update(found)
        kind = next(kind for kind in KINDS if found[kind])
        if kind != "right":
            self.not_right[name] = kind
        if kind == "refused" and answer.get("why"):
            refusal = self.refusals.setdefault(answer["why"], {"suite": 0, "real": 0, "example": answer["error"]})
            refusal[where] += 1

    def as_json(self) -> dict[str, Any]:
        """Return the data that is stored for one engine."""
        tallies = {
            tally: {key: dict(sorted(counts.items())) for key, counts in sorted(named.items())}
            for tally, named in self.tallies.items()
        }
        return tallies | {"refusals": self.refusals, "not_right": self.not_right}


def measure(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run one engine over all cases."""
    data = Path(arguments.data)
    suite = data / "json-schema-test-suite"
    engine = EngineProcess(name, arguments.tokenizer, str(suite / "remotes"), arguments.seconds)
    record = Record()
    begin = time.monotonic()
    for file, group, schema, tests in suite_cases(suite / "tests"):
        options = OPTIONS | ({"formats": "annotate"} if file.endswith("/format") else {})
        judged = judge(engine, schema, tests, options if name == "structgen" else {})
        record.note(f"{file}: {group}", "suite", file, schema, judged)
    for number, (ident, schema, tests) in enumerate(real_cases(data / "maskbench", arguments.first)):
        if number % 100 == 0:
            print(f"{name}: {number} real schemas in {time.monotonic() - begin:.0f} seconds", file=sys.stderr)
        record.note(ident, "real", "", schema, judge(engine, schema, tests, OPTIONS if name == "structgen" else {}))
    engine.close()
    run = {
        "date": datetime.date.today().isoformat(),
        "seconds": round(time.monotonic() - begin),
        "limit_seconds": arguments.seconds,
        "tokenizer": arguments.tokenizer_name,
    }
    return engine.about | run | record.as_json()


def smollm2() -> str:
    from structgen.models.smollm2 import smollm2_folder

    return str(smollm2_folder())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", default=DATA, help="the folder of the suite and of the real schemas")
    parser.add_argument("--tokenizer", help="the folder of a tokenizer; SmolLM2's by default")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--first", type=int, help="so many of the real schemas; all by default")
    parser.add_argument("--seconds", type=float, default=30.0, help="the limit for one schema with its instances")
    parser.add_argument("--page-only", action="store_true", help="write the page from the last results")
    arguments = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not arguments.page_only:
        if not Path(arguments.data, "maskbench").is_dir():
            print(f"there is no data in {arguments.data}: --data or STRUCTGEN_DATA names its folder", file=sys.stderr)
            return 2
        arguments.tokenizer_name = Path(arguments.tokenizer or "SmolLM2").name
        arguments.tokenizer = arguments.tokenizer or smollm2()
        for name in arguments.engines:
            if importlib.util.find_spec(name) is None:
                print(f"{name} is not installed: its column stays as it is", file=sys.stderr)
                continue
            results[name] = measure(name, arguments)
            results = {name: results[name] for name in ENGINES if name in results}
            RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page(results))
    print(totals(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
