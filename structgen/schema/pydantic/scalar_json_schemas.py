"""JSON Schemas of Pydantic's types of one string or number, as strict as `validate_json` (`exact_json_schema.py`)."""

from __future__ import annotations

import math
import re
import sys
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any

import pydantic
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import SchemaValidator, to_jsonable_python

from structgen.schema.formats import UNSUPPORTED
from structgen.schema.own_keywords import JSON_CONTENT, REGEX_DIALECT
from structgen.schema.pydantic.core_schemas import is_read, is_read_literal
from structgen.schema.pydantic.moments import date_format, datetime_format, time_format, timedelta_format
from structgen.schema.reading.number_keywords import DOUBLE, INTEGER_DIGITS_ONLY, NUMBER_FORM, SHORT_DOUBLE

__all__ = ["CHANGES_TEXT", "IS_BYTES", "ScalarJsonSchema", "of_format", "refused"]

_URL_FORMATS = {
    frozenset({"http", "https"}): "x-http-url",
    frozenset({"ws", "wss"}): "x-ws-url",
    frozenset({"ftp"}): "x-ftp-url",
}
_MAX_ROUNDED_MULTIPLE = 4_000_000  # below 2**22, the errors of the number and of the step together are below 1e-9
CHANGES_TEXT = ("str_to_lower", "str_to_upper", "str_strip_whitespace")
_TYPES_OF_VALUES = ("string", "integer", "number", "boolean", "null")
_BYTE_SIZE = r"^[0-9]{1,15}(\.[0-9]{1,9})? ?([kKmMgGtTpPeE]?[bB]|[kKmMgGtTpPeE][iI][bB])?$"
IS_BYTES = "x-structgen-bytes"
"""Marks a string that is read as bytes, until `_tighten` has set the formats."""
_QUOTIENT_DIGITS = 27
_MAX_STEP_DIGITS = 15
"""Maximum digits of the step of decimals: numbers with a point are read as doubles, which round multiples of others."""


def refused(keyword: str, why: str = "") -> JsonSchemaValue:
    """Return a schema that raises `UnsupportedSchemaError` for a keyword, with a reason, when it is read."""
    return {"type": "string", "format": f"{UNSUPPORTED} {keyword} {why}".rstrip()}


def of_format(format_name: str) -> JsonSchemaValue:
    """Return the schema of strings of a format."""
    return {"type": "string", "format": format_name}


def _advice(expected: list[Any]) -> str:
    """Return what makes members of an enumeration readable, where one of some literals is one."""
    member = next((value for value in expected if isinstance(value, Enum)), None)
    if member is None:
        return ""
    kind = "int" if isinstance(member.value, int) else "str"
    return f"; it reads members of class {type(member).__name__}({kind}, Enum)"


