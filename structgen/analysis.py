"""What a grammar holds, and what tables over its terminals would hold: `structgen grammar stats`.

Engines with a lexer keep, for a lexer state and a token, which sequences of terminals the token may span: SynCode's
*mask store* (Ugare et al., 2024), GreatGramma's *token spanner table* (Park et al., 2025). Tran-Thien ("The mask store,
streamlined", 2025) makes it smaller by three analyses, which are computed here for any grammar and vocabulary:

- *never legal*: no text of the grammar has these terminals one after the other;
- *always legal*: they may follow wherever the first of them stands, whatever surrounds it;
- *jointly legal*: sequences that differ in a last terminal where the grammar has the same alternatives.

structgen keeps no such table (its masks come from the terminals' automata and Earley sets, and are found while they are
needed), so this is for looking at a grammar, and for comparing with what is published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from structgen.engine import regex as rx
from structgen.engine.automata import AutomatonStore
from structgen.engine.earley import ItemSetStore
from structgen.engine.grammar import END, GrammarTables, terminal_number
from structgen.engine.rules import Rules
from structgen.engine.vocabulary import Vocabulary
from structgen.kbnf import ast
from structgen.kbnf.flattening import flatten
from structgen.kbnf.lookaheads import possible_dead_ends, without_refused
from structgen.kbnf.normal_form import normalize, pack, simplify
from structgen.kbnf.nullables import eliminate_nullables
from structgen.kbnf.productions import Body, Productions, TerminalTable
from structgen.kbnf.regex_text import regex_to_rust
from structgen.kbnf.rewriting import rewrite
from structgen.kbnf.simplification import remove_unproductive
from structgen.limits import Limits

__all__ = ["Overlap", "Statistics", "describe", "statistics"]

_MARGIN = ast.Option(ast.RegexTerminal(rx.plus(rx.ByteSet(1 << 32 | 1 << 9)), "[ \\t]+"))
_CODE_BYTES = 3
SHOWN = 24  # characters of a regex that is its own name

_END = -1  # in a node of the tokens' tree: a token ends here
_Node = dict[int, Any]

Span = tuple[int, ...]
"""The terminals that a token goes into behind the one that it began in."""


@dataclass
class Overlap:
    """Two terminals that may stand at one place and match one text there: a choice that only later text can settle.

    Attributes:
        first, second: the terminals.
        text: a text of both.
        after: a terminal behind which both may stand.
    """

    first: str
    second: str
    text: bytes
    after: str


@dataclass
class Statistics:
    """What `statistics` found.

    Attributes:
        rules, bodies, symbols, terminals: of the normal form.
        states: of all terminals' automata.
        entries: pairs of an automaton state and a span of some token.
        legal: those without the ones that are never legal.
        conditional: of these, those that are not always legal; the others become one entry for each state.
        joint: the conditional ones, jointly legal ones together, and the entries of the always legal ones.
        overlaps: see `Overlap`.
        dead_ends: rules in which a look-ahead may leave nothing that could follow; see `possible_dead_ends`.
    """

    rules: int
    bodies: int
    symbols: int
    terminals: int
    states: int = 0
    entries: int = 0
    legal: int = 0
    conditional: int = 0
    joint: int = 0
    overlaps: list[Overlap] = field(default_factory=list)
    dead_ends: list[str] = field(default_factory=list)


def statistics(grammar: ast.Grammar, vocabulary: Vocabulary | None = None, limits: Limits | None = None) -> Statistics:
    """Looks at a grammar. Indentation counts as any white space.

    Args:
        grammar: the tree.
        vocabulary: whose tokens span terminals; without it the entries are not counted.
        limits: as for `structgen.compile`.

    Raises:
        GrammarError: the grammar is not valid.
        LimitExceededError: it is too large.
    """
    limits = limits or Limits()
    grammar = _without_indentation(grammar)
    tables = normalize(grammar, limits=limits)
    found = Statistics(
        rules=len(tables.names),
        bodies=len(tables.rule_starts),
        symbols=len(tables.symbols),
        terminals=len(tables.terminals),
    )
    found.dead_ends = _dead_ends(grammar, limits)
    contexts = _Contexts(tables, limits)
    terminals = _Terminals(tables, limits)
    found.states = sum(len(terminals.states(number)) for number in range(found.terminals))
    found.overlaps = list(_overlaps(contexts, terminals))
    if vocabulary is not None:
        _count_entries(found, contexts, terminals, _Tokens(vocabulary))
    return found


def describe(found: Statistics, *, overlaps: int = 20) -> str:
    """Statistics as text, one thing a line."""
    lines = [
        f"nonterminals           {found.rules:>9,}",
        f"bodies                 {found.bodies:>9,}",
        f"symbols                {found.symbols:>9,}",
        f"terminals              {found.terminals:>9,}",
        f"states of terminals    {found.states:>9,}",
    ]
    if found.entries:
        lines += [
            f"entries of a mask store {found.entries:>8,}  (state of a terminal, terminals that a token goes on into)",
            f"  without never legal   {found.legal:>8,}",
            f"  without always legal  {found.conditional:>8,}",
            f"  joined jointly legal  {found.joint:>8,}  ({found.entries / max(1, found.joint):.1f} times smaller)",
        ]
    if found.dead_ends:
        lines.append("look-aheads may leave nothing that could follow in: " + ", ".join(found.dead_ends))
    if found.overlaps:
        lines.append(f"{len(found.overlaps)} pairs of terminals match one text at one place:")
        for overlap in found.overlaps[:overlaps]:
            text = overlap.text.decode(errors="replace")
            lines.append(f"  {overlap.first} and {overlap.second}: {text!r} after {overlap.after}")
        if len(found.overlaps) > overlaps:
            lines.append(f"  and {len(found.overlaps) - overlaps} more")
    return "\n".join(lines)


def _without_indentation(grammar: ast.Grammar) -> ast.Grammar:
    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Margin):
            return _MARGIN
        return node.body if isinstance(node, ast.Indented) else node

    return ast.Grammar(tuple(ast.Rule(rule.name, rewrite(rule.body, change)) for rule in grammar.rules), grammar.start)


def _dead_ends(grammar: ast.Grammar, limits: Limits) -> list[str]:
    automata = AutomatonStore(limits)
    terminals = TerminalTable(automata.is_empty)
    productions, _ = eliminate_nullables(flatten(grammar, terminals, limits=limits))
    if not terminals.marks:
        return []
    productions = remove_unproductive(without_refused(productions, automata.is_empty))
    return possible_dead_ends(productions, automata.is_empty)


# -- terminals and tokens -------------------------------------------------------------------------------------------


class _Terminals:
    """The automata of the terminals, and the spans of texts."""

    def __init__(self, tables: GrammarTables, limits: Limits) -> None:
        self._regexes = tables.terminals
        self.automata = AutomatonStore(limits)
        self.starts = [self.automata.add(regex) for regex in tables.terminals]
        self.names = _names(tables)
        self._refused = _always_refused(tables, self.automata)
        self._by_byte: list[list[int]] = [
            [number for number, state in enumerate(self.starts) if self.automata.next(state, byte)]
            for byte in range(256)
        ]
        self._spans: dict[bytes, frozenset[Span]] = {}

    def states(self, number: int) -> list[int]:
        """The states of a terminal's automaton."""
        seen = {self.starts[number]: None}
        for state in seen.copy():
            pending = [state]
            while pending:
                source = pending.pop()
                for byte in range(256):
                    target = self.automata.next(source, byte)
                    if target and target not in seen:
                        seen[target] = None
                        pending.append(target)
        return list(seen)

    def is_listed(self, number: int) -> bool:
        """Whether a terminal is some texts, one by one."""
        return isinstance(self._regexes[number], (rx.Literal, rx.LiteralSet))

    def may_precede(self, number: int, rest: bytes) -> bool:
        """Whether a terminal may end before a text, as far as look-aheads say that hold wherever it ends."""
        for state in self._refused[number]:
            for byte in rest:
                state = self.automata.next(state, byte)
                if not state:
                    break
                if self.automata.accepting[state]:
                    return False
        return True

    def spans(self, text: bytes) -> frozenset[Span]:
        """All sequences of terminals that a text goes through, whether or not it ends the last of them."""
        known = self._spans.get(text)
        if known is None:
            found: set[Span] = set()
            for number in self._by_byte[text[0]]:
                state = self.starts[number]
                for at in range(len(text)):
                    state = self.automata.next(state, text[at])
                    if not state:
                        break
                    if at + 1 < len(text) and self.automata.accepting[state]:
                        rest = text[at + 1 :]
                        if self.may_precede(number, rest):
                            found.update([(number, *span) for span in self.spans(rest)])
                if state:
                    found.add((number,))
            known = self._spans[text] = frozenset(found)
        return known


