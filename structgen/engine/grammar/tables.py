"""Grammars as flat arrays, the form that the Earley engine reads, and the parts of bodies that are made while parsing.

The passes of `structgen.kbnf.normal_form` write `GrammarTables`. The grammar

    start ::= 'a' tail;    tail ::= 'b' | 'b' tail;

is one array of symbols, each body followed by END; a dotted rule is a position in it:

    position   0    1  2   3    4   5    6  7        nonterminals: 0 start, 1 tail
    symbols    -2   1  -1  -3   -1  -3   1  -1       terminals: -2 is number 0, 'a'; -3 is number 1, 'b'
    rule_starts [0, 3, 5]   first_rule [0, 1, 3]     rules of start: 0; rules of tail: 1 and 2

A grammar that is too large to be written down has *lazy* nonterminals (`Lazy`). A `RuleSource` makes their bodies when
they are first predicted, from `Regex` terminals, `Lazy`, `Capture` and `Lookahead`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from structgen.engine.regex.tree import Regex
from structgen.engine.vocabulary.marks import Ranges

__all__ = [
    "CAPTURES",
    "END",
    "TERMINAL",
    "Capture",
    "Describer",
    "GrammarTables",
    "Ladder",
    "Lazy",
    "Lookahead",
    "Origins",
    "Refusals",
    "RuleSource",
    "Spelling",
    "Symbol",
    "terminal_number",
    "terminal_symbol",
]

END = -1
TERMINAL = -2  # in the bodies of `rules.py`: any terminal
CAPTURES = -(1 << 30)  # after a captured symbol stands CAPTURES minus the number of the capture (`rules.py`)


class Lazy:
    """A nonterminal whose bodies are made when it is first predicted. Immutable.

    Attributes:
        key: the name by which a `RuleSource` makes its bodies.
    """

    def __init__(self, key: Hashable) -> None:
        self.key = key


class Capture:
    """A symbol whose text decides what follows. It is the last of its body. Immutable.

    An array whose items must differ captures each item; the key of what follows names the items so far.

    Attributes:
        of: the symbol that is captured.
        then: the name of what follows, for `RuleSource.after`.
        endless: what follows does not depend on the text until a further capture is entered: whatever was captured,
            enough texts of the same kind are left.
        refuses: some texts of the terminal `of` must not be captured; `RuleSource.refusals` returns them. They are
            refused where they end, or the terminal is made without them; see `engine/grammar/refused_ends.py`.
    """

    def __init__(self, of: Regex | Lazy, then: Hashable, endless: bool, refuses: bool = False) -> None:
        self.of = of
        self.then = then
        self.endless = endless
        self.refuses = refuses


class Lookahead:
    """A condition on the next character, in a body after another symbol. Immutable.

    Attributes:
        number: index in `GrammarTables.lookaheads`, from 1.
    """

    def __init__(self, number: int) -> None:
        self.number = number


class Ladder:
    """The bodies of several nonterminals, each of which has its own body and those of the ones after it.

        keys     pair 0           pair 1           pair 2
        bodies   "a": 1 then 1    "b": 2 then 2    "c": 3 then 3        pair 1 has the last two of them

    So the optional keys of an object are predicted as one nonterminal. A source of ladders has a method
    `bodies_or_ladder(key)`, which returns the bodies of a nonterminal, or a ladder whose first key it has. Its `bodies`
    returns two bodies for each of them: its own, and the next nonterminal alone.

    Attributes:
        keys: of the nonterminals.
        bodies: those from index i on belong to the nonterminal with `keys[i]`. There may be more of them than keys.
    """

    def __init__(self, keys: list[Hashable], bodies: list[Sequence[Regex | Lazy | Capture]]) -> None:
        self.keys = keys
        self.bodies = bodies


Symbol = Regex | Lazy | Capture

Spelling = tuple[tuple[bytes, ...], ...]
"""Ways to write a text: one of the first alternatives, then one of the second, and so on. None begins with another."""

Refusals = tuple[Sequence[Sequence[Spelling]], Sequence[Spelling]]
"""Rests of texts that are refused: first groups that are refused again and again, none of them empty, and each the same
object each time; then others.
"""

Origins = Callable[[], Mapping[Regex, tuple[str, ...]]]
"""Returns the names of the rules that each terminal comes from. For messages."""


class RuleSource(Protocol):
    """Makes the bodies of lazy nonterminals. The same key always has the same bodies."""

    def bodies(self, key: Hashable) -> Sequence[Sequence[Symbol | Lookahead]]:
        """Return the bodies of a lazy nonterminal.

        The nonterminal derives some text, and not the empty one. The same holds for every terminal in a body; but a
        terminal may match nothing at all, and then the body is dropped.
        """

    def after(self, then: Hashable, text: bytes | None) -> Hashable | None:
        """Return the key of the nonterminal that follows a capture; None where the text must not be captured.

        Args:
            then: `Capture.then`.
            text: the captured text. None for a nonterminal that derives at least everything that may follow any text.
        """

    def refusals(self, then: Hashable, begun: bytes) -> Refusals:
        """Return the rests of texts that must not be captured, of which some bytes have been written.

        Args:
            then: `Capture.then`, of a capture that refuses texts.
            begun: the bytes; never a whole text. Once nothing was returned for some bytes, longer ones are not asked.
        """

    def remaining(self, then: Hashable, least: int) -> Regex:
        """Return the terminal of a `Capture` that refuses texts, without those of at least `least` characters.

        The same texts give the same object.
        """

    def least_bytes(self, key: Hashable) -> int:
        """Return a lower bound of the bytes of a lazy nonterminal's texts, found quickly; 1 where nothing is known.

        A search for short texts looks at the nonterminals of small bounds first.
        """

    def forget(self) -> None:
        """Drop what was computed for written texts. It is computed again when needed, with the same results."""


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
    """A grammar as flat arrays; the module's docstring has an example.

    A position in `symbols` is a dotted rule: the dot stands before the symbol at that position.

    Attributes:
        symbols: int32; all bodies one after another, each followed by END (-1). A symbol >= 0 is a nonterminal's
            number; a symbol <= -2 is terminal number `-2 - symbol`.
        first_rule: int32[nonterminals + 1]; the bodies of nonterminal A begin at
            `rule_starts[first_rule[A]:first_rule[A + 1]]`.
        rule_starts: int32; positions in `symbols`.
        terminals: the terminals' regexes; equal ones stand once.
        names: the nonterminals' names, for messages.
        start: number of the start nonterminal.
        accepts_empty: whether the empty text is in the language.
        lazy: the keys of lazy nonterminals; their numbers follow those of the others.
        source: makes the bodies of lazy nonterminals.
        describer: describes their symbols in messages; None if nothing does.
        lookaheads: sets of characters that must not come next; see `lookaheads.py`.
        before: int32 by position; the number (from 1) of the look-ahead that holds where the dot stands there, 0 for
            none. Empty where the grammar has no look-aheads.
        text_units: total length of the long texts that terminals hold as tables or suffix automata, in their units. An
            estimate of the grammar's memory.
        marks: the ids of the tokens that its token terminals name, as ranges (`engine/vocabulary/marks.py`). These
            terminals are marks, and no other terminal has the byte 0xFF where there are any.
        temperature: of sampling, within the texts of this grammar; None to leave it as it is. It counts where the
            grammar is a part of another one.
        max_tokens: the number of tokens after which a text of this grammar ends; 0 for no bound. It counts where the
            grammar is a part of another one. Such a grammar is one terminal, whose text may end after each character.

    Invariants: no body is empty. No terminal matches the empty text, and each matches some text. Every nonterminal is
    reached from `start`, has a body, and (unless endless rules were kept) derives some text. The bodies do not derive
    the empty text; `accepts_empty` has it. A grammar whose language is empty, or has only the empty text, has one
    nonterminal without bodies.
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
    marks: Ranges = ()
    temperature: float | None = None
    max_tokens: int = 0


def terminal_symbol(number: int) -> int:
    """Return the symbol of terminal `number`."""
    return -2 - number


def terminal_number(symbol: int) -> int:
    """Return the number of the terminal whose symbol is `symbol`, which is <= -2."""
    return -2 - symbol
