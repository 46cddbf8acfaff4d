"""Regex trees of many nodes: limits hold, and long sequences work."""

from __future__ import annotations

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import Chars, Regex, Repeat, Sequence
from structgen.errors import LimitExceededError
from structgen.limits import Limits


def test_wide_trees_are_limited() -> None:
    with pytest.raises(LimitExceededError) as caught:
        AutomatonStore(Limits(regex_nodes=1_000)).add(Sequence(tuple(Chars(((97, 99),)) for _ in range(2_000))))
    assert caught.value.limit == "regex_nodes"
    shared: Regex = Chars(((97, 99),))
    for _ in range(60):
        shared = Sequence((shared, shared))  # 2**60 nodes as a tree
    with pytest.raises(LimitExceededError):
        AutomatonStore().add(shared)


def test_long_sequences_work() -> None:
    store = AutomatonStore()
    letters = [Chars(((97, 98),)), Chars(((99, 100),))]
    state = store.add(Repeat(Sequence(tuple(letters * 5_000)), 2, 2))
    assert store.matches(state, b"ad" * 10_000) and not store.matches(state, b"ad" * 9_999)
