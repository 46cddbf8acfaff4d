"""Grammars whose masks keep other threads waiting move to tables of their own, and nothing else changes."""

import os
import sys
import threading
import time
from typing import Any

import pytest
from support.vocabularies import BYTES

import structgen
from structgen.engine import deadlines, fork_safety
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.table_lock import TableLock
from structgen.engine.turns import pause

IS_COMPILED = not deadlines.__file__.endswith(".py")
BOMB = "start: A\nA: /(a|b|c|d|e)*a(a|b|c|d|e){18}/ & /(a|b|c|d|e)*b(a|b|c|d|e){19}/"
EMPTY = "start: A\nA: /(.*a.{14}b.*)/ & /(.*b.{15}a.{3}a.*)/ & /(.*c.{13}a.*)/ & /[^a]*a[^a]*/"
SMALL = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a{3}$"}}, "required": ["a"]}
TEXT = b'{"a":"a'


class Thread(threading.Thread):
    """Keeps the error of some work in a thread."""

    def __init__(self, work: Any) -> None:
        super().__init__()
        self._work = work
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self.error = error


def vocabulary() -> structgen.Vocabulary:
    """Return a vocabulary that no other test has grammars for."""
    return BYTES.detached()


def masks_of(matcher: Any, text: bytes) -> list[list[int]]:
    """Return the allowed tokens before each byte of a text, and after it."""
    found = [matcher.allowed_token_ids()]
    for byte in text:
        matcher.accept_bytes(bytes([byte]))
        found.append(matcher.allowed_token_ids())
    return found


def test_a_long_mask_leaves_the_tables_that_others_wait_for() -> None:
    tokens = vocabulary()
    lock = structgen.compile({"type": "null"}, tokens).grammar.lock
    bomb = structgen.compile(structgen.Grammar.lark(BOMB), tokens, limits=structgen.Limits(mask_seconds=0.5))
    thread = Thread(bomb.matcher().allowed_token_ids)
    thread.start()
    while lock.guest is not bomb.grammar and thread.is_alive():
        time.sleep(0.0005)
    small = structgen.compile(SMALL, tokens)
    assert masks_of(small.matcher(), TEXT)[-1] == [ord("a")]
    thread.join()
    assert isinstance(thread.error, structgen.LimitExceededError)
    assert thread.error.limit == "mask_seconds"
    assert bomb.grammar.has_moved
    assert not small.grammar.has_moved
    assert bomb.grammar.lock is not lock


def test_a_search_of_a_compile_leaves_the_tables_that_others_wait_for() -> None:
    tokens = vocabulary()
    lock = structgen.compile({"type": "null"}, tokens).grammar.lock
    grammar = structgen.Grammar.lark(EMPTY)
    thread = Thread(lambda: structgen.compile(grammar, tokens, limits=structgen.Limits(compile_seconds=1.5)))
    thread.start()
    while lock.guest is None or lock.acquire(False):  # until a search has the lock
        if lock.guest is not None:
            lock.release()
        if not thread.is_alive():
            break
        time.sleep(0.0005)
    assert masks_of(structgen.compile(SMALL, tokens).matcher(), TEXT)[-1] == [ord("a")]
    thread.join()
    assert isinstance(thread.error, structgen.LimitExceededError)
    assert thread.error.limit == "compile_seconds"


