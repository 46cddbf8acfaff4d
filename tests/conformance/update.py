"""Writes `expected_suite.json` and `expected_real.json` anew, from what structgen does now. Read what it changed.

    python tests/conformance/update.py

Prints how many cases there are of each kind, and what is never expected, whatever the files say: invalid instances let
through, and crashes. With any of these the exit status is 1.
"""

from __future__ import annotations

import collections
import json
import pathlib
import sys
from collections.abc import Iterable

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from support.judging import Verdict, judge, judge_file  # noqa: E402
from support.shared_data import NO_DATA, real_case, real_files, suite_files  # noqa: E402


def main() -> int:
    if not suite_files() or not real_files():
        print(NO_DATA)
        return 2
    suite = {file: judge_file(file) for file in suite_files()}
    real = {path.stem: judge(real_case(path), property_order="any") for path in real_files()}
    _write("expected_suite.json", {file: _texts(verdicts) for file, verdicts in suite.items()})
    _write("expected_real.json", {name: text for name, text in _texts(real).items() if text != "right"})
    named = [(f"{file}: {name}", verdict) for file, verdicts in suite.items() for name, verdict in verdicts.items()]
    return max(_report("the official suite", named), _report("real schemas", real.items()))


def _texts(verdicts: dict[str, Verdict]) -> dict[str, str]:
    return {name: verdict.text for name, verdict in verdicts.items()}


def _write(name: str, content: object) -> None:
    (HERE / name).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _report(title: str, verdicts: Iterable[tuple[str, Verdict]]) -> int:
    verdicts = list(verdicts)
    kinds = collections.Counter(verdict.text.split(":")[0] for _, verdict in verdicts)
    print(f"{title}: {len(verdicts)} cases")
    for kind, count in kinds.most_common():
        print(f"  {count:5} {kind}")
    broken = [f"  {name}: {verdict.text}" for name, verdict in verdicts if verdict.is_broken]
    print(*broken, sep="\n", end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