class ScalarJsonSchema(GenerateJsonSchema):
    """Pydantic's generator of JSON Schemas, made exact for strings, numbers and what is read from them."""

    # --- strings and numbers -----------------------------------------------------------------------------------------

    def str_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of strings, with the dialect of `pattern` and the effect of stripping on lengths."""
        result = super().str_schema(schema)
        pattern = schema.get("pattern")
        self.bound_text(result)
        if pattern == pydantic.ByteSize.byte_string_pattern:
            return result | {"pattern": _BYTE_SIZE}
        if pattern is not None:
            engine = schema.get("regex_engine") or getattr(self._config, "regex_engine", None)
            compiled = isinstance(pattern, re.Pattern)
            if compiled and pattern.flags & ~re.UNICODE:
                return refused("pattern")
            result[REGEX_DIALECT] = "python" if compiled or engine == "python-re" else "rust"
        strips = schema.get("strip_whitespace") or getattr(self._config, "str_strip_whitespace", False)
        if strips and {"minLength", "pattern"} & result.keys():
            result = {"allOf": [result, of_format("x-stripped")]}
        return {"allOf": [result, of_format("x-ascii")]} if schema.get("ascii_only") else result

    def bound_text(self, result: JsonSchemaValue) -> None:
        """Add the lengths that the model's options give to all strings."""
        for keyword, option in (("minLength", "str_min_length"), ("maxLength", "str_max_length")):
            if getattr(self._config, option, None):
                result.setdefault(keyword, getattr(self._config, option))

    def bytes_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of bytes, as text. Lengths count bytes, so with an upper bound only ASCII is allowed."""
        if self.reads_encoded_bytes():
            return refused("val_json_bytes")
        result = super().bytes_schema(schema)
        result[IS_BYTES] = True
        result.pop("format", None)
        if "maxLength" in result:
            result["format"] = "x-ascii"
        return result

    def reads_encoded_bytes(self) -> bool:
        """Return whether the model reads bytes as base64 or hexadecimal digits."""
        return bool(getattr(self._config, "val_json_bytes", "utf8") != "utf8")

    def int_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of integers in digits: strict models read no other form, and no program writes one."""
        return super().int_schema(schema) | {NUMBER_FORM: INTEGER_DIGITS_ONLY}

    def float_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of floats; integers are rounded too when they are read.

        Pydantic finds a multiple by the remainder of doubles, which may be off by 1e-9 (by a part of the value in older
        releases). A multiple of a step that no double holds is surely found up to `_MAX_ROUNDED_MULTIPLE`.
        """
        result = super().float_schema(schema)
        step = schema.get("multiple_of")
        most = None if step is None else _max_multiple(step)
        if most is not None:
            low = max(result.get("minimum", -most), -most)
            high = min(result.get("maximum", most), most)
            above, below = result.get("exclusiveMinimum", low), result.get("exclusiveMaximum", high)
            if max(low, above) > most or min(high, below) < -most:
                return refused("multiple_of")
            result |= {"minimum": low, "maximum": high}
        return result | {NUMBER_FORM: DOUBLE if _reads_large_integers() else SHORT_DOUBLE}

    def decimal_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of decimals: numbers, and strings too if there is no `multiple_of`."""
        bounds: JsonSchemaValue = {}
        names = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
        for name, keyword in (*names.items(), ("multiple_of", "multipleOf")):
            if schema.get(name) is not None:
                bounds[keyword] = Decimal(str(schema[name]))  # of a float, what is written
        if "multipleOf" in bounds and len(bounds["multipleOf"].normalize().as_tuple().digits) > _MAX_STEP_DIGITS:
            return refused("multiple_of")
        digits, places = schema.get("max_digits"), schema.get("decimal_places")
        if digits is not None and places is not None:
            places = min(digits, places)  # Pydantic counts the zeros after the point: 0.01 has two digits
        # No digit is allowed before the point then, and Pydantic counts that of 0.
        no_zero = digits is not None and digits == places
        variants: list[JsonSchemaValue] = []
        for used in range(digits + 1) if digits is not None and places is None else (places,):
            number: JsonSchemaValue = {"type": "number"}
            if used is not None:
                number["multipleOf"] = _scaled(1, used)
            if digits is not None and used is not None:
                most = 10**digits - 1
                number |= {"minimum": _scaled(-most, used), "maximum": _scaled(most, used)}
            if no_zero:
                number["not"] = {"const": 0}
            variants.append(
                {"allOf": [number, {"type": "number", **bounds}, *_divisible(bounds)]} if bounds else number
            )
            if "multipleOf" not in bounds:
                limits = (digits, used, *(bounds.get(keyword) for keyword in names.values()))
                text = of_format("x-decimal " + " ".join("-" if x is None else str(x) for x in limits))
                variants.append(text | {"pattern": "^[^eE]*[1-9]"} if no_zero else text)
        return variants[0] if len(variants) == 1 else {"anyOf": variants}

    def literal_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of literals that JSON can express.

        Members of an `Enum` are left out unless they are a `str`, an `int` or a `float`: Pydantic does not read others.
        """
        expected = [value for value in schema["expected"] if is_read_literal(value)]
        if not expected:
            names = ", ".join(map(str, schema["expected"]))
            return refused("literal", f"Pydantic reads no JSON as Literal[{names}]{_advice(schema['expected'])}")
        return _in_digits(super().literal_schema({"type": "literal", "expected": expected}))

    def enum_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of members that Pydantic reads, those with JSON values.

        It reads no others, such as tuples, and no integers of more than 64 bits.
        """
        values = ((member, to_jsonable_python(member.value, fallback=id)) for member in schema["members"])
        reader = SchemaValidator({**schema, "missing": None})
        members = [member for member, value in values if value == member.value and is_read(reader, value)]
        read: Any = dict(schema) | {"members": members}
        if not members:
            return refused("enum", f"Pydantic reads no JSON as a member of {schema['cls'].__name__}")
        return _in_digits(super().enum_schema(read))

    def complex_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of complex numbers, as strings."""
        return of_format("x-complex")

    def fraction_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of fractions: numbers, and strings such as "1/3" if there are no bounds."""
        names = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
        names["multiple_of"] = "multipleOf"
        bounds = {keyword: schema[name] for name, keyword in names.items() if schema.get(name) is not None}
        number = {"type": "number", **{keyword: _as_decimal(bound) for keyword, bound in bounds.items()}}
        step = bounds.get("multipleOf", 1)
        if None in number.values() or Fraction(step) != Fraction(str(step)):
            return refused(next(name for name in names if schema.get(name) is not None))
        return number if bounds else {"anyOf": [of_format("x-fraction"), number]}

    # --- time --------------------------------------------------------------------------------------------------------

    def date_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of dates, with their bounds."""
        return of_format(date_format(schema))

    def time_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of times of day, with an offset."""
        return of_format(time_format(schema))

    def datetime_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of points in time, with an offset unless the type refuses it."""
        return of_format(datetime_format(schema))

    def timedelta_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of durations."""
        return of_format(timedelta_format(schema))

    # --- identifiers -------------------------------------------------------------------------------------------------

    def uuid_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of UUIDs, of one version if the type has it."""
        return of_format(f"uuid{schema['version']}" if schema.get("version") else "uuid")

    def url_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of URLs with one host."""
        schemes = schema.get("allowed_schemes")
        name = "x-url" if schemes is None else _URL_FORMATS.get(frozenset(schemes))
        if name is None:
            if not _have_hosts(schemes):
                return refused("allowed_schemes")
            name = f"x-url-of {','.join(schemes)}"
        result = of_format(name)
        if schema.get("max_length") is not None:
            # Pydantic counts the normalized URL, which has at most one slash more.
            result["maxLength"] = max(schema["max_length"] - 1, 0)
        return result

    def multi_host_url_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of URLs that may name several hosts, such as those of databases."""
        schemes = schema.get("allowed_schemes")
        if schema.get("max_length") is not None:  # Pydantic counts the normalized URL
            return refused("max_length")
        if schemes is None:
            return of_format("multi-host-uri")
        return (
            of_format(f"x-multi-host-url {','.join(schemes)}") if _have_hosts(schemes) else refused("allowed_schemes")
        )

    def json_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of JSON in a string."""
        inner = schema.get("schema")
        if inner is None or inner["type"] == "any":
            return of_format("json-string")
        return {"type": "string", "contentMediaType": "application/json", JSON_CONTENT: self.generate_inner(inner)}