def test_a_grammar_that_two_threads_use_moves_for_both() -> None:
    tokens = vocabulary()
    constraint = structgen.compile(structgen.Grammar.lark(BOMB), tokens, limits=structgen.Limits(mask_seconds=0.3))
    threads = [Thread(constraint.matcher().allowed_token_ids) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert masks_of(structgen.compile(SMALL, tokens).matcher(), TEXT)[-1] == [ord("a")]
    for thread in threads:
        thread.join()
    assert {getattr(thread.error, "limit", None) for thread in threads} == {"mask_seconds"}


def test_nothing_moves_under_a_proper_tokenization() -> None:
    made = CompiledGrammar(structgen.compile(SMALL, vocabulary()).grammar.tables, vocabulary(), may_move=False)
    made.begin_turn()
    made.let_move()
    assert made.lock.guest is None
    made.expire()
    made.end_turn()


def test_a_guest_that_has_left_ignores_the_question() -> None:
    constraint = structgen.compile(SMALL, vocabulary())
    matcher = constraint.matcher()
    matcher.allowed_token_ids()
    constraint.grammar.expire()
    assert masks_of(matcher, TEXT)[-1] == [ord("a")]
    assert not constraint.grammar.has_moved


def test_the_holder_is_asked_until_the_lock_is_free() -> None:
    lock = TableLock()

    class Holder:
        asked = 0

        def expire(self) -> None:
            self.asked += 1
            if self.asked == 3:
                may_release.set()

    may_release = threading.Event()
    has_lock = threading.Event()

    def hold() -> None:
        with lock:
            lock.guest = holder
            has_lock.set()
            may_release.wait()

    holder = Holder()
    thread = threading.Thread(target=hold)
    thread.start()
    has_lock.wait()
    with lock, lock:  # one thread may take it twice
        assert holder.asked >= 3
    thread.join()


def test_one_thread_at_a_time_has_the_lock() -> None:
    lock = TableLock()
    holders: list[int] = []
    together = 0

    def work() -> None:
        nonlocal together
        for _ in range(200):
            with lock, lock:
                holders.append(1)
                together = max(together, len(holders))
                pause()  # other threads run here
                holders.pop()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [Thread(work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert [thread.error for thread in threads] == [None] * 4
    assert together == 1


def test_who_waits_gets_the_lock_or_gives_up() -> None:
    lock = TableLock()
    has_lock, may_release = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            has_lock.set()
            may_release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    has_lock.wait()
    assert not lock.acquire(timeout=0.001)
    may_release.set()
    assert lock.acquire(timeout=60)
    assert lock.acquire(timeout=0)  # once more
    lock.release()
    lock.release()
    thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_can_take_a_lock_that_another_thread_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_safety, "MAX_WAIT_SECONDS", 0.05)
    lock = TableLock()
    has_lock, may_release = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            has_lock.set()
            may_release.wait()

    threads = [threading.Thread(target=hold), threading.Thread(target=lock.acquire, args=(60,))]
    threads[0].start()
    has_lock.wait()
    threads[1].start()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with lock:
                status = 0 if lock.acquire(timeout=0) else 1
        finally:
            os._exit(status)
    may_release.set()
    assert os.waitpid(child, 0)[1] == 0
    for thread in threads:
        thread.join()


CASES = {
    "objects": (
        {
            "type": "object",
            "properties": {f"key{n}": {"type": "string", "pattern": f"^(a|b)*a{{{n}}}$"} for n in range(2)},
            "required": ["key1"],
            "additionalProperties": {"type": "integer", "multipleOf": 7},
        },
        b'{"key0":"aba","key1":"ba","zz":14}',
    ),
    "unique items": (
        {"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": "^[ab]{1,3}$"}},
        b'["ab","aa","b"]',
    ),
    "captures": (structgen.Grammar.lark("start: a B+\na[capture]: /[ab]{3}/\nB: /b(a|c)?/"), b"aabbba"),
}


@pytest.mark.skipif(IS_COMPILED, reason="the functions of compiled modules cannot be replaced")
@pytest.mark.one_in(3, uncompiled=3)
@pytest.mark.parametrize("first", [1, 3, 5])
@pytest.mark.parametrize("name", CASES)
def test_masks_are_the_same_if_the_grammar_moves_at_any_step(
    name: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema, text = CASES[name]
    expected = masks_of(structgen.compile(schema, BYTES, cache=False).matcher(), text)
    at, has_moved = first, True
    while has_moved:
        grammar = structgen.compile(schema, BYTES, cache=False)
        left = at

        def ask(grammar: Any = grammar) -> bool:
            nonlocal left
            left -= 1
            if left <= 0:
                grammar.grammar.expire()
            return False

        with monkeypatch.context() as patch:
            patch.setattr(deadlines, "UNITS_BETWEEN_LOOKS", 0)
            patch.setattr(deadlines, "_units_left", 0)
            patch.setattr(deadlines, "pause", ask)
            matcher = grammar.matcher()
            assert masks_of(matcher, text) == expected
            assert matcher.forced_bytes() == b""
        has_moved = grammar.grammar.has_moved
        matcher.rollback(2)
        assert matcher.allowed_token_ids() == expected[-3]
        at *= 3
    assert at > 20
