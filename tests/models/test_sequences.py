"""Sessions that share one cache: whatever the others do in between, each one sees its own tokens.

The cache here is a model of llama.cpp's: its logits encode what it holds, and it refuses what llama.cpp refuses.
"""

import gc
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structgen.errors import ModelError
from structgen.models.sequences import SequencePool

WIDTH = 4


def logits_after(token_ids):
    """Return the model's logits after these tokens."""
    return np.random.default_rng(token_ids).random(WIDTH, np.float32)


class Cache:
    """A cache of the tokens of each sequence. A recurrent one can only remove a whole sequence."""

    def __init__(self, *, sequences, cells, batch_tokens, is_recurrent=False):
        self.held = [[] for _ in range(sequences)]
        self.cells = cells
        self.batch_tokens = batch_tokens
        self.is_recurrent = is_recurrent
        self.passes = self.tokens_read = 0
        self.fails = False

    def decode(self, entries):
        assert 0 < len(entries) <= self.batch_tokens
        self.passes += 1
        self.tokens_read += len(entries)
        rows = []
        for token_id, position, sequence, is_wanted in entries:
            assert position == len(self.held[sequence])
            self.held[sequence].append(token_id)
            if is_wanted:
                rows.append(logits_after(self.held[sequence]))
        assert sum(map(len, self.held)) <= self.cells
        if self.fails:
            raise ModelError("no")
        return np.array(rows, np.float32).reshape(len(rows), WIDTH)

    def remove(self, sequence, begin):
        if begin and self.is_recurrent:
            return False
        del self.held[sequence][begin:]
        return True

    def copy(self, origin, sequence):
        assert not self.held[sequence]
        self.held[sequence] = list(self.held[origin])

    def pool(self):
        return SequencePool(
            self,
            sequences=len(self.held),
            cells=self.cells,
            batch_tokens=self.batch_tokens,
            can_crop=not self.is_recurrent,
        )


def check(found, token_ids, keep):
    assert found.shape == (keep, WIDTH)
    for index in range(keep):
        end = len(token_ids) - keep + 1 + index
        np.testing.assert_array_equal(found[index], logits_after(token_ids[:end]))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6)), min_size=1, max_size=4)),
        st.tuples(st.just("crop"), st.integers(0, 5), st.integers(0, 4)),
        st.tuples(st.just("leave"), st.integers(0, 5)),
        st.tuples(st.just("fork"), st.integers(0, 5), st.integers(0, 5)),
    ),
    max_size=30,
)


@settings(max_examples=300)
@given(STEPS, st.integers(1, 4), st.integers(20, 60), st.integers(1, 9), st.booleans())
def test_each_session_has_the_logits_of_its_own_tokens(steps, sequences, cells, batch_tokens, is_recurrent):
    cache = Cache(sequences=sequences, cells=cells, batch_tokens=batch_tokens, is_recurrent=is_recurrent)
    pool = cache.pool()
    sessions = {}
    tokens = {}
    count = 0
    for step in steps:
        if step[0] == "read":
            requests = []
            for name, length in dict(step[1]).items():
                session = sessions.setdefault(name, pool.session())
                seen = tokens.setdefault(name, [])
                if len(seen) + length > cells:
                    continue
                new = [(count := count + 1) % 7 for _ in range(length)]
                seen += new
                requests.append((session, new, 1 + count % length, name))
            found = pool.forward([request[:3] for request in requests])
            for logits, (_, _, keep, name) in zip(found, requests, strict=True):
                check(logits, tokens[name], keep)
        elif step[0] == "crop" and step[1] in sessions:
            length = min(step[2], len(tokens[step[1]]))
            sessions[step[1]].crop(length)
            del tokens[step[1]][len(tokens[step[1]]) - length :]
        elif step[0] == "leave":
            sessions.pop(step[1], None)
            tokens.pop(step[1], None)
        elif step[0] == "fork" and step[1] in sessions:
            sessions[step[2]] = pool.fork([sessions[step[1]]])[0]
            tokens[step[2]] = list(tokens[step[1]])


def test_what_is_in_the_cache_is_not_read_again():
    cache = Cache(sequences=2, cells=100, batch_tokens=8)
    pool = cache.pool()
    one, two = pool.session(), pool.session()
    pool.forward([(one, [1, 2, 3], 1), (two, [4, 5], 2)])
    assert (cache.passes, cache.tokens_read) == (1, 5)
    one.crop(1)
    check(one.forward([9, 9], keep=2), [1, 2, 9, 9], 2)
    assert (cache.passes, cache.tokens_read) == (2, 7)
    one.forward(list(range(20)))
    assert (cache.passes, cache.tokens_read) == (5, 27)


