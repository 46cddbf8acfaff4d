"""The ways in which a pre-token can continue to its end: `Continuations` finds them, and keeps them."""

from __future__ import annotations

__all__ = ["Endings"]


class Endings:
    """The ways in which a pre-token can continue to its end or to a sure border.

    They depend on a position in the grammar and a state of the scanner. They are found one after another, as far as
    they are asked for.

    Args:
        at, scanner_state, kind: see `Continuations.endings`.

    Attributes:
        scanner_state, kind: the same.
        spelled: the tokens of each ending so far as if it stood alone; none for an empty ending.
        are_all: whether there are no others, once no more are found.
        waiting: beginnings that are not looked at yet: position, state of the scanner, unfinished character, and text.
        count: the number of beginnings that were looked at.
    """

    def __init__(self, at: int, scanner_state: int, kind: int) -> None:
        self.scanner_state = scanner_state
        self.kind = kind
        self.spelled: list[tuple[int, ...]] = []
        self.are_all = True
        self.waiting = [(at, scanner_state, 0, b"")]
        self.count = 0

    def add(self, tokens: tuple[int, ...] | None) -> None:
        """Add the tokens of an ending; None if they are not known."""
        if tokens is None:
            self.are_all = False
        else:
            self.spelled.append(tokens)
