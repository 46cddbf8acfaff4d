"""Regexes of dates, times and durations: RFC 3339, and the texts that Pydantic reads.

A leap second is at 23:59:60 UTC. With an offset, local time and offset must agree in hours and in minutes:
`00:59:60+01:00` is one, `00:58:60+01:00` is not. So its regex is an intersection of one condition on the hours and one
on the minutes. Checkers built on Python's `datetime` refuse leap seconds. They are therefore neither in `time` and
`date-time` nor outside of them (`by_name._OUTER`).
"""

from __future__ import annotations

from functools import cache

from structgen.engine.regex.tree import (
    ByteSet,
    Literal,
    Regex,
    Repeat,
    choice,
    intersection,
    optional,
    plus,
    sequence,
    star,
)
from structgen.schema.formats.parts import COLON, DIGIT, DIGITS, DOT, MINUS, digit, digits, two, words
from structgen.schema.json_text.strings import byte_set

__all__ = [
    "AWARE_DATE_TIME", "AWARE_TIME", "DATE", "DATE_OF_YEAR_0", "DATE_TIME", "DATE_TIME_OF_YEAR_0", "NAIVE_DATE_TIME",
    "NAIVE_TIME", "TIME", "date_range", "duration", "leap_date_time", "leap_time", "timedelta",
]  # fmt: skip

MAX_SECOND_DIGITS = 6
"""Maximum digits of a second's fraction: Pydantic keeps as many."""
MAX_DURATION_DIGITS = 4
"""Maximum digits of a part of a timedelta, so that no part overflows."""

# --- dates -----------------------------------------------------------------------------------------------------------


def _year_range(low: int, high: int) -> Regex:
    """Return four-digit years between two bounds."""
    if low > high:
        return ByteSet(0)
    return _padded(f"{low:04}", f"{high:04}")


def _padded(low: str, high: str) -> Regex:
    """Return the digit strings of one length between two of that length."""
    if not low:
        return Literal(b"")
    if low[0] == high[0]:
        return sequence(Literal(low[0].encode()), _padded(low[1:], high[1:]))
    rest = len(low) - 1
    parts: list[Regex] = [
        sequence(Literal(low[0].encode()), _padded(low[1:], "9" * rest)),
        sequence(Literal(high[0].encode()), _padded("0" * rest, high[1:])),
    ]
    if int(high[0]) - int(low[0]) > 1:
        parts.append(sequence(digit(int(low[0]) + 1, int(high[0]) - 1), digits(rest)))
    return choice(*parts)


_LEAP_PAIR = choice(  # 04, 08, … 96
    sequence(Literal(b"0"), byte_set("48")),
    sequence(byte_set("2468"), byte_set("048")),
    sequence(byte_set("13579"), byte_set("26")),
)
_YEAR = _year_range(1, 9999)
_LEAP_YEAR = choice(sequence(digits(2), _LEAP_PAIR), sequence(_LEAP_PAIR, Literal(b"00")))
_MONTH_DAY = choice(
    sequence(words("01", "03", "05", "07", "08", "10", "12"), MINUS, two(1, 31)),
    sequence(words("04", "06", "09", "11"), MINUS, two(1, 30)),
    sequence(Literal(b"02-"), two(1, 28)),
)
DATE = choice(sequence(_YEAR, MINUS, _MONTH_DAY), sequence(_LEAP_YEAR, Literal(b"-02-29")))
"""Real dates, leap years included, of the years 0001 to 9999. RFC 3339, section 5.6, `full-date`."""
DATE_OF_YEAR_0 = sequence(Literal(b"0000-"), choice(_MONTH_DAY, Literal(b"02-29")))
"""Dates of the year 0000, which RFC 3339 accepts and Python refuses."""


def date_range(low: tuple[int, int, int] | None, high: tuple[int, int, int] | None) -> Regex:
    """Return the real dates between two (year, month, day), both included; None stands for no bound."""
    first, last = low or (1, 1, 1), high or (9999, 12, 31)
    years = choice(
        sequence(_year_range(first[0] + 1, last[0] - 1), MINUS, star(byte_set(DIGITS + "-"))),
        *(
            sequence(Literal(f"{year:04}-".encode()), _month_days(from_day, to_day))
            for year, from_day, to_day in _edge_years(first, last)
        ),
    )
    return intersection(DATE, years)


def _edge_years(
    first: tuple[int, int, int], last: tuple[int, int, int]
) -> list[tuple[int, tuple[int, int], tuple[int, int]]]:
    """Return the first and the last year of a range, each with its first and last (month, day)."""
    if first[0] == last[0]:
        return [(first[0], first[1:], last[1:])]
    return [(first[0], first[1:], (12, 31)), (last[0], (1, 1), last[1:])]


def _month_days(low: tuple[int, int], high: tuple[int, int]) -> Regex:
    """Return `MM-DD` between two, without regard to the lengths of months."""
    parts: list[Regex] = []
    for month in range(low[0], high[0] + 1):
        days = two(low[1] if month == low[0] else 1, high[1] if month == high[0] else 31)
        parts.append(sequence(Literal(f"{month:02}-".encode()), days))
    return choice(*parts)


