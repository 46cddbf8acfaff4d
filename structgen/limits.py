"""Bounds on the cost of one schema, grammar or generation. Passing one raises an error that names it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

__all__ = ["Limits"]

# The compiled modules count in C integers; no limit needs more.
_MAX_COUNT = 2**28
_MAX_BYTES = 2**60
_MAX_SECONDS = 1_000_000_000
_MAY_BE_ZERO = ("mask_bytes", "cache_bytes")  # nothing is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds with safe defaults. Passing one raises a `LimitExceededError` that names it; nothing else breaks.

    Attributes:
        schema_nodes: subschemas that the translation of one schema may visit.
        schema_depth: nesting of subschemas that apply to one value (`allOf` in `allOf`, chains of `$ref`).
        grammar_symbols: symbols in all bodies of the normal form.
        regex_nodes: nodes in the syntax tree of one regex.
        regex_depth: nesting of that tree; plain groups do not count.
        automaton_states: automaton states that the tables of one compiled grammar may hold.
        item_sets: item sets kept for one compiled grammar. Past it, sets that no matcher needs are dropped.
        set_items: items of one item set.
        mask_bytes: bytes of masks kept for one vocabulary. Past it, masks are computed again when needed.
        cache_bytes: estimated bytes of compiled grammars kept for reuse; about two hundred grammars of usual size.
        compile_seconds: wall-clock seconds for one compile, one export, or reading one Lark grammar.
        mask_seconds: wall-clock seconds for one mask, or for accepting one token.
        memory_bytes: memory that one compile, one mask or one accepted token may take. It is compared while it grows.

    Raises:
        TypeError: a limit is not a number, or a count is not an integer.
        ValueError: a limit is negative, zero where that makes no sense, NaN, infinite or too large.
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
    mask_seconds: float = 1.0
    memory_bytes: int = 512 * 2**20

    def __hash__(self) -> int:
        """Return a hash of some fields: that of all would take longer than comparing them."""
        return hash((self.mask_seconds, self.compile_seconds, self.memory_bytes, self.cache_bytes))

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name))


def _check(name: str, value: Any) -> None:
    """Raise an error that names the limit if its value is of a wrong type or out of range."""
    is_int = isinstance(value, int) and not isinstance(value, bool)
    if name.endswith("_seconds"):
        if not is_int and not isinstance(value, float):
            raise TypeError(f"Limits: {name} must be a number, not {value!r}")
        if not 0 < value <= _MAX_SECONDS:
            raise ValueError(f"Limits: {name} must be above 0 and at most {_MAX_SECONDS}, not {value!r}")
        return
    if not is_int:
        raise TypeError(f"Limits: {name} must be an int, not {value!r}")
    lowest = 0 if name in _MAY_BE_ZERO else 1
    highest = _MAX_BYTES if name.endswith("_bytes") else _MAX_COUNT
    if not lowest <= value <= highest:
        raise ValueError(f"Limits: {name} must be {lowest} to {highest}, not {value!r}")
