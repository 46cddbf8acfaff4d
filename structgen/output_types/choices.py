"""The texts of a choice, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from structgen.errors import GrammarError

__all__ = ["Chosen", "values_of"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The reader of a choice: maps texts to values."""

    values: dict[str, Any]

    def __call__(self, text: str) -> Any:
        """Return the value of a text."""
        if text not in self.values:
            raise ValueError(f"{text!r} is not one of the choices")
        return self.values[text]

    def text_of(self, value: Any) -> str:
        """Return a text whose value this is, or else the text itself."""
        is_text = isinstance(value, str) and value in self.values
        if is_text and self.values[value] == value:
            return str(value)
        for text, known in self.values.items():
            if type(known) is type(value) and known == value:  # True is not 1 here
                return text
        if is_text:
            return str(value)
        raise ValueError(f"{value!r} is not one of the choices, nor the value of one")


def values_of(options: Iterable[str] | Mapping[str, Any] | type[Enum]) -> dict[str, Any]:
    """Return the value of each text of a choice."""
    if isinstance(options, str):
        raise GrammarError("a choice takes a list of texts, not one text", hint=f"write [{options!r}]")
    pairs: list[tuple[Any, Any]]
    if isinstance(options, type) and issubclass(options, Enum):
        pairs = [(member.value, member) for member in options]
    else:
        pairs = list(options.items() if isinstance(options, Mapping) else [(text, text) for text in options])
    for text, _ in pairs:
        if not isinstance(text, str):
            raise GrammarError(f"{text!r} is not a string", hint="give a mapping from texts to values")
    return dict(pairs)
