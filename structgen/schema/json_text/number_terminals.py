"""Regexes of the JSON text of sets of numbers.

A set of numbers (`NumberSet`: bounds, steps, excluded steps or listed values) becomes one of four forms:

    {"type": "integer"}                        INTEGER: 1, 1.0, 1e0, -0
    {"minimum": 0, "maximum": 1}               a range: 0.25, 2.5e-1
    {"multipleOf": 0.01}                       multiples: 0.25, 2.5e-1
    {"enum": [1, 0.25]}                        values: 1, 1.0, 1e0, 0.25, 0.250, 2.5e-1
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import (
    NOTHING,
    ByteSet,
    Literal,
    Regex,
    Repeat,
    choice,
    intersection,
    literal_set,
    optional,
    sequence,
)
from structgen.schema.algebra import ALL_NUMBERS, INTEGERS, Inexpressible, Number, NumberSet
from structgen.schema.algebra.numbers import ANY_FORM, DIGITS, OTHER_FORMS
from structgen.schema.algebra.safe_numbers import MAX_EXACT_INTEGER, MAX_SAFE_DIGITS, safe_runs
from structgen.schema.json_text.multiples import (
    are_counted,
    choices_of,
    counted_forms,
    digits_of_choices,
    digits_of_multiples,
    is_large,
    largest_divisor,
    other_forms,
)
from structgen.schema.json_text.numbers import (
    MAX_FRACTION_DIGITS,
    MAX_INTEGER_DIGITS,
    MAX_MANTISSA_DIGITS,
    decimal_text,
    exponent_range,
    integer_range,
    integral_range,
    number_range,
)
from structgen.schema.json_text.plain_multiples import numbers_by_ending, places_of
from structgen.schema.json_text.remainders import may_count
from structgen.schema.json_text.strings import byte_set

__all__ = ["INTEGER", "MAX_LISTED", "NUMBER", "has_no_text", "listed_multiples", "number_regex", "numbers_regex"]

INTEGER = integral_range(None, None)
NUMBER = number_range(None, False, None, False)

MAX_LISTED = 1024
"""Maximum number of values listed for a divisor that is too large for automata: those nearest to 0."""
_MAX_FEW_MULTIPLES = 64  # fewer are listed
_MIN_DIVISOR_LISTED = 256  # from which on all multiples are listed if they are at most MAX_LISTED
_SHORT = (-999, 999)  # between these, numbers of 15 digits are written, whatever the step
_MAX_FRACTION_CHARACTERS = 64  # of a listed value in plain decimal form
_ANY = ByteSet((1 << 256) - 1)
_MINUS = Literal(b"-")
_ZERO = Literal(b"0")
_ZEROS = sequence(Literal(b"."), Repeat(_ZERO, 1, MAX_FRACTION_DIGITS))
_NOT_DIGITS = sequence(Repeat(_ANY, 0, None), byte_set(".eE"), Repeat(_ANY, 0, None))


@lru_cache(maxsize=1024)
def numbers_regex(parts: tuple[NumberSet, ...]) -> Regex:
    """Return the JSON text of a union of sets of numbers.

    Raises:
        Inexpressible: as `number_regex`; or the set has numbers, but doubles cannot tell them from others.
    """
    if len(parts) == 1:
        found = number_regex(parts[0])
    else:
        groups = _groups(parts)
        found = choice(*[_counted_together(part) if len(part) > 1 else number_regex(part[0]) for part in groups])
    if has_no_text(parts, found):
        first = parts[0]
        raise Inexpressible(
            "multipleOf" if first.multiple is not None else "minimum" if first.high is None else "maximum"
        )
    return found


def has_no_text(parts: tuple[NumberSet, ...], found: Regex) -> bool:
    """Return whether the regex made for sets of numbers matches nothing.

    Its form does not always show that: of 10**15 and more, no fraction can be written, so nothing is left without the
    integers. Without bounds, something always is, unless steps have more digits after the point than are written.
    """
    if found == NOTHING:
        return True
    return not any(map(_has_text, parts)) and AutomatonStore().is_empty(found)


def _has_text(part: NumberSet) -> bool:
    """Return whether a set surely has a number that is written, as far as this is quickly seen."""
    if not part.outside and (part.multiple is None or part.is_integer):
        return True
    if part.low is None and part.high is None:
        steps = part.outside if part.multiple is None else (part.multiple, *part.outside)
        return all(10 ** (MAX_SAFE_DIGITS - 1) % Fraction(step).denominator == 0 for step in steps)
    low, high = _SHORT[0] if part.low is None else part.low, _SHORT[1] if part.high is None else part.high
    if not part.outside and not _has_long_step(part):
        return any(safe_runs(max(low, _SHORT[0]), min(high, _SHORT[1]), part.multiple, MAX_SAFE_DIGITS))
    integers = part.intersect(INTEGERS[0]) if part.written & DIGITS else None
    if integers is None:
        return False
    some = [value for value in (0, integers.low, integers.high) if value is not None]
    return any(integers.contains(value) and _SHORT[0] <= value <= _SHORT[1] for value in some)


def _groups(parts: tuple[NumberSet, ...]) -> list[list[NumberSet]]:
    """Group sets of numbers. Sets that one automaton can count by their remainders are one group.

    Each other set is a group of its own. See `_is_counted_with`.
    """
    groups: list[list[NumberSet]] = []
    for part in parts:
        if part.multiple is None or not are_counted(part.multiple, part.outside):  # a group of its own
            groups.append([part])
            continue
        joined = next((group for group in groups if _is_counted_with(part, group)), None)
        if joined is None:
            groups.append([part])
        else:
            joined.append(part)
    return groups


def _is_counted_with(part: NumberSet, group: list[NumberSet]) -> bool:
    """Return whether one automaton can count a set with those of a group.

    It can if remainders decide the members of all these sets, and the sets have the same bounds and written forms.
    """
    first, together = group[0], [*group, part]
    if first.written != part.written or (first.multiple == 1) != (part.multiple == 1) or not _has_decimal_bounds(part):
        return False
    if (first.low is None) != (part.low is None) or (first.high is None) != (part.high is None):
        return False
    for one in together:
        if one.values is not None or one.multiple is None or _is_listed(one, one.multiple):
            return False
        if not are_counted(one.multiple, one.outside):
            return False
    low, high = _common_bounds(together)
    for one in together:  # its bounds are multiples: there may be none between them and the common ones
        step = one.multiple or 1
        if (one.low is not None and one.low - step >= (low or 0)) or (
            one.high is not None and one.high + step <= (high or 0)
        ):
            return False
    return may_count(choices_of(_steps(together)))


def _has_decimal_bounds(part: NumberSet) -> bool:
    return all(_has_decimal_form(bound) for bound in (part.low, part.high) if bound is not None)


def _common_bounds(group: list[NumberSet]) -> tuple[Number | None, Number | None]:
    """Return the least lower and the largest upper bound of some sets; all or none of them have one."""
    lows = [part.low for part in group if part.low is not None]
    highs = [part.high for part in group if part.high is not None]
    return min(lows) if lows else None, max(highs) if highs else None


def _steps(group: list[NumberSet]) -> list[tuple[Number, tuple[Number, ...]]]:
    return [(part.multiple or 1, part.outside) for part in group]


def _counted_together(group: list[NumberSet]) -> Regex:
    """Return the numbers of the sets of one group; see `_is_counted_with`.

    One automaton counts remainders for all of them. Otherwise, there would be a state for each of their combinations.
    """
    low, high = _common_bounds(group)
    written, choices = group[0].written, choices_of(_steps(group))
    parts: list[Regex] = []
    if written & DIGITS:
        parts.append(digits_of_choices(low, high, choices))
    if written & OTHER_FORMS:
        parts.append(counted_forms(low, False, high, False, choices))
        if written == ANY_FORM and any(part.contains(0) for part in group):
            parts.append(Literal(b"-0"))
    return choice(*parts)


@lru_cache(maxsize=1024)
def number_regex(numbers: NumberSet) -> Regex:
    """Return the JSON text of a set of numbers; `NOTHING` where doubles can tell none of them from others.

    Raises:
        Inexpressible: a bound or a step has no finite decimal form.
    """
    if numbers == ALL_NUMBERS[0]:
        return NUMBER
    if numbers == INTEGERS[0]:
        return INTEGER
    steps = () if numbers.multiple is None else (numbers.multiple,)
    bounds = (bound for bound in (numbers.low, numbers.high) if bound is not None)
    if not all(map(_has_decimal_form, (*bounds, *steps, *numbers.outside))):
        raise Inexpressible("multipleOf")
    listed = numbers.values if numbers.values is not None else listed_multiples(numbers)
    if listed is not None:
        found = values_regex(listed, numbers.written)
        integers = None if numbers.is_integer or not _has_long_step(numbers) else numbers.intersect(INTEGERS[0])
        return found if integers is None else choice(found, number_regex(integers))
    if numbers.multiple is not None and _has_long_step(numbers):
        return _by_ending(numbers, numbers.multiple)
    if numbers.outside or (steps and steps[0] != 1):
        return _some_multiples(numbers)
    return _interval(numbers)


def _has_decimal_form(value: Number) -> bool:
    """Return whether a number has a finite decimal form."""
    rest = Fraction(value).denominator
    return bool(10 ** rest.bit_length() % rest == 0)


def _interval(numbers: NumberSet) -> Regex:
    """Return the numbers, or integers, between two bounds."""
    low, high, written = numbers.low, numbers.high, numbers.written
    if numbers.multiple is not None:
        least, most = None if low is None else int(low), None if high is None else int(high)
        if written == DIGITS:
            return integer_range(least, most)
        found = integral_range(least, most)
    else:
        found = number_range(low, numbers.low_open, high, numbers.high_open)
    if written == OTHER_FORMS:
        return intersection(found, _NOT_DIGITS)
    if numbers.multiple is None and not (_is_small(low) and _is_small(high)):
        integers = NumberSet(low, numbers.low_open, high, numbers.high_open, multiple=1).reduced()
        exact_ones = NOTHING if integers is None else digits_of_multiples(integers.low, integers.high, 1, ())
        found = choice(intersection(found, _NOT_DIGITS), exact_ones)
    return found


def _is_small(value: Number | None) -> bool:
    """Return whether a bound and the integers beside it are different doubles: 2**53 + 1 is read as 2**53."""
    return value is None or -MAX_EXACT_INTEGER < value < MAX_EXACT_INTEGER


def _some_multiples(numbers: NumberSet) -> Regex:
    """Return the numbers between two bounds that are multiples, or not multiples, of given steps."""
    low, high, step = numbers.low, numbers.high, numbers.multiple
    parts: list[Regex] = []
    if numbers.written & DIGITS:
        integers = NumberSet(low, numbers.low_open, high, numbers.high_open, 1).reduced()
        if integers is not None:
            parts.append(digits_of_multiples(integers.low, integers.high, step or 1, numbers.outside))
    if numbers.written & OTHER_FORMS:
        parts.append(other_forms(low, numbers.low_open, high, numbers.high_open, step, numbers.outside))
        if numbers.written == ANY_FORM and numbers.contains(0):
            parts.append(Literal(b"-0"))
    return choice(*parts)


# --- values ----------------------------------------------------------------------------------------------------------


def _is_listed(numbers: NumberSet, step: Number) -> bool:
    """Return whether the multiples in a range are few, or their automaton too large."""
    if numbers.low is not None and numbers.high is not None:
        count = (numbers.high - numbers.low) / step
        if count < _MAX_FEW_MULTIPLES:
            return step != 1
        if count < MAX_LISTED and largest_divisor(step) > _MIN_DIVISOR_LISTED:
            return True
    return is_large(step)


def listed_multiples(numbers: NumberSet) -> tuple[Number, ...] | None:
    """Return the multiples of a set's step if the regex lists them one by one; None if it is made in another way.

    If the step is a fraction whose automaton is too large, only the multiples nearest to 0 are listed. `number_regex`
    adds all integers among the multiples.
    """
    step = numbers.multiple
    if step is None or not _is_listed(numbers, step) or (_has_long_step(numbers) and _ending_places(numbers)):
        return None
    return _nearest_multiples(numbers, step)


def _has_long_step(numbers: NumberSet) -> bool:
    """Return whether the numbers are multiples of a fraction whose automaton is too large."""
    step = numbers.multiple
    return step is not None and Fraction(step).denominator > 1 and is_large(step)


def _ending_places(numbers: NumberSet) -> int | None:
    """Return how many digits after the point decide whether a number is a multiple of the step; None if no few do."""
    places = None if numbers.multiple is None else places_of(numbers.multiple, MAX_LISTED)
    if places is None or numbers.written != ANY_FORM or numbers.outside:
        return None
    return places if places < MAX_SAFE_DIGITS else None


def _by_ending(numbers: NumberSet, step: Number) -> Regex:
    """Return the multiples of a fraction, where the digits after the point decide; see `_ending_places`."""
    before = MAX_SAFE_DIGITS - (_ending_places(numbers) or 0)
    return numbers_by_ending(numbers.low, numbers.low_open, numbers.high, numbers.high_open, step, before)


def _nearest_multiples(numbers: NumberSet, step: Number) -> tuple[Number, ...]:
    """Return the members of a set of multiples that are nearest to 0."""
    lowest = None if numbers.low is None else ceil(numbers.low / Fraction(step))
    highest = None if numbers.high is None else floor(numbers.high / Fraction(step))
    first = -MAX_LISTED // 2 if lowest is None else max(lowest, -MAX_LISTED // 2)
    last = first + MAX_LISTED if highest is None else min(highest, first + MAX_LISTED)
    first = last - MAX_LISTED if lowest is None else max(lowest, last - MAX_LISTED)
    values = (_reduced(number * step) for number in range(first, last + 1))
    return tuple(value for value in values if numbers.contains(value) and _is_safe(value, step))


def _is_safe(value: Number, step: Number) -> bool:
    """Return whether a reader of doubles sees a multiple: the value is an integer, or has few digits."""
    return isinstance(value, int) or len(decimal_text(abs(value)).replace(".", "").lstrip("0")) <= MAX_SAFE_DIGITS


def values_regex(values: Iterable[Number], written: int = ANY_FORM) -> Regex:
    """Return the texts of exactly these numbers.

    >>> values_regex([5], written=DIGITS)
    Literal(data=b'5')
    """
    whole: list[bytes] = []  # digits only
    pointed: list[bytes] = []
    fractions: list[bytes] = []
    decades: dict[int, list[str]] = {}
    for value in values:
        if isinstance(value, int) and written & DIGITS:
            whole.append(b"%d" % value)
        if written & OTHER_FORMS and _is_read_back(value):
            text = decimal_text(_shortest(value))
            if "." not in text:
                pointed.append(text.encode())
            elif len(text) <= _MAX_FRACTION_CHARACTERS:
                fractions.append(text.encode())
            if value:
                exponent, mantissa = _scientific(text)
                decades.setdefault(exponent, []).append(mantissa)
    parts: list[Regex] = [_table(whole)] if whole else []
    short = [text for text in pointed if len(text) <= MAX_INTEGER_DIGITS]
    if short:
        parts.append(sequence(_table(short), _ZEROS))
    if fractions:
        parts.append(sequence(_table(fractions), Repeat(_ZERO, 0, MAX_FRACTION_DIGITS)))
    parts.extend(_in_decade(exponent, found) for exponent, found in sorted(decades.items()))
    if b"0" in pointed:
        zeros = sequence(optional(_MINUS), _ZERO, optional(_ZEROS), exponent_range(-99, 99))
        parts.extend([zeros, sequence(_MINUS, _ZERO, optional(_ZEROS) if written & DIGITS else _ZEROS)])
    return choice(*parts)


def _table(texts: list[bytes]) -> Regex:
    return Literal(texts[0]) if len(texts) == 1 else literal_set(texts)


def _is_read_back(value: Number) -> bool:
    """Return whether a text with a point or an exponent is read as this number: large integers must be doubles."""
    if not isinstance(value, int) or abs(value) <= MAX_EXACT_INTEGER:
        return True
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def _shortest(value: Number) -> Number:
    """Return the number whose digits Python writes for a large double; other numbers unchanged."""
    if max(value, -value) <= MAX_EXACT_INTEGER:
        return value
    return _reduced(Fraction(Decimal(repr(float(value)))))


def _scientific(text: str) -> tuple[int, str]:
    """Return the exponent and the mantissa of a number other than 0: (2, "1.5") for "150"."""
    sign, digits = ("-", text[1:]) if text[0] == "-" else ("", text)
    whole, _, fraction = digits.partition(".")
    significant = (whole + fraction).lstrip("0")
    exponent = len(significant) - len(fraction) - 1
    significant = significant.rstrip("0")
    return exponent, sign + significant[0] + ("." + significant[1:] if significant[1:] else "")


def _in_decade(exponent: int, mantissas: list[str]) -> Regex:
    """Return the scientific form of numbers that share an exponent."""
    single = [text.encode() for text in mantissas if "." not in text]
    several = [text.encode() for text in mantissas if "." in text]
    parts = [sequence(_table(single), optional(_ZEROS))] if single else []
    parts += [sequence(_table(several), Repeat(_ZERO, 0, MAX_MANTISSA_DIGITS))] if several else []
    return sequence(choice(*parts), exponent_range(exponent, exponent))


def _reduced(value: Number) -> Number:
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value
