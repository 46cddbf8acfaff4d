"""The engine does no more work than it did: counts, which no other load of the machine changes."""

import json
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def test_no_more_work_than_it_was(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from _fixed_work import FILE, UPDATE, count, differences

    told = differences(json.loads(FILE.read_text()), count())
    assert not told, "\n".join([*told, f"where that is meant: {UPDATE}"])


def test_differences_are_told(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from _fixed_work import WORK, differences

    held = {"a": dict.fromkeys(WORK, 1000), "b": dict.fromkeys(WORK, 10)}
    assert differences(held, held) == []
    assert differences(held, {**held, "a": held["a"] | {"steps": 1050}, "b": held["b"] | {"sets": 30}}) == []
    assert differences(held, {**held, "a": held["a"] | {"steps": 1051}}) == ["a: 1,051 steps, 1,000 before"]
    assert differences(held, {**held, "b": held["b"] | {"sets": 31}}) == ["b: 31 sets, 10 before"]
    assert differences(held, {"a": held["a"]}) == ["b: only in the file"]
    better = differences(held, {**held, "a": held["a"] | {"nodes": 800}})
    assert better == ["all schemas: 810 nodes, 1,010 before, which is better"]
