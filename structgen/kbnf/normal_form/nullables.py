"""Passes that remove the empty text from a grammar, so that the engine never completes a rule where it predicts it.

    start ::= '[' opt ']';   opt ::= list | ε        ->        start ::= '[' opt ']' | '[' ']';   opt ::= list

The tables remember in `accepts_empty` whether the start derived the empty text. (Aycock and Horspool, "Practical
Earley Parsing", 2002, describe the problem; removing empty rules beforehand keeps the engine's loop simple.)
"""

from __future__ import annotations

from structgen.kbnf.normal_form.productions import Body, Productions

__all__ = ["eliminate_nullables", "nullable_nonterminals", "split_long_bodies"]

# A body with n nullable symbols becomes 2**n bodies; with more than this many symbols it is split first.
_MAX_NULLABLES = 2
_MAX_NULLABLES_BESIDE_MARKS = 6


def nullable_nonterminals(productions: Productions) -> set[int]:
    """Return the nonterminals that derive the empty text; linear in the size of the grammar."""
    bodies = productions.bodies
    nullable = {number for number, alternatives in enumerate(bodies) if () in alternatives}
    if not nullable:
        return nullable
    never = productions.non_empty
    nullable -= never
    # For each body made of nonterminals only: the number of its symbols that are not known to be nullable.
    missing: list[int] = []
    heads: list[int] = []
    occurs_in: dict[int, list[int]] = {}
    for head, alternatives in enumerate(bodies):
        if head in nullable or head in never:
            continue
        for body in alternatives:
            if body and min(body) >= 0:
                for symbol in body:
                    occurs_in.setdefault(symbol, []).append(len(heads))
                missing.append(len(body))
                heads.append(head)
    pending = list(nullable)
    while pending:
        for body_number in occurs_in.get(pending.pop(), ()):
            missing[body_number] -= 1
            if not missing[body_number] and heads[body_number] not in nullable:
                nullable.add(heads[body_number])
                pending.append(heads[body_number])
    return nullable


def split_long_bodies(productions: Productions, nullable: set[int]) -> Productions:
    """Split bodies with many nullable symbols, so that k of them in a row make O(k) bodies and not 2**k.

    `a? b? c? d` becomes `a? R`, `R ::= b? S`, `S ::= c? d`. Equal rests are one nonterminal.

    Args:
        productions: the grammar.
        nullable: its nullable nonterminals; not changed. `nullable_nonterminals` of the result tells which of the new
            ones are nullable.
    """
    marks = productions.terminals.marks.keys()
    out = [list(alternatives) for alternatives in productions.bodies]
    names = list(productions.names)
    rests: dict[Body, int] = {}
    for number, alternatives in enumerate(productions.bodies):
        for index, body in enumerate(alternatives):
            positions = [position for position, symbol in enumerate(body) if symbol in nullable]
            # The rest that is split off must not begin with a look-ahead after a nullable symbol.
            most = _MAX_NULLABLES if marks.isdisjoint(body) else _MAX_NULLABLES_BESIDE_MARKS
            if len(positions) <= most:
                continue
            # From the right, so that each rest ends in the one made before it.
            tail: Body = body[positions[-2] + 1 :]
            for left, position in zip(reversed([-1, *positions[:-2]]), reversed(positions[:-1])):
                if tail not in rests:
                    rests[tail] = len(out)
                    out.append([tail])
                    names.append(names[number])
                tail = (*body[left + 1 : position + 1], rests[tail])
            out[number][index] = tail
    return Productions(out, names, productions.start, productions.terminals, productions.non_empty)


def eliminate_nullables(productions: Productions) -> tuple[Productions, bool]:
    """Remove the empty text from the language of every nonterminal.

    Bodies are written with and without each nullable symbol; then equal alternatives, empty ones and `A ::= A` go.

    Returns:
        The grammar without empty bodies, and whether the start derived the empty text.
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
    """Return the body with and without each of its nullable symbols."""
    variants: list[Body] = [()]
    for symbol in body:
        longer = [(*variant, symbol) for variant in variants]
        variants = longer + variants if symbol in nullable else longer
    return variants
