"""The base class of rules of strings whose text has a grammar: a text of a KBNF grammar, or JSON again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structgen.engine.grammar.tables import Refusals
from structgen.engine.regex.tree import Regex
from structgen.schema.algebra import Inexpressible
from structgen.schema.json_text.strings import escaped
from structgen.schema.json_text.values import Value

__all__ = ["StringRules"]


class StringRules:
    """Rules of strings that capture nothing, and whose terminals are spelled in JSON; see `SetRules`.

    Args:
        number: of these rules, in the keys of their nonterminals.
        keyword: the keyword of the schema, for errors.
    """

    def __init__(self, number: int, keyword: str) -> None:
        self._number = number
        self._keyword = keyword
        self._spelled: dict[int, tuple[Regex, Regex]] = {}

    def _spell(self, regex: Regex) -> Regex:
        """Return the spellings of a terminal's texts.

        Raises:
            Inexpressible: they have none.
        """
        known = self._spelled.get(id(regex))
        if known is None:
            known = self._spelled[id(regex)] = (regex, self._escaped(regex))
        return known[1]

    def _escaped(self, regex: Regex, *, every: bool = False) -> Regex:
        try:
            return escaped(regex, every=every)
        except (ValueError, UnicodeDecodeError) as error:
            raise Inexpressible(self._keyword, "a part of it has no spelling in a string") from error

    def start(self, avoid: frozenset[Value]) -> bool:
        """Return the state of all strings. See `SetRules.start`."""
        return True

    def is_alive(self, state: bool) -> bool:
        """Return whether there is a string. See `SetRules.is_alive`."""
        return True

    def least_bytes(self, kind: str, state: Any) -> int:
        """Return a lower bound of the bytes of a kind of nonterminal. See `SetRules.least_bytes`."""
        return 1

    def ladder(self, state: Any) -> None:
        """Return None: there are no pairs. See `SetRules.ladder`."""

    def forget(self) -> None:
        """Drop nothing: nothing is computed for written texts."""

    def after(self, then: Hashable, text: bytes | None) -> tuple[str | int, Any] | None:
        """Not called: there are no captured texts."""
        raise AssertionError("rules of strings capture nothing")

    def refusals(self, then: Hashable, begun: bytes) -> Refusals:
        """Not called: there are no captured texts."""
        raise AssertionError("rules of strings capture nothing")

    def remaining(self, then: Hashable, least: int) -> Regex:
        """Not called: there are no captured texts."""
        raise AssertionError("rules of strings capture nothing")