@cache
def _reads_large_integers() -> bool:
    """Return whether this release of Pydantic reads integers of more than 64 bits as floats."""
    try:
        pydantic.TypeAdapter(float).validate_json("1" + "0" * 20)
    except pydantic.ValidationError:
        return False
    return True


def _max_multiple(step: float) -> float | None:
    """Return the number up to which Pydantic surely finds the multiples of a float; None for any size.

    A step that a double holds is an odd number of powers of 2, and so are its multiples. Doubles hold them up to 2**53
    of these powers. Beyond that they are rounded, and multiples of 3 are no multiples any more. Pydantic divides by the
    step, so the quotient has to be a double, too.
    """
    exact = Fraction(step)
    finite = math.inf if step >= 1 else step * sys.float_info.max
    if exact != Fraction(str(step)):
        return min(_MAX_ROUNDED_MULTIPLE, finite)
    power = Fraction(exact.numerator & -exact.numerator, exact.denominator)
    most = finite if power == exact else min(float(power * 2**53), finite)
    return None if most == math.inf else most


def _divisible(bounds: JsonSchemaValue) -> list[JsonSchemaValue]:
    """Return bounds on decimals with a `multiple_of`: Python computes remainders only of short enough quotients."""
    if "multipleOf" not in bounds:
        return []
    most = bounds["multipleOf"] * 10**_QUOTIENT_DIGITS
    return [{"type": "number", "minimum": -most, "maximum": most}]


def _as_decimal(bound: Any) -> Decimal | None:
    """Return a bound as JSON can write it, or None if it has no finite decimal form."""
    exact = Fraction(bound)
    places = exact.denominator.bit_length()
    if 10**places % exact.denominator:
        return None
    return _scaled(exact.numerator * (10**places // exact.denominator), places)


def _scaled(whole: int, places: int) -> Decimal:
    """Return an integer divided by a power of ten. Operations on decimals would round it to 28 digits."""
    sign, digits, _ = Decimal(whole).as_tuple()
    return Decimal((sign, digits, -places))


def _in_digits(result: JsonSchemaValue) -> JsonSchemaValue:
    """Require digits for listed integers: then they are forced text, and some releases read no other form."""
    if result.get("type") not in _TYPES_OF_VALUES:  # some releases write "numeric"
        result.pop("type", None)
    values = result.get("enum", [result.get("const")])
    floats = [value for value in values if isinstance(value, float)]
    if not floats:
        return result | {NUMBER_FORM: INTEGER_DIGITS_ONLY}
    others = [value for value in values if not isinstance(value, float)]
    return {"anyOf": [{"enum": others, NUMBER_FORM: INTEGER_DIGITS_ONLY}, {"enum": floats}]} if others else result


def _have_hosts(schemes: list[str]) -> bool:
    """Return whether URLs of these schemes have a host and may have a port, and their names have no odd characters."""
    return "file" not in schemes and all(re.fullmatch("[a-z][a-z0-9+.-]*", scheme) for scheme in schemes)
