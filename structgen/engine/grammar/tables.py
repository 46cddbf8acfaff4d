"""The flat form of a grammar that the Earley engine reads: what the normal form gives."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from structgen.engine.regex.tree import Regex

__all__ = [
    "CAPTURES",
    "END",
    "Capture",
    "Describer",
    "GrammarTables",
    "Lazy",
    "Lookahead",
    "RuleSource",
    "Spelling",
    "Symbol",
    "terminal_number",
    "terminal_symbol",
]

END = -1
CAPTURES = -(1 << 30)  # the symbol after a captured one is CAPTURES - number of the capture (`engine/rules.py`)


class Lazy:
    """A nonterminal whose bodies are made when it is first predicted. It never changes.

    Attributes:
        key: names it; a `RuleSource` makes its bodies.
    """

    def __init__(self, key: Hashable) -> None:
        self.key = key


class Capture:
    """A symbol whose text decides what follows; the last of its body. It never changes.

    Attributes:
        of: what is captured.
        then: names what follows, for `RuleSource.after`.
        endless: what follows never depends on the text before a further capture is entered: whatever is captured,
            something of the same kind is left to capture.
        refuses: some texts of a terminal `of` must not be captured, `RuleSource.refusals` tells which. Where every
            beginning of its texts goes on to infinitely many, they are refused where they end, else the terminal is
            made without them.
    """

    def __init__(self, of: Regex | Lazy, then: Hashable, endless: bool, refuses: bool = False) -> None:
        self.of = of
        self.then = then
        self.endless = endless
        self.refuses = refuses


class Lookahead:
    """A condition on the next character, at a place in a body behind some other symbol. It never changes.

    Attributes:
        number: which of `GrammarTables.lookaheads`, from 1.
    """

    def __init__(self, number: int) -> None:
        self.number = number


Symbol = Regex | Lazy | Capture

Spelling = tuple[tuple[bytes, ...], ...]
"""Ways to write a text: one of the first alternatives, then one of the second, and so on. None begins another."""


class RuleSource(Protocol):
    """Makes the bodies of lazy nonterminals: for one key always the same."""

    def bodies(self, key: Hashable) -> Sequence[Sequence[Symbol | Lookahead]]:
        """The bodies of a lazy nonterminal.

        It derives some text, and not the empty one; so does every terminal in a body, but that a body with a terminal
        that matches nothing is dropped.
        """

    def after(self, then: Hashable, text: bytes | None) -> Hashable | None:
        """The key of what follows a capture.

        Args:
            then: from the `Capture`.
            text: what was captured; None for something that derives at least what follows any text.

        Returns:
            None where the text must not be captured.
        """

    def refusals(self, then: Hashable, begun: bytes) -> tuple[Sequence[Spelling], Sequence[Spelling]]:
        """What would complete texts that must not be captured, of which some bytes have been written.

        Args:
            then: from a `Capture` that refuses texts.
            begun: the bytes; never a whole text. Not asked for where nothing was refused to a part of them.

        Returns:
            First what is always refused at this place: the same object for the same bytes. Then the others.
        """

    def remaining(self, then: Hashable) -> Regex:
        """The terminal of a `Capture` that refuses texts, without those."""


class Describer(Protocol):
    """Describes the symbols of lazy nonterminals for messages. A `RuleSource` works without one."""

    def words(self, key: Hashable, body: Sequence[Symbol | Lookahead], at: int) -> tuple[str, str]:
        """Describe one symbol of a body in words.

        Args:
            key: the nonterminal's key.
            body: one of its bodies, as its source made it.
            at: the index of the symbol in the body.

        Returns:
            What the symbol stands for ("a string", "a key"), and its text where it has only one; either may be empty.
        """

    def location(self, key: Hashable, body: Sequence[Symbol | Lookahead], at: int) -> str | None:
        """Return the rule or schema location that asks for a symbol.

        Returns:
            None where only the rules that use the nonterminal tell; "" where nothing does.
        """


@dataclass(frozen=True, eq=False)
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
        lazy: the keys of lazy nonterminals; their numbers follow those of the others.
        source: makes their bodies.
        describer: describes their symbols in messages; None if nothing does.
        lookaheads: sets of characters that must not come next; see `engine/lookaheads.py`.
        before: int32, for each position the number (from 1) of the look-ahead that holds where the dot stands there,
            0 for none; empty where there are none.
        text_units: how many units long the texts are that terminals hold as tables or suffix automata, where these are
            long: what memory the grammar takes.

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
    lazy: tuple[Hashable, ...] = ()
    source: RuleSource | None = None
    lookaheads: tuple[Regex, ...] = ()
    before: Sequence[int] = ()
    text_units: int = 0
    describer: Describer | None = None


def terminal_symbol(number: int) -> int:
    """The symbol that stands for terminal `number`."""
    return -2 - number


def terminal_number(symbol: int) -> int:
    """The terminal that a symbol <= -2 stands for."""
    return -2 - symbol
