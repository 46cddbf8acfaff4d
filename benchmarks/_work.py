"""Counts of the work of structgen's engine. Other work on the machine does not change them."""

from __future__ import annotations

from structgen.engine.matching.compiled import CompiledGrammar, SharedState
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.limits import Limits

__all__ = ["WORK", "work_of", "work_shared"]

WORK = ("sets", "steps", "symbols", "states", "nodes")
"""Earley sets made; steps between them computed; symbols of rules written; automaton states; nodes of tries visited.

The last two belong to the tables that all grammars of a vocabulary share, and to this grammar's own walks.
"""


def work_shared(vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the counts of the shared tables, before a new grammar is compiled."""
    shared = SharedState.of(vocabulary).tables(vocabulary, Limits())
    return 0, 0, 0, shared.automata.count, shared.terminals.nodes_visited


def work_of(grammar: CompiledGrammar) -> tuple[int, ...]:
    """Return the counts of a grammar so far."""
    sets, shared = grammar.sets, grammar.shared
    nodes = grammar.masks.nodes_visited + shared.terminals.nodes_visited
    return sets.set_count, sets.steps, sets.rules.size, shared.automata.count, nodes
