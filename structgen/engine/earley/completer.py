"""Earley's completer: moves the dot past a symbol that was read, and advances the items that waited for its end.

Example (the grammar of `item_sets.py`: `start ::= 'a' tail; tail ::= 'b' | 'b' tail;`). In set 2, after "a", the byte
"b" ends the terminal of both scannable items; each is advanced:

    tail -> 'b' .       the rule has ended: tell group 2, in which `start -> 'a' .tail` waits
                        start -> 'a' tail .   has ended, too, and returns to ROOT: the text is whole
    tail -> 'b' .tail   is added to the kernel, with the address top(group 2) = ROOT

Items that have ended are not kept. A stack takes the place of recursion, as grammars nest deeply.

A look-ahead after a symbol goes along (`engine/grammar/lookaheads.py`): from the end of one rule into the items that
waited for it, up to an item with a terminal after the dot, whose start state it narrows.

Source: Earley 1970.
"""

from __future__ import annotations

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.constants import AFTER, EMPTY_TEXT, NEEDS_CHECK, NO_TEXT, ROOT, UNKNOWN_TEXT
from structgen.engine.deadlines import spend
from structgen.engine.earley.captured_texts import CapturedTexts
from structgen.engine.earley.groups import GroupTable
from structgen.engine.earley.kernels import Kernels
from structgen.engine.grammar.rules import Rules
from structgen.engine.grammar.tables import CAPTURES, END

__all__ = ["Completer"]


class Completer:
    """Advances items; those with a symbol left become part of the kernel in the making.

    Args:
        kernels: holds the kernel in the making.
        groups: the return addresses.
        texts: the texts of open captures.
        rules: the grammar.

    Attributes:
        skips: whether the step is one over unknown bytes, to the end of a terminal.
    """

    def __init__(self, kernels: Kernels, groups: GroupTable, texts: CapturedTexts, rules: Rules) -> None:
        self._kernels = kernels
        self._groups = groups
        self._texts = texts
        self._rules = rules
        self._lookaheads = self._rules.lookaheads
        self._stack = zeros(64)
        self.skips = False

    def advance(self, position: int, group: int) -> None:
        """Move the dot past the symbol at `position`; where that ends the rule, advance the items that wait for it."""
        groups, rules = self._groups, self._rules
        ahead = 0  # the look-ahead that holds before the next byte; 0 for none
        self._stack[0] = position
        self._stack[1] = group
        self._stack[2] = NO_TEXT
        self._stack[3] = ahead
        size = 4
        while size:
            size -= 4
            position = self._stack[size] + 1
            group = self._stack[size + 1]
            ahead = self._stack[size + 3]
            symbol = rules.symbols[position]
            if rules.before[position]:
                ahead = self._lookaheads.united(ahead, rules.before[position])
            if symbol != END:
                if symbol <= CAPTURES:
                    position = self._continue(CAPTURES - symbol, self._stack[size + 2])
                    if position < 0:
                        continue
                self._add(position, ahead, group)
            elif group == ROOT:
                self._kernels.accepting = 1
            elif groups.mark_completed(group, ahead, self._kernels.serial):
                first = groups.first[group]
                last = groups.last[group]
                spend(1 + last - first)
                while size + 4 * (last - first) > len(self._stack):
                    self._stack = grown_pool(self._stack, size)
                for row in range(first, last):
                    self._stack[size] = groups.wait_position[row]
                    self._stack[size + 1] = groups.wait_group[row]
                    self._stack[size + 2] = groups.text[group]
                    self._stack[size + 3] = ahead
                    size += 4

    def _add(self, position: int, ahead: int, group: int) -> None:
        """Add the item whose dot was moved to `position`, where look-ahead `ahead` holds.

        Before a terminal, the look-ahead narrows the start state. Before a nonterminal, where an item has no state, it
        takes the place of the state.
        """
        rules = self._rules
        state = rules.start_state[position]
        nothing_follows = False
        if ahead:
            if rules.symbols[position] < 0:
                state = self._lookaheads.started(state, ahead)
                nothing_follows = state == 0
            else:
                state = ahead
        if not nothing_follows:
            self._kernels.add(position, state, self._groups.top(group))

    def _continue(self, capture: int, start: int) -> int:
        """Return the position after a captured symbol, which began with text `start`; -1 if its text is refused."""
        kernels = self._kernels
        text = kernels.text
        if text >= EMPTY_TEXT:
            return self._rules.continuation(capture, self._texts.between(start, text))
        is_known = text == UNKNOWN_TEXT and self._rules.is_endless(capture)
        if is_known and not self.skips and self._rules.refuses(capture):
            is_known = False
        kernels.kind = AFTER if is_known and kernels.kind != NEEDS_CHECK else NEEDS_CHECK
        return self._rules.continuation(capture, None)
