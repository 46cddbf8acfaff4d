"""Formats of dates, times, points in time and durations, from the bounds in Pydantic's core schemas.

Texts are what every validator accepts: RFC 3339 with an offset where the type does not ask for none, and durations of
ISO 8601. With bounds, the only offset is `Z`, so that texts can be compared by their digits:

    datetime                        x-datetime                          2026-03-14T09:26:53.5+01:00
    datetime, ge 2026-01-01         x-datetime-between 63902995200 - utc    2026-03-14T09:26:53Z
    timedelta, le 2 hours           x-timedelta-between - 7200          PT1H59M59.5S

Bounds are whole seconds, rounded inwards. `PastDate` and the like depend on the clock. Their bounds are set when the
schema is made, with a margin, so that texts are still valid a day later: the past ends with yesterday, and the future
begins with the day after tomorrow.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import available_timezones

from structgen.schema.formats import UNSUPPORTED
from structgen.schema.formats.time_ranges import DAY, MAX_DURATION

__all__ = ["date_format", "datetime_format", "time_format", "timedelta_format", "zone_names"]

_LOWER, _UPPER = ("ge", "gt"), ("le", "lt")
_MICROSECONDS = 10**6
_FIRST_DAY, _LAST_DAY = date.min.toordinal(), date.max.toordinal()
_FUTURE_MARGIN = 2  # days from today to the first day that is surely in the future tomorrow, too


def _unsupported(keyword: str) -> str:
    return f"{UNSUPPORTED} {keyword}"


def _first_keyword(schema: Any, names: tuple[str, ...]) -> str:
    """Return the first keyword of a schema among some, to name in an error."""
    return next(name for name in names if schema.get(name) is not None)


def date_format(schema: Any) -> str:
    """Return the format of a type of dates."""
    lows = [schema[k].toordinal() + (k == "gt") for k in _LOWER if schema.get(k)]
    highs = [schema[k].toordinal() - (k == "lt") for k in _UPPER if schema.get(k)]
    today = date.today().toordinal(), datetime.now(UTC).date().toordinal()
    if schema.get("now_op") == "past":
        highs.append(min(today) - 1)
    elif schema.get("now_op") == "future":
        lows.append(max(today) + _FUTURE_MARGIN)
    if not lows and not highs:
        return "date"
    if max(lows, default=_FIRST_DAY) > min(highs, default=_LAST_DAY) or max(lows, default=0) > _LAST_DAY:
        return _unsupported(_first_keyword(schema, (*_LOWER, *_UPPER, "now_op")))
    return f"x-date {max(lows, default=0)} {min(highs, default=0)}"


def time_format(schema: Any) -> str:
    """Return the format of a type of times of day."""
    return _bounded(schema, "x-time", _seconds_of_time)


def datetime_format(schema: Any) -> str:
    """Return the format of a type of points in time."""
    return _bounded(schema, "x-datetime", _seconds_of_datetime)


def timedelta_format(schema: Any) -> str:
    """Return the format of a type of durations."""
    if schema.get("multiple_of") is not None:
        return _unsupported("multiple_of")
    found = _range(schema, lambda value: divmod(value // timedelta(microseconds=1), _MICROSECONDS))
    if found == (None, None):
        return "x-timedelta"
    low, high = found
    is_empty = low is not None and high is not None and low > high
    if is_empty or (low or 0) > MAX_DURATION or (high or 0) < -MAX_DURATION:
        return _unsupported(_first_keyword(schema, (*_LOWER, *_UPPER)))
    return f"x-timedelta-between {_shown(low)} {_shown(high)}"


def zone_names() -> dict[str, Any]:
    """Return the schema of the names of time zones that this machine knows, where Pydantic looks for them, too."""
    names = sorted(available_timezones())
    return {"type": "string", "enum": names} if names else {"not": {}}


def _bounded(schema: Any, name: str, seconds_of: Any) -> str:
    """Return a format of times or points in time."""
    zone = schema.get("tz_constraint")
    if isinstance(zone, int):  # an offset
        return _unsupported("tz_constraint")
    is_naive = zone == "naive"
    bounds = [schema[keyword] for keyword in (*_LOWER, *_UPPER) if schema.get(keyword) is not None]
    if any(bound.tzinfo is not None and (is_naive or _is_shifted(bound)) for bound in bounds):
        return _unsupported(_first_keyword(schema, (*_LOWER, *_UPPER)))
    low, high = _range(schema, seconds_of)
    if schema.get("now_op"):
        now = datetime.now(UTC).date().toordinal()
        if schema["now_op"] == "past":
            high = min(now * DAY - 1, now * DAY - 1 if high is None else high)
        else:
            low = max((now + _FUTURE_MARGIN) * DAY, low or 0)
    if low is None and high is None:
        return f"{name}-naive" if is_naive else name
    last = DAY - 1 if seconds_of is _seconds_of_time else (_LAST_DAY + 1) * DAY - 1
    if low is not None and low > (last if high is None else high):
        return _unsupported(_first_keyword(schema, (*_LOWER, *_UPPER, "now_op")))
    return f"{name}-between {_shown(low)} {_shown(high)} {'naive' if is_naive else 'utc'}"


def _is_shifted(bound: datetime | time) -> bool:
    """Return whether a bound is a time of day with an offset: Pydantic compares it across midnight."""
    return isinstance(bound, time) and bool(bound.utcoffset())


def _seconds_of_time(value: time) -> tuple[int, int]:
    return value.hour * 3600 + value.minute * 60 + value.second, value.microsecond


def _seconds_of_datetime(value: datetime) -> tuple[int, int]:
    """Return whole seconds and microseconds; Pydantic compares a bound without zone by its digits."""
    seconds, microseconds = _seconds_of_time(value.time())
    offset = (value.utcoffset() or timedelta()) // timedelta(microseconds=1)
    shifted = divmod((value.toordinal() * DAY + seconds) * _MICROSECONDS + microseconds - offset, _MICROSECONDS)
    return shifted[0], shifted[1]


def _range(schema: Any, seconds_of: Any) -> tuple[int | None, int | None]:
    """Return the first and the last whole second within the bounds."""
    lows: list[int] = []
    highs: list[int] = []
    for keyword in (*_LOWER, *_UPPER):
        if schema.get(keyword) is None:
            continue
        seconds, microseconds = seconds_of(schema[keyword])
        if keyword in _LOWER:
            lows.append(seconds + (keyword == "gt" or microseconds > 0))
        else:
            highs.append(seconds - (keyword == "lt" and not microseconds))
    return max(lows, default=None), min(highs, default=None)


def _shown(bound: int | None) -> str:
    return "-" if bound is None else str(bound)
