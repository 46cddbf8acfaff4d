"""Bounds on what one schema, grammar or generation may cost. Each has its own error."""

from __future__ import annotations

import time
from dataclasses import dataclass

from structgen.errors import LimitExceededError

__all__ = ["Deadline", "Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds with safe defaults; passing one raises `LimitExceededError` naming it, and breaks nothing else.

    Attributes:
        schema_nodes: subschemas visited while a schema is translated.
        schema_depth: nesting of subschemas that apply to one value (`allOf` in `allOf`, chains of `$ref`).
        grammar_symbols: symbols in all bodies of the normal form.
        regex_nodes: nodes of one regex's syntax tree.
        regex_depth: nesting of one regex's syntax tree (groups that only group do not count).
        automaton_states: states of the byte automata that one compiled grammar's store may hold.
        item_sets: Earley sets kept for one compiled grammar; past it those that no matcher needs are dropped.
        set_items: items of one Earley set.
        mask_bytes: bytes of masks kept for one vocabulary; past it the masks are made anew when needed.
        cache_bytes: bytes of compiled grammars kept for reuse (an estimate): some two hundred of usual size.
        compile_seconds: wall-clock seconds for one compile.
    """

    schema_nodes: int = 200_000
    schema_depth: int = 64
    grammar_symbols: int = 2_000_000
    regex_nodes: int = 200_000
    regex_depth: int = 500
    automaton_states: int = 500_000
    item_sets: int = 100_000
    set_items: int = 200_000
    mask_bytes: int = 256 * 2**20
    cache_bytes: int = 32 * 2**20
    compile_seconds: float = 30.0

    def deadline(self) -> Deadline:
        """A clock for one compile, started now."""
        return Deadline(self.compile_seconds)


class Deadline:
    """A clock that raises `LimitExceededError("compile_seconds")` when its time is over."""

    __slots__ = ("_end", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end: float | None = time.monotonic() + seconds

    def restart(self) -> None:
        """Gives all of the time again, from the next check on."""
        self._end = None

    def check(self) -> None:
        """Cheap enough for once every few hundred steps of a loop.

        Raises:
            LimitExceededError: the time is over.
        """
        now = time.monotonic()
        if self._end is None:
            self._end = now + self._seconds
        elif now > self._end:
            raise LimitExceededError("compile_seconds", self._seconds)
