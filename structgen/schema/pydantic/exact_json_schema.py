"""JSON Schemas of types that accept exactly the JSON that Pydantic accepts, or less, never more.

Pydantic's own generator makes documentation. Every text that satisfies the schema of this one passes `validate_json`.
To that end it

- closes models that ignore extra keys (ignored keys are useless output),
- names the formats that Pydantic parses,
- makes tagged unions require their tag,
- and marks constraints that no grammar expresses, such as files that must exist; reading them is an error.

Validators in Python are not visible here; only `validate_json` checks them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any

import pydantic
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import to_jsonable_python

from structgen.schema.formats import UNSUPPORTED, language
from structgen.schema.own_keywords import JSON_CONTENT, REGEX_DIALECT
from structgen.schema.pydantic.alias_paths import nest
from structgen.schema.pydantic.core_schemas import (
    FUNCTIONS,
    all_names,
    deep_paths,
    follows_user_function,
    is_constraint,
    is_hashable,
    is_outlines,
    is_own,
    is_scalar,
    keeps_values_distinct,
    narrowed,
    single_names,
    text_kind,
    warn_of_bound,
)
from structgen.schema.pydantic.moments import date_format, datetime_format, time_format, timedelta_format
from structgen.schema.reading.number_keywords import DOUBLE, INTEGER_DIGITS_ONLY, NUMBER_FORM, SHORT_DOUBLE

__all__ = ["ExactJsonSchema"]

_URL_FORMATS = {
    frozenset({"http", "https"}): "x-http-url",
    frozenset({"ws", "wss"}): "x-ws-url",
    frozenset({"ftp"}): "x-ftp-url",
}
_TIGHTER_FORMATS = {
    "email": "x-email",
    "ipvanyaddress": "x-ip",
}
_MAX_ROUNDED_MULTIPLE = 4_000_000  # below 2**22, the errors of the number and of the step together are below 1e-9
_CHANGES_TEXT = ("str_to_lower", "str_to_upper", "str_strip_whitespace")
_LOOKS_AT_MACHINE = frozenset(
    {
        "PathType.validate_directory", "PathType.validate_file", "PathType.validate_new", "PathType.validate_socket",
        "import_string",
    }
)  # fmt: skip
_TYPES_OF_VALUES = ("string", "integer", "number", "boolean", "null")
_BYTE_SIZE = r"^[0-9]{1,15}(\.[0-9]{1,9})? ?([kKmMgGtTpPeE]?[bB]|[kKmMgGtTpPeE][iI][bB])?$"
_IS_BYTES = "x-structgen-bytes"
"""Marks a string that is read as bytes, until `_tighten` has set the formats."""
_QUOTIENT_DIGITS = 27
_SCALARS = ["string", "number", "boolean", "null"]
_KEY_KEYWORDS = frozenset({"type", "title", "description", "examples", "default"})


def _refused(keyword: str, why: str = "") -> JsonSchemaValue:
    """Return a schema that raises `UnsupportedSchemaError` for a keyword, with a reason, when it is read."""
    return {"type": "string", "format": f"{UNSUPPORTED} {keyword} {why}".rstrip()}


def _matched_whole(result: JsonSchemaValue) -> JsonSchemaValue:
    """Return the schema of a type of outlines, whose validator matches the pattern with the whole string."""
    return result | {"pattern": rf"\A(?:{result['pattern']})\Z", REGEX_DIALECT: "python"}


def _text(format_name: str) -> JsonSchemaValue:
    return {"type": "string", "format": format_name}


class ExactJsonSchema(GenerateJsonSchema):
    """Pydantic's generator of JSON Schemas, made as strict as `validate_json`."""

    def emit_warning(self, kind: Any, detail: str) -> None:
        """Ignore warnings: they are about defaults that JSON cannot express, which do not matter here."""

    # --- strings and numbers -----------------------------------------------------------------------------------------

    def str_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of strings, with the dialect of `pattern` and the effect of stripping on lengths."""
        result = super().str_schema(schema)
        pattern = schema.get("pattern")
        self._bound_text(result)
        if pattern == pydantic.ByteSize.byte_string_pattern:
            return result | {"pattern": _BYTE_SIZE}
        if pattern is not None:
            engine = schema.get("regex_engine") or getattr(self._config, "regex_engine", None)
            compiled = isinstance(pattern, re.Pattern)
            if compiled and pattern.flags & ~re.UNICODE:
                return _refused("pattern")
            result[REGEX_DIALECT] = "python" if compiled or engine == "python-re" else "rust"
        strips = schema.get("strip_whitespace") or getattr(self._config, "str_strip_whitespace", False)
        if strips and {"minLength", "pattern"} & result.keys():
            result = {"allOf": [result, _text("x-stripped")]}
        return {"allOf": [result, _text("x-ascii")]} if schema.get("ascii_only") else result

    def _bound_text(self, result: JsonSchemaValue) -> None:
        """Add the lengths that the model's options give to all strings."""
        for keyword, option in (("minLength", "str_min_length"), ("maxLength", "str_max_length")):
            if getattr(self._config, option, None):
                result.setdefault(keyword, getattr(self._config, option))

    def bytes_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of bytes, as text. Lengths count bytes, so with an upper bound only ASCII is allowed."""
        if self._reads_encoded_bytes():
            return _refused("val_json_bytes")
        result = super().bytes_schema(schema)
        result[_IS_BYTES] = True
        result.pop("format", None)
        if "maxLength" in result:
            result["format"] = "x-ascii"
        return result

    def _reads_encoded_bytes(self) -> bool:
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
        if step is not None and Fraction(step) != Fraction(str(step)):
            low = max(result.get("minimum", -_MAX_ROUNDED_MULTIPLE), -_MAX_ROUNDED_MULTIPLE)
            high = min(result.get("maximum", _MAX_ROUNDED_MULTIPLE), _MAX_ROUNDED_MULTIPLE)
            if low > _MAX_ROUNDED_MULTIPLE or high < -_MAX_ROUNDED_MULTIPLE:
                return _refused("multiple_of")
            result |= {"minimum": low, "maximum": high}
        return result | {NUMBER_FORM: DOUBLE if _reads_large_integers() else SHORT_DOUBLE}

    def decimal_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of decimals: numbers, and strings too if there is no `multiple_of`."""
        bounds: JsonSchemaValue = {}
        names = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
        for name, keyword in (*names.items(), ("multiple_of", "multipleOf")):
            if schema.get(name) is not None:
                bounds[keyword] = Decimal(schema[name])
        digits, places = schema.get("max_digits"), schema.get("decimal_places")
        if digits is not None and places is not None:
            places = min(digits, places)  # Pydantic counts the zeros after the point: 0.01 has two digits
        # No digit is allowed before the point then, and Pydantic counts that of 0.
        no_zero = digits is not None and digits == places
        variants: list[JsonSchemaValue] = []
        for used in range(digits + 1) if digits is not None and places is None else (places,):
            number: JsonSchemaValue = {"type": "number"}
            if used is not None:
                number["multipleOf"] = Decimal(1).scaleb(-used)
            if digits is not None and used is not None:
                most = Decimal(10) ** (digits - used) - Decimal(1).scaleb(-used)
                number |= {"minimum": -most, "maximum": most}
            if no_zero:
                number["not"] = {"const": 0}
            variants.append(
                {"allOf": [number, {"type": "number", **bounds}, *_divisible(bounds)]} if bounds else number
            )
            if "multipleOf" not in bounds:
                limits = (digits, used, *(bounds.get(keyword) for keyword in names.values()))
                text = _text("x-decimal " + " ".join("-" if x is None else str(x) for x in limits))
                variants.append(text | {"pattern": "^[^eE]*[1-9]"} if no_zero else text)
        return variants[0] if len(variants) == 1 else {"anyOf": variants}

    def literal_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of literals that JSON can express.

        Members of an `Enum` are left out unless they are a `str`, an `int` or a `float`: Pydantic does not read others.
        """
        expected = [value for value in schema["expected"] if _is_read(value)]
        if not expected:
            return _refused("literal")
        return _in_digits(super().literal_schema({"type": "literal", "expected": expected}))

    def enum_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of enumeration members with JSON values. Pydantic does not read others, such as tuples."""
        values = ((member, to_jsonable_python(member.value, fallback=id)) for member in schema["members"])
        members = [member for member, value in values if value == member.value]
        read: Any = dict(schema) | {"members": members}
        return _in_digits(super().enum_schema(read)) if members else _refused("enum")

    def complex_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of complex numbers, as strings."""
        return _text("x-complex")

    def fraction_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of fractions: numbers, and strings such as "1/3" if there are no bounds."""
        names = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
        names["multiple_of"] = "multipleOf"
        bounds = {keyword: schema[name] for name, keyword in names.items() if schema.get(name) is not None}
        number = {"type": "number", **{keyword: _as_decimal(bound) for keyword, bound in bounds.items()}}
        if None in number.values():
            return _refused(next(name for name in names if schema.get(name) is not None))
        return number if bounds else {"anyOf": [_text("x-fraction"), number]}

    # --- time --------------------------------------------------------------------------------------------------------

    def date_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of dates, with their bounds."""
        return _text(date_format(schema))

    def time_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of times of day, with an offset."""
        return _text(time_format(schema))

    def datetime_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of points in time, with an offset unless the type refuses it."""
        return _text(datetime_format(schema))

    def timedelta_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of durations."""
        return _text(timedelta_format(schema))

    # --- identifiers -------------------------------------------------------------------------------------------------

    def uuid_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of UUIDs, of one version if the type has it."""
        return _text(f"uuid{schema['version']}" if schema.get("version") else "uuid")

    def url_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of URLs with one host."""
        schemes = schema.get("allowed_schemes")
        name = "x-url" if schemes is None else _URL_FORMATS.get(frozenset(schemes))
        if name is None:
            if not _have_hosts(schemes):
                return _refused("allowed_schemes")
            name = f"x-url-of {','.join(schemes)}"
        result = _text(name)
        if schema.get("max_length") is not None:
            # Pydantic counts the normalized URL, which has at most one slash more.
            result["maxLength"] = max(schema["max_length"] - 1, 0)
        return result

    def multi_host_url_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of URLs that may name several hosts, such as those of databases."""
        schemes = schema.get("allowed_schemes")
        if schema.get("max_length") is not None:  # Pydantic counts the normalized URL
            return _refused("max_length")
        if schemes is None:
            return _text("multi-host-uri")
        return _text(f"x-multi-host-url {','.join(schemes)}") if _have_hosts(schemes) else _refused("allowed_schemes")

    def json_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of JSON in a string."""
        inner = schema.get("schema")
        if inner is None or inner["type"] == "any":
            return _text("json-string")
        return {"type": "string", "contentMediaType": "application/json", JSON_CONTENT: self.generate_inner(inner)}

    # --- functions ---------------------------------------------------------------------------------------------------

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of any type; refuse Pydantic's types that look at the machine, such as existing files."""
        if schema["type"] == "missing-sentinel" and "schema" not in schema:
            return {"not": {}}  # `pydantic.MISSING`: no JSON is read as it
        kind = text_kind(schema, is_strict=bool(getattr(self._config, "strict", False)))
        if kind == "bytes" and self._reads_encoded_bytes():
            return _refused("val_json_bytes")
        if schema["type"] in FUNCTIONS:
            function = schema["function"]["function"]
            if is_constraint(function):
                inner = narrowed(schema["schema"], function)
                if inner is not None:
                    return self.generate_inner(inner)
                keyword = next(iter(function.keywords))
                if not follows_user_function(schema["schema"]):
                    return _refused(keyword)
                result = super().generate_inner(schema)
                has_length = not {"minLength", "maxLength"}.isdisjoint(result) and result.get("type") != "string"
                if keyword in result or has_length:  # Pydantic has written a keyword that has no effect there
                    warn_of_bound(keyword, schema["schema"]["function"]["function"])
                return result
            name = getattr(function, "__qualname__", "")
            if is_own(function):
                if name in _LOOKS_AT_MACHINE:
                    return _refused("format", f"{name} looks at the machine; a grammar cannot")
                if name == "EncodedStr.decode_str":  # wraps bytes in some releases
                    for option in ("str_to_lower", "str_to_upper"):
                        if getattr(self._config, option, False):  # before it is decoded
                            return _refused(option)
                    result = super().generate_inner(schema)
                    result.pop(_IS_BYTES, None)
                    return result
            if is_outlines(function):
                return _matched_whole(super().generate_inner(schema))
        result = super().generate_inner(schema)
        if kind == "str" and result.get("type") == "string":
            self._bound_text(result)
        return result

    def chain_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of a chain of types, as for a union with a pattern: the union, then a string."""
        first, *others = schema["steps"]
        if first["type"] == "any" and [step.get("cls") for step in others] == [Hashable]:
            return {"type": _SCALARS}
        texts = [step["schema"] if step["type"] == "function-wrap" else step for step in others]
        is_plain = not any(map(follows_user_function, schema["steps"]))  # a user's function may return another type
        kinds = {text["type"] for text in texts}
        if is_plain and (kinds == {"str"} or (len(kinds) == 1 and kinds <= {first["type"]} <= {"float", "int"})):
            return {"allOf": [self.generate_inner(step) for step in (first, *texts)]}
        if is_plain and any(map(is_scalar, texts)):  # such as a string that is read as an integer
            return _refused("type", "a value that is read as one type and then as another")
        return super().chain_schema(schema)

    def is_subclass_schema(self, schema: Any) -> JsonSchemaValue:
        """Refuse classes as values: Pydantic reads none of them from JSON."""
        return _refused("type", f"{schema['cls'].__name__}: a class cannot be read from JSON")

    # --- collections -------------------------------------------------------------------------------------------------

    def tuple_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of tuples; refuse items after the repeated ones."""
        index = schema.get("variadic_item_index")
        if index is not None and index + 1 != len(schema["items_schema"]):
            return {"type": "array", "items": _refused("prefixItems"), "minItems": 1}
        result = super().tuple_schema(schema)
        required = len(schema["items_schema"]) - (index is not None)
        result["minItems"] = max(required, result.get("minItems", 0))  # Pydantic writes one of them, or the other
        if index is None:
            result["maxItems"] = min(required, result.get("maxItems", required))
        return result

    def set_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of sets. Equal items become one, so they must differ only if there is a minimum."""
        return self._set(schema, super().set_schema(schema))

    def frozenset_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of frozen sets; see `set_schema`."""
        return self._set(schema, super().frozenset_schema(schema))

    def _set(self, schema: Any, result: JsonSchemaValue) -> JsonSchemaValue:
        items = schema.get("items_schema", {"type": "any"})
        if result.get("minItems", 0) < 2:
            result.pop("uniqueItems", None)
        elif not keeps_values_distinct(items) or any(getattr(self._config, option, False) for option in _CHANGES_TEXT):
            return _refused("uniqueItems")
        if items["type"] == "any":
            result["items"] = {"type": _SCALARS}
        elif not is_hashable(items):
            result["items"] = _refused("items")
        return result

    def dict_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of maps, with that of their keys."""
        return self._map(schema, super().dict_schema(schema))

    # Kinds of maps that newer releases have.
    ordered_dict_schema = frozendict_schema = counter_schema = dict_schema

    def _map(self, schema: Any, result: JsonSchemaValue) -> JsonSchemaValue:
        result.pop("patternProperties", None)
        result.pop("propertyNames", None)
        values = self.generate_inner(schema["values_schema"]) if "values_schema" in schema else {}
        result["additionalProperties"] = values or True
        keys = self.generate_inner(schema["keys_schema"]) if "keys_schema" in schema else {}
        names = self._key_names(keys)
        if result.get("minProperties", 0) > 1 and not self._keeps_keys_distinct(schema.get("keys_schema")):
            names = _refused("minProperties")
        if names is not None:
            result["propertyNames"] = names
        return result

    def _keeps_keys_distinct(self, keys: Any) -> bool:
        """Return whether different names are surely read as different keys of a map."""
        if keys is None or keys["type"] == "any":
            return True
        is_rewritten = any(getattr(self._config, option, False) for option in _CHANGES_TEXT)
        return keys["type"] in ("str", "int", "literal", "enum") and keeps_values_distinct(keys) and not is_rewritten

    @staticmethod
    def _key_names(keys: JsonSchemaValue) -> JsonSchemaValue | None:
        """Return the schema of a map's keys, or None if it accepts every string."""
        kind = keys.get("type")
        if "anyOf" in keys:
            options = [ExactJsonSchema._key_names(option) for option in keys["anyOf"]]
            known = [option for option in options if option is not None]
            return {"anyOf": known} if len(known) == len(options) else None
        if not keys or (kind == "string" and keys.keys() <= _KEY_KEYWORDS):
            return None
        if kind == "string" or "enum" in keys or "const" in keys or "allOf" in keys:
            return keys
        if "$ref" in keys:
            return {"allOf": [keys, {"type": "string"}]}
        if kind == "integer" and not {"multipleOf"} & keys.keys():
            low = max(
                (int(keys[k]) + (k != "minimum") for k in ("minimum", "exclusiveMinimum") if k in keys), default="-"
            )
            high = min(
                (int(keys[k]) - (k != "maximum") for k in ("maximum", "exclusiveMaximum") if k in keys), default="-"
            )
            return _text(f"x-integer {low} {high}")
        return _refused("propertyNames")

    # --- models ------------------------------------------------------------------------------------------------------

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of models, closed unless they keep extra keys."""
        return _closed(super().model_schema(schema), schema)

    def dataclass_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of dataclasses, closed unless they keep extra keys."""
        return _closed(super().dataclass_schema(schema), schema)

    def typed_dict_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of typed dicts, closed unless they keep extra keys."""
        return _closed(super().typed_dict_schema(schema), schema)

    def model_fields_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of a model's fields, with that of the names of its extra keys, which are always `str`."""
        result = super().model_fields_schema(schema)
        keys = schema.get("extras_keys_schema", {"type": "any"})
        names = self.generate_inner(keys)
        is_text = keys["type"] in ("any", "literal") or (names.get("type") == "string" and "format" not in names)
        allowed = self._key_names(names) if is_text else _refused("propertyNames")
        if allowed is not None:
            result["propertyNames"] = {"anyOf": [{"enum": list(result.get("properties", {}))}, allowed]}
        return result

    def field_is_present(self, field: Any) -> bool:
        """Return whether a field is read from JSON: not if the constructor does not take it."""
        return bool(super().field_is_present(field)) and field.get("init", True) is not False

    def tagged_union_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of tagged unions: each branch requires its tag, even if the field has a default."""
        variants: list[tuple[JsonSchemaValue, list[Any]]] = []
        for tag, choice in schema["choices"].items():
            branch = self.generate_inner(choice)
            value = tag.value if isinstance(tag, Enum) else tag
            for known, tags in variants:
                if known == branch:
                    tags.append(value)
                    break
            else:
                variants.append((branch, [value]))
        discriminator = schema["discriminator"]
        if callable(discriminator):  # a user's function picks the branch, as a validator
            return {"anyOf": [branch for branch, _ in variants]}
        names = [discriminator] if isinstance(discriminator, str) else single_names(discriminator)
        if not names:
            return _refused("discriminator")
        return {"anyOf": [self._tagged(branch, tags, names) for branch, tags in variants]}

    def _tagged(self, branch: JsonSchemaValue, tags: list[Any], names: list[str]) -> JsonSchemaValue:
        try:
            known = self._resolved(branch).get("properties", {})
        except RuntimeError:  # a model whose schema is not complete yet
            known = {}
        name = next((name for name in names if name in known), names[-1])
        return {"allOf": [branch, {"required": [name], "properties": {name: {"enum": tags}}}]}

    def _resolved(self, schema: JsonSchemaValue) -> JsonSchemaValue:
        """Return the schema that a reference names. Releases of Pydantic name the method differently."""
        method: Any = getattr(self, "resolve_ref_schema", None) or getattr(self, "resolve_schema_to_update", None)
        return dict(method(schema))

    def generate(self, schema: Any, mode: Any = "validation") -> JsonSchemaValue:
        """Return the whole schema of a core schema, with our formats."""
        result = super().generate(schema, mode)
        _tighten(result)
        return result


@cache
def _reads_large_integers() -> bool:
    """Return whether this release of Pydantic reads integers of more than 64 bits as floats."""
    try:
        pydantic.TypeAdapter(float).validate_json("1" + "0" * 20)
    except pydantic.ValidationError:
        return False
    return True


def _divisible(bounds: JsonSchemaValue) -> list[JsonSchemaValue]:
    """Return bounds on decimals with a `multiple_of`: Python computes remainders only of short enough quotients."""
    if "multipleOf" not in bounds:
        return []
    most = bounds["multipleOf"] * 10**_QUOTIENT_DIGITS
    return [{"type": "number", "minimum": -most, "maximum": most}]


def _as_decimal(bound: Any) -> Decimal | None:
    """Return a bound as JSON can write it, or None if it has no finite decimal form."""
    if isinstance(bound, (int, float, Decimal)):
        return Decimal(str(bound))
    denominator = Fraction(bound).denominator
    if 10 ** denominator.bit_length() % denominator:
        return None
    return Decimal(bound.numerator) / Decimal(bound.denominator)


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


def _is_read(literal: Any) -> bool:
    return not isinstance(literal, bytes) and (not isinstance(literal, Enum) or isinstance(literal, (str, int, float)))


def _closed(result: JsonSchemaValue, schema: Any) -> JsonSchemaValue:
    """Close an object that does not keep extra keys; in an open one, forbid other names of its fields as extra keys."""
    if result.get("type") != "object" or "properties" not in result:
        return result
    if paths := deep_paths(schema):
        nest(result, paths, must_lead=result.get("additionalProperties") is False)
    if result.setdefault("additionalProperties", False) is not False:
        for name in all_names(schema):
            result["properties"].setdefault(name, False)
    return result


def _tighten(schema: Any) -> None:
    """Replace the formats that Pydantic enforces more strictly than the standard by our own."""
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            name = value.get("format")
            if isinstance(name, str) and value.get("type") == "string":
                if name in ("base64", "base64url") and _IS_BYTES not in value:  # the decoded bytes must be UTF-8
                    name = f"x-{name}-ascii"
                name = _TIGHTER_FORMATS.get(name, name)
                if name.startswith("x-") and not name.startswith(UNSUPPORTED) and language(name) is None:
                    name = f"{UNSUPPORTED} format"  # a format of ours that no longer exists
                value["format"] = name
            stack.extend(child for child in value.values() if isinstance(child, (dict, list)))
        elif isinstance(value, list):
            stack.extend(value)
