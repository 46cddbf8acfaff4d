"""Random schemas of every draft: texts under masks pass `jsonschema`, and nothing gets stuck or raises a foreign error.

The schemas have every keyword of their draft, and parts that refer to themselves. `make test` takes 200 of them;
`STRUCTGEN_ALL_CASES=1` takes 5,000, in processes of 250.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import warnings
from fractions import Fraction
from typing import Any

import jsonschema
import jsonschema._legacy_keywords
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from support.random_schemas import DRAFTS, RandomSchemas
from support.strict_json import read_strictly
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen.schema import SchemaWarning
from structgen.schema.validation import validator_for

_evaluated_draft2019 = jsonschema._legacy_keywords.find_evaluated_property_keys_by_schema
ALL_CASES = bool(os.environ.get("STRUCTGEN_ALL_CASES"))
BLOCKS = 20 if ALL_CASES else 1
EXAMPLES = 250 if ALL_CASES else 200
WALKS = 2
VALUES = 4


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
PROBES = (None, True, 1, 0.5, "a", "", [], [1], [[], {}], {}, {"a": 1}, {"b": [], "c": {}})
SAMPLER = Sampler(BYTES, longest=800, repeats=0.3)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_texts_of_random_schemas_are_valid(block):
    @seed(block)
    @settings(max_examples=EXAMPLES, database=None)
    @given(draft=st.sampled_from(sorted(DRAFTS)), number=st.integers(0, 2**32))
    def check(draft, number):
        rng = random.Random(number)
        maker = RandomSchemas(rng, draft)
        _check(draft, maker.document(), [maker.value() for _ in range(VALUES)], rng)

    check()


def _check(draft: str, schema: dict[str, Any], values: list[Any], rng: random.Random) -> None:
    validator = CLASSES[draft](schema, format_checker=FORMATS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        try:
            constraint = structgen.compile(schema, BYTES, property_order="any")
        except structgen.UnsatisfiableSchemaError:
            constraint = None
        except structgen.LimitExceededError:
            return
        except structgen.SchemaError as error:  # unsupported by name, or nothing decides it
            if "refers to itself" in str(error):
                assert any(_leads_back(draft, schema, error.pointer, value) for value in PROBES)
            else:
                assert isinstance(error, structgen.UnsupportedSchemaError)
            return
    for _ in range(WALKS if constraint is not None else 0):
        walk = SAMPLER.walk(constraint.grammar, rng)  # raises DeadEnd
        if walk.finished:
            assert _is_valid(validator, read_strictly(walk.text)) is not False, walk.text
            with contextlib.suppress(structgen.LimitExceededError):  # nested too deeply for the validator
                constraint.parse(walk.text.decode())
    ours = validator_for(schema)
    for value in values:
        decided = _is_valid(validator, value)
        if decided is not None and decided == ours.is_valid(value):  # else multiples, or formats, of jsonschema's own
            assert _accepts(constraint, value) == decided, value


def _is_valid(validator: Any, value: Any) -> bool | None:
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


def _leads_back(draft: str, schema: dict[str, Any], pointer: str, value: Any) -> bool:
    """Whether a subschema meets a circle for a value, where all branches are followed, not only the first that fits."""
    part: Any = schema
    for name in pointer.split("/")[1:]:
        part = part[int(name) if isinstance(part, list) else name.replace("~1", "/").replace("~0", "~")]
    follower = jsonschema.validators.extend(CLASSES[draft], BRANCHES)(schema).evolve(schema=part)
    try:
        for _ in follower.iter_errors(value):
            pass
    except RecursionError:
        return True
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return True
    return False


def _accepts(constraint: structgen.Constraint[Any] | None, value: Any) -> bool:
    if constraint is None:
        return False
    matcher = constraint.matcher()
    try:
        matcher.accept_bytes(json.dumps(value, ensure_ascii=False).encode())
    except structgen.TokenRejectedError:
        return False
    return bool(matcher.is_accepting)
