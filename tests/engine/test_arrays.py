"""Flat arrays that grow."""

import os

import pytest

from structgen.engine.arrays import grown, grown_pool, room, zeros

LARGE = 2**21  # past which memory comes page by page


@pytest.mark.parametrize("size", [4, 1000, LARGE])
def test_arrays_that_grow_keep_what_is_in_them(size: int) -> None:
    old = zeros(size)
    old[0], old[size - 1] = 7, 9
    for new in (grown(old, size), grown_pool(old, size)):
        assert len(new) == max(2 * size, 16)
        assert (new[0], new[1], new[size - 1]) == (7, 0, 9)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_what_a_forked_process_writes_stays_there() -> None:
    values = room(LARGE)
    child = os.fork()
    if not child:
        values[0] = 1
        os._exit(0)
    os.waitpid(child, 0)
    assert values[0] == 0
