"""Resolution of the anchors, look-ahead and look-behind of a pattern: the result is a plain regex.

An assertion depends on the text around it, so all are resolved at the top of the pattern, which is the whole text:

1. `^`, from the left. For each part there are two languages: P, its matches at the begin of the text, and Q, those at
   any other position, where `^` never holds. Then P(AB) = P(A)·Q(B) ∪ [A matches the empty text there]·P(B).
2. Look-behind and word boundaries, from the left (`look_behind`).
3. `$` and look-ahead, from the right. Let K be the language of everything that may follow a position up to the end of
   the text. (?=X) restricts K to the texts that begin with X, (?!X) to the others, and `$` to the empty text:

       ^(?!ab)[a-z]+$      ->      [a-z]+ minus ab.*        with K = [a-z]+
"""

from __future__ import annotations

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import (
    ANY_CHAR,
    EMPTY,
    NOTHING,
    Literal,
    Regex,
    choice,
    difference,
    intersection,
    plus,
    repeat,
    sequence,
    star,
)
from structgen.engine.regex.unicode_classes import Ranges, negation_of
from structgen.engine.regex_syntax.assertion_tree import (
    Asserting,
    CannotRepeat,
    Pattern,
    alternatives,
    join,
    look_ahead,
    repeated,
    single_character,
)
from structgen.engine.regex_syntax.edges import ANY_TEXT, beginning_with, is_nullable
from structgen.engine.regex_syntax.local_looks import without_local_looks
from structgen.engine.regex_syntax.look_behind import without_behind
from structgen.errors import GrammarError

__all__ = ["resolve"]

MAX_ROUNDS = 16  # of a repeated group that are written out


def resolve(pattern: Pattern, *, anchored: bool) -> Regex:
    """Return the regex of the texts that a pattern matches, as a whole or somewhere in them.

    Args:
        pattern: a pattern that is nested no deeper than Python's stack allows.
        anchored: whether the pattern must match the whole text.

    Raises:
        GrammarError: `^` in a negative look-ahead follows a part with assertions that may be empty, or the
            look-behinds are too many.
        CannotRepeat: a repeated group with assertions is not supported, for instance because its rounds are ambiguous.
    """
    if not isinstance(pattern, Asserting):
        return pattern if anchored else sequence(ANY_TEXT, pattern, ANY_TEXT)
    pattern = without_local_looks(pattern)
    whole = _at_begin(pattern if anchored else join(ANY_TEXT, pattern, ANY_TEXT))
    if isinstance(whole, Asserting) and whole.has_behind:
        whole = without_behind(whole)
    return _before(whole, EMPTY)


def _matches(regex: Regex, text: bytes) -> bool:
    """Return whether a regex matches a text."""
    store = AutomatonStore()
    return store.matches(store.add(regex), text)


def _has_begin(part: Pattern) -> bool:
    return isinstance(part, Asserting) and part.has_begin


def _empty_at_begin(part: Pattern) -> Pattern | None:
    """Return the assertions left where a part matches the empty text at the begin of the text; None if it cannot."""
    if not isinstance(part, Asserting):
        return EMPTY if is_nullable(part) else None
    if part.kind == "begin":
        return EMPTY
    if part.kind == "look":
        return _at_begin(part)
    if part.kind == "sequence":
        inner = [_empty_at_begin(p) for p in part.parts]
        return None if None in inner else join(*(p for p in inner if p is not None))
    if part.kind == "choice":
        found = [p for p in map(_empty_at_begin, part.parts) if p is not None]
        return alternatives(*found) if found else None
    if part.kind == "repeat":
        return EMPTY if part.min == 0 else _empty_at_begin(part.parts[0])
    return part


def _at_begin(part: Pattern) -> Pattern:
    """Return the language P of a part: its matches at the begin of the text, with `^` resolved."""
    if not isinstance(part, Asserting) or not part.has_begin:
        return part
    if part.kind == "begin":
        return EMPTY
    if part.kind == "look":
        return look_ahead(_at_begin(part.parts[0]), negative=part.negative)
    if part.kind == "choice":
        return alternatives(*[_at_begin(p) for p in part.parts])
    if part.kind == "sequence":
        return _sequence_at_begin(part.parts)
    body = part.parts[0]
    first, others = _at_begin(body), _past_begin(body)
    fewer = None if part.max is None else part.max - 1
    found = [join(first, repeated(others, max(part.min - 1, 0), fewer))]
    empty = _empty_at_begin(body)
    if empty is not None and part.min > 1:
        # Rounds that match nothing at the begin fill up the count.
        found.append(join(empty, first, repeated(others, 0, None if part.max is None else part.max - 2)))
    if part.min == 0:
        found.append(EMPTY)
    return alternatives(*found)


def _sequence_at_begin(parts: tuple[Pattern, ...]) -> Pattern:
    """Return P of a sequence: for each part, the parts before it empty, and those after it past the begin."""
    found: list[Pattern] = []
    asserted: Pattern = EMPTY
    for number, part in enumerate(parts):
        rest = parts[number + 1 :]
        first = _at_begin(part)
        if any(isinstance(p, Asserting) and p.has_refused_begin for p in rest):
            first = _not_empty(first)
        found.append(join(asserted, first, *map(_past_begin, rest)))
        if not any(map(_has_begin, rest)):
            break
        empty = _empty_at_begin(part)
        if empty is None:
            break
        asserted = join(asserted, empty)
    return alternatives(*found)


