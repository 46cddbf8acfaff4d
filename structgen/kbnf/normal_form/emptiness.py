"""Errors for grammars without a text: the rule that is the cause, and why it has none.

A nonterminal is productive if it derives some text. Where the start is not, each of its alternatives holds a
nonterminal that is not productive either. Following these leads to one of two causes:

    start ::= 'a' b;   b ::= 'x' b;              a cycle: `b` never ends
    start ::= 'a' b;   b ::= #'[a&&b]';         a terminal that matches no text; `flatten` made a nonterminal of it
                                                 that has no bodies

There are two more causes. Look-aheads may refuse every text that is left. And the empty text may be the only one, which
does not count: a text in KBNF is never empty.
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
        remaining: the same productions after empty bodies were eliminated and look-aheads applied.

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
            f"the grammar has no text: in the rule {name!r}, {_described_terminal(grammar, flat, name)} matches nothing"
        )
    if flat.start in nullable_nonterminals(flat):
        raise GrammarError("the empty text is the only text of the grammar, and a text in KBNF is never empty")
    name = remaining.names[_culprit(remaining, productive_nonterminals(remaining.bodies))]
    raise GrammarError(f"the grammar has no text: in the rule {name!r}, a '!' refuses all that can follow")


def _culprit(productions: Productions, productive: set[int]) -> int:
    """Return the nonterminal to blame for a start without text: one without bodies, or one in a cycle."""
    reached = [productions.start]
    seen = {productions.start}
    for head in reached:  # grows in the loop
        if not productions.bodies[head]:
            return head
        for body in productions.bodies[head]:
            new = [symbol for symbol in body if symbol >= 0 and symbol not in productive and symbol not in seen]
            seen.update(new)
            reached.extend(new)
    # Every nonterminal reached has bodies, and each body has a nonterminal that is not productive. So following these
    # from the start meets a cycle.
    head = productions.start
    passed: set[int] = set()
    while head not in passed:
        passed.add(head)
        head = next(symbol for symbol in productions.bodies[head][0] if symbol >= 0 and symbol not in productive)
    return head


def _described_terminal(grammar: ast.Grammar, flat: Productions, name: str) -> str:
    """Describe the terminal that matches nothing, in the rule with a name, for an error message."""
    for rule in grammar.rules:
        if rule.name != name:
            continue
        for node in nodes_of(rule.body):
            if isinstance(node, ast.RegexTerminal) and node.source is not None:
                symbol, is_nullable = flat.terminals.regex(node.regex)
                if symbol is None and not is_nullable:
                    return f"the terminal #{node.kind}{node.source!r}"
    return "a terminal"
