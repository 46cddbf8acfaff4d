"""What look-behind asks of the text before a place, and tables of what a part matches where that holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from structgen.engine.regex.tree import EMPTY, NOTHING, Chars, Choice, Literal, Regex, Repeat, Sequence, sequence
from structgen.engine.regex.unicode_classes import Ranges, union_of
from structgen.engine.regex_syntax.assertion_tree import Asserting, Pattern, alternatives, join
from structgen.engine.regex_syntax.edges import ANY_TEXT, is_nullable
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
]

MAX_TEXTS = 64  # alternatives of a look-behind
LONGEST_TEXT = 64  # characters that a look-behind looks at
MAX_OPTIONS = 64
MAX_NODES = 10_000  # of a pattern


@dataclass(frozen=True, slots=True)
class Condition:
    """What must precede a place.

    Attributes:
        characters: the sets of the characters before it, the nearest last.
        anchored: the text begins before the first of these.
        negative: the same must not hold.
        prefix: in place of `characters`: all of the text before matches it.
    """

    characters: tuple[Ranges, ...] = ()
    anchored: bool = False
    negative: bool = False
    prefix: Regex | None = None

    def at_begin(self) -> bool:
        """Whether it holds at the begin of the text."""
        if self.prefix is not None:
            return is_nullable(self.prefix) != self.negative
        return (not self.characters) != self.negative

    def is_near(self) -> bool:
        """Whether it asks for no more than the character before, or that there is one."""
        return self.prefix is None and len(self.characters) + self.anchored == 1

    def near_characters(self) -> Ranges:
        """Of a near condition: those that may precede (negative: that must not)."""
        return self.characters[0] if self.characters else ()

    def holds_after(self, character: int) -> bool:
        """Whether a near condition holds after a character."""
        return any(low <= character <= high for low, high in self.near_characters()) != self.negative


Conditions = frozenset[Condition]
Options = dict[Conditions, Pattern]
ALWAYS: Conditions = frozenset()


def add_option(table: Options, asked: Conditions, part: Pattern) -> None:
    """Puts an alternative into a table, unless its conditions exclude each other."""
    if any(replace(c, negative=False) in asked for c in asked if c.negative):
        return
    if not isinstance(part, Asserting) and part == NOTHING:
        return
    found = alternatives(table[asked], part) if asked in table else part
    table[asked] = found
    if len(table) > MAX_OPTIONS or (isinstance(found, Asserting) and found.size > MAX_NODES):
        raise GrammarError("regex: too many look-behinds or word boundaries depend on one another")


def merged(tables: Iterable[Options]) -> Options:
    """The options of any of some parts."""
    found: Options = {}
    for table in tables:
        for asked, part in table.items():
            add_option(found, asked, part)
    return found


def behind_options(body: Pattern, negative: bool) -> Options:
    """The options of a look-behind: nothing, where its conditions hold."""
    conditions = conditions_of_body(body)
    if any(c.prefix is None and not c.characters and not c.anchored for c in conditions):  # the empty text
        return {} if negative else {ALWAYS: EMPTY}
    if negative:
        return {frozenset(replace(c, negative=True) for c in conditions): EMPTY}
    found: Options = {}
    for condition in conditions:
        add_option(found, frozenset((condition,)), EMPTY)
    return found


def conditions_of_body(body: Pattern) -> list[Condition]:
    """What a look-behind's body asks for: any of these."""
    if isinstance(body, Asserting):
        if body.kind == "choice":
            return _joined([c for inner in body.parts for c in conditions_of_body(inner)])
        parts = body.parts if body.kind == "sequence" else (body,)
        first = parts[0]
        if not (isinstance(first, Asserting) and first.kind == "begin"):
            raise GrammarError("an assertion in look-behind, other than '^' at its begin, is not supported")
        rest = join(*parts[1:])
        while isinstance(rest, Asserting) and rest.kind == "begin":
            rest = EMPTY
        if isinstance(rest, Asserting):
            raise GrammarError("an assertion in look-behind, other than '^' at its begin, is not supported")
        return _conditions_of(rest, anchored=True)
    return _conditions_of(body, anchored=False)


def _conditions_of(regex: Regex, *, anchored: bool) -> list[Condition]:
    """What must precede, for a body without assertions."""
    texts = _texts(regex, leading=not anchored)
    if texts is None:
        return [Condition(prefix=regex if anchored else sequence(ANY_TEXT, regex))]
    return _joined([Condition(text, anchored) for text in texts])


def _joined(conditions: list[Condition]) -> list[Condition]:
    """Conditions on one character become one."""
    near = [c for c in conditions if c.is_near() and c.characters]
    others = [c for c in conditions if c not in near]
    if not near:
        return list(dict.fromkeys(others))
    return [Condition((union_of(r for c in near for r in c.near_characters()),)), *dict.fromkeys(others)]


def _texts(regex: Regex, *, leading: bool) -> list[tuple[Ranges, ...]] | None:
    """All texts of a regex as sequences of sets; None if these are too many, or too long.

    A repetition that leads, where anything may come before it, asks for its smallest count only.
    """
    found: list[tuple[Ranges, ...]]
    match regex:
        case Literal(data):
            found = [tuple(((ord(c), ord(c)),) for c in data.decode())]
        case Chars(ranges):
            found = [(ranges,)] if ranges else []
        case Choice(parts):
            found = []
            for part in parts:
                inner = _texts(part, leading=leading)
                if inner is None:
                    return None
                found += inner
        case Sequence(parts):
            return _texts_of_sequence(parts, leading)
        case Repeat(body, low, high):
            if leading:
                high = low
            if high is None or high > LONGEST_TEXT:
                return None
            found = []
            for count in range(low, high + 1):
                inner = _texts_of_sequence((body,) * count, False)
                if inner is None:
                    return None
                found += inner
        case _:
            return None
    return found if len(found) <= MAX_TEXTS and all(len(t) <= LONGEST_TEXT for t in found) else None


def _texts_of_sequence(parts: tuple[Regex, ...], leading: bool) -> list[tuple[Ranges, ...]] | None:
    """The same for one part after the other."""
    found: list[tuple[Ranges, ...]] = [()]
    for number, part in enumerate(parts):
        inner = _texts(part, leading=leading and number == 0)
        if inner is None:
            return None
        found = [(*before, *after) for before in found for after in inner]
        if len(found) > MAX_TEXTS or any(len(text) > LONGEST_TEXT for text in found):
            return None
    return found
