"""Errors for grammars without a text: the rule that is the cause, and why it has none.

A nonterminal is productive if it derives some text. Where the start is not, each of its alternatives holds a
nonterminal that is not productive either. Following these leads to one of two causes:

    start ::= 'a' b;   b ::= 'x' b;              a cycle: `b` never ends
    start ::= 'a' b;   b ::= #'[a&&b]';         a terminal that matches no text; `flatten` made a nonterminal of it
                                                 that has no bodies

Look-aheads are a third cause: they may refuse all that is left. And the empty text is the last one, where it may be the
only text but does not count.
"""

from __future__ import annotations

from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.nullables import nullable_nonterminals
from structgen.kbnf.normal_form.productions import Productions
from structgen.kbnf.normal_form.simplification import productive_nonterminals
from structgen.kbnf.rewriting import nodes_of

__all__ = ["check_has_text"]


def check_has_text(grammar: ast.Grammar, flat: Productions, remaining: Productions) -> None:
    """Check that a grammar has a text besides the empty one.

    Args:
        grammar: the tree.
        flat: its productions as `flatten` made them.
        remaining: the same nonterminals without empty bodies, and without what look-aheads refuse.

    Raises:
        GrammarError: there is no text; the message names a rule and the reason.
    """
    if remaining.start in productive_nonterminals(remaining.bodies):
        return
    productive = productive_nonterminals(flat.bodies)
    if flat.start not in productive:
        culprit = _culprit(flat, productive)
        name = flat.names[culprit]
        if flat.bodies[culprit]:
            raise GrammarError(
                f"the grammar has no text: the rule {name!r} has no alternative that ends",
                hint=f"give {name!r} an alternative that does not lead back to it",
            )
        raise GrammarError(
            f"the grammar has no text: in the rule {name!r}, {_terminal(grammar, flat, name)} matches nothing"
        )
    if flat.start in nullable_nonterminals(flat):
        raise GrammarError("the empty text is the only text of the grammar, and a text in KBNF is never empty")
    name = remaining.names[_culprit(remaining, productive_nonterminals(remaining.bodies))]
    raise GrammarError(f"the grammar has no text: in the rule {name!r}, a '!' refuses all that can follow")


def _culprit(productions: Productions, productive: set[int]) -> int:
    """Return a nonterminal without bodies or in a cycle, from which the start has no text."""
    reached = [productions.start]
    seen = {productions.start}
    for head in reached:
        if not productions.bodies[head]:
            return head
        for body in productions.bodies[head]:
            new = [symbol for symbol in body if symbol >= 0 and symbol not in productive and symbol not in seen]
            seen.update(new)
            reached.extend(new)
    # No nonterminal here is without bodies, and each body has a symbol that is not productive: this meets a cycle.
    head = productions.start
    passed: set[int] = set()
    while head not in passed:
        passed.add(head)
        head = next(s for s in productions.bodies[head][0] if s >= 0 and s not in productive)
    return head


def _terminal(grammar: ast.Grammar, flat: Productions, name: str) -> str:
    """Return the words for the terminal of a rule that matches nothing."""
    for rule in grammar.rules:
        if rule.name != name:
            continue
        for node in nodes_of(rule.body):
            if isinstance(node, ast.RegexTerminal) and node.source is not None:
                symbol, is_nullable = flat.terminals.regex(node.regex)
                if symbol is None and not is_nullable:
                    return f"the terminal #{node.kind}{node.source!r}"
    return "a terminal"
