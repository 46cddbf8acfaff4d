r"""Look-behind and word boundaries, resolved from the left into look-ahead and plain regexes.

A look-behind is a condition on the characters before it (`look_behind_conditions`). Here the condition moves to the
left, into the part before it, which keeps only those of its texts that end as required. Where these may be too short,
the rest of the condition moves on to the part before: `a?(?<=ba)` becomes `(?<=b)a` or `(?<=ba)` and nothing. At the
begin of the text no character precedes: a condition that arrives there fails, its negative holds.

    [a-z]+(?<=ab)c     the last two of [a-z]+ are "ab", or "b" is all of it and "a" precedes
                       -> ([a-z]+ & .*ab)c  |  (?<=a)([a-z]+ & b)c
    at the begin       -> ([a-z]+ & .*ab)c     as nothing precedes

Repeated parts whose rounds have conditions are resolved in `repeated_assertions`. A repeated part with a look-ahead
over more than one character stays as it is: no condition may stand right after it, or in it.
"""

from __future__ import annotations

from dataclasses import replace

from structgen.engine.regex.tree import (
    EMPTY,
    NOTHING,
    Chars,
    Regex,
    choice,
    difference,
    intersection,
    sequence,
)
from structgen.engine.regex.unicode_classes import intersection_of, negation_of
from structgen.engine.regex_syntax.assertion_tree import (
    Asserting,
    CannotRepeat,
    Pattern,
    alternatives,
    join,
    look_ahead,
)
from structgen.engine.regex_syntax.edges import ANY_TEXT, edges, ending_with, is_nullable
from structgen.engine.regex_syntax.look_behind_conditions import (
    ALWAYS,
    MAX_OPTIONS,
    Condition,
    Conditions,
    Options,
    add_option,
    behind_options,
    merged,
)
from structgen.engine.regex_syntax.repeated_assertions import repeated_options
from structgen.errors import GrammarError

__all__ = ["without_behind"]

MAX_STEPS = 20_000  # parts looked at while one pattern is resolved

Narrowed = list[tuple[Conditions, Pattern]]
"""Alternatives of a part after which a condition holds, each with the conditions left to the part before."""


def without_behind(pattern: Pattern) -> Pattern:
    """Return a pattern without look-behind that matches the same texts, from the begin of the text.

    Raises:
        GrammarError: the look-behinds are too many, or are in a place that is not supported; by name.
    """
    if not isinstance(pattern, Asserting):
        return pattern
    found = _Resolver().options(pattern)
    return alternatives(*[part for conditions, part in found.items() if all(c.negative for c in conditions)])


class _Resolver:
    """A run over a pattern; counts its steps."""

    def __init__(self) -> None:
        self._steps = 0

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise GrammarError("the look-behinds and word boundaries are too much work")

    def options(self, part: Pattern) -> Options:
        """Return the options of a part."""
        self._step()
        if not isinstance(part, Asserting) or not (part.has_behind or part.has_rounds):
            return {ALWAYS: part}
        if part.kind == "behind":
            return behind_options(part.parts[0], part.negative)
        if part.kind == "look":
            inner = self.options(part.parts[0])
            return _negative_look(inner) if part.negative else _positive_look(inner)
        if part.kind == "sequence":
            return self._sequence(part.parts)
        if part.kind == "choice":
            return merged(self.options(inner) for inner in part.parts)
        if part.max != 1 and part.has_look:
            if part.has_behind:
                raise _beside_look_ahead(part)
            return {ALWAYS: part}  # its look-ahead is resolved from the right, later
        inner = self.options(part.parts[0])
        if part.max == 1:
            return merged([inner, {ALWAYS: EMPTY}]) if part.min == 0 else inner
        try:
            return repeated_options(inner, part.min, part.max)
        except GrammarError as error:
            raise CannotRepeat(str(error), part) from None

    def _sequence(self, parts: tuple[Pattern, ...]) -> Options:
        """Return the options of a sequence: each part's conditions move to the parts before it."""
        found: Options = {ALWAYS: EMPTY}
        for part in parts:
            options = self.options(part)
            following: Options = {}
            for conditions, before in found.items():
                for required, after in options.items():
                    for left, narrowed in self._narrow_all(before, required):
                        add_option(following, conditions | left, join(narrowed, after))
            found = following
        return found

    def _narrow_all(self, part: Pattern, required: Conditions) -> Narrowed:
        """Return the alternatives of a part after which all conditions hold."""
        found: Narrowed = [(ALWAYS, part)]
        for condition in required:
            found = [
                (left | more, narrower)
                for left, narrowed in found
                for more, narrower in self._narrow(narrowed, condition)
            ]
        return found

    def _narrow(self, part: Pattern, condition: Condition) -> Narrowed:
        """Return the alternatives of a part after which one condition holds."""
        self._step()
        if not isinstance(part, Asserting):
            return _narrow_plain(part, condition)
        if part.kind == "choice":
            return [found for inner in part.parts for found in self._narrow(inner, condition)]
        if part.kind == "repeat":
            if part.max != 1:
                raise _beside_look_ahead(part)
            found = self._narrow(part.parts[0], condition)
            return [*found, (frozenset((condition,)), EMPTY)] if part.min == 0 else found
        if part.kind != "sequence":
            return [(frozenset((condition,)), part)]
        before = part.parts[:-1]
        found = []
        for left, last in self._narrow(part.parts[-1], condition):
            found += [(more, join(narrowed, last)) for more, narrowed in self._narrow_all(join(*before), left)]
        return found


