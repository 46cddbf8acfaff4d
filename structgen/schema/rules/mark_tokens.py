"""Special tokens in the marks of a notation: token terminals in place of their names.

The marks of an argument of Kimi K3, where three names are special tokens:

    <|open|>argument key="city" type="string"<|sep|>Lyon<|close|>argument<|sep|>
    token   text                             token  text token   text    token
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.grammar.tables import Lookahead, Symbol
from structgen.engine.regex import tree as rx
from structgen.engine.vocabulary.marks import mark_of

__all__ = ["MarkTokens"]


class MarkTokens:
    """The special tokens of a notation.

    Args:
        tokens: the ids of the tokens by name. Names that are not in a notation's marks do no harm.
    """

    def __init__(self, tokens: Mapping[str, int]) -> None:
        self._marks = {name.encode(): rx.Literal(mark_of(token_id)) for name, token_id in tokens.items()}
        longest_first = sorted(self._marks, key=len, reverse=True)
        self._names = re.compile(b"|".join(map(re.escape, longest_first)) or b"(?!)")

    def last_end(self, text: str) -> int:
        """Return the position after the last name in a text, in characters; 0 where there is none."""
        data = text.encode()
        ends = [found.end() for found in self._names.finditer(data)]
        return len(data[: ends[-1]].decode()) if ends else 0

    def first_begin(self, text: str) -> int:
        """Return the position of the first name in a text, in characters; its length where there is none."""
        data = text.encode()
        found = self._names.search(data)
        return len(data[: found.start()].decode()) if found is not None else len(text)

    def ways(self, body: Sequence[Symbol | Lookahead]) -> list[list[Symbol | Lookahead]]:
        """Return the bodies that a body becomes: no terminal has a name, and none is the empty text.

        Args:
            body: of its terminals, only the literals that stand in them as a whole are marks.
        """
        found: list[list[Symbol | Lookahead]] = [[]]
        for symbol in body:
            for part in self._parts(symbol):
                found = [[*begun, *way] for begun in found for way in part]
        return found

    def _parts(self, symbol: Symbol | Lookahead) -> list[list[list[Symbol | Lookahead]]]:
        """Return the ways to write each part of a symbol: tokens, and the terminals between them."""
        if not isinstance(symbol, (rx.Sequence, rx.Literal)):
            return [[[symbol]]]
        parts: list[list[list[Symbol | Lookahead]]] = []
        between: list[rx.Regex] = []
        for regex in symbol.parts if isinstance(symbol, rx.Sequence) else (symbol,):
            begin = 0
            for name in self._names.finditer(regex.data) if isinstance(regex, rx.Literal) else ():
                between.append(rx.Literal(name.string[begin : name.start()]))
                parts += [_ways_of(rx.sequence(*between)), [[self._marks[name.group()]]]]
                between, begin = [], name.end()
            between.append(rx.Literal(regex.data[begin:]) if isinstance(regex, rx.Literal) else regex)
        return [*parts, _ways_of(rx.sequence(*between))] if parts else [[[symbol]]]


def _ways_of(regex: rx.Regex) -> list[list[Symbol | Lookahead]]:
    """Return the ways to write a regex: as a terminal, and as nothing where it has the empty text."""
    if regex == rx.EMPTY:
        return [[]]
    has_empty = not AutomatonStore().is_empty(rx.intersection(regex, rx.EMPTY))
    return [[regex], []] if has_empty else [[regex]]
