"""Look-aheads: conditions on the next character in a body, which read no text themselves.

`identifier ::= #'[a-z]+' !#'[a-z]'` is maximal munch: the text of an identifier ends only where no letter follows (the
*follow restrictions* of SDF: Visser 1997; the notation is that of PEG's not-predicate: Ford 2004). A look-ahead goes
along with an item, over all rules that end or begin there, up to the terminal that reads the next byte. That terminal
starts in a state without the refused characters:

    grammar       identifier !letter;  then  ' ' | 'x'     after "abc" the look-ahead holds
    ' '           starts in its own start state             " " is allowed
    'x'           starts in the dead state                  "x" is refused

After one character such a state is an ordinary state of the terminal, so the terminal's masks are used again. Most
terminals begin with no refused character, or with refused ones only. These keep their own start state or get the dead
state, and no other is made.

Source: Visser, "Scannerless Generalized-LR Parsing" (1997), which filters the parse table; here items are filtered.
"""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.pair_table import PairTable
from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError

__all__ = ["Lookaheads"]

ONE = 1  # an object: sets of bytes have 256 bits

# Declared as C integers in the .pxd, so not importable from here.
MAX_NUMBERS = 62  # number of look-aheads, 0 included: a set of them is the bits of two int32 without their signs


class Lookaheads:
    """The look-aheads of one grammar, by number; number 0 is no condition.

    Args:
        refused: the refused characters of look-aheads 1, 2, ...
        automata: the automata of the terminals.

    Attributes:
        shift: number of bits that hold the number of any look-ahead; 0 where there are none.
    """

    def __init__(self, refused: Sequence[rx.Regex], automata: AutomatonStore) -> None:
        self._automata = automata
        self._united = PairTable()
        self._started = PairTable()
        self._states: list[int] = [0]  # by number: the state of the texts that may follow
        self._numbers: dict[int, int] = {0: 0}
        self._leading: dict[int, tuple[int, int]] = {}  # by number: see `_leading_bytes`
        self._everything = automata.add(rx.ANY_BYTES) if refused else 0
        self.shift = 6 if refused else 0
        for regex in refused:
            state = automata.add(rx.Complement(rx.sequence(regex, rx.ANY_BYTES)))
            self._numbers.setdefault(state, len(self._states))
            self._states.append(state)
            self._check()

    def united(self, left: int, right: int) -> int:
        """Return the look-ahead that holds where both of two look-aheads hold.

        Raises:
            GrammarError: there are more than 61 different ones.
            LimitExceededError: automaton_states.
        """
        if left == right or not right:
            return left
        if not left:
            return right
        found = self._united.get(left, right)
        if found < 0:
            state = self._automata.narrowed(self._states[left], self._states[right])
            found = self._numbers.setdefault(state, len(self._states))
            if found == len(self._states):
                self._states.append(state)
                self._check()
            self._united.put(left, right, found)
        return found

    def started(self, state: int, number: int) -> int:
        """Return the state of the terminal's texts that a look-ahead allows; 0 if it allows none.

        Raises:
            LimitExceededError: automaton_states.
        """
        if not number:
            return state
        found = self._started.get(state, number)
        if found < 0:
            found = self._narrowed(state, number)
            self._started.put(state, number, found)
        return found

    def _narrowed(self, state: int, number: int) -> int:
        if not self._automata.table.accepting[state]:
            first = self._automata.first_bytes(state)
            allowed, refused = self._leading_bytes(number)
            if first & ~allowed == 0:
                return state
            if first & ~refused == 0:
                return 0
        return self._automata.narrowed(state, self._states[number])

    def _leading_bytes(self, number: int) -> tuple[int, int]:
        """Return the bytes after which a look-ahead allows everything, and those after which it allows nothing."""
        found = self._leading.get(number)
        if found is None:
            allowed = refused = 0
            for byte in range(256):
                target = self._automata.next(self._states[number], byte)
                if target == self._everything:
                    allowed |= ONE << byte
                elif not target:
                    refused |= ONE << byte
            found = self._leading[number] = allowed, refused
        return found

    def _check(self) -> None:
        if len(self._states) >= MAX_NUMBERS:
            raise GrammarError(
                f"the grammar has more than {MAX_NUMBERS - 1} different look-aheads (two at once are one more)",
                hint="use the same class of characters where it makes no difference",
            )
