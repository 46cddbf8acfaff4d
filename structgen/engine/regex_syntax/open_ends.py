r"""Patterns that are a part of a longer text: the texts that they match, and the characters that must not come next.

`resolve` (in `assertions`) takes the end of a pattern as the end of the text. In a longer text, an assertion near the
end may see the character after it:

    a(?!b)|c       "a", where the next character is no b; "c", whatever is next
    if\b           "if", where the next character is no word character
    (?=[a-z]*1)[a-z0-9]+;      the look-ahead never sees what follows the ";": it becomes part of the texts

How it works: the next character is of one of a few sets, such that no assertion tells two characters of a set apart.
For each set C, every assertion is rewritten so that the end of the pattern counts as a C: `(?!ab)` becomes
`(?!ab|a\Z)` for C = {b}. The rewritten pattern is resolved as usual, and the texts that it does not match must not be
followed by C. An assertion looks too far if the characters after the first one matter as well. To find that out, the
pattern is resolved twice: where all such assertions hold, and where none does.

Assumption: a lexer takes the longest match. A text that matches only if a C is next, as "if" in `(?!if\b)[a-z]\w*`, is
left out if the lexer always goes on with that C; otherwise the pattern is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import (
    ANY_CHAR,
    EMPTY,
    NOTHING,
    Chars,
    Choice,
    Literal,
    Regex,
    Repeat,
    Sequence,
    difference,
    intersection,
    repeat,
    sequence,
)
from structgen.engine.regex.unicode_classes import ANY, Ranges, difference_of, intersection_of, negation_of, union_of
from structgen.engine.regex_syntax.assertion_tree import (
    Asserting,
    Pattern,
    alternatives,
    assertion,
    join,
    look_ahead,
    repeated,
    single_character,
)
from structgen.engine.regex_syntax.assertions import resolve
from structgen.engine.regex_syntax.edges import edges, is_nullable

__all__ = ["LooksOutside", "OpenEnd", "open_ends"]

MAX_SETS = 64  # of next characters
_END = assertion("end")


class LooksOutside(Exception):
    """Raised where an assertion depends on text that a condition on the next character cannot express.

    Attributes:
        is_behind: whether it sees what precedes the pattern.
    """

    def __init__(self, *, is_behind: bool) -> None:
        super().__init__()
        self.is_behind = is_behind


class OpenEnd(NamedTuple):
    """An alternative of a pattern.

    Attributes:
        regex: its texts.
        refused: the characters that must not come next.
    """

    regex: Regex
    refused: Ranges


def open_ends(pattern: Pattern, *, is_lazy: bool = False) -> list[OpenEnd]:
    r"""Return the texts of a pattern inside a longer text.

    Args:
        pattern: the tree of the pattern.
        is_lazy: whether the lexer takes the shortest match.

    Raises:
        LooksOutside: the pattern has an anchor, sees what precedes it, needs a character after it, or sees more than
            one.
        GrammarError, CannotRepeat: see `resolve`.

    Example: `a(?!b)|c` has two alternatives, "c" with no condition and "a" with the refused character b.
    """
    if not isinstance(pattern, Asserting):
        return [OpenEnd(pattern, ())]
    for part in _parts(pattern):
        if part.kind in ("begin", "end", "end_or_newline"):
            raise LooksOutside(is_behind=part.kind == "begin")
    at_end = _resolved(pattern)
    found = [OpenEnd(at_end, ())]
    for characters in _next_characters(pattern):
        matched = _resolved(_before(pattern, characters, widens=True))
        if not _are_equal(matched, _resolved(_before(pattern, characters, widens=False))):
            raise LooksOutside(is_behind=False)
        _check_reads_on(difference(matched, at_end), characters, NOTHING if is_lazy else at_end)
        found = [part for end in found for part in _split(end, matched, characters)]
    return found


def _parts(pattern: Pattern) -> Iterator[Asserting]:
    stack = [pattern]
    while stack:
        part = stack.pop()
        if isinstance(part, Asserting):
            yield part
            stack.extend(part.parts)


def _resolved(pattern: Pattern) -> Regex:
    """Return the texts of a pattern, after a check that no look-behind sees what precedes them."""
    found = resolve(pattern, anchored=True)
    for part in _parts(pattern):
        if part.kind == "behind":
            for count in range(1, _width(part.parts[0]) + 1):
                before = repeat(ANY_CHAR, count, count)
                if not _are_equal(resolve(join(before, pattern), anchored=True), sequence(before, found)):
                    raise LooksOutside(is_behind=True)
    return found


def _width(body: Pattern) -> int:
    """Return the number of characters that a look-behind may see."""
    if isinstance(body, Asserting):
        counts = [_width(part) for part in body.parts]
        return max(counts, default=0) if body.kind == "choice" else sum(counts)
    return edges(body).longest or 0


def _are_equal(first: Regex, second: Regex) -> bool:
    return first == second or (_is_within(first, second) and _is_within(second, first))


def _is_within(first: Regex, second: Regex) -> bool:
    return AutomatonStore().is_empty(difference(first, second))


def _split(end: OpenEnd, matched: Regex, characters: Ranges) -> Iterator[OpenEnd]:
    """Split an alternative into the texts that some characters may follow, and those that they must not follow."""
    open_texts = difference(end.regex, matched)
    if AutomatonStore().is_empty(open_texts):
        yield end
        return
    within = intersection(end.regex, matched)
    if not AutomatonStore().is_empty(within):
        yield OpenEnd(within, end.refused)
    else:
        open_texts = end.regex
    yield OpenEnd(open_texts, union_of([*end.refused, *characters]))


def _check_reads_on(texts: Regex, characters: Ranges, at_end: Regex) -> None:
    """Check that texts that match only before some characters always go on with these, so that none ends there."""
    if not _is_within(sequence(texts, Chars(characters)), at_end):
        raise LooksOutside(is_behind=False)


def _next_characters(pattern: Asserting) -> list[Ranges]:
    """Return sets of characters such that no look-ahead of a pattern tells two characters of a set apart."""
    atoms: list[Ranges] = [ANY]
    for part in _parts(pattern):
        if part.kind == "look":
            for ranges in _sets(part.parts[0]):
                pieces = [[intersection_of(atom, ranges), difference_of(atom, ranges)] for atom in atoms]
                atoms = [piece for both in pieces for piece in both if piece]
                if len(atoms) > MAX_SETS:
                    raise LooksOutside(is_behind=False)
    return atoms


def _sets(body: Pattern) -> Iterator[Ranges]:
    """Yield the sets of characters in the body of a look-ahead."""
    stack: list[Pattern] = [body]
    while stack:
        match stack.pop():
            case Chars(ranges):
                yield ranges
            case Literal(data):
                yield from (((ord(character), ord(character)),) for character in dict.fromkeys(data.decode()))
            case Sequence(parts) | Choice(parts) | Asserting(parts=parts):
                stack.extend(parts)
            case Repeat(inner, _, _):
                stack.append(inner)
            case _:
                raise LooksOutside(is_behind=False)


def _before(part: Pattern, characters: Ranges, *, widens: bool) -> Pattern:
    """Return a pattern whose end counts as one of some characters, followed by any text.

    Args:
        part: the pattern.
        characters: the characters.
        widens: whether an assertion that depends on more than this character makes the pattern match, or not match.
    """
    if not isinstance(part, Asserting) or part.kind == "behind":
        return part
    if part.kind == "look":
        return _look_before(part, characters, widens)
    parts = [_before(inner, characters, widens=widens) for inner in part.parts]
    if part.kind == "repeat":
        found = repeated(parts[0], part.min, part.max)
        if isinstance(found, Asserting):
            found.begin = part.begin
        return found
    return alternatives(*parts) if part.kind == "choice" else join(*parts)


def _look_before(part: Asserting, characters: Ranges, widens: bool) -> Pattern:
    """Return a look-ahead as `_before` does."""
    one = single_character(part.parts[0])
    if one is not None:
        if not intersection_of(one.ranges, characters):
            return part
        if part.negative:
            return look_ahead(Chars(negation_of(one.ranges)), negative=False)
        return alternatives(part, _END)
    holds_more = widens != part.negative
    body = _before(part.parts[0], characters, widens=holds_more)
    cut = _cut(part.parts[0], characters, holds_more)
    return look_ahead(alternatives(body, join(cut, _END)), negative=part.negative)


def _cut(body: Pattern, characters: Ranges, widens: bool) -> Pattern:
    """Return the texts of a look-ahead's body before one of some characters: up to where the pattern ends.

    Args:
        body: the body.
        characters: the characters.
        widens: whether the body may go on after the character; if not, it must end with it.
    """
    match body:
        case Chars(ranges):
            return EMPTY if intersection_of(ranges, characters) else NOTHING
        case Literal(data):
            text = data.decode()
            at = [i for i in range(len(text)) if intersection_of(((ord(text[i]), ord(text[i])),), characters)]
            return alternatives(*[Literal(text[:i].encode()) for i in at if widens or i == len(text) - 1])
        case Choice(parts) | Asserting("choice", parts):
            return alternatives(*[_cut(part, characters, widens) for part in parts])
        case Sequence(parts) | Asserting("sequence", parts):
            found = []
            for number, part in enumerate(parts):
                before = [_before(earlier, characters, widens=widens) for earlier in parts[:number]]
                if widens or all(
                    not isinstance(later, Asserting) and is_nullable(later) for later in parts[number + 1 :]
                ):
                    found.append(join(*before, _cut(part, characters, widens)))
            return alternatives(*found)
        case Repeat(inner, least, most) | Asserting("repeat", (inner,), least, most):
            may_be_empty = widens or isinstance(inner, Asserting) or is_nullable(inner)
            rounds = repeated(
                _before(inner, characters, widens=widens),
                0 if may_be_empty else max(least - 1, 0),
                None if most is None else most - 1,
            )
            return join(rounds, _cut(inner, characters, widens))
        case Asserting():
            return NOTHING  # an assertion has no characters of its own
    raise LooksOutside(is_behind=False)
