r"""Rules of JSON strings whose value is a text of a context-free grammar.

To replace each character of a grammar's texts by its spellings in JSON is a substitution, so the result is context-free
as well. Its rules are those of the grammar; each terminal has the spellings of its characters (`escaped`):

    grammar                          texts                     strings
    start ::= 'a' [start] '\n';     a and a line feed, …      "a\n", "aa\n\n", …

Spellings of two characters never begin with one another. So a look-ahead at the next character becomes one at its
spellings. No spelling begins with the quote that ends the string.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from structgen.engine.grammar.composition import has_text, with_terminals
from structgen.engine.grammar.tables import Lazy, Lookahead, RuleSource, Symbol
from structgen.engine.regex.tree import Literal, Regex
from structgen.schema.algebra import Inexpressible
from structgen.schema.algebra.text_grammars import TextGrammar
from structgen.schema.json_text.strings import QUOTE
from structgen.schema.own_keywords import GRAMMAR
from structgen.schema.rules.string_rules import StringRules

if TYPE_CHECKING:
    from structgen.schema.rules.lazy_rules import LazyRules

__all__ = ["TextRules"]

_NO_TEXT: Regex = Literal(b'""')


class TextRules(StringRules):
    """The rules of the strings of one grammar; see `SetRules`.

    Kinds of nonterminals: "first", the whole string, with a state that says whether the empty text counts; "in", a
    nonterminal of the grammar.

    Attributes:
        part: the grammar.
    """

    def __init__(self, lazy: LazyRules, part: TextGrammar, number: int) -> None:
        from structgen.kbnf.normal_form.indentation import IndentedRules  # here, as few schemas have grammars

        super().__init__(number, GRAMMAR)
        tables = part.tables
        self.part = part
        if not lazy.captures and (tables.lookaheads or isinstance(tables.source, IndentedRules)):
            raise Inexpressible(GRAMMAR, "only the engine has look-aheads and indentation in strings")
        for regex in tables.terminals:
            self._spell(regex)
        lookaheads = [self._escaped(regex, every=True) for regex in tables.lookaheads]
        self._lookaheads_before = len(lazy.lookaheads)
        lazy.lookaheads.extend(lookaheads)
        composed = with_terminals(tables, self._spell)
        source = composed.source
        assert source is not None
        self._source: RuleSource = source
        self._start = composed.lazy[0]

    def bodies(self, kind: str, state: Any) -> Sequence[Sequence[Any]]:
        """Return the bodies of a kind of nonterminal in a state. See `SetRules.bodies`.

        They may have look-aheads, which no other set of a schema has: other notations than JSON refuse grammars.
        """
        if kind == "in":
            return [[self._own(symbol) for symbol in body] for body in self._source.bodies(state)]
        found: list[Sequence[Any]] = []
        if has_text(self.part.tables):
            found.append((QUOTE, Lazy((self._number, "in", self._start)), QUOTE))
        if state and self.part.tables.accepts_empty:
            found.append((_NO_TEXT,))
        return found

    def _own(self, symbol: Symbol | Lookahead) -> Symbol | Lookahead:
        if isinstance(symbol, Lazy):
            return Lazy((self._number, "in", symbol.key))
        if isinstance(symbol, Lookahead):
            return Lookahead(self._lookaheads_before + symbol.number)
        return symbol

    def name_of(self, state: Any) -> str:
        """Return the name of the rule of a nonterminal of the kind "in"; "" where it has none."""
        names, number = self.part.tables.names, state[1]
        return names[number] if isinstance(number, int) and number < len(names) else ""
