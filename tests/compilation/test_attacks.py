"""Schemas and grammars made to exhaust a server end with an error that names a limit, or with an answer, in time."""

import sys
import time
from pathlib import Path

import pytest
from support.vocabularies import BYTES

import structgen

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


GRAMMARS = {
    "many look-aheads": lambda limits: structgen.Grammar.kbnf(
        "start ::= " + " | ".join(f"'a' !'{chr(0x4E00 + n)}' x" for n in range(3000)) + "; x ::= 'b' | x 'c';",
        limits=limits,
    ),
    "long stop texts": lambda limits: structgen.Grammar.lark(
        "start[stop=T]: /.*/\nT: " + " | ".join(f'"{n:05d}{"a" * 200}{n}"' for n in range(1000)), limits=limits
    ),
    "many lazy rules": lambda limits: structgen.Grammar.lark(
        f"start: {' | '.join(f't{n}' for n in range(3000))}\n"
        + "\n".join(f"t{n}[lazy]: /[a-z]*{n}/" for n in range(3000)),
        limits=limits,
    ),
}


@pytest.mark.parametrize("title", GRAMMARS)
def test_a_grammar_that_takes_long_is_refused_in_time(title: str) -> None:
    limits = structgen.Limits(compile_seconds=0.3)
    began = time.monotonic()
    with pytest.raises(structgen.LimitExceededError) as caught:
        structgen.compile(GRAMMARS[title](limits), BYTES, limits=limits, cache=False)
    assert caught.value.limit == "compile_seconds"
    assert time.monotonic() < began + SECONDS / 10


def test_an_export_ends_with_the_time_of_a_compile() -> None:
    hostile = structgen.Grammar.lark("start: A\nA: /(a|b|c)*a(a|b|c){18}/ & /(a|b|c)*b(a|b|c){19}/")
    with pytest.raises(structgen.LimitExceededError) as caught:
        structgen.export(hostile, "gbnf", limits=structgen.Limits(compile_seconds=0.3))
    assert caught.value.limit == "compile_seconds"
