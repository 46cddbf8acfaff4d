"""Keeps Python's garbage collector out of the way of compiles and masks.

A full collection goes through all objects of the process in one step, and no other thread can run meanwhile: 0.1 s for
half a million objects. Python runs one whenever a quarter more objects have become old. So a compile that makes a
million objects would cause seven of them, one longer than the other, and all without effect: what it makes is in use.

So structgen lets no full collection begin in a long compile. If one is due afterwards, it runs at the end of the
compile: otherwise it would begin with the program's next objects.

Collections of younger objects take 0.1 to 1 ms, longer than most masks. So no collection at all begins while a mask is
made, or a token accepted: it begins with the program's next object after that, most likely while the model works. If
the mask takes long, its own objects have to be collected, and it goes on like a long compile.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from gc import get_count, get_threshold, set_threshold

__all__ = [
    "allow_full_collections",
    "collect_early",
    "collect_if_due",
    "hold_collections",
    "postpone_full_collections",
    "release_collections",
    "without_collector",
    "young_collections",
]

IS_COMPILED = not __file__.endswith(".py")
NEVER = 2**31 - 1  # as the threshold of full collections; the others go on

MAX_YOUNG = 10_000  # objects that are made to begin a collection; it takes 0.2 ms

_usual_threshold = get_threshold()[2]
_is_held = False  # whether `hold_collections` has turned the collector off


@contextmanager
def without_collector() -> Iterator[None]:
    """Pause Python's garbage collector.

    While millions of objects are made, the collector goes through all objects of the process again and again, which
    takes longer than making them; and none of them are in a reference cycle.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_early() -> None:
    """Run a full collection now, unless the program has turned the collector off.

    A full collection goes through all objects of the process. With transformers loaded that takes about 0.1 s, and it
    is due when a quarter more objects have become old since the last one. The objects of imports and of a loaded
    tokenizer count. So without this one, one of the first masks would most likely be interrupted by it. structgen makes
    few objects that count: after this call, a thousand schemas with their masks cause no other full collection.
    """
    if gc.isenabled():
        gc.collect()


def hold_collections() -> None:
    """Turn the collector off until `release_collections`; for short calls.

    Calls in several threads do not count each other: the first one that ends turns the collector on again. Compiled, it
    takes some nanoseconds.
    """
    global _is_held
    if IS_COMPILED:
        if PyGC_Disable():  # type: ignore[name-defined]  # noqa: F821  (of Python's C interface)
            _is_held = True
    elif gc.isenabled():
        _is_held = True
        gc.disable()


def release_collections() -> None:
    """Turn the collector on again if `hold_collections` has turned it off; else leave it as it is."""
    global _is_held
    if _is_held:
        _is_held = False
        if IS_COMPILED:
            PyGC_Enable()  # type: ignore[name-defined]  # noqa: F821
        else:
            gc.enable()


def postpone_full_collections() -> None:
    """Turn full collections off until `allow_full_collections`. Short collections, of young objects, still run."""
    global _usual_threshold
    young, middle, old = get_threshold()
    if old != NEVER:
        _usual_threshold = old
        set_threshold(young, middle, NEVER)


def allow_full_collections() -> None:
    """Turn full collections on again. If one is due, it begins after some hundred more objects are made."""
    young, middle, old = get_threshold()
    if old == NEVER:
        set_threshold(young, middle, _usual_threshold)


def young_collections() -> tuple[int, int]:
    """Return the numbers of collections of young and middle objects since the last one of an older generation."""
    _, young, middle = get_count()
    return young, middle


def collect_if_due() -> None:
    """Make Python run the collection that is due, perhaps a full one, unless the program has turned the collector off.

    Only Python knows whether a full collection is due, and it decides that after a number of new objects. So this makes
    that number of objects.
    """
    young = get_threshold()[0]
    if gc.isenabled() and 0 < young <= MAX_YOUNG:
        _ = [[] for _ in range(young + 1)]