def test_a_fork_shares_what_was_read():
    cache = Cache(sequences=3, cells=100, batch_tokens=8)
    pool = cache.pool()
    one = pool.session()
    one.forward([1, 2, 3])
    two, three, four = pool.fork([one, one, one])  # there is no sequence left for the last one
    assert (two.cached, three.cached, four.cached) == (3, 3, 0)
    found = pool.forward([(one, [4], 1), (two, [5], 1)])
    check(found[0], [1, 2, 3, 4], 1)
    check(found[1], [1, 2, 3, 5], 1)
    assert cache.tokens_read == 5
    check(four.forward([6]), [1, 2, 3, 6], 1)
    check(three.forward([7]), [1, 2, 3, 7], 1)


def test_the_one_that_waited_longest_makes_room():
    cache = Cache(sequences=2, cells=100, batch_tokens=8)
    pool = cache.pool()
    one, two, three = (pool.session() for _ in range(3))
    one.forward([1, 2])
    two.forward([3, 4])
    one.forward([5])
    three.forward([6])
    assert (one.cached, two.cached, three.cached) == (3, 0, 1)
    check(two.forward([7]), [3, 4, 7], 1)
    assert (one.cached, two.cached, three.cached) == (0, 3, 1)


def test_cells_are_shared():
    cache = Cache(sequences=8, cells=10, batch_tokens=8)
    pool = cache.pool()
    one, two = pool.session(), pool.session()
    one.forward(list(range(6)))
    two.forward(list(range(4)))
    assert (one.cached, two.cached) == (6, 4)
    two.forward([1])
    assert (one.cached, two.cached) == (0, 5)
    # Together they do not fit: one after the other does.
    found = pool.forward([(one, [7], 1), (two, [8], 1)])
    check(found[0], [0, 1, 2, 3, 4, 5, 7], 1)
    check(found[1], [0, 1, 2, 3, 1, 8], 1)


def test_sessions_that_are_gone_make_room_first():
    cache = Cache(sequences=2, cells=100, batch_tokens=8)
    pool = cache.pool()
    one, two = pool.session(), pool.session()
    one.forward([1, 2])
    two.forward([3, 4])
    del two
    gc.collect()
    pool.session().forward([5])
    assert one.cached == 2


def test_a_sequence_that_is_too_long():
    pool = Cache(sequences=2, cells=10, batch_tokens=8).pool()
    session = pool.session()
    session.forward(list(range(8)))
    with pytest.raises(ModelError, match="11 tokens do not fit a context of 10"):
        session.forward([1, 2, 3])
    other = pool.session()
    error, found = pool.forward([(session, [1, 2, 3], 1), (other, [4, 5], 1)])
    assert isinstance(error, ModelError)
    check(found, [4, 5], 1)
    check(session.forward([1, 2]), [*range(8), 1, 2], 1)


def test_after_a_failure_everything_is_as_before():
    cache = Cache(sequences=2, cells=20, batch_tokens=8)
    pool = cache.pool()
    one, two = pool.session(), pool.session()
    one.forward([1, 2])
    cache.fails = True
    with pytest.raises(ModelError):
        pool.forward([(one, [3], 1), (two, [4], 1)])
    cache.fails = False
    check(one.forward([5]), [1, 2, 5], 1)
    check(two.forward([6]), [6], 1)


def test_one_pool_many_threads():
    pool = Cache(sequences=3, cells=200, batch_tokens=8).pool()

    def work(seed):
        session = pool.session()
        seen = []
        for length in np.random.default_rng(seed).integers(1, 6, 20).tolist():
            new = [seed] * length
            seen += new
            check(session.forward(new, keep=length), seen, length)
            session.crop(length - 1)
            del seen[len(seen) - length + 1 :]

    with ThreadPoolExecutor(8) as executor:
        list(executor.map(work, range(8)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_while_another_thread_reads():
    """The forked process can read on: no thread of it will ever release the lock."""
    pool = Cache(sequences=2, cells=20, batch_tokens=9).pool()
    reads, goes_on = threading.Event(), threading.Event()
    decode = pool._cache.decode

    def slow(entries):
        reads.set()
        goes_on.wait(10)
        return decode(entries)

    pool._cache.decode = slow
    thread = threading.Thread(target=lambda: pool.session().forward([1, 2]))
    thread.start()
    reads.wait(10)
    threading.Timer(0.2, goes_on.set).start()
    child = os.fork()
    if not child:
        signal.alarm(20)
        pool.session().forward([3])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()
