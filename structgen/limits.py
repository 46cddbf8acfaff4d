"""Bounds on the cost of one schema, grammar or generation. Passing one raises an error that names it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


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
        compile_seconds: wall-clock seconds for one compile.
        mask_seconds: wall-clock seconds for one mask, or for accepting one token.
        memory_bytes: memory that one compile, one mask or one accepted token may take. It is compared while it grows.
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
