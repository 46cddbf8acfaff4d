"""Which sequences of terminals a grammar has, whatever surrounds them."""

from __future__ import annotations

from collections.abc import Sequence

from structgen.diagnostics.grammar_statistics.spans import Span
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.grammar.rules import Rules
from structgen.engine.grammar.tables import END, GrammarTables, terminal_number, terminal_symbol
from structgen.kbnf.normal_form.passes import pack, simplify
from structgen.kbnf.normal_form.productions import Body, Productions, TerminalTable
from structgen.limits import Limits

__all__ = ["Contexts"]

_CODE_BYTES = 3


class Contexts:
    """The parts of a grammar's texts as a language of their own.

    A part begins somewhere in a body, goes on to its end, and then, with unlimited credit, behind any use of what that
    body belongs to, and so on. It is read by an Earley engine whose bytes are codes of terminals. Look-aheads are left
    out.

    A *place* is where the dot of some items stands that are always there together: it is behind the same symbols in
    bodies of one nonterminal.

    Attributes:
        count: the number of terminals.
        kinds: for each terminal what is equal for those that stand in alternatives of the same nonterminals only.
    """

    def __init__(self, tables: GrammarTables, limits: Limits) -> None:
        self._symbols = list(tables.symbols)
        self.count = len(tables.terminals)
        self._heads: list[int] = []  # by place: the nonterminal
        self._may_end: list[bool] = []  # by place: whether a body ends there
        self._bodies: list[tuple[int, int, int]] = []  # of each a nonterminal, where it begins and where it ends
        self._place_behind: list[int] = [-1] * len(self._symbols)
        self._behind: dict[int, set[int]] = {}  # the places behind a symbol
        self._read(tables)
        self.kinds = self._kinds()
        self._sets = self._engine(tables, limits)
        self._steps: dict[tuple[int, bytes], int] = {}
        self._within: dict[tuple[int, Span], bool] = {}

    def _read(self, tables: GrammarTables) -> None:
        """Finds bodies and places."""
        numbers: dict[tuple[int, ...], int] = {}
        for head in range(len(tables.names)):
            for rule in range(tables.first_rule[head], tables.first_rule[head + 1]):
                first = tables.rule_starts[rule]
                end = self._symbols.index(END, first)
                self._bodies.append((head, first, end))
                for at in range(first, end):
                    place = numbers.setdefault((head, *self._symbols[first : at + 1]), len(numbers))
                    if place == len(self._heads):
                        self._heads.append(head)
                        self._may_end.append(False)
                        self._behind.setdefault(self._symbols[at], set()).add(place)
                    self._may_end[place] |= at + 1 == end
                    self._place_behind[at] = place

    def _kinds(self) -> list[tuple[object, ...]]:
        """See the attribute."""
        found: list[set[tuple[str, int]]] = [set() for _ in range(self.count)]
        for head, first, end in self._bodies:
            for at in range(first, end):
                if self._symbols[at] < END:
                    kind = ("head", head) if at == first else ("place", at)
                    found[terminal_number(self._symbols[at])].add(kind)
        return [tuple(sorted(kinds)) for kinds in found]

    def _engine(self, tables: GrammarTables, limits: Limits) -> ItemSetStore:
        """The engine, before a part of a text, or before the code of a place and what stands behind that."""
        terminals = TerminalTable(lambda regex: False)
        codes = [terminals.literal(_code(b"T", number)) for number in range(self.count)]
        heads = len(tables.names)

        def mapped(symbols: Sequence[int]) -> Body:
            return tuple(symbol if symbol >= 0 else codes[terminal_number(symbol)] for symbol in symbols)

        bodies: list[list[Body]] = [[] for _ in range(2 * heads)]  # a nonterminal A, and what surrounds it: heads + A
        start: list[Body] = []
        for head, first, end in self._bodies:
            bodies[head].append(mapped(self._symbols[first:end]))
            for at in range(first, end):
                rest = mapped(self._symbols[at + 1 : end])
                symbol = self._symbols[at]
                if symbol >= 0:
                    bodies[heads + symbol] += [(*rest, heads + head), *([rest] if rest else [])]
                else:
                    own = mapped([symbol])
                    start += [(*own, *rest, heads + head), (*own, *rest)]
                start.append((terminals.literal(_code(b"P", self._place_behind[at])), *rest))
        names = [*tables.names, *tables.names, "part"]
        productions = Productions([*bodies, start], names, 2 * heads, terminals)
        packed = pack(simplify(productions), accepts_empty=False)
        return ItemSetStore(Rules(packed, AutomatonStore(limits), limits), limits, accepts_empty=False)

    def _followed(self, state: int, code: bytes) -> int:
        key = (state, code)
        found = self._steps.get(key)
        if found is None:
            for byte in code:
                state = self._sets.goto(state, byte) if state else 0
            found = self._steps[key] = state
        return found

    def step(self, state: int, terminal: int) -> int:
        """The Earley set behind a terminal from another one on; 0 where the grammar has no such part."""
        return self._followed(state, _code(b"T", terminal))

    def after(self, terminal: int) -> int:
        """The Earley set behind a terminal."""
        return self.step(self._sets.start_set, terminal)

    def following(self, terminal: int) -> list[int]:
        """The terminals that may stand behind a terminal."""
        state = self.after(terminal)
        return [other for other in range(self.count) if self.step(state, other)]

    def is_always_legal(self, terminal: int, span: Span) -> bool:
        """Whether a span may follow a terminal wherever it stands; sufficient, not necessary."""
        return self._is_always_behind(self._behind[terminal_symbol(terminal)], span)

    def _is_always_behind(self, places: set[int], span: Span) -> bool:
        """Whether a span may follow each of some places: within its bodies, or behind all uses of the nonterminal."""
        seen = set(places)
        pending = list(places)
        while pending:
            place = pending.pop()
            if self._is_within(place, span):
                continue
            head = self._heads[place]
            if head == 0 or not self._may_end[place]:  # the text may end behind the start
                return False
            pending += self._behind[head] - seen
            seen |= self._behind[head]
        return True

    def _is_within(self, place: int, span: Span) -> bool:
        """Whether a span may follow a place, and begins in its bodies."""
        key = (place, span)
        found = self._within.get(key)
        if found is None:
            found = False
            state = self._followed(self._sets.start_set, _code(b"P", place))
            for read, terminal in enumerate(span, 1):
                state = self.step(state, terminal)
                rest = span[read:]
                if not state or found:
                    break
                if not rest:
                    found = True
                elif self._sets.table.accepting[state] and self._heads[place]:
                    found = self._is_always_behind(self._behind[self._heads[place]], rest)
            self._within[key] = found
        return found


def _code(kind: bytes, number: int) -> bytes:
    return kind + number.to_bytes(_CODE_BYTES, "big")
