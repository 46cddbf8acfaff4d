r"""The last word on plain JSON Schemas: `jsonschema`, with three keywords made exact.

`multipleOf` is computed on decimals (`jsonschema` divides doubles: 0.07 is no multiple of 0.01 to it), and `pattern`
is read as ECMA-262, as the standard says (`jsonschema` reads Python's regexes, where `\d` means all of Unicode).
`format`, where it is asserted, means what it means to the grammar: `jsonschema` checks those whose packages happen to
be installed, and some loosely. What a format leaves open (`Language.outer`) is left to its checker.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import jsonschema
from jsonschema.protocols import Validator

from structgen.errors import SchemaError
from structgen.limits import Limits
from structgen.schema import formats
from structgen.schema.keywords import language_of
from structgen.schema.numbers import exact
from structgen.schema.refs import ROOT

__all__ = ["validator_class"]

_CLASSES: dict[str, Any] = {
    "draft4": jsonschema.Draft4Validator,
    "draft6": jsonschema.Draft6Validator,
    "draft7": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
}


@cache
def validator_class(dialect: str) -> Any:
    """The validator class of a draft; of the newest one for ""."""
    base = _CLASSES[dialect or "2020-12"]
    extend: Any = jsonschema.validators.extend
    return extend(base, {"multipleOf": _multiple_of, "pattern": _pattern, "format": _format})


def _multiple_of(validator: Validator, step: Any, instance: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    if validator.is_type(instance, "number") and Fraction(exact(instance)) % exact(step):
        yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {step}")


def _pattern(validator: Validator, pattern: Any, instance: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    if not validator.is_type(instance, "string"):
        return
    try:
        found = language_of(pattern, "ecma", ROOT, "pattern", Limits()).matches(instance)
    except SchemaError:  # a pattern that no automaton does; the grammar has refused it, or never met it
        yield from jsonschema.Draft202012Validator.VALIDATORS["pattern"](validator, pattern, instance, schema)
        return
    if not found:
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _format(validator: Validator, name: Any, instance: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    if getattr(validator, "format_checker", None) is None or not isinstance(instance, str):
        return
    language = formats.language(name) if isinstance(name, str) else None
    if language is None or (language.may_match(instance) and not language.matches(instance)):
        yield from jsonschema.Draft202012Validator.VALIDATORS["format"](validator, name, instance, schema)
    elif not language.matches(instance):
        yield jsonschema.ValidationError(f"{instance!r} is not a {name!r}")
