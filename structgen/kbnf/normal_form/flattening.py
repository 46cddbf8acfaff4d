"""The pass from tree to productions: groups and operators become nonterminals, rules of one name are joined.

    list ::= item {',' item};        ->        list ::= item more;   more ::= more ',' item | ε;

Repetitions become left recursion, which Earley's algorithm parses in linear time and space; counted repetitions become
a logarithmic number of rules (`repetition`). One pass with an explicit work list; an object that occurs several times
in the tree becomes one nonterminal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from structgen.engine.regex import tree as rx
from structgen.engine.vocabulary.marks import MARK_BYTE, Ranges, without_marks
from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.linear_rules import with_repetitions
from structgen.kbnf.normal_form.nullables import nullable_nonterminals
from structgen.kbnf.normal_form.productions import Body, Mark, Productions, TerminalTable
from structgen.kbnf.normal_form.repeated_terminals import repeated_terminal, repeated_text, repetition_of
from structgen.kbnf.regular import any_text, character_set, regular, substrings, text_except
from structgen.kbnf.repetition import CountedRules
from structgen.kbnf.rewriting import group_rules
from structgen.kbnf.tokens import has_tokens
from structgen.kbnf.validation import excluded_strings, validate
from structgen.limits import Limits

__all__ = ["flatten"]


def flatten(
    grammar: ast.Grammar,
    terminals: TerminalTable,
    *,
    limits: Limits | None = None,
    ids_of: Callable[[ast.Token], Ranges] | None = None,
) -> Productions:
    """Return a grammar as productions. Nothing is simplified yet, and bodies may be empty.

    Args:
        grammar: the tree.
        terminals: the table that receives its terminals.
        limits: `grammar_symbols` bounds all bodies together.
        ids_of: returns the ids of a token terminal; None where there is no vocabulary.

    Raises:
        GrammarError: the grammar is not valid (see `validate`), or it has token terminals and there is no vocabulary.
        LimitExceededError: the grammar is too large.
    """
    limits = limits or Limits()
    grouped = group_rules(grammar)
    rules = with_repetitions(grouped)
    flattening = _Flattening(grammar, grouped, rules, terminals, limits, ids_of)
    productions = flattening.run()
    if not flattening.repeated:
        return productions
    nullable = nullable_nonterminals(productions)
    repeated = frozenset(node for node, symbol in flattening.repeated.items() if symbol in nullable)
    return _Flattening(grammar, grouped, rules, terminals, limits, ids_of, repeated).run() if repeated else productions


class _Flattening:
    """The state of one `flatten`.

    Attributes:
        bodies, names: those of the nonterminals made so far.
        work: nonterminals without bodies yet, each with its expressions and an operator on them: "" for none, "?" adds
            the empty text, "*" and "+" repeat.
        repeated: by the identity of each counted repetition, the symbol that it repeats.
        nullable: the counted repetitions of what may be empty. With rules for x{2,9}, a text of one x would have a
            derivation for each way to put it among eight empty ones. So these repeat x without the empty text, at most
            nine times.
    """

    def __init__(
        self,
        grammar: ast.Grammar,
        grouped: Mapping[str, Sequence[ast.Expression]],
        rules: Mapping[str, Sequence[ast.Expression]],
        terminals: TerminalTable,
        limits: Limits,
        ids_of: Callable[[ast.Token], Ranges] | None,
        nullable: frozenset[int] = frozenset(),
    ) -> None:
        self.ids_of = ids_of
        self.has_tokens = has_tokens(grammar)
        self.repeated: dict[int, int] = {}
        self.nullable = nullable
        self.non_empty: dict[int, int] = {}  # for each symbol, the nonterminal of its other texts
        self.grammar = grammar
        self.terminals = terminals
        self.limits = limits
        self.grouped = grouped
        self.rules = rules
        self.numbers = {name: number for number, name in enumerate(grouped)}
        self.bodies: list[list[Body]] = [[] for _ in grouped]
        self.names = list(grouped)
        self.work: list[tuple[int, list[ast.Expression], str]] = []
        self.symbols = 0
        # By the identity of a node: the symbols of terminals, the nonterminals of operators.
        self.known: dict[int, Body] = {}
        self.counted: CountedRules[int] | None = None
        # By the identity of a repetition: its regex, if it is a text.
        self.texts: dict[int, rx.Regex | None] = {}
        # Nonterminals for any number of copies of a symbol, and for an optional terminal.
        self.stars: dict[int, int] = {}
        self.optional: dict[int, int] = {}

    def run(self) -> Productions:
        if self.grammar.start not in self.numbers:
            validate(self.grammar)
        self.work = [(self.numbers[name], list(bodies), "") for name, bodies in reversed(list(self.rules.items()))]
        while self.work:
            self._expand(*self.work.pop())
        return Productions(
            self.bodies,
            self.names,
            self.numbers[self.grammar.start],
            self.terminals,
            frozenset(self.non_empty.values()),
        )

    def _expand(self, number: int, expressions: list[ast.Expression], operator: str) -> None:
        """Make the bodies of one nonterminal; a choice or option that is a whole alternative becomes several."""
        alternatives: list[Body] = []
        most = self.limits.grammar_symbols
        pending = expressions[::-1]
        while pending:
            expression = pending.pop()
            kind = type(expression)
            if kind is ast.Choice:
                pending.extend(reversed(expression.parts))  # type: ignore[union-attr]
                if len(pending) > most:
                    raise LimitExceededError("grammar_symbols", most)
            elif kind is ast.Option:
                alternatives.append(())
                pending.append(expression.body)  # type: ignore[union-attr]
            else:
                body = self._body(number, expression)
                self.symbols += len(body) + 1
                if self.symbols > most:
                    raise LimitExceededError("grammar_symbols", most)
                alternatives.append(body)
        if operator:
            alternatives = self._repeated(number, alternatives, operator)
        self.bodies[number] = alternatives

    def _body(self, owner: int, expression: ast.Expression) -> Body:
        """Return the symbols of one alternative; nested sequences are spliced in."""
        out: list[int] = []
        stack = [expression]
        known, numbers, literal, regex = self.known, self.numbers, self.terminals.literal, self._text
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ast.Literal:
                if self.has_tokens and MARK_BYTE in node.data:  # type: ignore[union-attr]
                    out += self._nullable(owner, None, False)
                elif node.data:  # type: ignore[union-attr]
                    out.append(literal(node.data))  # type: ignore[union-attr]
            elif kind is ast.Reference:
                text = self._text_with_end(owner, node, stack)
                if text is not None:
                    out += text
                    continue
                number = numbers.get(node.name)  # type: ignore[union-attr]
                if number is None:
                    validate(self.grammar)
                    raise GrammarError(f"the nonterminal {node.name!r} is not defined")  # type: ignore[union-attr]
                out.append(number)
            elif kind is ast.RegexTerminal:
                symbol, nullable = regex(node.regex)  # type: ignore[union-attr]
                if symbol is None or nullable:
                    out += self._nullable(owner, symbol, nullable)
                else:
                    out.append(symbol)
            elif kind is ast.Sequence:
                stack.extend(reversed(node.parts))  # type: ignore[union-attr]
                if len(out) + len(stack) > self.limits.grammar_symbols:
                    raise LimitExceededError("grammar_symbols", self.limits.grammar_symbols)
            else:
                symbols = self._text_with_end(owner, node, stack)
                if symbols is None:
                    symbols = known.get(id(node))
                if symbols is None:
                    symbols = known[id(node)] = self._symbols(owner, node)
                out += symbols
        return tuple(out)

    def _text_with_end(self, owner: int, node: ast.Expression, following: list[ast.Expression]) -> Body | None:
        """Return the symbols of a repeated text and what it is joined with, which is taken from `following`; or None.

        The text alone may end within each token. With a quotation mark after it, it ends at that only. Where other
        repeated texts follow, a token may be divided between them in many ways, which one automaton takes together.
        """
        first = self._repeated_text(node) if following else None
        if first is None:
            return None
        parts = [first]
        while following and (text := self._repeated_text(following[-1])) is not None:
            parts.append(text)
            following.pop()
        end = following[-1] if following else None
        if isinstance(end, ast.Literal) and end.data and not (self.has_tokens and MARK_BYTE in end.data):
            parts.append(rx.Literal(end.data))
            following.pop()
        return self._regex(owner, rx.sequence(*parts)) if len(parts) > 1 else None

    def _repeated_text(self, node: ast.Expression) -> rx.Regex | None:
        """Return the regex of a repeated text, or of a name that stands for one; None for all other expressions."""
        repetition = repetition_of(node, self.rules)
        if repetition is None:
            return None
        if id(repetition) not in self.texts:
            self.texts[id(repetition)] = repeated_text(repetition, self.rules)
        return self.texts[id(repetition)]

    def _symbols(self, owner: int, node: ast.Expression) -> Body:
        """Return the symbols of an operator, or of a terminal that is neither a literal nor a plain regex."""
        if isinstance(node, ast.Option):
            return (self._later(owner, node.body, "?"),)
        if isinstance(node, ast.Choice):
            return (self._later(owner, node, ""),)
        if isinstance(node, (ast.ZeroOrMore, ast.OneOrMore)):
            text = self._repeated_text(node)
            if text is not None:
                return self._regex(owner, text)
            return (self._later(owner, node.body, "*" if isinstance(node, ast.ZeroOrMore) else "+"),)
        if isinstance(node, ast.Bounded):
            return self._bounded(owner, node)
        if isinstance(node, ast.SubstringsTerminal):
            return self._regex(owner, substrings(node.text))
        if isinstance(node, ast.Except):
            return self._regex(owner, self._except(node))
        if isinstance(node, ast.Difference):
            return self._regex(owner, regular(node, self.grouped))
        if isinstance(node, ast.Hole):
            symbol, nullable = self.terminals.hole(node.content)
            return (symbol,) if symbol is not None and not nullable else self._nullable(owner, symbol, nullable)
        if isinstance(node, ast.NotFollowedBy):
            return (self._lookahead(owner, node),)
        if isinstance(node, ast.Token):
            return (self._token(owner, node),)
        if isinstance(node, ast.Margin):
            return (self.terminals.mark(Mark("margin")),)
        if isinstance(node, ast.Indented):
            inner = self._later(owner, node.body, "")
            return (self.terminals.mark(Mark("indented")), inner, self.terminals.mark(Mark("dedented")))
        return self._regex(owner, any_text())

    def _lookahead(self, owner: int, node: ast.NotFollowedBy) -> int:
        refused = character_set(regular(node.body, self.grouped))
        if refused is None:
            raise GrammarError(
                f"in the rule {self.names[owner]!r}: the operand of '!' matches more than one character",
                hint="write a class of characters, as in !#'[a-z]'",
            )
        return self.terminals.mark(Mark("lookahead", refused))

    def _new(self, owner: int, bodies: list[Body]) -> int:
        self.bodies.append(bodies)
        self.names.append(self.names[owner])
        return len(self.bodies) - 1

    def _later(self, owner: int, expression: ast.Expression, operator: str) -> int:
        number = self._new(owner, [])
        self.work.append((number, [expression], operator))
        return number

    def _token(self, owner: int, node: ast.Token) -> int:
        if self.ids_of is None:
            raise GrammarError(
                f"in the rule {self.names[owner]!r}: a token terminal has no meaning without a vocabulary",
                hint="write the text of the token as a string",
            )
        return self.terminals.token(self.ids_of(node))

    def _text(self, regex: rx.Regex) -> tuple[int | None, bool]:
        """Return the symbol of a regex, see `TerminalTable.regex`; where tokens are named, no text has their marks."""
        return self.terminals.regex(without_marks(regex) if self.has_tokens else regex)

    def _regex(self, owner: int, regex: rx.Regex) -> Body:
        symbol, nullable = self._text(regex)
        return (symbol,) if symbol is not None and not nullable else self._nullable(owner, symbol, nullable)

    def _nullable(self, owner: int, symbol: int | None, nullable: bool) -> Body:
        """Return the nonterminal of a nullable regex, which has an empty body besides; there is one for each regex."""
        if symbol is None:
            # The regex is the empty text or matches nothing. A nonterminal without bodies is removed later.
            return () if nullable else (self._new(owner, []),)
        if symbol not in self.optional:
            self.optional[symbol] = self._new(owner, [(symbol,), ()])
        return (self.optional[symbol],)

    def _except(self, node: ast.Except) -> rx.Regex:
        try:
            return text_except(excluded_strings(node, self.grouped), node.limit)
        except GrammarError:
            # `validate` also names the rule.
            validate(self.grammar)
            raise

    def _repeated(self, number: int, alternatives: list[Body], operator: str) -> list[Body]:
        """Return the bodies under an operator: "?" adds `ε`, "+" makes `L ::= L x | x`, "*" makes `L ::= L x | ε`."""
        if operator == "?":
            return [*alternatives, ()]
        if len(alternatives) > 1:
            # Otherwise all alternatives would be written twice.
            alternatives = [(self._new(number, alternatives),)]
        body = alternatives[0]
        self.symbols += len(body)
        return [(number, *body), body if operator == "+" else ()]

    def _bounded(self, owner: int, node: ast.Bounded) -> Body:
        if node.min < 0 or (node.max is not None and node.max < node.min):
            validate(self.grammar)
        if self.counted is None:
            self.counted = CountedRules(
                lambda bodies: self._new(owner, bodies), lambda symbol: self._star(owner, symbol)
            )
        if node.max == 0:
            return ()
        terminal = repeated_terminal(node, self.rules) or self._repeated_text(node)
        if terminal is not None:
            return self._regex(owner, terminal)
        symbol = self.repeated[id(node)] = self._body_of_repeated(owner, node.body)
        if id(node) not in self.nullable:
            return self.counted.between(symbol, node.min, node.max)
        if symbol not in self.non_empty:
            self.non_empty[symbol] = self._new(owner, [(symbol,)])
        return self.counted.between(self.non_empty[symbol], 0, node.max)

    def _body_of_repeated(self, owner: int, expression: ast.Expression) -> int:
        """Return one symbol for a repeated expression."""
        if isinstance(expression, ast.Reference) and expression.name in self.numbers:
            return self.numbers[expression.name]
        if isinstance(expression, ast.Literal) and expression.data and MARK_BYTE not in expression.data:
            return self.terminals.literal(expression.data)
        return self._later(owner, expression, "")

    def _star(self, owner: int, symbol: int) -> int:
        if symbol not in self.stars:
            number = self._new(owner, [])
            self.bodies[number] = [(number, symbol), ()]
            self.stars[symbol] = number
        return self.stars[symbol]
