"""The flat form of a grammar that the Earley engine reads: what the normal form gives."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from structgen.engine.regex import Regex

__all__ = ["END", "GrammarTables", "terminal_number", "terminal_symbol"]

END = -1


@dataclass(frozen=True, slots=True, eq=False)
class GrammarTables:
    """A grammar as flat arrays.

    A position in `symbols` is a dotted rule: the dot stands before the symbol at that position.

    Attributes:
        symbols: int32, all bodies one after another, each followed by END (-1). A symbol >= 0 is a nonterminal's
            number; a symbol <= -2 is terminal number `-2 - symbol`.
        first_rule: int32[nonterminals + 1]; the bodies of nonterminal A begin at
            `rule_starts[first_rule[A]:first_rule[A + 1]]`.
        rule_starts: int32, positions in `symbols`.
        terminals: the terminals' regexes; equal ones are one.
        names: the nonterminals' names, for messages.
        start: number of the start nonterminal.
        accepts_empty: whether the empty text is in the language.

    Invariants: no body is empty; no terminal matches the empty text, or nothing at all; every nonterminal is reached
    from `start`, has a body, and (unless endless rules were kept) derives some text. The language of `start` here
    is without the empty text, which `accepts_empty` tells. A grammar whose language is empty, or only the empty
    text, has one nonterminal without bodies.
    """

    symbols: array[int]
    first_rule: array[int]
    rule_starts: array[int]
    terminals: tuple[Regex, ...]
    names: tuple[str, ...]
    start: int
    accepts_empty: bool


def terminal_symbol(number: int) -> int:
    """The symbol that stands for terminal `number`."""
    return -2 - number


def terminal_number(symbol: int) -> int:
    """The terminal that a symbol <= -2 stands for."""
    return -2 - symbol
