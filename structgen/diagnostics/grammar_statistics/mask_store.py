r"""The mask store of a grammar with a lexer, before and after each step of its streamlining.

SynCode's *mask store* (Ugare et al., "SynCode: LLM Generation with Grammar Augmentation", 2024) has an entry for each
state of the lexer and each sequence of terminals that some token has from there: the pairs of GreatGramma's inverse
token spanner table (`token_spanner`). At run time the parser decides for each sequence of the state whether it is
legal. V. Tran-Thien ("Accelerating LLM Code Generation Through Mask Store Streamlining", 2025) removes entries:

1. *Never legal*: no text of the grammar has these terminals in a row.
2. *Always legal*: after the beginning of a sequence, its tail may follow in every context. The tail is cut off. If
   only the first terminal is left, the parser is asked for that terminal alone.
3. *Jointly legal*: terminals with the same contexts are interchangeable, also inside sequences: `+` and `-`.

Entries that become equal are one. Ignored terminals are not in sequences, since the parser does not see them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from structgen.diagnostics.grammar_statistics.contexts import Contexts
from structgen.diagnostics.grammar_statistics.legality import LegalSpans
from structgen.diagnostics.grammar_statistics.lexed_contexts import LexedTables
from structgen.diagnostics.grammar_statistics.lexers import Lexer
from structgen.diagnostics.grammar_statistics.spans import Span, SpanSets, TokenGraph
from structgen.engine.garbage_collection import without_collector
from structgen.limits import Limits

__all__ = ["STEPS", "MaskStore", "Streamlining", "mask_store"]

STEPS = ("all", "never legal removed", "always legal trimmed", "jointly legal merged")
BOUNDS = (10, 30, 100, 300, 1000, 3000)  # entries of one state, for the table of shares


class Streamlining:
    """The three steps, for single sequences of the lexer's terminals.

    Attributes:
        interchangeable: the sets of two or more terminals that are interchangeable, by name.

    Args:
        lexer: the lexer.
        lexed: its grammar (`lexed_contexts.lexed_tables`).
        limits: bounds on the item sets.
    """

    def __init__(self, lexer: Lexer, lexed: LexedTables, limits: Limits) -> None:
        self._lexer = lexer
        self.contexts = Contexts(lexed.tables, limits)
        unused = self.contexts.count
        # Terminals that no rule uses get numbers of their own; no part has them.
        self.numbers = [lexed.terminals.get(terminal, unused + terminal) for terminal in range(len(lexer.lexemes))]
        names: dict[int, list[str]] = {}
        for terminal, number in lexed.terminals.items():
            names.setdefault(self.contexts.classes[number], []).append(lexer.lexemes[terminal].name)
        self.interchangeable = [sorted(each) for each in names.values() if len(each) > 1]

    def seen(self, sequence: Iterable[int]) -> Span:
        """Return a sequence of the lexer's terminals as the parser sees it, in the numbers of the tables."""
        return tuple([self.numbers[terminal] for terminal in self._lexer.seen(list(sequence))])

    def is_legal(self, part: Span) -> bool:
        """Return whether some text of the grammar has the terminals of a part in a row."""
        state = self.contexts.start
        for terminal in part:
            state = self.contexts.step(state, terminal)
            if not state:
                return False
        return True

    def steps(self, part: Span) -> tuple[Span, Span, Span]:
        """Return the sequences that replace a legal part in the store: after step 1, step 2 and step 3."""
        trimmed = self.contexts.trimmed(part)
        return part, trimmed, self.contexts.merged(trimmed)


