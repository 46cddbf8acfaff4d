r"""Look-behind resolved from the left: a pattern as alternatives, each with what must precede it.

A look-behind after a part is a condition on the end of that part's texts. Where these may be too short for it, what is
left of the condition goes on to the part before: `a?(?<=ba)` is `(?<=b)a`, or `(?<=ba)` and nothing. At the begin of
the text nothing is left to ask. So (?<=X) becomes an intersection with all texts that end with X.

*Options* of a part are a table: from sets of conditions to what the part matches where they hold.
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
from structgen.engine.regex_syntax.assertion_tree import Asserting, Pattern, alternatives, join, look_ahead, repeated
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
from structgen.engine.regex_syntax.repeated_assertions import rounds
from structgen.errors import GrammarError

__all__ = ["without_behind"]

MAX_COPIES = 6  # of a repeated group with assertions at its edges
MAX_STEPS = 20_000


def without_behind(pattern: Pattern) -> Pattern:
    """A pattern without look-behind that matches the same, from the begin of the text.

    Raises:
        GrammarError: a look-behind that no automaton of reasonable size does, by name.
    """
    if not isinstance(pattern, Asserting):
        return pattern
    found = _Resolver().options(pattern, at_begin=True)
    return alternatives(*[part for asked, part in found.items() if all(c.at_begin() for c in asked)])


def _is_short(part: Pattern) -> bool:
    """Whether a part matches the empty text only."""
    if not isinstance(part, Asserting):
        return part == EMPTY
    return part.kind not in ("sequence", "choice", "repeat") or all(map(_is_short, part.parts))


class _Resolver:
    """One run over a pattern; counts its steps."""

    def __init__(self) -> None:
        self._steps = 0

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise GrammarError("regex: the look-behinds and word boundaries are too much work")

    def options(self, part: Pattern, *, at_begin: bool) -> Options:
        """The options of a part; `at_begin`: it begins where the text does."""
        self._step()
        if not isinstance(part, Asserting) or not (part.has_behind or part.has_rounds):
            return {ALWAYS: part}
        if part.kind == "behind":
            return behind_options(part.parts[0], part.negative)
        if part.kind == "look":
            inner = self.options(part.parts[0], at_begin=at_begin)
            return _looked(inner) if not part.negative else _refused(inner)
        if part.kind == "sequence":
            return self._sequence(part.parts, at_begin)
        if part.kind == "choice":
            return merged(self.options(inner, at_begin=at_begin) for inner in part.parts)
        return self._repeat(part, at_begin)

    def _sequence(self, parts: tuple[Pattern, ...], at_begin: bool) -> Options:
        """Of one part after the other: what a part asks is asked of those before."""
        found: Options = {ALWAYS: EMPTY}
        for number, part in enumerate(parts):
            here = at_begin and all(map(_is_short, parts[:number]))
            options = self.options(part, at_begin=here)
            following: Options = {}
            for asked, before in found.items():
                for wanted, after in options.items():
                    for left, narrowed in self._asked_of(before, wanted, at_begin):
                        add_option(following, asked | left, join(narrowed, after))
            found = following
        return found

    def _asked_of(self, part: Pattern, wanted: Conditions, at_begin: bool) -> list[tuple[Conditions, Pattern]]:
        """A part whose texts satisfy conditions, with what they leave to ask."""
        found: list[tuple[Conditions, Pattern]] = [(ALWAYS, part)]
        for condition in wanted:
            found = [
                (left | more, narrower)
                for left, narrowed in found
                for more, narrower in self._narrow(narrowed, condition, at_begin)
            ]
        return found

    def _narrow(self, part: Pattern, condition: Condition, at_begin: bool) -> list[tuple[Conditions, Pattern]]:
        """A part after which one condition holds; with each alternative what is left to ask, one condition or none."""
        self._step()
        if not isinstance(part, Asserting):
            return _narrow_plain(part, condition, at_begin)
        if part.kind == "choice":
            return [found for inner in part.parts for found in self._narrow(inner, condition, at_begin)]
        if part.kind == "repeat":
            if part.max != 1:
                raise GrammarError("regex: look-behind or a word boundary after a repeated group with assertions")
            found = self._narrow(part.parts[0], condition, at_begin)
            return [*found, (frozenset((condition,)), EMPTY)] if part.min == 0 else found
        if part.kind != "sequence":
            return [(frozenset((condition,)), part)]
        before = part.parts[:-1]
        found = []
        for left, last in self._narrow(part.parts[-1], condition, at_begin and all(map(_is_short, before))):
            earlier = self._asked_of(join(*before), left, at_begin)
            found += [(more, join(narrowed, last)) for more, narrowed in earlier]
        return found

    def _repeat(self, part: Asserting, at_begin: bool) -> Options:
        """Of a repeated part."""
        body, low, high = part.parts[0], part.min, part.max
        if high == 1:
            once = self.options(body, at_begin=at_begin)
            return merged([once, {ALWAYS: EMPTY}]) if low == 0 else once
        inner = self.options(body, at_begin=False)
        found = rounds(inner, low, high)
        if found is not None:
            return found
        if max(low, high or 0) > MAX_COPIES:
            raise GrammarError(
                f"regex: a group with assertions at its edges cannot be repeated more than {MAX_COPIES} times here"
            )
        rest: Pattern = EMPTY
        if high is None:
            rest = repeated(body, 0, None)
        else:
            for _ in range(high - low):
                rest = repeated(join(body, rest), 0, 1)
        return self.options(join(*[body] * low, rest), at_begin=at_begin)


def _looked(inner: Options) -> Options:
    """Of a look-ahead."""
    found: Options = {}
    for asked, part in inner.items():
        add_option(found, asked, look_ahead(part, negative=False))
    return found


def _refused(inner: Options) -> Options:
    """Of a negative look-ahead: for each way its conditions may turn out, it refuses what these let through."""
    conditions = list({replace(c, negative=False) for asked in inner for c in asked})
    if 2 ** len(conditions) > MAX_OPTIONS:
        raise GrammarError("regex: too many look-behinds or word boundaries in one negative look-ahead")
    found: Options = {}
    for number in range(2 ** len(conditions)):
        true = frozenset(replace(c, negative=not number >> i & 1) for i, c in enumerate(conditions))
        refused = alternatives(*[part for asked, part in inner.items() if asked <= true])
        add_option(found, true, look_ahead(refused, negative=True))
    return found


def _narrow_plain(regex: Regex, condition: Condition, at_begin: bool) -> list[tuple[Conditions, Pattern]]:
    """A regex after whose texts a condition holds."""
    if regex == EMPTY:
        return [(frozenset((condition,)), EMPTY)]
    if condition.prefix is not None:
        if not at_begin:
            raise GrammarError("regex: look-behind of unbounded length is supported only after plain text")
        combine = difference if condition.negative else intersection
        return [(ALWAYS, combine(regex, condition.prefix))]
    if condition.is_near() and condition.characters:
        wanted = condition.near_characters()
        found = ending_with(regex, negation_of(wanted) if condition.negative else wanted)
        empty = [(frozenset((condition,)), EMPTY)] if is_nullable(regex) else []
        return [*([(ALWAYS, found)] if found != NOTHING else []), *empty]
    return _narrow_far(regex, condition)


def _narrow_far(regex: Regex, condition: Condition) -> list[tuple[Conditions, Pattern]]:
    """The same, for a condition on several characters, or on the begin of the text."""
    seen = edges(regex)
    texts = [Chars(ranges) for ranges in condition.characters]
    may_end_so = bool(texts) and bool(intersection_of(seen.last, condition.characters[-1]))
    # CapturedTexts that are as long as what is asked, or longer; shorter ones leave something to ask.
    decided = NOTHING if condition.anchored or not may_end_so else sequence(ANY_TEXT, *texts)
    found: list[tuple[Conditions, Pattern]] = []
    undecided: list[Regex] = []
    for length in range(len(texts) + condition.anchored):
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
    """What a regex and another match."""
    return within if regex == ANY_TEXT else intersection(regex, within)
