"""The temperature of sampling that a grammar asks for at an item set.

A part of a grammar (`engine/grammar/composition.py`) may have a temperature. It counts while a text of the part is
under way, and where one may begin. Where several parts are possible, the highest temperature counts, as in llguidance.
"""

from __future__ import annotations

from structgen.engine.grammar.composition import ComposedRules
from structgen.engine.matching.compiled import CompiledGrammar

__all__ = ["temperature_of"]


def temperature_of(compiled: CompiledGrammar, set_id: int) -> float | None:
    """Return the temperature at a set; None where the grammar asks for none. The lock is held."""
    source = compiled.tables.source
    if not isinstance(source, ComposedRules):
        return None
    sets, rules = compiled.sets, compiled.sets.rules
    sets.close(set_id)
    found: float | None = None
    for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
        position, group = rules.first_position(sets.scans.position[scan]), sets.scans.group[scan]
        rule = rules.rule_at(position)
        head = rules.head_of(rule) if rule >= 0 else -1
        key = rules.key_of(head) if head >= 0 else None
        if key is None and head >= len(compiled.tables.names):  # a captured terminal has a nonterminal of its own
            waiting = sets.waiting(group)
            key = rules.key_of(rules.head_of(rules.rule_at(waiting[0][0]))) if waiting else None
        here = None if key is None else source.temperature(key)
        if here is not None and (found is None or here > found):
            found = here
    return found
