r"""Conditions on the characters before a position: the form in which look-behind is resolved.

`(?<=ab|c)` holds where one of two conditions does: the two characters before are `a`, `b`, or the one before is `c`.
A condition is a short sequence of sets of characters, so a look-behind's body must be a finite list of short texts
without assertions. Bodies of unbounded length (`(?<=a*)`) and bodies with `^`, `$`, `\b` or another look-around are
refused by name.

`Options` are a table of a part of a pattern: from a set of conditions to the texts that the part matches where all of
them hold. `\b` before `a` has one entry, {the character before is not of a word}: `a`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from structgen.engine.regex.tree import EMPTY, NOTHING, Chars, Choice, Literal, Regex, Repeat, Sequence
from structgen.engine.regex.unicode_classes import Ranges, union_of
from structgen.engine.regex_syntax.assertion_tree import Asserting, Pattern, alternatives
from structgen.errors import GrammarError

__all__ = [
    "ALWAYS",
    "MAX_OPTIONS",
    "Condition",
    "Conditions",
    "Options",
    "add_option",
    "behind_options",
    "conditions_of_body",
    "merged",
    "texts_of_sets",
]

MAX_TEXTS = 64  # alternatives of one look-behind
MAX_TEXT_CHARACTERS = 64  # of one alternative
MAX_OPTIONS = 64
MAX_NODES = 10_000  # of the pattern of one option


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the characters right before a position.

    Attributes:
        characters: for each character before the position the set that it must be in, the nearest last; at least one.
        negative: the opposite is required, so that it also holds where fewer characters precede.
    """

    characters: tuple[Ranges, ...]
    negative: bool = False

    def is_near(self) -> bool:
        """Return whether the condition looks at one character only."""
        return len(self.characters) == 1

    def near_characters(self) -> Ranges:
        """Return the set of a near condition; for a negative one these are the characters that must not precede."""
        return self.characters[0]

    def holds_after(self, character: int) -> bool:
        """Return whether a near condition holds after a character."""
        return any(low <= character <= high for low, high in self.near_characters()) != self.negative


Conditions = frozenset[Condition]
Options = dict[Conditions, Pattern]
ALWAYS: Conditions = frozenset()


def add_option(table: Options, conditions: Conditions, part: Pattern) -> None:
    """Add one more alternative to a table.

    Raises:
        GrammarError: the table gets too large.
    """
    if any(replace(c, negative=not c.negative) in conditions for c in conditions):
        return  # a condition and its opposite: the option never applies
    if part == NOTHING:
        return
    found = alternatives(table[conditions], part) if conditions in table else part
    table[conditions] = found
    if len(table) > MAX_OPTIONS or (isinstance(found, Asserting) and found.size > MAX_NODES):
        raise GrammarError("too many look-behinds or word boundaries depend on one another")


def merged(tables: Iterable[Options]) -> Options:
    """Return the options of a choice between parts."""
    found: Options = {}
    for table in tables:
        for conditions, part in table.items():
            add_option(found, conditions, part)
    return found


def behind_options(body: Pattern, negative: bool) -> Options:
    """Return the options of a look-behind: the empty text, where its conditions hold."""
    conditions = conditions_of_body(body)
    if conditions is None:
        return {} if negative else {ALWAYS: EMPTY}
    if negative:
        return {frozenset(replace(c, negative=True) for c in conditions): EMPTY}
    found: Options = {}
    for condition in conditions:
        add_option(found, frozenset((condition,)), EMPTY)
    return found


def conditions_of_body(body: Pattern) -> list[Condition] | None:
    """Return the conditions of a look-behind's body, one of which must hold.

    Returns:
        The conditions, or None where the body matches the empty text and so holds everywhere.

    Raises:
        GrammarError: the body holds an assertion, or its texts are too many, too long or unbounded.
    """
    if isinstance(body, Asserting):
        raise GrammarError("an assertion in look-behind is not supported")
    texts = texts_of_sets(body)
    if texts is None:
        raise GrammarError(
            f"look-behind is supported for at most {MAX_TEXTS} texts of at most {MAX_TEXT_CHARACTERS} characters"
        )
    if () in texts:
        return None
    near = [text[0] for text in texts if len(text) == 1]
    far = dict.fromkeys(Condition(text) for text in texts if len(text) > 1)
    return [*([Condition((union_of(r for ranges in near for r in ranges),))] if near else []), *far]


def texts_of_sets(regex: Regex) -> list[tuple[Ranges, ...]] | None:
    """Return all texts of a regex as sequences of sets; None if they are too many, too long or unbounded."""
    found: list[tuple[Ranges, ...]]
    match regex:
        case Literal(data):
            found = [tuple(((ord(c), ord(c)),) for c in data.decode())]
        case Chars(ranges):
            found = [(ranges,)] if ranges else []
        case Choice(parts):
            found = []
            for part in parts:
                inner = texts_of_sets(part)
                if inner is None:
                    return None
                found += inner
        case Sequence(parts):
            return _texts_of_sequence(parts)
        case Repeat(body, low, high):
            if high is None or high > MAX_TEXT_CHARACTERS:
                return None
            found = []
            for count in range(low, high + 1):
                inner = _texts_of_sequence((body,) * count)
                if inner is None:
                    return None
                found += inner
        case _:
            return None
    return found if len(found) <= MAX_TEXTS and all(len(t) <= MAX_TEXT_CHARACTERS for t in found) else None


def _texts_of_sequence(parts: tuple[Regex, ...]) -> list[tuple[Ranges, ...]] | None:
    """Return all texts of a sequence, as `texts_of_sets` does."""
    found: list[tuple[Ranges, ...]] = [()]
    for part in parts:
        inner = texts_of_sets(part)
        if inner is None:
            return None
        found = [(*before, *after) for before in found for after in inner]
        if len(found) > MAX_TEXTS or any(len(text) > MAX_TEXT_CHARACTERS for text in found):
            return None
    return found
