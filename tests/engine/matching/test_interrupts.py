"""An interrupt, or too little memory, in the middle of a mask or a compile: everything works afterwards."""

import gc
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.vocabularies import BYTES

import structgen
from structgen.compilation.cache import CompileCache
from structgen.engine import arrays, deadlines
from structgen.engine.matching.matcher import Matcher

IS_COMPILED = not deadlines.__file__.endswith(".py")
CASES = {
    "objects": (
        {
            "type": "object",
            "properties": {f"key{n}": {"type": "string", "pattern": f"^(a|b)*a{{{n}}}$"} for n in range(4)},
            "required": ["key1"],
            "additionalProperties": {"type": "integer", "multipleOf": 7},
        },
        (b'{"key0":"ab', b'a","key1":"ba', b'","zz":1', b"4}"),
    ),
    "unique items": (
        {"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": "^[ab]{1,3}$"}},
        (b'["a', b'b","aa', b'","b', b'"]'),
    ),
    "algebra": (
        {"type": "array", "items": {"not": {"anyOf": [{"type": "string", "pattern": "a$"}, {"type": "number"}]}}},
        (b'["a', b'b","ba', b'c"]'),
    ),
}


def masks_of(matcher: Matcher, texts: tuple[bytes, ...]) -> list[list[int]]:
    """Return the allowed tokens before each text and after the last one."""
    found = [matcher.allowed_token_ids()]
    for text in texts:
        matcher.accept_bytes(text)
        found.append(matcher.allowed_token_ids())
    return found


def fresh_masks(schema: Any, texts: tuple[bytes, ...]) -> list[list[int]]:
    return masks_of(structgen.compile(schema, BYTES, cache=False).matcher(), texts)


