"""The sequences of terminals that a grammar allows, in any context."""

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

__all__ = ["Contexts", "Sentences"]

_CODE_BYTES = 3
_SHORT_CODES = 254  # terminals with a code of one byte


class Contexts:
    """The parts of a grammar's texts, as a language of their own.

    A part begins somewhere in a body and runs to the end of the body. From there it continues after any use of the
    body's nonterminal, and so on outwards. An Earley engine reads parts; its bytes are codes of terminals. Look-aheads
    are ignored.

    A *dotted rule* is here a group of positions that are always reached together: after the same symbols, in bodies of
    one nonterminal.

    Attributes:
        count: the number of terminals.
        classes: for each terminal, the smallest terminal that may stand in its place everywhere, and it in theirs.
    """

    def __init__(self, tables: GrammarTables, limits: Limits) -> None:
        self._symbols = list(tables.symbols)
        self.count = len(tables.terminals)
        self._heads: list[int] = []  # dotted rule → its nonterminal
        self._may_end: list[bool] = []  # dotted rule → does a body end there?
        self._bodies: list[tuple[int, int, int]] = []  # for each body: nonterminal, first symbol, end
        self._rule_after: list[int] = [-1] * len(self._symbols)
        self._after_symbol: dict[int, set[int]] = {}  # symbol → the dotted rules after it
        self._read(tables)
        self.classes = self._classes()
        self._sets = self._engine(tables, limits)
        self._steps: dict[tuple[int, bytes], int] = {}
        self._within: dict[tuple[int, Span], bool] = {}
        self._always: dict[tuple[int, Span], bool] = {}
        self._trimmed: dict[Span, Span] = {}

    def _read(self, tables: GrammarTables) -> None:
        """Find the bodies and the dotted rules."""
        numbers: dict[tuple[int, ...], int] = {}
        for head in range(len(tables.names)):
            for rule in range(tables.first_rule[head], tables.first_rule[head + 1]):
                first = tables.rule_starts[rule]
                end = self._symbols.index(END, first)
                self._bodies.append((head, first, end))
                for at in range(first, end):
                    dotted_rule = numbers.setdefault((head, *self._symbols[first : at + 1]), len(numbers))
                    if dotted_rule == len(self._heads):
                        self._heads.append(head)
                        self._may_end.append(False)
                        self._after_symbol.setdefault(self._symbols[at], set()).add(dotted_rule)
                    self._may_end[dotted_rule] |= at + 1 == end
                    self._rule_after[at] = dotted_rule

    def _classes(self) -> list[int]:
        """Return the attribute `classes`: terminals with the same bodies around them are interchangeable."""
        around: list[set[tuple[int, tuple[int, ...], tuple[int, ...]]]] = [set() for _ in range(self.count)]
        for head, first, end in self._bodies:
            body = tuple(self._symbols[first:end])
            for at, symbol in enumerate(body):
                if symbol < END:
                    around[terminal_number(symbol)].add((head, body[:at], body[at + 1 :]))
        first_of: dict[frozenset[tuple[int, tuple[int, ...], tuple[int, ...]]], int] = {}
        return [first_of.setdefault(frozenset(found), number) for number, found in enumerate(around)]

    def _engine(self, tables: GrammarTables, limits: Limits) -> ItemSetStore:
        """Return an engine that reads a part, or the code of a dotted rule and what may follow it."""
        terminals = TerminalTable(lambda regex: False)
        codes = [terminals.literal(_terminal_code(number)) for number in range(self.count)]
        heads = len(tables.names)

        def mapped(symbols: Sequence[int]) -> Body:
            return tuple(symbol if symbol >= 0 else codes[terminal_number(symbol)] for symbol in symbols)

        bodies: list[list[Body]] = [[] for _ in range(2 * heads)]  # nonterminal A; heads + A is what follows a use of A
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
                start.append((terminals.literal(_dotted_rule_code(self._rule_after[at])), *rest))
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

    @property
    def start(self) -> int:
        """The item set before the first terminal of a part."""
        return self._sets.start_set

    def step(self, state: int, terminal: int) -> int:
        """Return the item set after one more terminal; 0 if the grammar has no such part."""
        return self._followed(state, _terminal_code(terminal))

    def after(self, terminal: int) -> int:
        """Return the item set after a terminal, in any context."""
        return self.step(self._sets.start_set, terminal)

    def following(self, terminal: int) -> list[int]:
        """Return the terminals that may follow a terminal."""
        state = self.after(terminal)
        return [other for other in range(self.count) if self.step(state, other)]

    def trimmed(self, part: Span) -> Span:
        """Return the shortest beginning of a part after which the rest may follow in every context.

        The part is legal exactly where this beginning is. A shorter one may exist: the test is sufficient only.
        """
        found = self._trimmed.get(part)
        if found is None:
            lengths = (n for n in range(1, len(part)) if self.is_always_legal(part[n - 1], part[n:]))
            found = self._trimmed[part] = part[: next(lengths, len(part))]
        return found

    def merged(self, part: Span) -> Span:
        """Return a part with each terminal replaced by the first of its class. Both are legal in the same contexts."""
        return tuple([self.classes[terminal] for terminal in part])

    def is_always_legal(self, terminal: int, span: Span) -> bool:
        """Return whether a span may follow a terminal in every context. True is certain; False is not."""
        found = self._always.get((terminal, span))
        if found is None:
            dotted_rules = self._after_symbol[terminal_symbol(terminal)]
            found = self._always[terminal, span] = self._always_follows(dotted_rules, span)
        return found

    def _always_follows(self, dotted_rules: set[int], span: Span) -> bool:
        """Return whether a span may follow each dotted rule: in its bodies, or after all uses of its nonterminal."""
        seen = set(dotted_rules)
        pending = list(dotted_rules)
        while pending:
            dotted_rule = pending.pop()
            if self._is_within(dotted_rule, span):
                continue
            head = self._heads[dotted_rule]
            if head == 0 or not self._may_end[dotted_rule]:  # after the start rule the text may end
                return False
            pending += self._after_symbol[head] - seen
            seen |= self._after_symbol[head]
        return True

    def _is_within(self, dotted_rule: int, span: Span) -> bool:
        """Return whether a span may follow a dotted rule and begins inside its bodies."""
        key = (dotted_rule, span)
        found = self._within.get(key)
        if found is None:
            found = False
            state = self._followed(self._sets.start_set, _dotted_rule_code(dotted_rule))
            for read, terminal in enumerate(span, 1):
                state = self.step(state, terminal)
                rest = span[read:]
                if not state or found:
                    break
                if not rest:
                    found = True
                elif self._sets.table.accepting[state] and self._heads[dotted_rule]:
                    found = self._always_follows(self._after_symbol[self._heads[dotted_rule]], rest)
            self._within[key] = found
        return found


