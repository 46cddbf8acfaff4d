"""Passes that take the empty text out of a grammar, so that the engine never completes what it has just predicted."""

from __future__ import annotations

from structgen.kbnf.normal_form.productions import Body, Productions

__all__ = ["eliminate_nullables", "nullable_nonterminals", "split_long_bodies"]

# A body with n nullable symbols becomes 2**n bodies; with more than this many it is split first.
_NULLABLES_KEPT = 2
_NULLABLES_KEPT_BESIDE_MARKS = 6


def nullable_nonterminals(productions: Productions) -> set[int]:
    """The nonterminals that derive the empty text; linear in the size of the grammar."""
    bodies = productions.bodies
    nullable = {number for number, alternatives in enumerate(bodies) if () in alternatives}
    if not nullable:
        return nullable
    # For each body made of nonterminals only: how many of its symbols are not known to be nullable.
    missing: list[int] = []
    heads: list[int] = []
    occurs_in: dict[int, list[int]] = {}
    for head, alternatives in enumerate(bodies):
        if head in nullable:
            continue
        for body in alternatives:
            if body and min(body) >= 0:
                for symbol in body:
                    occurs_in.setdefault(symbol, []).append(len(heads))
                missing.append(len(body))
                heads.append(head)
    pending = list(nullable)
    while pending:
        for place in occurs_in.get(pending.pop(), ()):
            missing[place] -= 1
            if not missing[place] and heads[place] not in nullable:
                nullable.add(heads[place])
                pending.append(heads[place])
    return nullable


def split_long_bodies(productions: Productions, nullable: set[int]) -> Productions:
    """Splits bodies with many nullable symbols, so that k of them in a row make O(k) bodies and not 2**k.

    `a? b? c? d` becomes `a? R`, `R ::= b? S`, `S ::= c? d`. Equal rests are one nonterminal.

    Args:
        productions: the grammar.
        nullable: its nullable nonterminals; not changed. New ones are nullable where all their symbols are, which
            `nullable_nonterminals` of the result tells.
    """
    marks = productions.terminals.marks.keys()
    out = [list(alternatives) for alternatives in productions.bodies]
    names = list(productions.names)
    rests: dict[Body, int] = {}
    for number, alternatives in enumerate(productions.bodies):
        for index, body in enumerate(alternatives):
            places = [place for place, symbol in enumerate(body) if symbol in nullable]
            # What is split off must not be a look-ahead behind something that may be empty.
            kept = _NULLABLES_KEPT if marks.isdisjoint(body) else _NULLABLES_KEPT_BESIDE_MARKS
            if len(places) <= kept:
                continue
            # From the right, so that each rest ends in the one made before it.
            tail: Body = body[places[-2] + 1 :]
            for left, place in zip(reversed([-1, *places[:-2]]), reversed(places[:-1])):
                if tail not in rests:
                    rests[tail] = len(out)
                    out.append([tail])
                    names.append(names[number])
                tail = (*body[left + 1 : place + 1], rests[tail])
            out[number][index] = tail
    return Productions(out, names, productions.start, productions.terminals)


def eliminate_nullables(productions: Productions) -> tuple[Productions, bool]:
    """Takes the empty text out of every nonterminal's language.

    Bodies are written with and without each nullable symbol; equal alternatives, empty ones and `A ::= A` go.

    Returns:
        the grammar without empty bodies, and whether the start derived the empty text.
    """
    nullable = nullable_nonterminals(productions)
    if not nullable:
        return productions, False
    accepts_empty = productions.start in nullable
    split = split_long_bodies(productions, nullable)
    if len(split.bodies) > len(productions.bodies):
        productions = split
        nullable = nullable_nonterminals(productions)
    bodies = []
    for number, alternatives in enumerate(productions.bodies):
        new: dict[Body, None] = {}
        for body in alternatives:
            if nullable.isdisjoint(body):
                new[body] = None
            else:
                new.update(dict.fromkeys(_variants(body, nullable)))
        new.pop((), None)
        new.pop((number,), None)
        bodies.append(list(new))
    return productions.with_bodies(bodies), accepts_empty


def _variants(body: Body, nullable: set[int]) -> list[Body]:
    """The body with and without each of its nullable symbols."""
    variants: list[Body] = [()]
    for symbol in body:
        longer = [(*variant, symbol) for variant in variants]
        variants = longer + variants if symbol in nullable else longer
    return variants
