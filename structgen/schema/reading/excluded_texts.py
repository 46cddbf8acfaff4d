"""Terminals without some excluded texts.

In the format of Kimi K3, for example, no string of the arguments may hold `<|close|>`. In JSON, only what stands
between quotes counts: without "a", the string "cab" is left out, and `false` and `{"b": 1}` stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.limits import Limits

__all__ = ["WithoutTexts"]

_QUOTE = rx.Literal(b'"')
_NO_QUOTE = rx.ByteSet(((1 << 256) - 1) & ~(1 << ord('"')))
_SIGNS = rx.ByteSet(sum(1 << byte for byte in b"-+.0123456789eE[]{},: \t\n\r"))
_SYNTAX = rx.star(rx.choice(_SIGNS, rx.literal_set([b"true", b"false", b"null"])))
_JSON = rx.choice(rx.sequence(_QUOTE, rx.ANY_BYTES), _SYNTAX)
"""The terminals of JSON begin with a quote, or are numbers, words, punctuation and white space."""


class WithoutTexts:
    """Narrows a terminal to the texts that hold none of the excluded texts.

    Args:
        excludes: the excluded texts.
        limits: bounds on automata.
        narrowed: another narrowing, applied before this one.
        is_json: the terminals are JSON. Then only the characters between the quotes of a string count.

    Attributes:
        of_strings: narrows strings in their JSON form, as far as the notation writes the excluded texts as JSON does;
            None if it may not.
    """

    def __init__(
        self,
        excludes: Sequence[str],
        limits: Limits,
        narrowed: Callable[[rx.Regex], rx.Regex] | None,
        *,
        is_json: bool = False,
    ) -> None:
        found = rx.literal_set([text.encode() for text in excludes])
        self._holding = rx.sequence(rx.ANY_BYTES, found, rx.ANY_BYTES)
        self._quoted = rx.sequence(_QUOTE, self._holding, _QUOTE, rx.star(_NO_QUOTE))
        self.of_strings: WithoutTexts | None = None
        if is_json:
            self.of_strings = self
        elif not any(sign in '"\\' or sign < " " for text in excludes for sign in text):
            self.of_strings = WithoutTexts(excludes, limits, narrowed, is_json=True)
        self._is_json = is_json
        self._limits = limits
        self._narrowed = narrowed
        # By identity of the regex. The pair keeps the regex alive, so that no other object gets its identity.
        self._known: dict[int, tuple[rx.Regex, rx.Regex]] = {}

    def __call__(self, regex: rx.Regex) -> rx.Regex:
        """Return a terminal without the excluded texts; the same object if it has none."""
        known = self._known.get(id(regex))
        if known is None:
            left = regex if self._narrowed is None else self._narrowed(regex)
            known = self._known[id(regex)] = (regex, self._without(left))
        return known[1]

    def _without(self, regex: rx.Regex) -> rx.Regex:
        store = AutomatonStore(self._limits)
        holding = self._holding
        if store.is_empty(rx.intersection(regex, holding)):
            return regex
        if self._is_json and store.is_empty(rx.difference(regex, _JSON)):
            holding = self._quoted
            if store.is_empty(rx.intersection(regex, holding)):
                return regex
        return rx.difference(regex, holding)