class Sentences:
    """The texts of a grammar, as sequences of terminals.

    Attributes:
        start: the item set before the first terminal.

    Args:
        tables: the normal form, without look-aheads.
        limits: bounds on the item sets.
    """

    def __init__(self, tables: GrammarTables, limits: Limits) -> None:
        terminals = TerminalTable(lambda regex: False)
        codes = [terminals.literal(_terminal_code(number)) for number in range(len(tables.terminals))]
        bodies: list[list[Body]] = [[] for _ in tables.names]
        symbols = list(tables.symbols)
        for head, found in enumerate(bodies):
            for rule in range(tables.first_rule[head], tables.first_rule[head + 1]):
                first = tables.rule_starts[rule]
                body = symbols[first : symbols.index(END, first)]
                found.append(tuple([symbol if symbol >= 0 else codes[terminal_number(symbol)] for symbol in body]))
        packed = pack(Productions(bodies, list(tables.names), 0, terminals), accepts_empty=tables.accepts_empty)
        rules = Rules(packed, AutomatonStore(limits), limits)
        self._sets = ItemSetStore(rules, limits, accepts_empty=tables.accepts_empty)
        self.start = self._sets.start_set
        self._steps: dict[tuple[int, int], int] = {}

    def follow(self, state: int, part: Span) -> int:
        """Return the item set after the terminals of a part; 0 if the grammar does not allow them."""
        for terminal in part:
            found = self._steps.get((state, terminal))
            if found is None:
                found = state
                for byte in _terminal_code(terminal):
                    found = self._sets.goto(found, byte) if found else 0
                self._steps[state, terminal] = found
            state = found
        return state


def _terminal_code(number: int) -> bytes:
    """Return the bytes that stand for a terminal: one byte for the first ones, since each byte costs an item set."""
    if number < _SHORT_CODES:
        return bytes([number])
    return bytes([_SHORT_CODES]) + number.to_bytes(_CODE_BYTES, "big")


def _dotted_rule_code(number: int) -> bytes:
    return bytes([_SHORT_CODES + 1]) + number.to_bytes(_CODE_BYTES, "big")
