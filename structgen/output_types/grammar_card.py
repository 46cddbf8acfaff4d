"""The card of a grammar in a notebook: its source, and the names of its rules."""

from __future__ import annotations

from structgen.output_types.grammar_fields import OF_OTHERS, AnyGrammar
from structgen.reporting.cards import card

__all__ = ["grammar_card"]

_TEXTS = ("kbnf", "gbnf", "lark", "llguidance")


def grammar_card(grammar: AnyGrammar) -> str:
    """Return the card."""
    has_own_text = grammar.kind not in OF_OTHERS and grammar.kind != "substring"
    rows = [("source", grammar.source if has_own_text else repr(grammar))]
    if grammar.kind in _TEXTS:
        rows.append(("rules", ", ".join(dict.fromkeys([rule.name for rule in grammar.tree.rules]))))
        rows.append(("start", grammar.start))
    return card(f"Grammar: {grammar.kind}", rows)
