"""`Limits.memory_bytes`: attacks end within it, and after that all else works and the memory is free again."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.vocabularies import BYTES

import structgen
from structgen.engine import deadlines, memory
from structgen.engine.deadlines import Deadline, count_bytes, look
from structgen.errors import LimitExceededError
from structgen.limits import Limits

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
MB = 1 << 20
LIMIT_MB = 64


class Process:
    """The resident memory of a process, as a test sets it."""

    def __init__(self) -> None:
        self.resident = 1000 * MB

    def resident_bytes(self, default: int) -> int:
        return self.resident


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    made = Process()
    monkeypatch.setattr(deadlines, "resident_bytes", made.resident_bytes)
    monkeypatch.setattr(deadlines, "SECONDS_BETWEEN_READINGS", -1.0)
    monkeypatch.setattr(deadlines, "_last_reading", 0.0)
    monkeypatch.setattr(deadlines, "_last_resident", 0)
    look()  # forgets what other tests have counted
    yield made


def grow(megabytes: int) -> None:
    count_bytes(megabytes * MB)
    look()


def test_a_call_whose_process_grows_past_its_budget_ends(process: Process) -> None:
    with Deadline(60.0, memory_bytes=10 * MB):
        grow(2)
        process.resident += 9 * MB
        grow(9)
        process.resident += 2 * MB
        with pytest.raises(LimitExceededError) as caught:
            grow(2)
    assert (caught.value.limit, caught.value.value) == ("memory_bytes", 10 * MB)


def test_a_call_that_frees_what_it_makes_goes_on(process: Process) -> None:
    with Deadline(60.0, memory_bytes=10 * MB):
        for _ in range(10):
            grow(5)
            process.resident += 9 * MB
            grow(5)
            process.resident -= 9 * MB


def test_a_small_call_goes_on_while_other_threads_take_memory(process: Process) -> None:
    with Deadline(60.0, memory_bytes=100 * MB):
        for _ in range(10):
            grow(2)
            process.resident += 500 * MB


def test_a_budget_counts_what_inner_calls_take(process: Process) -> None:
    with Deadline(60.0, memory_bytes=10 * MB), Deadline(60.0, "mask_seconds", 100 * MB), Deadline(60.0):
        grow(2)
        process.resident += 20 * MB
        with pytest.raises(LimitExceededError, match="memory_bytes"):
            grow(20)


def test_a_budget_begins_again_with_its_deadline(process: Process) -> None:
    deadline = Deadline(60.0, memory_bytes=10 * MB)
    for _ in range(5):
        deadline.begin_anew()
        grow(2)
        process.resident += 9 * MB
        grow(9)
        deadline.end()
    assert deadline.counted_bytes == pytest.approx(11 * MB, rel=0.2)


def test_memory_that_no_deadline_bounds_is_not_counted_later(process: Process) -> None:
    grow(500)
    with Deadline(60.0, memory_bytes=10 * MB) as deadline:
        look()
        assert deadline.counted_bytes < MB


ATTACKS = ("enum of strings", "properties of different schemas", "three long look-aheads")


@pytest.mark.one_in(3, uncompiled=3)
@pytest.mark.parametrize("title", ATTACKS)
def test_an_attack_ends_within_twice_its_memory(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from _attack_cases import ATTACKS as CASES
    from attacks import cost

    (number,) = [number for number, attack in enumerate(CASES) if title in attack.title]
    limits = {"memory_bytes": LIMIT_MB * MB, "compile_seconds": 60.0, "mask_seconds": 60.0}
    found = cost(number, vocabulary="bytes", limits=limits)
    assert found["errors"] == ["memory_bytes"]
    assert found["peak_mb"] - found["before_mb"] < 2 * LIMIT_MB
    assert found["after_mb"] - found["before_mb"] < LIMIT_MB
    for module in ("_attack_cases", "attacks"):
        sys.modules.pop(module, None)


OTHERS_GO_ON = """
import structgen
from structgen.engine.memory import resident_bytes
from structgen.schema.rules import key_groups

key_groups.MIN_MIXED = 10**9  # each property has rules of its own, which take much memory
LIMIT = 24 << 20
vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
limits = structgen.Limits(memory_bytes=LIMIT, mask_seconds=60.0)
person = {"properties": {"name": {"type": "string", "pattern": "^[A-Z][a-z]+$"}}, "required": ["name"]}
kept = structgen.compile(person | {"type": "object"}, vocabulary, limits=limits).matcher()
kept.accept_bytes(b'{"name":"Ad')
twin = structgen.compile(person | {"type": "object"}, vocabulary, cache=False).matcher()
twin.accept_bytes(b'{"name":"Ad')
many = {"type": "object", "properties": {f"key{number}": {"const": number} for number in range(20_000)}}
attacker = structgen.compile(many, vocabulary, limits=limits, property_order="any").matcher()
before = resident_bytes(0)
try:
    attacker.accept_bytes(b'{"key')
except structgen.LimitExceededError as error:
    assert (error.limit, error.value) == ("memory_bytes", LIMIT), error
else:
    raise AssertionError("no limit was passed")
assert attacker.allowed_token_ids() == [ord("{")]
assert kept.allowed_token_ids() == twin.allowed_token_ids()
kept.accept_bytes(b'a"}')
assert kept.is_accepting
assert structgen.compile({"enum": [1, 12]}, vocabulary, limits=limits).matcher().allowed_token_ids() == [ord("1")]
assert resident_bytes(0) - before < LIMIT, (resident_bytes(0) - before, "the memory is not free")
"""


def test_after_a_mask_that_took_too_much_everything_else_goes_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OTHERS_GO_ON], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_next_compile_after_a_limit_returns_free_memory(monkeypatch):
    returned = []
    monkeypatch.setattr(memory, "release_free_memory", lambda: returned.append(True))
    monkeypatch.setattr(memory, "_is_due", False)
    structgen.compile({"const": 1}, BYTES)
    assert not returned
    with pytest.raises(LimitExceededError):
        structgen.compile({"anyOf": [{"const": n} for n in range(9)]}, BYTES, limits=Limits(schema_nodes=5))
    assert not returned
    structgen.compile({"const": 1}, BYTES)
    structgen.compile({"const": 1}, BYTES)
    assert len(returned) == 1


def test_a_deadline_that_has_passed_makes_it_due(monkeypatch):
    monkeypatch.setattr(memory, "_is_due", False)
    with pytest.raises(LimitExceededError):
        Deadline(-1.0).check()
    assert memory._is_due