def _beside_look_ahead(part: Asserting) -> CannotRepeat:
    """Return the error for a repeated group with a long look-ahead whose texts a condition would have to narrow."""
    return CannotRepeat(
        "a group with look-ahead cannot be repeated beside look-behind, word boundaries or one-character looks", part
    )


def _positive_look(inner: Options) -> Options:
    """Return the options of a look-ahead, from those of its body."""
    found: Options = {}
    for conditions, part in inner.items():
        add_option(found, conditions, look_ahead(part, negative=False))
    return found


def _negative_look(inner: Options) -> Options:
    """Return the options of a negative look-ahead, from those of its body.

    One option for each way in which the conditions may turn out; it refuses the options of the body that apply then.
    """
    conditions = list({replace(c, negative=False) for option in inner for c in option})
    if 2 ** len(conditions) > MAX_OPTIONS:
        raise GrammarError("too many look-behinds or word boundaries in one negative look-ahead")
    found: Options = {}
    for number in range(2 ** len(conditions)):
        true = frozenset(replace(c, negative=not number >> i & 1) for i, c in enumerate(conditions))
        refused = alternatives(*[part for option, part in inner.items() if option <= true])
        add_option(found, true, look_ahead(refused, negative=True))
    return found


def _narrow_plain(regex: Regex, condition: Condition) -> Narrowed:
    """Return the alternatives of a regex after which a condition holds."""
    if regex == EMPTY:
        return [(frozenset((condition,)), EMPTY)]
    if not condition.is_near():
        return _narrow_far(regex, condition)
    required = condition.near_characters()
    found = ending_with(regex, negation_of(required) if condition.negative else required)
    empty: Narrowed = [(frozenset((condition,)), EMPTY)] if is_nullable(regex) else []
    return [*([(ALWAYS, found)] if found != NOTHING else []), *empty]


def _narrow_far(regex: Regex, condition: Condition) -> Narrowed:
    """Return the same for a condition on several characters."""
    seen = edges(regex)
    texts = [Chars(ranges) for ranges in condition.characters]
    may_end_so = bool(intersection_of(seen.last, condition.characters[-1]))
    # The texts that are at least as long as the condition decide it; shorter ones leave its first characters open.
    decided = sequence(ANY_TEXT, *texts) if may_end_so else NOTHING
    found: Narrowed = []
    undecided: list[Regex] = []
    for length in range(len(texts)):
        is_out = length < seen.shortest or (seen.longest is not None and length > seen.longest)
        if is_out or not (may_end_so if length else is_nullable(regex)):
            continue
        ending = sequence(*texts[len(texts) - length :])
        undecided.append(ending)
        left = replace(condition, characters=condition.characters[: len(texts) - length])
        found.append((frozenset((left,)), _both(regex, ending) if length else EMPTY))
    if condition.negative:
        refused = choice(decided, *undecided)
        found.append((ALWAYS, regex if refused == NOTHING else difference(regex, refused)))
    elif decided != NOTHING and (seen.longest is None or seen.longest >= len(texts)):
        found.append((ALWAYS, _both(regex, decided)))
    return found


def _both(regex: Regex, within: Regex) -> Regex:
    """Return the intersection of two regexes."""
    return within if regex == ANY_TEXT else intersection(regex, within)
