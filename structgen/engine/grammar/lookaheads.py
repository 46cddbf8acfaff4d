"""Look-aheads: conditions on the next character after a place in a body, which take no text themselves.

`identifier ::= #'[a-z]+' !#'[a-z]'` is maximal munch: the text of an identifier ends only where no letter follows (the
*follow restrictions* of SDF: Visser 1997; the notation is that of PEG's not-predicate: Ford 2004). A look-ahead travels
with an item from where it stands to the terminal that reads the next byte, through whatever ends and begins between;
the terminal then starts in a state of its own that does not begin with the refused characters. After one character
that state is one of the terminal's own, so what masks know of a terminal serves here, too.

Source: Visser, "Scannerless Generalized-LR Parsing" (1997), which filters the parse table; here, the items.
"""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.pair_table import PairTable
from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError

__all__ = ["Lookaheads"]

# Declared as C integers in the .pxd, so not importable from here.
MOST = 62  # numbers, 0 included: a set of them is the bits of two int32 without their signs


class Lookaheads:
    """The look-aheads of one grammar, by number; 0 asks for nothing.

    Args:
        refused: sets of characters, each of a look-ahead: numbers 1, 2, ...
        automata: the store of the terminals' states.

    Attributes:
        shift: bits of a number that a number of any look-ahead fits in; 0 where there are none.
    """

    def __init__(self, refused: Sequence[rx.Regex], automata: AutomatonStore) -> None:
        self._automata = automata
        self._united = PairTable()
        self._started = PairTable()
        self._states: list[int] = [0]  # by number: of the texts that it lets follow
        self._numbers: dict[int, int] = {0: 0}
        self.shift = 6 if refused else 0
        for regex in refused:
            state = automata.add(rx.Complement(rx.sequence(regex, rx.ANY_BYTES)))
            self._numbers.setdefault(state, len(self._states))
            self._states.append(state)
            self._check()

    def united(self, left: int, right: int) -> int:
        """The look-ahead that asks for what two ask for.

        Raises:
            GrammarError: there are too many.
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
        """The state of a terminal's texts that a look-ahead lets follow; 0 if there are none.

        Raises:
            LimitExceededError: automaton_states.
        """
        if not number:
            return state
        found = self._started.get(state, number)
        if found < 0:
            found = self._automata.narrowed(state, self._states[number])
            self._started.put(state, number, found)
        return found

    def _check(self) -> None:
        if len(self._states) >= MOST:
            raise GrammarError(
                f"the grammar has more than {MOST - 1} different look-aheads (those that hold together are one more)",
                hint="use the same class of characters where it makes no difference",
            )
