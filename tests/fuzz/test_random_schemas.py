"""Random schemas of every draft: texts under masks pass `jsonschema`, and nothing gets stuck or raises a foreign error.

The schemas have every keyword of their draft, and parts that refer to themselves. `make test` takes 200 of them;
`STRUCTGEN_ALL_CASES=1` takes 5,000, in processes of 250.
"""

from __future__ import annotations

import json
import os
import random
import warnings
from typing import Any

import jsonschema
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

ALL_CASES = bool(os.environ.get("STRUCTGEN_ALL_CASES"))
BLOCKS = 20 if ALL_CASES else 1
EXAMPLES = 250 if ALL_CASES else 200
WALKS = 2
VALUES = 4
CLASSES = {
    "draft4": jsonschema.Draft4Validator,
    "draft6": jsonschema.Draft6Validator,
    "draft7": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
}
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
    validator = CLASSES[draft](schema, format_checker=CLASSES[draft].FORMAT_CHECKER)
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
                assert all(_is_valid(validator, value) is None for value in values)
            else:
                assert isinstance(error, structgen.UnsupportedSchemaError)
            return
    for _ in range(WALKS if constraint is not None else 0):
        walk = SAMPLER.walk(constraint.grammar, rng)  # raises DeadEnd
        if walk.finished:
            assert _is_valid(validator, read_strictly(walk.text)) is not False, walk.text
            constraint.parse(walk.text.decode())
    ours = validator_for(schema)
    for value in values:
        decided = _is_valid(validator, value)
        if decided is not None and decided == ours.is_valid(value):  # else multiples, or formats, of jsonschema's own
            assert _accepts(constraint, value) == decided, value


def _is_valid(validator: Any, value: Any) -> bool | None:
    """Whether `jsonschema` finds a value valid; None where it follows a circle until the stack ends."""
    try:
        return bool(validator.is_valid(value))
    except RecursionError:
        return None
    except BaseException as error:  # the same inside of its parts in Rust
        if type(error).__name__ != "PanicException":
            raise
        return None


def _accepts(constraint: structgen.Constraint[Any] | None, value: Any) -> bool:
    if constraint is None:
        return False
    matcher = constraint.matcher()
    try:
        matcher.accept_bytes(json.dumps(value, ensure_ascii=False).encode())
    except structgen.TokenRejectedError:
        return False
    return bool(matcher.is_accepting)
