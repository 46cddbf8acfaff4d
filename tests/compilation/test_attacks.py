"""Schemas made to exhaust a server end with an error that names a limit, or with an answer, in bounded time."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SECONDS = 60.0  # for one process: a hang fails, a busy machine does not

ATTACKS = {
    "chain of `if`": set(),
    "each with both counts": set(),
    "nestings of `not`": {"compile_seconds"},
    "one Python object": {"schema_nodes"},
    "integers that are no multiple of many": {"mask_seconds", "automaton_states"},
    "three long look-aheads": {"automaton_states"},
    "look-aheads in a repetition": {"automaton_states"},
    "overlapping `patternProperties`": set(),
    "`allOf` of `if` on different keys": set(),
    "`dependentSchemas`": set(),
    "`allOf` of `anyOf` of required keys": set(),
}


@pytest.mark.one_in(3, uncompiled=7)
@pytest.mark.parametrize("title", ATTACKS)
def test_an_attack_ends_with_a_limit_or_an_answer(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from _attack_cases import ATTACKS as CASES
    from attacks import cost

    (number,) = [number for number, attack in enumerate(CASES) if title in attack.title]
    found = cost(number, vocabulary="bytes", seconds=SECONDS)
    assert set(found["errors"]) <= ATTACKS[title]
    if not found["errors"]:  # then everything was answered
        assert set(found["steps"]) == {"compile", "mask", "accept", "mask 2"}
    sys.modules.pop("_attack_cases", None)
    sys.modules.pop("attacks", None)
