"""`structgen grammar stats`: sizes of a grammar, and the size of a mask store over its terminals.

Engines with a lexer store, for each lexer state and token, the sequences of terminals that the token may span:
SynCode's *mask store* (Ugare et al., 2024), GreatGramma's *token spanner table* (Park et al., 2025).
V. Tran-Thien ("Accelerating LLM Code Generation Through Mask Store Streamlining", 2025) shrinks that table by three
analyses. They are computed here for any grammar and vocabulary, without a lexer:

- *never legal*: no text of the grammar has these terminals in a row;
- *always legal*: a tail may follow the terminals before it in every context; it is cut off;
- *jointly legal*: sequences that differ only in interchangeable terminals.

`mask_store` has the same for grammars with a lexer. structgen keeps no such table: it computes masks from automata and
item sets when they are needed. The numbers help to understand a grammar, and to compare with the publications.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

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

__all__ = ["MIN_ITEM_SETS", "Overlap", "Statistics", "describe", "short", "statistics", "without_indentation"]

MIN_ITEM_SETS = 10**7  # an analysis reaches more item sets than a text
MAX_EXACT = 10**8  # entries; larger counts are shown by their first digits
_MAX_REACHED = 2000  # automaton states visited in the search for an example
_MARGIN = ast.Option(ast.RegexTerminal(rx.plus(rx.ByteSet(1 << 32 | 1 << 9)), "[ \\t]+"))


@dataclass
class Overlap:
    """Two terminals that match the same text at the same position, so that only later text can decide between them.

    Attributes:
        first, second: the terminals.
        text: a text that both match.
        after: a terminal that both may follow.
    """

    first: str
    second: str
    text: bytes
    after: str


@dataclass
class Statistics:
    """The result of `statistics`.

    Attributes:
        rules, bodies, symbols, terminals: counts of the normal form.
        states: automaton states of all terminals.
        entries: pairs of an automaton state and a span of some token, also of a token that begins where the terminal
            may end.
        legal: entries that are legal in some context.
        conditional: legal entries that are not legal in every context. The others become one entry for each state.
        joint: legal entries after always legal tails are cut off and interchangeable terminals are merged.
        overlaps: pairs of terminals that match a common text.
        dead_ends: rules in which a look-ahead may exclude every continuation; see `possible_dead_ends`.
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
    """Compute the statistics of a grammar. Indentation counts as any white space.

    Args:
        grammar: the syntax tree.
        vocabulary: the tokens that span terminals; without it, entries are not counted.
        limits: see `structgen.compile`.

    Raises:
        GrammarError: the grammar is not valid.
        LimitExceededError: the grammar is too large.
    """
    limits = limits or Limits()
    limits = replace(limits, item_sets=max(limits.item_sets, MIN_ITEM_SETS))
    grammar = without_indentation(grammar)
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
    """Return statistics as text, one number on each line."""
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
        count = len(found.overlaps)
        pairs = "1 pair of terminals matches" if count == 1 else f"{count} pairs of terminals match"
        lines.append(f"{pairs} one text at one position:")
        for overlap in found.overlaps[:overlaps]:
            text = overlap.text.decode(errors="replace")
            lines.append(f"  {overlap.first} and {overlap.second}: {text!r} after {overlap.after}")
        if len(found.overlaps) > overlaps:
            lines.append(f"  and {len(found.overlaps) - overlaps} more")
    return "\n".join(lines)


def short(count: int) -> str:
    """Return a count as text, shortened if it is very large."""
    return f"{count:,}" if count < MAX_EXACT else f"{count:.1e}"


def without_indentation(grammar: ast.Grammar) -> ast.Grammar:
    """Return a grammar without `indented!`, in which a margin is any white space."""

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
    """Fill in the counts of entries; see `Statistics`."""
    spans = Spans(terminals, vocabulary.spellings)
    legal = LegalSpans(contexts, spans.sets)
    starts = [(number, state) for number in range(contexts.count) for state in terminals.states(number)]
    # Most automaton states of a terminal have the same spans as another one.
    rows = Counter((number, entries) for (number, _), entries in zip(starts, spans.from_states(starts)))
    for (number, entries), states in rows.items():
        counted = legal.counted(number, entries)
        found.entries += states * spans.sets.sizes[entries]
        found.legal += states * counted.legal
        found.conditional += states * counted.conditional
        found.joint += states * counted.joint


def _overlaps(contexts: Contexts, terminals: Terminals) -> Iterator[Overlap]:
    """Yield overlapping pairs of terminals, each pair once."""
    seen: set[tuple[int, int]] = set()
    automata = terminals.automata
    for number in range(contexts.count):
        following = contexts.following(number)
        for index, first in enumerate(following):
            for second in following[index + 1 :]:
                if (first, second) in seen or (terminals.is_listed(first) and terminals.is_listed(second)):
                    continue  # alternatives that were merged in some contexts only
                seen.add((first, second))
                state = automata.narrowed(terminals.starts[first], terminals.starts[second])
                if state and (text := _shortest(automata, state)) is not None:
                    yield Overlap(terminals.names[first], terminals.names[second], text, terminals.names[number])


def _shortest(automata: AutomatonStore, state: int) -> bytes | None:
    """Return a shortest text from a state, printable if possible; None if the search takes too long."""
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
