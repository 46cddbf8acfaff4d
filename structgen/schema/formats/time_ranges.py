"""Regexes of times, points in time and durations between two bounds.

All numbers are whole seconds: since midnight, since the day before 0001-01-01 (`datetime.date.toordinal` counts from
it), or of a duration. A text may have a fraction of a second if the next whole second is in the range too.

Texts are compared as tuples of their parts. The times from 09:58:30 to 11:00:10 are

    09 : 58 : 30…59          the edge of the lower bound
    09 : 59 : any
    10 : any : any           the hours in between
    11 : 00 : 00…10          the edge of the upper bound

A duration has its parts in the same order, each in its usual range: 90 minutes are `PT1H30M`. Parts that are 0 may be
left out.
"""

from __future__ import annotations

from datetime import date

from structgen.engine.regex.tree import (
    EMPTY,
    NOTHING,
    Literal,
    Regex,
    Repeat,
    choice,
    optional,
    sequence,
)
from structgen.schema.formats.dates import MAX_SECOND_DIGITS, date_range
from structgen.schema.formats.parts import COLON, DIGIT, DOT, MINUS, two
from structgen.schema.json_text.numbers import integer_range

__all__ = ["DAY", "MAX_DURATION", "datetime_range", "time_range", "timedelta_range"]

DAY = 86_400  # seconds
MAX_DURATION = 10**8 * DAY - 1  # seconds of a duration; a timedelta holds ten times as many
_MAX_MOMENT = (date.max.toordinal() + 1) * DAY - 1
_MIN_MOMENT = date.min.toordinal() * DAY
_FRACTION = sequence(DOT, Repeat(DIGIT, 1, MAX_SECOND_DIGITS))
_CLOCK_TOPS = (23, 59, 59)
_LETTERS = "DHMS"
_TOPS = (MAX_DURATION // DAY, 23, 59, 59)

_Parts = tuple[int, ...]


def time_range(low: int, high: int, end: bytes) -> Regex:
    """Return the times of day between two numbers of seconds, both included.

    Args:
        low: at least 0.
        high: less than a day.
        end: what follows each time: `Z`, or nothing.
    """
    whole, cut = _clock(_time_parts(low), _time_parts(high)), NOTHING
    if low < high:
        cut = sequence(_clock(_time_parts(low), _time_parts(high - 1)), _FRACTION)
    return sequence(choice(whole, cut), Literal(end))


def _time_parts(seconds: int) -> _Parts:
    return seconds // 3600, seconds // 60 % 60, seconds % 60


def _clock(low: _Parts, high: _Parts) -> Regex:
    """Return `HH:MM:SS`, or its last parts, between two."""
    return _joined(
        [
            sequence(two(first, last), COLON, _clock(*rest)) if rest[0] else two(first, last)
            for first, last, rest in _spans(low, high, _CLOCK_TOPS[len(_CLOCK_TOPS) - len(low) :])
        ]
    )


def _joined(parts: list[Regex]) -> Regex:
    return choice(*parts) if parts else NOTHING


def _spans(low: _Parts, high: _Parts, tops: _Parts) -> list[tuple[int, int, tuple[_Parts, _Parts]]]:
    """Divide a range of tuples by the first part: its first and last value, and the range of the other parts."""
    if low > high:
        return []
    least, most = (0,) * (len(low) - 1), tops[1:]
    if low[0] == high[0]:
        return [(low[0], low[0], (low[1:], high[1:]))]
    spans = [(low[0], low[0], (low[1:], most)), (high[0], high[0], (least, high[1:]))]
    if high[0] - low[0] > 1:
        spans.append((low[0] + 1, high[0] - 1, (least, most)))
    return spans


def datetime_range(low: int | None, high: int | None, end: bytes) -> Regex:
    """Return the points in time between two numbers of seconds, both included.

    Args:
        low: None for no bound.
        high: None for no bound.
        end: what follows each time: `Z`, or nothing.
    """
    low = _MIN_MOMENT if low is None else max(low, _MIN_MOMENT)
    high = _MAX_MOMENT if high is None else min(high, _MAX_MOMENT)
    if low > high:
        return NOTHING
    (first, start), (last, stop) = divmod(low, DAY), divmod(high, DAY)
    if first == last:
        return _on_days(first, last, time_range(start, stop, end))
    parts = [_on_days(first, first, time_range(start, DAY - 1, end)), _on_days(last, last, time_range(0, stop, end))]
    if last - first > 1:
        parts.append(_on_days(first + 1, last - 1, time_range(0, DAY - 1, end)))
    return choice(*parts)


def _on_days(first: int, last: int, times: Regex) -> Regex:
    """Return points in time on the days between two ordinals."""
    days = [date.fromordinal(day).timetuple()[:3] for day in (first, last)]
    return sequence(date_range(days[0], days[1]), Literal(b"T"), times)


def timedelta_range(low: int | None, high: int | None) -> Regex:
    """Return the durations between two numbers of seconds, both included; None for no bound."""
    parts: list[Regex] = []
    if high is None or high >= 0:
        parts.append(_durations(max(low or 0, 0), MAX_DURATION if high is None else high))
    if low is None or low < 0:
        parts.append(sequence(MINUS, _durations(max(-(high or 0), 0), MAX_DURATION if low is None else -low)))
    return _joined(parts)


def _durations(low: int, high: int) -> Regex:
    """Return the durations without sign between two."""
    high = min(high, MAX_DURATION)
    if low > high:
        return NOTHING
    forms = _duration_parts(_parts(low), _parts(high), False)[1]
    if low < high:
        forms = choice(forms, _duration_parts(_parts(low), _parts(high - 1), True)[1])
    return sequence(Literal(b"P"), forms)


def _parts(seconds: int) -> _Parts:
    return (seconds // DAY, *_time_parts(seconds % DAY))


def _duration_parts(low: _Parts, high: _Parts, cut: bool) -> tuple[bool, Regex]:
    """Return the last parts of a duration between two, as many as the tuples have.

    Args:
        low: the lower bound.
        high: the upper bound.
        cut: the seconds have a fraction.

    Returns:
        Whether all parts may be left out, and the texts that have one.
    """
    at = len(_TOPS) - len(low)
    if at == len(_TOPS):
        return not cut, NOTHING
    unit = sequence(_FRACTION if cut and at == len(_TOPS) - 1 else EMPTY, Literal(_LETTERS[at].encode()))
    forms: list[Regex] = []
    can_be_empty = False
    for first, last, (low_rest, high_rest) in _spans(low, high, _TOPS[at:]):
        rest_can_be_empty, rest = _duration_parts(low_rest, high_rest, cut)
        is_last = at == len(_TOPS) - 1
        if at == 0 and rest != NOTHING:
            rest = sequence(Literal(b"T"), rest)
        number = sequence(integer_range(first, last), unit)
        if is_last:
            forms.append(number)
        elif rest != NOTHING:
            forms.append(sequence(number, optional(rest) if rest_can_be_empty else rest))
        elif rest_can_be_empty:
            forms.append(number)
        if first == 0 and not (is_last and cut):
            can_be_empty = can_be_empty or is_last or rest_can_be_empty
            if rest != NOTHING:
                forms.append(rest)
    return can_be_empty, _joined(forms)
