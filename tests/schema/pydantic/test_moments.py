"""Tests of dates, times, points in time and durations: what is written passes Pydantic and a format checker."""

import datetime as dt
import json
import random
import re
from typing import Annotated

import jsonschema
import pydantic
import pytest
from pydantic import Field, TypeAdapter

from structgen.engine.automata.store import AutomatonStore
from structgen.schema.formats.by_name import regex
from structgen.schema.formats.time_ranges import datetime_range, time_range, timedelta_range
from structgen.schema.pydantic.moments import date_format, datetime_format

BOUNDS = [
    {"ge": 0},
    {"gt": 0},
    {"le": 1},
    {"lt": 1},
    {"ge": 0, "le": 1},
    {"gt": 0, "lt": 1},
    {"gt": 0, "le": 1},
]
EDGES = {
    dt.datetime: [
        (dt.datetime(2020, 2, 28, 23, 59, 58), dt.datetime(2020, 3, 1, 0, 0, 1)),
        (dt.datetime(2020, 2, 28, 9, 59, 58, 5), dt.datetime(2020, 2, 28, 10, 0, 1, 7)),
        (dt.datetime(1, 1, 1, tzinfo=dt.UTC), dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=dt.UTC)),
        (
            dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))),
            dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=dt.timezone(-dt.timedelta(hours=5))),
        ),
        (
            dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5))),
            dt.datetime(2020, 1, 1, tzinfo=dt.timezone(-dt.timedelta(hours=5))),
        ),
    ],
    dt.time: [(dt.time(9, 59, 58), dt.time(10, 0, 1)), (dt.time(0), dt.time(23, 59, 59, 5)), (dt.time(7), dt.time(9))],
    dt.timedelta: [
        (dt.timedelta(0), dt.timedelta(hours=2)),
        (dt.timedelta(seconds=-90), dt.timedelta(days=1, seconds=61)),
        (dt.timedelta(days=-400), dt.timedelta(microseconds=-1)),
        (dt.timedelta(days=2, seconds=-1), dt.timedelta(days=31, microseconds=5)),
    ],
}
KINDS = [
    Annotated[kind, Field(**{keyword: pair[at] for keyword, at in bounds.items()})]
    for kind, pairs in EDGES.items()
    for pair in pairs
    for bounds in BOUNDS
]
UNBOUNDED = [dt.datetime, dt.time, dt.timedelta, pydantic.AwareDatetime]
OF_THE_CLOCK = [pydantic.PastDate, pydantic.FutureDate, pydantic.PastDatetime, pydantic.FutureDatetime]
_ISO_DURATION = re.compile(r"-?P(?=.)(\d+Y)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?")


@pytest.mark.parametrize("kind", [*UNBOUNDED, *OF_THE_CLOCK, *KINDS], ids=str)
def test_both_judges_read_what_is_written(walks, kind):
    adapter = TypeAdapter(kind)
    validator = jsonschema.Draft202012Validator(
        adapter.json_schema(), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    texts = walks(kind, 4, seed=5, whitespace="compact")
    assert texts
    for text in texts:
        adapter.validate_json(text)
        validator.validate(json.loads(text))
        if adapter.json_schema()["format"] == "duration":
            assert _ISO_DURATION.fullmatch(json.loads(text)), text


@pytest.mark.parametrize("kind", KINDS[::3], ids=str)
def test_moments_as_python_writes_them_are_let_through_between_bounds(accepts, kind):
    adapter, accepted, rng = TypeAdapter(kind), accepts(kind), random.Random(2)
    bounds = [value for key, value in adapter.core_schema.items() if key in ("ge", "gt", "le", "lt")]
    for bound in bounds:
        for _ in range(20):
            step = dt.timedelta(seconds=rng.choice([-100000, -3600, -60, -2, -1, 0, 1, 2, 61, 4000, 90000]))
            value = _moved(bound, step)
            if value is None:
                continue
            text = adapter.dump_json(value).decode()
            if "Y" in text:
                continue  # with bounds, days are not written as years
            try:
                adapter.validate_json(text)
            except pydantic.ValidationError:
                assert not accepted(text), text
            else:
                assert accepted(text), text


def _moved(bound, step):
    """Return a whole second near a bound, in UTC."""
    try:
        if isinstance(bound, dt.time):
            moment = dt.datetime.combine(dt.date(2020, 1, 2), bound) + step
            return moment.time().replace(microsecond=0, tzinfo=dt.UTC) if moment.day == 2 else None
        if isinstance(bound, dt.timedelta):
            return dt.timedelta(days=bound.days, seconds=bound.seconds) + step
        moment = bound + step
        moment = moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)
        return moment.replace(microsecond=0)
    except OverflowError:
        return None


def test_ranges_are_those_of_their_seconds():
    rng = random.Random(4)
    for _ in range(12):
        low, high = sorted(rng.choice([0, 59, 60, 3599, 3600, 86399, rng.randrange(86400)]) for _ in "ab")
        store = AutomatonStore()
        clock, span = store.add(time_range(low, high, b"Z")), store.add(timedelta_range(low - 40000, high - 40000))
        days = store.add(datetime_range(low + 737425 * 86400, high + 737426 * 86400, b""))
        for _ in range(60):
            at = rng.choice([low, high, low - 1, high + 1, rng.randrange(86400)]) % 86400
            text = str(dt.timedelta(seconds=at)).rjust(8, "0")
            assert store.matches(clock, f"{text}Z".encode()) == (low <= at <= high)
            assert store.matches(clock, f"{text}.5Z".encode()) == (low <= at < high)
            first = dt.date.fromordinal(737425)
            assert store.matches(days, f"{first}T{text}".encode()) == (low <= at)
            duration = at - 40000
            hours, minutes, seconds = (int(part) for part in str(dt.timedelta(seconds=abs(duration))).split(":"))
            parts = "".join(f"{n}{letter}" for n, letter in zip((hours, minutes, seconds), "HMS", strict=True) if n)
            written = f"{'-' if duration < 0 else ''}PT{parts or '0S'}"
            assert store.matches(span, written.encode()) == (low <= at <= high), written


@pytest.mark.parametrize(("op", "sign"), [("past", -1), ("future", 1)])
def test_dates_of_the_past_and_the_future_stay_so_for_a_day(op, sign):
    days = {dt.date.today(), dt.datetime.now(dt.UTC).date()}
    store = AutomatonStore()
    dates = store.add(regex(date_format({"type": "date", "now_op": op})))
    moments = store.add(regex(datetime_format({"type": "datetime", "now_op": op})))
    if op == "past":
        days = {dt.date.today(), dt.datetime.now(dt.UTC).date()}  # midnight may have passed
    near = days if op == "past" else days | {day + dt.timedelta(days=1) for day in days}
    for day in near:
        assert not store.matches(dates, str(day).encode())
        assert not store.matches(moments, f"{min(near) if op == 'future' else day}T12:00:00Z".encode())
        far = day + sign * dt.timedelta(days=4)
        assert store.matches(dates, str(far).encode())
        assert store.matches(moments, f"{far}T12:00:00Z".encode())


@pytest.mark.parametrize("value", [dt.timedelta(days=400, seconds=5), dt.timedelta(-3, 7), dt.timedelta(0)])
def test_durations_as_pydantic_writes_them_are_let_through(accepts, value):
    text = TypeAdapter(dt.timedelta).dump_json(value).decode()
    assert accepts(dt.timedelta)(text)
