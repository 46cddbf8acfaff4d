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

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from structgen.diagnostics.grammar_statistics.contexts import Contexts
from structgen.diagnostics.grammar_statistics.legality import LegalSpans
from structgen.diagnostics.grammar_statistics.spans import Spans
from structgen.diagnostics.grammar_statistics.terminals import Terminals
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.garbage_collection import without_collector
from structgen.engine.regex import tree as rx
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf import ast
from structgen.kbnf.normal_form.dead_ends import possible_dead_ends, without_refused
from structgen.kbnf.normal_form.flattening import flatten
from structgen.kbnf.normal_form.nullables import eliminate_nullables
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.normal_form.productions import TerminalTable
from structgen.kbnf.normal_form.simplification import remove_unproductive
from structgen.kbnf.rewriting import rewrite
from structgen.limits import Limits

__all__ = ["Overlap", "Statistics", "describe", "short", "statistics"]

MANY = 10**8  # entries, of which the first digits are enough
_MAX_REACHED = 2000  # states, where a text of an overlap is looked for
_MARGIN = ast.Option(ast.RegexTerminal(rx.plus(rx.ByteSet(1 << 32 | 1 << 9)), "[ \\t]+"))


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
    contexts = Contexts(tables, limits)
    terminals = Terminals(tables, limits)
    found.states = sum(len(terminals.states(number)) for number in range(found.terminals))
    found.overlaps = list(_overlaps(contexts, terminals))
    if vocabulary is not None:
        with without_collector():
            _count_entries(found, contexts, terminals, vocabulary)
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
            f"entries of a mask store{short(found.entries):>9}  (state of a terminal, terminals that a token enters)",
            f"  without never legal  {found.legal:>9,}",
            f"  without always legal {found.conditional:>9,}",
            f"  joined jointly legal {found.joint:>9,}",
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


def short(count: int) -> str:
    """A count of entries, which may be larger than any table could be."""
    return f"{count:,}" if count < MANY else f"{count:.1e}"


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


def _count_entries(found: Statistics, contexts: Contexts, terminals: Terminals, vocabulary: Vocabulary) -> None:
    """Fills in the counts of entries; see `Statistics`."""
    spans = Spans(terminals, vocabulary.spellings)
    legal = LegalSpans(contexts, spans.sets)
    places = [(number, state) for number in range(contexts.count) for state in terminals.states(number)]
    # Most states of a terminal have the spans of another one.
    rows = Counter((number, entries) for (number, _), entries in zip(places, spans.from_states(places)))
    for (number, entries), states in rows.items():
        counted = legal.counted(number, entries)
        found.entries += states * spans.sets.sizes[entries]
        found.legal += states * counted.legal
        found.conditional += states * counted.conditional
        found.joint += states * counted.joint


def _overlaps(contexts: Contexts, terminals: Terminals) -> Iterator[Overlap]:
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


def _shortest(automata: AutomatonStore, state: int) -> bytes | None:
    """A shortest text from a state, unless it takes too long to find; printable where there is a choice."""
    reached = {state: b""}
    for source in (pending := [state]):
        if automata.table.accepting[source]:
            return reached[source]
        if len(reached) > _MAX_REACHED:
            return None
        for byte in [*range(0x21, 0x7F), *range(0x21), *range(0x7F, 0x100)]:
            target = automata.next(source, byte)
            if target and target not in reached:
                reached[target] = reached[source] + bytes([byte])
                pending.append(target)
    return None
