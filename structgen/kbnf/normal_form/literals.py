"""Passes that make fewer, larger literal terminals. Every terminal costs Earley items; a longer one costs no more."""

from __future__ import annotations

from structgen.engine.regex import tree as rx
from structgen.kbnf.normal_form.productions import Body, Productions

__all__ = ["merge_adjacent_literals", "unite_literal_alternatives"]


def merge_adjacent_literals(productions: Productions) -> Productions:
    """Join adjacent literals: `'{' '"a"' ':'` becomes `'{"a":'`.

    Only literals are joined. A literal joined with a wide regex would lose the mask tables that the regex shares with
    other grammars.
    """
    data_of = productions.terminals.data
    bodies = productions.bodies
    changed: dict[int, list[Body]] = {}
    for number, alternatives in enumerate(bodies):
        for body in alternatives:
            before = 0
            for symbol in body:
                if symbol < 0 and data_of[-2 - symbol] is not None:
                    if before:
                        changed[number] = list(dict.fromkeys(_merged(body, productions) for body in alternatives))
                        break
                    before = 1
                else:
                    before = 0
            else:
                continue
            break
    if not changed:
        return productions
    return productions.with_bodies([changed.get(number, old) for number, old in enumerate(bodies)])


def _merged(body: Body, productions: Productions) -> Body:
    terminals = productions.terminals
    data_of = terminals.data
    out: list[int] = []
    run: list[bytes] = []
    for symbol in body:
        data = data_of[-2 - symbol] if symbol < 0 else None
        if data is not None:
            run.append(data)
            continue
        if run:
            out.append(terminals.literal(b"".join(run)))
            run = []
        out.append(symbol)
    if run:
        out.append(terminals.literal(b"".join(run)))
    return tuple(out)


def unite_literal_alternatives(productions: Productions) -> Productions:
    """Make one terminal of alternatives that are each one literal: `'red' | 'green' | x` becomes `{red, green} | x`.

    A table of texts is one automaton, and needs one item for any number of texts.
    """
    terminals = productions.terminals
    changed: dict[int, list[Body]] = {}
    for number, alternatives in enumerate(productions.bodies):
        if len(alternatives) < 2:
            continue
        literals = [
            data for body in alternatives if len(body) == 1 and (data := terminals.literal_data(body[0])) is not None
        ]
        if len(literals) < 2:
            continue
        symbol, _ = terminals.regex(rx.literal_set(literals))
        others = [body for body in alternatives if len(body) != 1 or terminals.literal_data(body[0]) is None]
        # The table is not empty, so it is a terminal.
        changed[number] = others if symbol is None else [*others, (symbol,)]
    if not changed:
        return productions
    return productions.with_bodies([changed.get(number, old) for number, old in enumerate(productions.bodies)])
