"""Spans: the sequences of terminals that tokens run through, from every automaton state of every terminal.

The token `, "` begun inside a number has the span (comma, space, quote): the number ends before it.

No lexer takes the longest match here, so blanks and letters can be divided in many ways, and some sets of spans are too
large to list. A set is therefore a tree whose equal subtrees are shared (`SpanSets`). All tokens are followed at once,
as a minimal automaton (`TokenGraph`): a result for one of its nodes holds for all tokens with the same ending.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from structgen.diagnostics.grammar_statistics.terminals import Terminals

__all__ = ["Span", "SpanSets", "Spans", "TokenGraph"]

Span = tuple[int, ...]
"""The terminals that a token enters after the one that it begins in."""

_Edges = tuple[tuple[int, int], ...]


class SpanSets:
    """Numbered sets of spans. Equal sets have the same number.

    A *part* holds the members of a set that begin with one terminal. Parts are numbered too.

    Attributes:
        nothing, end: the set without spans, and the set of the empty span.
        has_empty: set → is the empty span a member?
        parts: set → its parts.
        sizes: set → number of members.
        terminals, rests: part → its terminal, and the set of what follows it.
    """

    def __init__(self) -> None:
        self.has_empty: list[bool] = []
        self.parts: list[frozenset[int]] = []
        self.sizes: list[int] = []
        self.terminals: list[int] = []
        self.rests: list[int] = []
        self._numbers: dict[tuple[bool, frozenset[int]], int] = {}
        self._parts: dict[tuple[int, int], int] = {}
        self._unions: dict[frozenset[int], int] = {}
        self.nothing = self._made(False, frozenset())
        self.end = self._made(True, frozenset())

    def beginning_with(self, terminal: int, rest: int) -> int:
        """Return the set of spans that begin with a terminal and continue with a span of `rest`."""
        return self._made(False, frozenset([self._part(terminal, rest)])) if rest != self.nothing else rest

    def without_empty(self, number: int) -> int:
        """Return a set without the empty span."""
        return self._made(False, self.parts[number])

    def union(self, numbers: Iterable[int]) -> int:
        """Return the union of sets."""
        key = frozenset(numbers)
        if len(key) < 2:
            return next(iter(key), self.nothing)
        found = self._unions.get(key)
        if found is None:
            has_empty = any(self.has_empty[number] for number in key)
            # Parts that several sets share are handled once.
            parts = frozenset().union(*[self.parts[number] for number in key])
            found = self._unions[key] = self._made(has_empty, self._joined(parts))
        return found

    def _joined(self, parts: frozenset[int]) -> frozenset[int]:
        """Merge parts, so that each terminal has one."""
        rests: dict[int, list[int]] = {}
        for part in parts:
            rests.setdefault(self.terminals[part], []).append(self.rests[part])
        if len(rests) == len(parts):
            return parts
        return frozenset([self._part(terminal, self.union(several)) for terminal, several in rests.items()])

    def _made(self, has_empty: bool, parts: frozenset[int]) -> int:
        number = self._numbers.setdefault((has_empty, parts), len(self.parts))
        if number == len(self.parts):
            self.has_empty.append(has_empty)
            self.parts.append(parts)
            self.sizes.append(has_empty + sum([self.sizes[self.rests[part]] for part in parts]))
        return number

    def _part(self, terminal: int, rest: int) -> int:
        part = self._parts.setdefault((terminal, rest), len(self.rests))
        if part == len(self.rests):
            self.terminals.append(terminal)
            self.rests.append(rest)
        return part


class TokenGraph:
    """The minimal automaton of a list of texts: one node for each set of possible continuations.

    Attributes:
        ends: node → may a text end there?
        edges: node → the next bytes and their target nodes. Targets have smaller numbers.
        root: the node before the first byte.

    Args:
        texts: at least one, none of them empty.
    """

    def __init__(self, texts: Iterable[bytes]) -> None:
        self.ends: list[bool] = []
        self.edges: list[_Edges] = []
        self._numbers: dict[tuple[bool, _Edges], int] = {}
        self.root = self._built(sorted(set(texts)))

    def _built(self, texts: Sequence[bytes]) -> int:
        # For each prefix of the last text: is it a text, and which finished nodes follow it.
        ends, edges = [False], [dict[int, int]()]
        last = b""
        for text in [*texts, b""]:
            shared = next((at for at, (a, b) in enumerate(zip(text, last)) if a != b), min(len(text), len(last)))
            while len(edges) > shared + 1:
                node = self._node(ends.pop(), edges.pop())
                edges[-1][last[len(edges) - 1]] = node
            for _ in text[shared:]:
                ends.append(False)
                edges.append({})
            ends[-1] = text != b""
            last = text
        return self._node(False, edges[0])

    def _node(self, is_end: bool, edges: dict[int, int]) -> int:
        key = (is_end, tuple(edges.items()))
        number = self._numbers.setdefault(key, len(self.ends))
        if number == len(self.ends):
            self.ends.append(is_end)
            self.edges.append(key[1])
        return number


@dataclass(frozen=True)
class _Reader:
    """The state of reading a token.

    Attributes:
        state: the automaton state inside the current terminal; 0 if the next byte begins a terminal.
        refused: the automaton state of what must not follow the terminal; 0 for nothing.
        watched: automaton states of what must not come from here on. None of them may accept.
    """

    state: int
    refused: int
    watched: frozenset[int]


class Spans:
    """The spans of all tokens.

    Args:
        terminals: the terminals of the grammar.
        texts: the texts of the tokens.

    Attributes:
        sets: the numbered sets that results refer to.
    """

    def __init__(self, terminals: Terminals, texts: Iterable[bytes]) -> None:
        self.sets = SpanSets()
        self._terminals = terminals
        self._next = terminals.automata.next
        self._accepting = terminals.automata.table.accepting
        classes = terminals.byte_classes()
        self._tokens = TokenGraph(text.translate(classes) for text in texts if text)
        self._readers: list[_Reader] = []
        self._numbers: dict[_Reader, int] = {}
        self._gaps: list[int] = []  # reader → the reader after its terminal has ended, or -1
        self._moves: dict[tuple[int, int], Sequence[tuple[int, int]]] = {}
        self._found: list[dict[int, int]] = [
            {} for _ in self._tokens.ends
        ]  # node → reader → set of spans, as far as known

    def from_states(self, states: Sequence[tuple[int, int]]) -> list[int]:
        """Return, for each (terminal, automaton state), the set of spans of tokens that begin there and leave it.

        Where the terminal may end in the state, a token may also begin with the next terminal.
        """
        root = self._tokens.root
        edges = self._tokens.edges[root]
        begun = []
        for number, state in states:
            targets = [(node, self._next(state, byte)) for byte, node in edges]
            refused = self._terminals.refused[number]
            within = [(node, self._reader(target, refused, frozenset())) for node, target in targets if target]
            ended = self._gaps[self._reader(state, refused, frozenset())]
            begun.append([*within, (root, ended)] if ended >= 0 else within)
        self._find({start for first in begun for start in first})
        found = [self.sets.union({self._found[node][reader] for node, reader in first}) for first in begun]
        return [self.sets.without_empty(spans) for spans in found]

    def _find(self, starts: set[tuple[int, int]]) -> None:
        """Compute the spans for pairs of node and reader. Edges lead to smaller nodes."""
        pending: list[set[int]] = [set() for _ in self._found]
        for node, reader in starts:
            pending[node].add(reader)
        for node in reversed(range(len(pending))):
            pending[node] = self._with_gaps(pending[node]) - self._found[node].keys()
            for byte, child in self._tokens.edges[node]:
                for reader in pending[node]:
                    pending[child].update([target for _, target in self._after(reader, byte)])
        for node, readers in enumerate(pending):
            for reader in sorted(readers, key=lambda reader: self._gaps[reader] >= 0):  # gaps first
                self._found[node][reader] = self._spans_of(reader, node)

    def _with_gaps(self, readers: set[int]) -> set[int]:
        return readers | {self._gaps[reader] for reader in readers if self._gaps[reader] >= 0}

    def _spans_of(self, reader: int, node: int) -> int:
        """Return the spans of a reader from a node, when all smaller nodes are known."""
        sets = self.sets
        found = {sets.end} if self._tokens.ends[node] else set()
        for byte, child in self._tokens.edges[node]:
            known = self._found[child]
            for terminal, target in self._after(reader, byte):
                found.add(known[target] if terminal < 0 else sets.beginning_with(terminal, known[target]))
        if self._gaps[reader] >= 0:
            found.add(self._found[node][self._gaps[reader]])
        return sets.union(found)

    def _reader(self, state: int, refused: int, watched: frozenset[int]) -> int:
        reader = _Reader(state, refused, watched)
        number = self._numbers.get(reader)
        if number is None:
            number = self._numbers[reader] = len(self._readers)
            self._readers.append(reader)
            self._gaps.append(-1)
            if state and self._accepting[state]:
                self._gaps[number] = self._reader(0, 0, watched | {refused} if refused else watched)
        return number

    def _after(self, number: int, byte: int) -> Sequence[tuple[int, int]]:
        """Return the steps of a reader by a byte: (terminal that begins, or -1; next reader)."""
        found = self._moves.get((number, byte))
        if found is None:
            reader = self._readers[number]
            watched = frozenset(self._next(state, byte) for state in reader.watched) - {0}
            moves: list[tuple[int, int]] = []
            if not any(self._accepting[state] for state in watched):
                if reader.state:
                    if target := self._next(reader.state, byte):
                        moves.append((-1, self._reader(target, reader.refused, watched)))
                else:
                    for terminal, target in self._terminals.begun(byte):
                        moves.append((terminal, self._reader(target, self._terminals.refused[terminal], watched)))
            found = self._moves[number, byte] = tuple(moves)
        return found