def _always_refused(tables: GrammarTables, automata: AutomatonStore) -> list[list[int]]:
    """For each terminal states that accept the characters of a look-ahead that holds wherever it ends."""
    behind: list[set[int]] = [set() for _ in tables.terminals]
    for at, symbol in enumerate(tables.symbols):
        if symbol < END:
            behind[terminal_number(symbol)].add(tables.before[at + 1] if tables.before else 0)
    states = [automata.add(regex) for regex in tables.lookaheads]
    return [
        [states[number - 1] for number in numbers] if len(numbers) == 1 and 0 not in numbers else []
        for numbers in behind
    ]


class _Tokens:
    """The texts of a vocabulary as a tree: for each beginning the bytes that follow, and whether it is a token."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.root: _Node = {}
        self._known: dict[tuple[int, int, int], frozenset[Span]] = {}
        for text in vocabulary.spellings:
            node = self.root
            for byte in text:
                node = node.setdefault(byte, {})
            if text:
                node[_END] = {}

    def spans_from(self, terminals: _Terminals, number: int, state: int) -> set[Span]:
        """The spans of the tokens that begin in a state of a terminal and run past its end."""
        found: set[Span] = set()
        for byte, child in self.root.items():
            target = terminals.automata.next(state, byte) if byte >= 0 else 0
            if target:
                # Most states of a terminal are like another after one byte.
                key = (number, byte, target)
                known = self._known.get(key)
                if known is None:
                    known = self._known[key] = self._spans_below(terminals, number, target, child)
                found |= known
        return found

    def _spans_below(self, terminals: _Terminals, number: int, state: int, node: _Node) -> frozenset[Span]:
        found: set[Span] = set()
        automata = terminals.automata
        pending = [(node, state)]
        while pending:
            node, at = pending.pop()
            for byte, child in node.items():
                if byte < 0:
                    continue
                if automata.accepting[at] and terminals.may_precede(number, bytes([byte])):
                    for rest in self._below(child, bytes([byte])):
                        if terminals.may_precede(number, rest):
                            found |= terminals.spans(rest)
                if target := automata.next(at, byte):
                    pending.append((child, target))
        return frozenset(found)

    @staticmethod
    def _below(node: _Node, text: bytes) -> Iterator[bytes]:
        pending = [(node, text)]
        while pending:
            node, text = pending.pop()
            if _END in node:
                yield text
            pending += [(child, text + bytes([byte])) for byte, child in node.items() if byte >= 0]


def _names(tables: GrammarTables) -> list[str]:
    """What to call terminals: literals by their text, others by a rule that has them, and their text if it is short."""
    heads = {tables.rule_starts[r]: h for h, name in enumerate(tables.names) for r in _rules(tables, h)}
    rule_of: dict[int, str] = {}
    head = 0
    for at, symbol in enumerate(tables.symbols):
        head = heads.get(at, head)
        if symbol < END:
            rule_of.setdefault(terminal_number(symbol), tables.names[head])
    names = []
    for number, regex in enumerate(tables.terminals):
        text = repr(regex.data.decode(errors="replace")) if isinstance(regex, rx.Literal) else regex_to_rust(regex)
        is_shown = text is not None and (isinstance(regex, rx.Literal) or len(text) <= SHOWN)
        names.append(f"{text}" if is_shown else f"{rule_of.get(number, '')}'s #'…'")
    return names


def _rules(tables: GrammarTables, head: int) -> range:
    return range(tables.first_rule[head], tables.first_rule[head + 1])


# -- what surrounds terminals ---------------------------------------------------------------------------------------


class _Contexts:
    """Which sequences of terminals the grammar has, whatever surrounds them.

    The parts of a grammar's texts are a context-free language, too: a part begins somewhere in a body, goes on to its
    end, and then, with unlimited credit, behind any use of what that body belongs to, and so on. It is read by an
    Earley engine whose bytes are codes of terminals.
    """

    def __init__(self, tables: GrammarTables, limits: Limits) -> None:
        self.symbols = list(tables.symbols)
        self.count = len(tables.terminals)
        self.head_at: list[int] = []
        self.end_at: list[int] = []
        self._read(tables)
        self.places: list[list[int]] = [[] for _ in range(self.count)]
        self.uses: dict[int, list[int]] = {}
        for at, symbol in enumerate(self.symbols):
            if symbol < END:
                self.places[terminal_number(symbol)].append(at)
            elif symbol >= 0:
                self.uses.setdefault(symbol, []).append(at)
        self.kinds = self._kinds(tables)
        self._sets, self._parts, self._rests = self._engine(tables, limits)
        self._always: dict[tuple[int, Span], bool] = {}
        self._places_after: dict[tuple[int, Span], int] = {}

    def _read(self, tables: GrammarTables) -> None:
        """Of each position the nonterminal and the end of its body."""
        self.head_at = [0] * len(self.symbols)
        self.end_at = [0] * len(self.symbols)
        for head in range(len(tables.names)):
            for rule in range(tables.first_rule[head], tables.first_rule[head + 1]):
                first = tables.rule_starts[rule]
                end = self.symbols.index(END, first)
                for at in range(first, end + 1):
                    self.head_at[at], self.end_at[at] = head, end

    def _kinds(self, tables: GrammarTables) -> list[tuple[object, ...]]:
        """For each terminal what is equal for those that stand in alternatives of the same nonterminals only."""
        firsts = {tables.rule_starts[rule] for rule in range(len(tables.rule_starts))}
        return [
            tuple(sorted({("head", self.head_at[at]) if at in firsts else ("place", at) for at in places}))
            for places in self.places
        ]

    def _code(self, number: int) -> bytes:
        return number.to_bytes(_CODE_BYTES, "big")

    def _engine(self, tables: GrammarTables, limits: Limits) -> tuple[ItemSetStore, int, int]:
        """The engine, and its sets before a part of a text, and before the number of a place and what stands there."""
        terminals = TerminalTable(lambda regex: False)
        codes = [terminals.literal(b"T" + self._code(number)) for number in range(self.count)]
        heads = len(tables.names)

        def mapped(symbols: Sequence[int]) -> Body:
            return tuple(symbol if symbol >= 0 else codes[terminal_number(symbol)] for symbol in symbols)

        bodies: list[list[Body]] = [[] for _ in range(2 * heads)]  # a nonterminal A, and what surrounds it: heads + A
        for rule in range(len(tables.rule_starts)):
            first = tables.rule_starts[rule]
            bodies[self.head_at[first]].append(mapped(self.symbols[first : self.end_at[first]]))
        start: list[Body] = []
        for at, symbol in enumerate(self.symbols):
            if symbol == END:
                continue
            head, rest = self.head_at[at], mapped(self.symbols[at + 1 : self.end_at[at]])
            if symbol >= 0:
                bodies[heads + symbol] += [(*rest, heads + head), *([rest] if rest else [])]
            else:
                own = mapped([symbol])
                start += [(*own, *rest, heads + head), (*own, *rest)]
                chosen = terminals.literal(b"P" + self._code(at))
                start.append((chosen, *rest))
        names = [*tables.names, *tables.names, "part"]
        productions = Productions([*bodies, start], names, 2 * heads, terminals)
        packed = pack(simplify(productions), accepts_empty=False)
        sets = ItemSetStore(Rules(packed, AutomatonStore(limits), limits), limits, accepts_empty=False)
        return sets, sets.start_set, sets.start_set

    def _follow(self, place: int, text: bytes) -> int:
        for byte in text:
            place = self._sets.goto(place, byte) if place else 0
        return place

    def _after(self, number: int, span: Span) -> int:
        """The set after a terminal and a span; 0 where the grammar has no such part."""
        key = (number, span)
        known = self._places_after.get(key)
        if known is None:
            before = self._after(number, span[:-1]) if span else self._sets.start_set
            known = self._places_after[key] = self._follow(before, b"T" + self._code(span[-1] if span else number))
        return known

    def is_legal(self, number: int, span: Span) -> bool:
        """Whether some text has a span behind a terminal."""
        return self._after(number, span) != 0

    def following(self, number: int) -> list[int]:
        """The terminals that may stand behind a terminal."""
        return [other for other in range(self.count) if self.is_legal(number, (other,))]

    def is_always_legal(self, number: int, span: Span) -> bool:
        """Whether a span may follow a terminal wherever it stands; sufficient, not necessary."""
        return all(self._is_always_behind(at, span) for at in self.places[number])

    def _is_always_behind(self, at: int, span: Span) -> bool:
        """The same behind a position: within its body, or, where that can end within the span, behind all uses."""
        key = (at, span)
        known = self._always.get(key)
        if known is not None:
            return known
        self._always[key] = False  # while it is looked for: going round in circles spells nothing
        found = False
        place = self._follow(self._sets.start_set, b"P" + self._code(at)) if self.end_at[at] > at + 1 else 0
        if self.end_at[at] == at + 1:
            found = self._is_always_around(self.head_at[at], span)
        for read in range(len(span)):
            if not place or found:
                break
            place = self._follow(place, b"T" + self._code(span[read]))
            if place and read + 1 == len(span):
                found = True
            elif place and self._sets.accepting[place]:
                found = self._is_always_around(self.head_at[at], span[read + 1 :])
        self._always[key] = found
        return found

    def _is_always_around(self, head: int, span: Span) -> bool:
        uses = self.uses.get(head, ())
        return bool(uses) and all(self._is_always_behind(use, span) for use in uses)


def _count_entries(found: Statistics, contexts: _Contexts, terminals: _Terminals, tokens: _Tokens) -> None:
    """Fills in the counts of entries; see `Statistics`."""
    for number in range(contexts.count):
        legality: dict[Span, int] = {}  # 0 never, 1 sometimes, 2 always
        for state in terminals.states(number):
            spans = tokens.spans_from(terminals, number, state)
            for span in spans:
                if span not in legality:
                    legality[span] = 0
                    if contexts.is_legal(number, span):
                        legality[span] = 2 if contexts.is_always_legal(number, span) else 1
            conditional = [span for span in spans if legality[span] == 1]
            found.entries += len(spans)
            found.legal += sum(legality[span] > 0 for span in spans)
            found.conditional += len(conditional)
            joint = {(span[:-1], contexts.kinds[span[-1]]) for span in conditional}
            found.joint += len(joint) + any(legality[span] == 2 for span in spans)


def _overlaps(contexts: _Contexts, terminals: _Terminals) -> Iterator[Overlap]:
    """Pairs of terminals, each once."""
    seen: set[tuple[int, int]] = set()
    automata = terminals.automata
    for number in range(contexts.count):
        following = contexts.following(number)
        for index, first in enumerate(following):
            for second in following[index + 1 :]:
                if (first, second) in seen or (terminals.is_listed(first) and terminals.is_listed(second)):
                    continue  # alternatives that were merged for some contexts, and not for others
                seen.add((first, second))
                state = automata.narrowed(terminals.starts[first], terminals.starts[second])
                if state and (text := _shortest(automata, state)) is not None:
                    yield Overlap(terminals.names[first], terminals.names[second], text, terminals.names[number])


def _shortest(automata: AutomatonStore, state: int, most: int = 2000) -> bytes | None:
    """A shortest text from a state, unless it takes too long to find; printable where there is a choice."""
    reached = {state: b""}
    for source in (pending := [state]):
        if automata.accepting[source]:
            return reached[source]
        if len(reached) > most:
            return None
        for byte in [*range(0x21, 0x7F), *range(0x21), *range(0x7F, 0x100)]:
            target = automata.next(source, byte)
            if target and target not in reached:
                reached[target] = reached[source] + bytes([byte])
                pending.append(target)
    return None
