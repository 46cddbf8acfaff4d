"""Which grammars are cyclic, and which never end: the published `kbnf` hangs or aborts on many of them."""

from __future__ import annotations

from support.naive import NaiveRecognizer


def is_cyclic(grammar: NaiveRecognizer) -> bool:
    """Whether some nonterminal derives itself and nothing else, `A ⇒⁺ A`."""
    rules = grammar.rules
    nullable: set[str] = set()
    before = -1
    while before != len(nullable):
        before = len(nullable)
        nullable |= {name for name, bodies in rules.items() if any(_all_in(body, nullable) for body in bodies)}
    reached = {name: {name} for name in rules}
    edges = {
        (name, symbol)
        for name, bodies in rules.items()
        for body in bodies
        for at, symbol in enumerate(body)
        if isinstance(symbol, str) and _all_in(body[:at] + body[at + 1 :], nullable)
    }
    if any(name == symbol for name, symbol in edges):
        return True
    changed = True
    while changed:
        changed = False
        for name, symbol in edges:
            if not reached[symbol] <= reached[name]:
                reached[name] |= reached[symbol]
                changed = True
    return any(name in reached[symbol] for name, symbol in edges)


def has_endless_rules(grammar: NaiveRecognizer) -> bool:
    """Whether some nonterminal derives no text."""
    ends: set[str] = set()
    before = -1
    while before != len(ends):
        before = len(ends)
        for name, bodies in grammar.rules.items():
            if any(all(not isinstance(symbol, str) or symbol in ends for symbol in body) for body in bodies):
                ends.add(name)
    return len(ends) < len(grammar.rules)


def _all_in(body: list, names: set[str]) -> bool:
    return all(symbol in names for symbol in body)