class Injection:
    """Raises an error at one call of a function, then no more.

    Args:
        at: the number of the call.
        error: raised there.
        then: the function itself.
    """

    def __init__(self, at: int, error: type[BaseException], then: Callable[..., Any]) -> None:
        self.left = at
        self._error = error
        self._then = then

    def __call__(self, *args: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise self._error
        return self._then(*args)


@contextmanager
def interrupted(at: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Injection]:
    """Raise a `KeyboardInterrupt` at one of the counted steps."""
    injection = Injection(at, KeyboardInterrupt, lambda: None)
    with monkeypatch.context() as patch:
        patch.setattr(deadlines, "UNITS_BETWEEN_LOOKS", 0)
        patch.setattr(deadlines, "SECONDS_BETWEEN_TURNS", -1.0)
        patch.setattr(deadlines, "_units_left", 0)
        patch.setattr(deadlines, "pause", injection)
        yield injection


@contextmanager
def without_memory(at: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Injection]:
    """Raise a `MemoryError` where one of the arrays is made or grows."""
    injections = Injection(at, MemoryError, lambda: None)
    with monkeypatch.context() as patch:
        for name in ("zeros", "grown", "grown_pool", "block", "enlarged", "head"):
            function = getattr(arrays, name)

            def failing(*args: Any, then: Any = function) -> Any:
                injections()
                return then(*args)

            for module in list(sys.modules.values()):
                if getattr(module, "__name__", "").startswith("structgen.") and vars(module).get(name) is function:
                    patch.setattr(module, name, failing)
        yield injections


@pytest.mark.skipif(IS_COMPILED, reason="the functions of compiled modules cannot be replaced")
@pytest.mark.one_in(8, uncompiled=8)
@pytest.mark.parametrize("first", [1, 3, 5, 7])
@pytest.mark.parametrize("fault", [interrupted, without_memory])
@pytest.mark.parametrize("name", CASES)
def test_masks_are_right_after_an_error_at_any_step(
    name: str, fault: Any, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema, texts = CASES[name]
    expected = fresh_masks(schema, texts)
    step, was_raised = first, True
    while was_raised:
        structgen.clear_cache()
        BYTES.shared = None
        with fault(step, monkeypatch) as injection:
            matcher = None
            try:
                matcher = structgen.compile(schema, BYTES).matcher()
                masks_of(matcher, texts)
            except (KeyboardInterrupt, MemoryError):
                pass
            was_raised = injection.left <= 0
        if matcher is not None:  # it goes on from where it was
            written = len(b"".join(matcher._texts))
            twin = structgen.compile(schema, BYTES, cache=False).matcher()
            twin.accept_bytes(b"".join(texts)[:written])
            assert matcher.allowed_token_ids() == twin.allowed_token_ids()
            matcher.reset()
            assert masks_of(matcher, texts) == expected
        assert masks_of(structgen.compile(schema, BYTES).matcher(), texts) == expected
        step *= 2
    assert step > 40


LONG = {
    "type": "string",
    "pattern": "^[a-d]+$",
    "allOf": [{"pattern": "a.{25}$"}, {"pattern": "b.{24}$"}, {"not": {"pattern": "c.{25}c"}}],
}


def interrupt(seconds: float, work: Callable[[], Any]) -> bool:
    """Send this thread an interrupt after some seconds of a call; return whether it ended the call."""

    def handler(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    gc.disable()  # hypothesis has a function that the collector calls: an interrupt in it would be lost
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        return True
    finally:
        gc.enable()
        signal.signal(signal.SIGALRM, before)
    return False


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs timers that send signals")
def test_ctrl_c_ends_a_long_mask_and_nothing_else() -> None:
    vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
    kept = structgen.compile({"enum": ["one", "two"]}, vocabulary).matcher()
    kept.accept_bytes(b'"t')
    matcher = structgen.compile(LONG, vocabulary).matcher()
    matcher.accept_bytes(b'"')
    assert [interrupt(0.02 * n, lambda: matcher.accept_bytes(b"a")) for n in range(1, 4)] == [True] * 3
    assert kept.allowed_token_ids() == [ord("w")]
    kept.accept_bytes(b"w")
    matcher.rollback(1)
    assert matcher.allowed_token_ids() == [ord('"')]
    assert structgen.compile({"enum": ["one"]}, vocabulary).matcher().allowed_token_ids() == [ord('"')]


def test_threads_that_wait_for_an_interrupted_compile_begin_anew() -> None:
    cache = CompileCache(lambda compiled: 1)
    began, may_end = threading.Event(), threading.Event()

    def interrupted_compile() -> Any:
        began.set()
        may_end.wait(10)
        raise KeyboardInterrupt

    errors: list[BaseException] = []

    def maker() -> None:
        try:
            cache.get("key", interrupted_compile, max_bytes=10)
        except KeyboardInterrupt as error:
            errors.append(error)

    found: list[Any] = []
    threads = [threading.Thread(target=maker)]
    threads[0].start()
    began.wait(10)
    threads.append(
        threading.Thread(target=lambda: found.append(cache.get("key", lambda: "made", max_bytes=10)))  # type: ignore
    )
    threads[1].start()
    may_end.set()
    for thread in threads:
        thread.join(10)
    assert (len(errors), found) == (1, ["made"])


NO_MEMORY = """
import random
import resource
import structgen

vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
kept = structgen.compile({"enum": ["one", "two"]}, vocabulary).matcher()
kept.accept_bytes(b'"t')
schema = {"pattern": "^(a|b)*a(a|b){40}$", "type": "string"}
text = bytes(random.Random(1).choices(b"ab", k=50_000))  # nearly each letter leads to another automaton state
limits = structgen.Limits(mask_seconds=60.0, automaton_states=1_000_000)
matcher = structgen.compile(schema, vocabulary, limits=limits).matcher()
matcher.accept_bytes(b'"')
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
for megabytes in (4, 9, 17):
    resource.setrlimit(resource.RLIMIT_AS, (size + (megabytes << 20), resource.RLIM_INFINITY))
    try:
        matcher.accept_bytes(text)
    except MemoryError:
        pass
    else:
        raise AssertionError("there was memory")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert set(matcher.allowed_token_ids()) >= set(b"ab")
assert kept.allowed_token_ids() == [ord("w")]
matcher.accept_bytes(text[:100])
assert set(matcher.allowed_token_ids()) >= set(b"ab")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the address space of a process is bounded on Linux only")
def test_when_the_memory_of_the_process_runs_out_everything_else_goes_on() -> None:
    done = subprocess.run([sys.executable, "-c", NO_MEMORY], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