def _not_empty(part: Pattern) -> Pattern:
    """Return a part without the empty text."""
    if not isinstance(part, Asserting):
        return intersection(part, plus(ANY_CHAR)) if is_nullable(part) else part
    if _empty_at_begin(part) is None:
        return part
    if part.kind in ("look", "behind") or part.kind.startswith("end"):
        return NOTHING
    raise GrammarError("'^' in a negative look-ahead is not supported after a part with assertions of its own")


def _past_begin(part: Pattern) -> Pattern:
    """Return the language Q of a part: its matches after the begin of the text, where `^` never holds."""
    if not isinstance(part, Asserting) or not part.has_begin:
        return part
    if part.kind == "begin":
        return NOTHING
    inner = [_past_begin(p) for p in part.parts]
    if part.kind == "look":
        return look_ahead(inner[0], negative=part.negative)
    if part.kind == "choice":
        return alternatives(*inner)
    if part.kind == "sequence":
        return join(*inner)
    return repeated(inner[0], part.min, part.max)


def _before(part: Pattern, rest: Regex) -> Regex:
    """Return a part followed by `rest`, the language of everything up to the end of the text."""
    if not isinstance(part, Asserting):
        return sequence(part, rest)
    if part.kind == "end":
        return EMPTY if is_nullable(rest) else NOTHING
    if part.kind == "end_or_newline":
        return choice(*[Literal(text) for text in (b"", b"\n") if _matches(rest, text)])
    if part.kind == "look":
        character = single_character(part.parts[0])
        if character is not None:
            return _before_character(character.ranges, part.negative, rest)
        seen = _before(part.parts[0], ANY_TEXT)
        return difference(rest, seen) if part.negative else intersection(rest, seen)
    if part.kind == "sequence":
        for inner in reversed(part.parts):
            rest = _before(inner, rest)
        return rest
    if part.kind == "choice":
        return choice(*[_before(inner, rest) for inner in part.parts])
    body = part.parts[0]
    if part.max == 1:
        return choice(_before(body, rest), *([rest] if part.min == 0 else []))
    if part.has_look:
        return _rounds_before(part, rest)
    others = _past_end(body)
    fewer = None if part.max is None else part.max - 1
    found = [sequence(repeat(others, max(part.min - 1, 0), fewer), _before(body, rest))]
    empty = _empty_at_begin(body)
    if empty is not None and part.min > 1:
        last = _before(body, _before(empty, rest))
        found.append(sequence(repeat(others, 0, None if part.max is None else part.max - 2), last))
    if part.min == 0:
        found.append(rest)
    return choice(*found)


def _rounds_before(part: Asserting, rest: Regex) -> Regex:
    r"""Return a repeated group with a long look-ahead, such as `((?!foo).)*`, followed by `rest`.

    Let B be the texts of a round, its look-ahead ignored, and let every text of B*·`rest` divide into rounds in one way
    only. Then the result is B*·`rest` without the texts in which some round fails its look-ahead:
    B*·(B·B*·`rest` - body·B*·`rest`).

    Raises:
        CannotRepeat: a text may divide into rounds in several ways.
    """
    body = part.parts[0]
    plain = _without_looks(body)
    if is_nullable(plain):
        raise CannotRepeat("a group with look-ahead cannot be repeated if it may be empty", part)
    store = AutomatonStore()
    if part.min <= MAX_ROUNDS and store.is_empty(difference(sequence(plain, rest), rest)):
        for _ in range(part.min):  # more rounds match nothing that fewer do not
            rest = _before(body, rest)
        return rest
    after = sequence(star(plain), rest)
    one = sequence(plain, after)
    for shorter, longer in ((plain, sequence(plain, plus(ANY_CHAR))), (rest, one)):
        if not store.is_empty(intersection(shorter, longer)):
            raise CannotRepeat(
                "a group with look-ahead cannot be repeated where a text may fall into its rounds in several ways", part
            )
    refused = difference(one, _before(body, after))
    return difference(sequence(repeat(plain, part.min, part.max), rest), sequence(star(plain), refused))


def _without_looks(part: Pattern) -> Regex:
    """Return a part with its look-ahead and anchors ignored."""
    if not isinstance(part, Asserting):
        return part
    if part.kind in ("choice", "sequence", "repeat"):
        inner = [_without_looks(p) for p in part.parts]
        if part.kind == "repeat":
            return repeat(inner[0], part.min, part.max)
        return choice(*inner) if part.kind == "choice" else sequence(*inner)
    return EMPTY


def _before_character(ranges: Ranges, negative: bool, rest: Regex) -> Regex:
    """Return `rest` restricted by its first character; mostly without an intersection."""
    if not negative:
        return beginning_with(rest, ranges)
    found = beginning_with(rest, negation_of(ranges))
    return choice(EMPTY, found) if is_nullable(rest) else found


def _past_end(part: Pattern) -> Regex:
    """Return the matches of a part without look-ahead where more text follows, so that `$` never holds."""
    if not isinstance(part, Asserting):
        return part
    if part.kind == "end":
        return NOTHING
    inner = [_past_end(p) for p in part.parts]
    if part.kind == "choice":
        return choice(*inner)
    if part.kind == "sequence":
        return sequence(*inner)
    return repeat(inner[0], part.min, part.max)