# --- times -----------------------------------------------------------------------------------------------------------

_T = byte_set("Tt")
_Z = byte_set("Zz")
_HOUR_MINUTE = sequence(two(0, 23), COLON, two(0, 59))
_SECONDS = optional(sequence(DOT, plus(DIGIT)))
_ZONE = choice(_Z, sequence(byte_set("+-"), _HOUR_MINUTE))
TIME = sequence(_HOUR_MINUTE, COLON, two(0, 59), _SECONDS, _ZONE)
DATE_TIME = sequence(DATE, _T, TIME)

# As programs write them, in capitals.
_FRACTION = optional(sequence(DOT, Repeat(DIGIT, 1, MAX_SECOND_DIGITS)))
_CAPITAL_T = Literal(b"T")
NAIVE_TIME = sequence(_HOUR_MINUTE, COLON, two(0, 59), _FRACTION)
AWARE_TIME = sequence(NAIVE_TIME, choice(Literal(b"Z"), sequence(byte_set("+-"), _HOUR_MINUTE)))
NAIVE_DATE_TIME = sequence(DATE, _CAPITAL_T, NAIVE_TIME)
AWARE_DATE_TIME = sequence(DATE, _CAPITAL_T, AWARE_TIME)


@cache
def leap_time() -> Regex:
    """Return the times of second 60: those at 23:59 UTC (RFC 3339, section 5.6).

    The regex is large and rarely needed.
    """

    def pairs(sign: bytes, hours: dict[int, int], minutes: dict[int, int]) -> Regex:
        """Return the times of second 60 with a sign of the offset.

        Args:
            sign: `+` or `-`.
            hours: the local hour for each hour of the offset.
            minutes: the local minute for each minute of the offset.
        """
        second = sequence(Literal(b":60"), _SECONDS, Literal(sign))
        return intersection(
            choice(*(sequence(_pair(local), COLON, two(0, 59), second, _pair(hour), COLON, two(0, 59))
                     for hour, local in hours.items())),
            choice(*(sequence(two(0, 23), COLON, _pair(local), second, two(0, 23), COLON, _pair(minute))
                     for minute, local in minutes.items())),
        )  # fmt: skip

    return choice(
        sequence(Literal(b"23:59:60"), _SECONDS, _Z),
        pairs(b"+", {hour: hour for hour in range(24)}, {minute: minute - 1 for minute in range(1, 60)}),
        pairs(b"+", {hour: (hour - 1) % 24 for hour in range(24)}, {0: 59}),
        pairs(b"-", {hour: 23 - hour for hour in range(24)}, {minute: 59 - minute for minute in range(60)}),
    )


def _pair(number: int) -> Literal:
    return Literal(f"{number:02}".encode())


DATE_TIME_OF_YEAR_0 = sequence(DATE_OF_YEAR_0, _T, TIME)


@cache
def leap_date_time() -> Regex:
    """Return dates, of the year 0 too, with a time of second 60."""
    return sequence(choice(DATE, DATE_OF_YEAR_0), _T, leap_time())


# --- durations -------------------------------------------------------------------------------------------------------


def duration() -> Regex:
    """Return durations of RFC 3339, appendix A: weeks alone, or years to seconds without a gap between the units."""

    def unit(letter: str) -> Regex:
        return sequence(plus(DIGIT), Literal(letter.encode()))

    second = unit("S")
    minute = sequence(unit("M"), optional(second))
    hour = sequence(unit("H"), optional(minute))
    time = sequence(Literal(b"T"), choice(hour, minute, second))
    day = unit("D")
    month = sequence(unit("M"), optional(day))
    year = sequence(unit("Y"), optional(month))
    date = sequence(choice(day, month, year), optional(time))
    return sequence(Literal(b"P"), choice(unit("W"), date, time))


def timedelta() -> Regex:
    """Return durations that Pydantic and ISO 8601 read alike, in years (of 365 days), days, hours, minutes and seconds.

    These are the units that Pydantic itself writes. Digits are bounded so that the sum of the units never has more days
    than a timedelta can hold.
    """
    number = _without_zeros(MAX_DURATION_DIGITS)
    second = sequence(number, _FRACTION, Literal(b"S"))
    minute = sequence(number, Literal(b"M"), optional(second))
    hour = sequence(number, Literal(b"H"), optional(choice(minute, second)))
    time = sequence(Literal(b"T"), choice(hour, minute, second))
    day = sequence(_without_zeros(8), Literal(b"D"), optional(time))
    year = sequence(_without_zeros(6), Literal(b"Y"), optional(choice(day, time)))
    return sequence(optional(MINUS), Literal(b"P"), choice(year, day, time))


def _without_zeros(count: int) -> Regex:
    """Return numbers of at most `count` digits, without leading zeros."""
    return choice(Literal(b"0"), sequence(digit(1, 9), Repeat(DIGIT, 0, count - 1)))
