"""The normal form of a grammar, which the engine reads: the order of the passes, and the flat tables at the end.

The passes on a tiny grammar (each line shows the rules that a pass changed; `ε` is the empty text):

    start ::= '[' [list] ']';   list ::= item {',' item};   item ::= '0' | '1' | never;   never ::= never 'x';

    flatten                     start ::= '[' opt ']'               opt  ::= list | ε
                                list  ::= item more                 more ::= more ',' item | ε
                                item  ::= '0' | '1' | never         never ::= never 'x'
    eliminate_nullables         start ::= '[' opt ']' | '[' ']'     opt  ::= list
                                list  ::= item more | item          more ::= more ',' item | ',' item
    remove_unproductive,        item  ::= '0' | '1'                 (`never` derives no text)
      remove_unreachable
    merge_adjacent_literals     start ::= '[' opt ']' | '[]'
    unite_literal_alternatives  item  ::= {0, 1}                    (one terminal, a table of two texts)
    remove_unit_rules           start ::= '[' list ']' | '[]'       (`opt` and `item` were aliases)
                                list  ::= {0, 1} more | {0, 1}      more ::= more ',' {0, 1} | ',' {0, 1}
    merge_equal_nonterminals,   (no change here: they join rules with equal bodies, and put a body that is used
      inline_single_uses         once in the place of its name)
    pack                        flat arrays of numbers, `GrammarTables`

Each pass is a function of its own in `flattening`, `literals`, `nullables` and `simplification`; none recurses, and
each is linear or nearly so in the size of the grammar. Grammars with look-ahead pass through `dead_ends` as well, and
those with margins end in `indentation` instead of `pack`. `emptiness` finds why a
grammar has no text.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.composition import with_parts
from structgen.engine.grammar.tables import END, GrammarTables, terminal_number, terminal_symbol
from structgen.engine.regex.tree import NOTHING, Regex, choice
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.dead_ends import without_refused
from structgen.kbnf.normal_form.emptiness import check_has_text
from structgen.kbnf.normal_form.flattening import flatten
from structgen.kbnf.normal_form.indentation import indented_tables
from structgen.kbnf.normal_form.literals import merge_adjacent_literals, unite_literal_alternatives
from structgen.kbnf.normal_form.nullables import eliminate_nullables
from structgen.kbnf.normal_form.productions import Body, Productions, TablesOf, TerminalTable
from structgen.kbnf.normal_form.simplification import (
    deduplicate_alternatives,
    inline_single_uses,
    merge_equal_nonterminals,
    remove_unit_rules,
    remove_unproductive,
    remove_unreachable,
)
from structgen.kbnf.regex_facts import text_units
from structgen.kbnf.tokens import token_ids
from structgen.limits import Limits

__all__ = ["normalize", "pack", "simplify"]

# Rounds of `simplify`. Nearly all grammars need one or two; one that needs more only stays larger than it could be.
_MAX_ROUNDS = 8


def normalize(
    grammar: ast.Grammar,
    *,
    keep_endless: bool = False,
    never_empty: bool = False,
    must_have_text: bool = False,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    is_empty: Callable[[Regex], bool] | None = None,
    tables_of: TablesOf | None = None,
    vocabulary: Vocabulary | None = None,
) -> GrammarTables:
    """Return the tables of a grammar, in the form that the engine reads.

    Args:
        grammar: the tree.
        keep_endless: keep rules that never end but spell something, as the published package does; a mask may then
            allow tokens after which the text cannot end.
        never_empty: leave out the empty text.
        must_have_text: refuse a grammar that has no text, or, with `never_empty`, only the empty one.
        limits: `grammar_symbols` bounds the result and all intermediate forms.
        deadline: of the compile; checked between passes.
        is_empty: returns whether a regex matches nothing; called only where its tree does not tell. The default makes
            a new store for each regex; pass the method of the engine's store to do the work once.
        tables_of: returns the tables of what fills a hole.
        vocabulary: the tokens that token terminals name; without one, a grammar with token terminals is refused.

    Raises:
        GrammarError: the grammar is not valid (see `validate`), has no text, or names a token that does not exist; or a
            hole stands where none can: after a look-ahead, in a grammar with `margin!` or `indented!`, or without
            `tables_of`.
        LimitExceededError: the grammar is too large, or the time is over.
    """
    limits = limits or Limits()
    terminals = TerminalTable(is_empty or (lambda regex: AutomatonStore(limits).is_empty(regex)), tables_of)
    ids_of = None if vocabulary is None else partial(token_ids, vocabulary=vocabulary)
    productions = flatten(grammar, terminals, limits=limits, ids_of=ids_of)
    if deadline:
        deadline.check()
    without_empty, accepts_empty = eliminate_nullables(productions)
    if without_empty is not productions:
        _check_size(without_empty, limits)
    accepts_empty = accepts_empty and not never_empty
    if terminals.marks:
        _check_marks(without_empty)
        without_empty = without_refused(without_empty, terminals.is_empty)
    if must_have_text and not accepts_empty:
        check_has_text(grammar, productions, without_empty)
    simple = simplify(without_empty, keep_endless=keep_endless, deadline=deadline)
    if any(mark.refused is None for mark in terminals.marks.values()):
        if terminals.holes:
            raise GrammarError("a grammar with margin! or indented! cannot have a bound nonterminal")
        return indented_tables(simple, accepts_empty=accepts_empty)
    return pack(simple, accepts_empty=accepts_empty)


def simplify(productions: Productions, *, keep_endless: bool = False, deadline: Deadline | None = None) -> Productions:
    """Return the same language in a smaller grammar; the passes run in the order in which each finds the most.

    Args:
        productions: a grammar without empty bodies.
        keep_endless: see `normalize`.
        deadline: see `normalize`.
    """
    productions = deduplicate_alternatives(productions)
    productions = remove_unproductive(productions, keep_endless=keep_endless)
    productions = remove_unreachable(productions)
    for _ in range(_MAX_ROUNDS):
        if deadline:
            deadline.check()
        productions = unite_literal_alternatives(merge_adjacent_literals(productions))
        productions = remove_unit_rules(productions)
        merged = merge_equal_nonterminals(productions)
        # After a merge, the users of the merged nonterminals may be aliases.
        without_aliases = merged if merged is productions else remove_unit_rules(merged)
        inlined = inline_single_uses(without_aliases)
        # Literals of different rules may now be adjacent.
        productions = merge_adjacent_literals(inlined)
        if without_aliases is merged and productions is inlined:
            break
    return productions


def _check_size(productions: Productions, limits: Limits) -> None:
    size = sum(len(body) + 1 for alternatives in productions.bodies for body in alternatives)
    if size > limits.grammar_symbols:
        raise LimitExceededError("grammar_symbols", limits.grammar_symbols)


def _check_marks(productions: Productions) -> None:
    """Check that every look-ahead, margin and indentation has a text beside it.

    Raises:
        GrammarError: an alternative consists of them only, with its nullable symbols or without them.
    """
    marks = productions.terminals.marks
    for name, alternatives in zip(productions.names, productions.bodies):
        for body in alternatives:
            if body and all(symbol in marks for symbol in body):
                kinds = {marks[symbol].kind for symbol in body}
                what = "a '!'" if "lookahead" in kinds else "margin!" if "margin" in kinds else "indented!"
                raise GrammarError(
                    f"in the rule {name!r}: {what} may stand alone, with no text beside it",
                    hint="put it into the rules before or after it",
                )


def pack(productions: Productions, *, accepts_empty: bool) -> GrammarTables:
    """Return productions as flat arrays: the nonterminals that the start reaches, numbered in the order of their use.

    Args:
        productions: a grammar that holds what `GrammarTables` promises.
        accepts_empty: whether the language also has the empty text.
    """
    packing = _Packing(productions)
    for head in packing.reached:  # grows
        for body in productions.bodies[head]:
            packing.add_body(body)
        packing.first_rule.append(len(packing.rule_starts))
    return packing.tables(accepts_empty)


class _Packing:
    """The flat arrays of some productions, in the making.

    Args:
        productions: the grammar.

    Attributes:
        reached: the nonterminals that have a number, by number.
        first_rule, rule_starts: see `GrammarTables`.
    """

    def __init__(self, productions: Productions) -> None:
        self._productions = productions
        self._number_of = {productions.start: 0}
        self.reached = [productions.start]
        self._terminal_of: dict[int, int] = {}
        self._hole_of: dict[int, int] = {}
        self._holes_at: list[int] = []
        self._lookaheads: dict[Regex, int] = {NOTHING: 0}
        self._symbols: list[int] = []
        self._before: list[int] = []
        self.first_rule = [0]
        self.rule_starts: list[int] = []

    def add_body(self, body: Body) -> None:
        """Add a rule with this body."""
        marks, lookaheads = self._productions.terminals.marks, self._lookaheads
        self.rule_starts.append(len(self._symbols))
        refused = NOTHING
        for symbol in body:
            mark = marks.get(symbol)
            if mark is not None and mark.refused is not None:
                refused = choice(refused, mark.refused)
                continue
            self._before.append(lookaheads.setdefault(refused, len(lookaheads)))
            refused = NOTHING
            self._symbols.append(self._number(symbol))
        self._before.append(lookaheads.setdefault(refused, len(lookaheads)))
        self._symbols.append(END)

    def _number(self, symbol: int) -> int:
        """Return the number of a symbol in the tables; of a hole, its number among the holes."""
        if symbol in self._productions.terminals.holes:
            self._holes_at.append(len(self._symbols))
            return self._hole_of.setdefault(symbol, len(self._hole_of))
        if symbol < 0:
            return self._terminal_of.setdefault(symbol, terminal_symbol(len(self._terminal_of)))
        number = self._number_of.get(symbol)
        if number is None:
            number = self._number_of[symbol] = len(self.reached)
            self.reached.append(symbol)
        return number

    def tables(self, accepts_empty: bool) -> GrammarTables:
        """Return the tables of all rules that were added."""
        table = self._productions.terminals
        terminals = tuple([table.regexes[terminal_number(symbol)] for symbol in self._terminal_of])
        for at in self._holes_at:  # their nonterminals are counted after all others
            self._symbols[at] += len(self.reached)
        tables = GrammarTables(
            symbols=array("i", self._symbols),
            first_rule=array("i", self.first_rule),
            rule_starts=array("i", self.rule_starts),
            terminals=terminals,
            names=tuple([self._productions.names[head] for head in self.reached]),
            start=0,
            accepts_empty=accepts_empty,
            lookaheads=tuple(self._lookaheads)[1:],
            before=array("i", self._before) if any(self._before) else (),
            text_units=sum(map(text_units, terminals)),
            marks=table.token_ids,
        )
        return with_parts(tables, [table.holes[symbol] for symbol in self._hole_of]) if self._holes_at else tables
