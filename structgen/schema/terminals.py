"""From the algebra's scalar sets to the regexes of their JSON text."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import gcd

from structgen.engine.regex import (
    EMPTY,
    NOTHING,
    Complement,
    Literal,
    Multiple,
    Regex,
    Repeat,
    choice,
    difference,
    intersection,
    literal_set,
    optional,
    plus,
    repeat,
    sequence,
    star,
)
from structgen.schema.algebra import ALL_NUMBERS, INTEGERS, Inexpressible, Language, Number, NumberSet, StringSet
from structgen.schema.numbers import decimal_text, integer_range, number_range
from structgen.schema.strings import (
    JSON_CHAR,
    JSON_KEY,
    JSON_STRING,
    any_string,
    byte_set,
    escaped,
    every_form,
    key_outside,
    quoted,
    texts_regex,
)

__all__ = ["INTEGER", "NUMBER", "key_regex", "number_regex", "string_regex"]

INTEGER = integer_range(None, None)
NUMBER = number_range(None, False, None, False)

MAX_LISTED = 4096
"""Multiples in a range are listed one by one up to so many."""
MAX_DIVISOR = 5000
"""Other multiples are refused where the divisor, without its point, is larger."""
MULTIPLE_DIGITS = 18
"""Multiples without a bound have at most so many digits: their automaton has a state for each, and each remainder."""
_SAFE_DIGITS = 15

_DIGIT = byte_set("0123456789")
_SIGN = optional(Literal(b"-"))


def _fractional() -> Regex:
    """Plain numbers that are no integers, nor rounded to one as doubles: at most 15 digits in all."""
    forms: list[Regex] = []
    for places in range(1, _SAFE_DIGITS + 1):
        digits = difference(repeat(_DIGIT, places, places), star(Literal(b"0")))
        whole = choice(Literal(b"0"), sequence(byte_set("123456789"), Repeat(_DIGIT, 0, _SAFE_DIGITS - places - 1)))
        forms.append(sequence(whole if places < _SAFE_DIGITS else Literal(b"0"), Literal(b"."), digits))
    return sequence(_SIGN, choice(*forms))


_FRACTIONAL = _fractional()

# --- strings ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _escaped_language(language: Language, every: bool) -> Regex:
    return escaped(language.regex, every=every)


def string_regex(strings: StringSet) -> Regex:
    """The JSON text of a set of strings, quotes included.

    Raises:
        Inexpressible: a language is about bytes, or a text holds a lone surrogate.
    """
    if strings.texts is not None:
        try:
            return texts_regex(strings.texts)
        except UnicodeEncodeError as error:
            raise Inexpressible("const") from error
    if not (strings.within or strings.outside or strings.excluded):
        return any_string(strings.low, strings.high)
    return quoted(_body(strings))


def _body(strings: StringSet) -> Regex:
    try:
        parts = [_escaped_language(language, False) for language in strings.within]
        if strings.low or strings.high is not None or not parts:
            parts.append(Repeat(JSON_CHAR, strings.low, strings.high))
        parts.extend(Complement(_escaped_language(language, True)) for language in strings.outside)
    except (ValueError, UnicodeDecodeError) as error:
        raise Inexpressible("pattern") from error
    excluded = [every_form(text) for text in strings.excluded if text.isascii() or _is_scalar(text)]
    if excluded:
        parts.append(Complement(choice(*excluded)))
    return intersection(*parts)


def _is_scalar(text: str) -> bool:
    return not any(0xD800 <= ord(character) <= 0xDFFF for character in text)


def key_regex(keys: StringSet, names: list[str]) -> Regex:
    """The JSON text of the keys of a class, quotes included, without some names.

    Raises:
        Inexpressible: as `string_regex`.
    """
    if keys == StringSet():
        return key_outside(names) if names else JSON_STRING
    body = quoted(_body(keys))
    names = [name for name in names if keys.contains(name)]
    return intersection(body, key_outside(names)) if names else intersection(body, JSON_KEY)


# --- numbers ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def number_regex(numbers: NumberSet) -> Regex:
    """The JSON text of a set of numbers.

    Raises:
        Inexpressible: bounds or multiples whose decimal form does not end, or a divisor too large.
    """
    if numbers == ALL_NUMBERS[0]:
        return NUMBER
    if numbers == INTEGERS[0]:
        return INTEGER
    if numbers.values is not None:
        return literal_set(text.encode() for _, text in numbers.values)
    low, high, multiple = numbers.low, numbers.high, numbers.multiple
    if not all(_has_decimal_form(bound) for bound in (low, high, multiple) if bound is not None):
        raise Inexpressible("multipleOf")
    if multiple is not None:
        found = _multiples(low, high, multiple)
    else:
        found = number_range(low, numbers.low_open, high, numbers.high_open)
    if found == NOTHING:  # there are such numbers, but none that doubles tell apart from others
        raise Inexpressible("multipleOf" if multiple is not None else "minimum" if low is not None else "maximum")
    for divisor in numbers.outside:
        found = _without_multiples(found, numbers, divisor)
    return found


def _has_decimal_form(value: Number) -> bool:
    rest = Fraction(value).denominator
    return bool(10 ** rest.bit_length() % rest == 0)


def _without_multiples(found: Regex, numbers: NumberSet, divisor: Number) -> Regex:
    if not numbers.is_integer:
        if divisor != 1:
            raise Inexpressible("multipleOf")
        return intersection(found, _FRACTIONAL)
    if Fraction(divisor).denominator != 1:
        raise Inexpressible("multipleOf")
    return difference(found, _multiples(None, None, divisor))


def _multiples(low: Number | None, high: Number | None, step: Number) -> Regex:
    """Multiples of `step` between two closed bounds that are multiples themselves."""
    if step == 1:
        return integer_range(None if low is None else int(low), None if high is None else int(high))
    fraction = Fraction(step)
    if fraction.denominator != 1:
        return _fractional_multiples(low, high, fraction)
    if low is not None and high is not None and (high - low) / fraction < MAX_LISTED:
        count = int((high - low) / fraction) + 1
        return literal_set(str(int(low + i * fraction)).encode() for i in range(count))
    _check_divisor(fraction.numerator)
    bound = 10**MULTIPLE_DIGITS - 1
    low, high = low if low is not None else -bound, high if high is not None else bound
    return intersection(_integers(low, high), sequence(_SIGN, Multiple(fraction.numerator)))


def _fractional_multiples(low: Number | None, high: Number | None, step: Fraction) -> Regex:
    """Multiples of a step that is no integer, of at most 15 significant digits: those are told apart by doubles."""
    places = 1
    while 10**places % step.denominator:
        places += 1
    bound = Fraction(10) ** (_SAFE_DIGITS - places)
    first = -(bound // step) * step if low is None or low < -bound else Fraction(low)
    last = bound // step * step if high is None or high > bound else Fraction(high)
    if first > last:
        return NOTHING
    if (last - first) / step < MAX_LISTED:
        count = int((last - first) / step) + 1
        return literal_set(text.encode() for i in range(count) for text in _forms(first + i * step, places))
    numerator = step.numerator * (10**places // step.denominator)
    _check_divisor(numerator)
    forms = [_with_places(numerator // gcd(numerator, 10 ** (places - used)), used) for used in range(places + 1)]
    return intersection(number_range(first, False, last, False, places), sequence(_SIGN, choice(*forms)))


def _forms(value: Number, places: int) -> list[str]:
    """The plain decimals of a number with at most so many digits after the point."""
    text = decimal_text(_reduced(value))
    whole, _, digits = text.partition(".")
    return [text, *(f"{whole}.{digits:0<{count}}" for count in range(len(digits) + 1, places + 1))]


def _check_divisor(divisor: int) -> None:
    """Powers of ten are told by their zeros, however large; others cost a state for each remainder."""
    while divisor % 10 == 0:
        divisor //= 10
    if divisor > MAX_DIVISOR:
        raise Inexpressible("multipleOf")


def _with_places(divisor: int, places: int) -> Regex:
    """Naturals with `places` digits after the point that are multiples of `divisor` when the point is left out."""
    fraction: Regex = sequence(Literal(b"."), repeat(_DIGIT, places, places)) if places else EMPTY
    written = sequence(plus(_DIGIT), fraction)
    return written if divisor == 1 else intersection(written, Multiple(divisor))


def _integers(low: Number | None, high: Number | None) -> Regex:
    return integer_range(None if low is None else int(low), None if high is None else int(high))


def _reduced(value: Number) -> Number:
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value
