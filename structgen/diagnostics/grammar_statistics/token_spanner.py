r"""The token spanner table of GreatGramma, and its inverse.

Both say how tokens of a vocabulary and terminals of a lexer fit together (Park et al., "Flexible and Efficient
Grammar-Constrained Decoding", 2025, definitions 3.2 and 3.3). From a state of the lexer, a token emits terminals and
leads to another state, where one of several terminals may be emitted next:

    T(state, token)         the sequences: what the token emits, then one terminal that may be emitted next
    T_inv(state, sequence)  the tokens that have the sequence

    terminals [a-z]+ and =, token "x=":  from the start, it emits [a-z]+, and = may be next: ([a-z]+, =)

A parser accepts a token if it accepts one of its sequences. So it looks at sequences, of which there are fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from structgen.diagnostics.grammar_statistics.lexers import Lexer

__all__ = ["Row", "Sequence", "TokenSpannerTable"]

Sequence = tuple[int, ...]
"""Terminals of a lexer, by number; the last one may not have ended."""

MAX_SHOWN_TOKENS = 8


class Row(NamedTuple):
    """A pair of state and sequence, with its tokens.

    Attributes:
        state: of the lexer.
        sequence: the terminals.
        tokens: the ids of the tokens that have the sequence from the state.
    """

    state: int
    sequence: Sequence
    tokens: tuple[int, ...]


class TokenSpannerTable:
    """The table of a lexer and a vocabulary. The part of a state is computed when it is first asked for.

    Args:
        lexer: its states are the rows.
        tokens: the text of each token id. An empty text has no sequence.

    Example:
        >>> from structgen.diagnostics.grammar_statistics.lexers import Lexeme
        >>> from structgen.engine.regex.tree import Literal, plus
        >>> lexer = Lexer([Lexeme("a+", plus(Literal(b"a"))), Lexeme("b", Literal(b"b"))])
        >>> table = TokenSpannerTable(lexer, {0: b"a", 1: b"ab"})
        >>> table.inverse(0)
        {(0,): (0,), (0, 1): (1,)}
    """

    def __init__(self, lexer: Lexer, tokens: Mapping[int, bytes]) -> None:
        self.lexer = lexer
        self._tokens = {token: text for token, text in tokens.items() if text}
        self._sorted = sorted((text, token) for token, text in self._tokens.items())
        self._inverse: dict[int, dict[Sequence, tuple[int, ...]]] = {}

    def sequences(self, state: int, token: int) -> frozenset[Sequence]:
        """Return T(state, token)."""
        found = self.lexer.read(state, self._tokens[token]) if token in self._tokens else None
        if found is None:
            return frozenset()
        emitted, after = found
        return frozenset((*emitted, terminal) for terminal in self.lexer.producible[after])

    def inverse(self, state: int) -> dict[Sequence, tuple[int, ...]]:
        """Return T_inv(state, …): the sequences of a state, each with its tokens in ascending order."""
        if state not in self._inverse:
            by_way: dict[tuple[Sequence, int], list[int]] = {}
            for token, way in self._ways(state):
                by_way.setdefault(way, []).append(token)
            found: dict[Sequence, list[int]] = {}
            for (emitted, after), tokens in by_way.items():
                for terminal in self.lexer.producible[after]:
                    found.setdefault((*emitted, terminal), []).extend(tokens)
            self._inverse[state] = {sequence: tuple(sorted(tokens)) for sequence, tokens in sorted(found.items())}
        return self._inverse[state]

    def _ways(self, state: int) -> Iterator[tuple[int, tuple[Sequence, int]]]:
        """Yield each token that may come, with what it emits and the state after it. Common prefixes are read once."""
        stack: list[tuple[Sequence, int] | None] = [((), state)]
        last = b""
        for text, token in self._sorted:
            shared = next((at for at, (a, b) in enumerate(zip(text, last)) if a != b), min(len(text), len(last)))
            del stack[shared + 1 :]
            for byte in text[len(stack) - 1 :]:
                before = stack[-1]
                step = self.lexer.step(before[1], byte) if before is not None else None
                if before is None or step is None:
                    stack.append(None)
                else:
                    stack.append((before[0] if step[0] < 0 else (*before[0], step[0]), step[1]))
            if (way := stack[-1]) is not None:
                yield token, way
            last = text

    def rows(self) -> Iterator[Row]:
        """Yield all pairs of a state and a sequence, with their tokens."""
        for state in range(len(self.lexer.targets)):
            for sequence, tokens in self.inverse(state).items():
                yield Row(state, sequence, tokens)

    def realizable(self) -> frozenset[Sequence]:
        """Return the sequences that some state has (definition 3.2)."""
        return frozenset(row.sequence for row in self.rows())

    def lines(self) -> Iterator[str]:
        """Yield the table as text: each sequence of each state with its tokens."""
        names = [lexeme.name for lexeme in self.lexer.lexemes]
        for state in range(len(self.lexer.targets)):
            label = self.lexer.labels[state]
            inside = "start" if state == 0 else f"after a whole {names[label]}" if label >= 0 else "inside a terminal"
            yield f"state {state} ({inside})"
            for sequence, tokens in self.inverse(state).items():
                shown = ", ".join(
                    repr(self._tokens[token].decode(errors="replace")) for token in tokens[:MAX_SHOWN_TOKENS]
                )
                more = f" and {len(tokens) - MAX_SHOWN_TOKENS} more" if len(tokens) > MAX_SHOWN_TOKENS else ""
                yield f"  {_shown(names[terminal] for terminal in sequence)}: {shown}{more}"


def _shown(names: Iterable[str]) -> str:
    return " · ".join(names)
