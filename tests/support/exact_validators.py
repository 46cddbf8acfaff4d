"""Validators of `jsonschema`, mended where its answer is not the standard's; and the masks' answer beside them."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import jsonschema
import jsonschema._legacy_keywords

import structgen

__all__ = ["BRANCHES", "CLASSES", "FORMATS", "allows", "is_valid"]

_evaluated_draft2019 = jsonschema._legacy_keywords.find_evaluated_property_keys_by_schema


def _exact_multiple(validator: Any, step: Any, value: Any, schema: Any) -> Any:
    """`multipleOf` of the decimal numbers, where `jsonschema` divides doubles: 0.6 is a multiple of 0.1."""
    if validator.is_type(value, "number") and Fraction(repr(value)) % Fraction(repr(step)):
        yield jsonschema.ValidationError("not a multiple")


def _ascii_pattern(validator: Any, pattern: Any, value: Any, schema: Any) -> Any:
    r"""`pattern` as ECMA-262 reads it, where `jsonschema` takes all of Unicode's digits for `\d`."""
    if validator.is_type(value, "string") and not re.search(pattern, value, re.ASCII):
        yield jsonschema.ValidationError("no match")


def _additional(validator: Any, rest: Any, value: Any, schema: Any) -> Any:
    """`additionalProperties`, where `jsonschema` takes the pattern `""` for none."""
    if validator.is_type(value, "object"):
        patterns = schema.get("patternProperties", {})
        for key, inner in value.items():
            if key not in schema.get("properties", {}) and not any(re.search(pattern, key) for pattern in patterns):
                yield from validator.descend(inner, rest, path=key)


def _all_branches(validator: Any, branches: Any, value: Any, schema: Any) -> Any:
    """Follow every branch to its end."""
    for branch in branches if isinstance(branches, list) else [branches]:
        yield from validator.descend(value, branch)


def _evaluated_keys(validator: Any, instance: Any, schema: Any, *, of_jsonschema: Any = _evaluated_draft2019) -> Any:
    """Keys that `additionalProperties` evaluates in 2019-09, where `jsonschema` takes its keywords for keys."""
    found = of_jsonschema(validator, instance, schema)
    if isinstance(schema, bool):
        return found
    rest = schema.get("additionalProperties"), schema.get("unevaluatedProperties")
    return [*found, *instance] if any(isinstance(part, dict) for part in rest) else found


def _unevaluated(validator: Any, rest: Any, value: Any, schema: Any) -> Any:
    """`unevaluatedProperties` of 2019-09: it evaluates keys for the schemas around it, not for itself."""
    others = {name: part for name, part in schema.items() if name != "unevaluatedProperties"}
    yield from jsonschema._legacy_keywords.unevaluatedProperties_draft2019(validator, rest, value, others)


jsonschema._legacy_keywords.find_evaluated_property_keys_by_schema = _evaluated_keys
EXACT = {"multipleOf": _exact_multiple, "pattern": _ascii_pattern, "additionalProperties": _additional}
CLASSES = {
    "draft4": jsonschema.validators.extend(jsonschema.Draft4Validator, EXACT),
    "draft6": jsonschema.validators.extend(jsonschema.Draft6Validator, EXACT),
    "draft7": jsonschema.validators.extend(jsonschema.Draft7Validator, EXACT),
    "2019-09": jsonschema.validators.extend(
        jsonschema.Draft201909Validator, EXACT | {"unevaluatedProperties": _unevaluated}
    ),
    "2020-12": jsonschema.validators.extend(jsonschema.Draft202012Validator, EXACT),
}
BRANCHES = dict.fromkeys(("allOf", "anyOf", "oneOf", "not", "if", "then", "else"), _all_branches)
FORMATS = jsonschema.FormatChecker()  # of the last draft for all of them, as structgen has them
FORMATS.checkers = dict(jsonschema.Draft202012Validator.FORMAT_CHECKER.checkers)
_DURATION = re.compile(
    r"P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)(?<!P)"
)
FORMATS.checks("duration")(lambda value: not isinstance(value, str) or bool(_DURATION.fullmatch(value)))


def is_valid(validator: Any, value: Any) -> bool | None:
    """Whether `jsonschema` finds a value valid; None where it follows a circle until the stack ends, or fails."""
    try:
        return bool(validator.is_valid(value))
    except RecursionError:
        return None
    except TypeError:  # its `additionalItems` beside a boolean `items`
        return None
    except BaseException as error:  # the same inside of its parts in Rust
        if type(error).__name__ != "PanicException":
            raise
        return None


def allows(constraint: structgen.Constraint[Any] | None, value: Any) -> bool:
    """Whether the masks let the text of a value through; without a constraint, no value."""
    if constraint is None:
        return False
    matcher = constraint.matcher()
    try:
        matcher.accept_bytes(json.dumps(value, ensure_ascii=False).encode())
    except structgen.TokenRejectedError:
        return False
    return bool(matcher.is_accepting)