@dataclass(frozen=True)
class MaskStore:
    """The numbers of entries of a mask store.

    Attributes:
        states: the number of states of the lexer.
        entries: for each of `STEPS`, the number of entries of each state.
        once: for each of `STEPS`, the number of entries if states with the same sequences share them.
        interchangeable: the sets of interchangeable terminals.
    """

    states: int
    entries: tuple[tuple[int, ...], ...]
    once: tuple[int, ...]
    interchangeable: list[list[str]]

    @property
    def totals(self) -> tuple[int, ...]:
        """The number of entries after each of `STEPS`."""
        return tuple(map(sum, self.entries))

    def shares(self, bounds: Sequence[int] = BOUNDS) -> list[tuple[float, ...]]:
        """Return, for each step and each bound, the share of states with at most so many entries."""
        found = []
        for counts in self.entries:
            ordered = sorted(counts)
            found.append(tuple(bisect_right(ordered, bound) / self.states for bound in bounds))
        return found

    def lines(self) -> list[str]:
        """Return the numbers as text."""
        lines = [f"states of the lexer    {self.states:>9,}"]
        if sum(self.totals):
            lines.append(
                "entries of a mask store; entries if equal states share them; share of states with at most so many:"
            )
            lines.append(" " * 44 + "".join(f"{bound:>8,}" for bound in BOUNDS))
            for step, total, once, shares in zip(STEPS, self.totals, self.once, self.shares()):
                row = "".join(f"{share:>8.1%}" for share in shares)
                lines.append(f"  {step:<21}{total:>9,} {once:>9,}  {row}")
        count = sum(map(len, self.interchangeable))
        lines.append(f"{len(self.interchangeable)} sets of interchangeable terminals, with {count} terminals:")
        lines += [
            "  " + " ".join(names) for names in sorted(self.interchangeable, key=lambda names: (-len(names), names))
        ]
        return lines


def mask_store(lexer: Lexer, lexed: LexedTables, texts: Iterable[bytes], limits: Limits | None = None) -> MaskStore:
    """Count the entries of a mask store.

    Args:
        lexer: the lexer.
        lexed: its grammar.
        texts: the texts of the vocabulary's tokens.
        limits: bounds on the item sets.
    """
    streamlining = Streamlining(lexer, lexed, limits or Limits())
    sets = SpanSets()
    with without_collector():
        rows = _sequences(lexer, streamlining, texts, sets)
        legal = LegalSpans(streamlining.contexts, sets)
        counted: dict[int, tuple[int, ...]] = {}
        for row in Counter(rows):
            steps = [streamlining.steps(part) for part in legal.within(streamlining.contexts.start, row)]
            left = [len(set(parts)) for parts in zip(*steps)] if steps else [0, 0, 0]
            counted[row] = (sets.sizes[row], *left)
    entries = tuple([tuple([counted[row][step] for row in rows]) for step in range(len(STEPS))])
    once = tuple(map(sum, zip(*counted.values())))
    return MaskStore(len(lexer.targets), entries, once, streamlining.interchangeable)


def _sequences(lexer: Lexer, streamlining: Streamlining, texts: Iterable[bytes], sets: SpanSets) -> list[int]:
    """Return the number in `sets` of the sequences of each state of the lexer.

    Tokens with a common ending are read once. The first pass goes from the root of the token graph down and finds the
    lexer's states that reach each node. The second goes up and computes the sequences from each of them.
    """
    classes = lexer.byte_classes()
    graph = TokenGraph([text.translate(classes) for text in texts if text])
    states = range(len(lexer.targets))
    needed: list[set[int]] = [set() for _ in graph.ends]
    needed[graph.root].update(states)
    for node in reversed(range(len(graph.ends))):  # down: edges lead to smaller nodes
        for byte, child in graph.edges[node]:
            needed[child] |= {step[1] for state in needed[node] if (step := lexer.step(state, byte))}
    ended = [_single(lexer, streamlining, sets, state) for state in states]
    found: list[dict[int, int]] = [{} for _ in graph.ends]
    for node, node_states in enumerate(needed):  # up
        for state in node_states:
            parts = {ended[state]} if graph.ends[node] else set()
            for byte, child in graph.edges[node]:
                step = lexer.step(state, byte)
                if step is not None:
                    rest = found[child][step[1]]
                    is_seen = step[0] >= 0 and not lexer.lexemes[step[0]].is_ignored
                    parts.add(sets.beginning_with(streamlining.numbers[step[0]], rest) if is_seen else rest)
            found[node][state] = sets.union(parts)
    return [found[graph.root][state] for state in states]


def _single(lexer: Lexer, streamlining: Streamlining, sets: SpanSets, state: int) -> int:
    """Return the set of sequences for the end of a token: each terminal that the lexer may emit next, alone.

    An ignored terminal gives the empty sequence.
    """
    terminals = lexer.producible[state]
    shown = [terminal for terminal in terminals if not lexer.lexemes[terminal].is_ignored]
    parts = {sets.beginning_with(streamlining.numbers[terminal], sets.end) for terminal in shown}
    return sets.union(parts | {sets.end} if len(shown) < len(terminals) else parts)
