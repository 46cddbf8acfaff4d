"""Random schemas of every draft: texts under masks pass `jsonschema`, and nothing gets stuck or raises a foreign error.

The schemas have every keyword of their draft, and parts that refer to themselves. `make test` takes 200 of them;
`STRUCTGEN_ALL_CASES=1` takes 50,000, in blocks of 250.
"""

from __future__ import annotations

import contextlib
import os
import random
import warnings
from typing import Any

import jsonschema
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from support.exact_validators import BRANCHES, CLASSES, FORMATS, allows, is_valid
from support.random_schemas import DRAFTS, RandomSchemas
from support.strict_json import read_strictly
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen.schema import SchemaWarning
from structgen.schema.validation import validator_for

ALL_CASES = bool(os.environ.get("STRUCTGEN_ALL_CASES"))
BLOCKS = 200 if ALL_CASES else 1
EXAMPLES = 250 if ALL_CASES else 200
WALKS = 2
VALUES = 4


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
            assert is_valid(validator, read_strictly(walk.text)) is not False, walk.text
            with contextlib.suppress(structgen.LimitExceededError):  # nested too deeply for the validator
                constraint.parse(walk.text.decode())
    ours = validator_for(schema)
    for value in values:
        decided = is_valid(validator, value)
        if decided is not None and decided == ours.is_valid(value):  # else multiples, or formats, of jsonschema's own
            assert allows(constraint, value) == decided, value


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
