"""Instances that hypothesis-jsonschema draws of random schemas: the masks allow each that `jsonschema` finds valid.

Its instances come from the schema, where those of `test_random_schemas` come from the alphabet of all schemas.
`make test` takes 40 schemas; `STRUCTGEN_ALL_CASES=1` takes 2,000. hypothesis-jsonschema knows drafts 4, 6 and 7.
"""

from __future__ import annotations

import json
import os
import random
import re
import warnings
from typing import Any

import pytest
from support.exact_validators import CLASSES, FORMATS, allows, is_valid
from support.random_schemas import RandomSchemas
from support.vocabularies import BYTES

import structgen
from structgen.schema import SchemaWarning
from structgen.schema.validation import validator_for

pytest.importorskip("hypothesis_jsonschema")
from support.schema_instances import instances

BLOCKS = 50 if os.environ.get("STRUCTGEN_ALL_CASES") else 1
SCHEMAS = 40
DRAWN = 6
_LONG_NUMBER = re.compile(r"(\d\.?){16}|[eE]")  # docs/json-schema.md has the bounds on numbers


@pytest.mark.parametrize("block", range(BLOCKS))
def test_masks_allow_drawn_instances(block):
    judged = sum(_judged(number) for number in range(block * SCHEMAS, (block + 1) * SCHEMAS))
    assert judged > SCHEMAS  # instances, all schemas together: else nothing was tested


def _judged(number: int) -> int:
    """The number of instances that were judged."""
    rng = random.Random(number)
    draft = rng.choice(("draft4", "draft6", "draft7"))
    documents = (RandomSchemas(rng, draft, parts=8).document() for _ in range(99))
    schema = next(one for one in documents if '"$ref"' not in json.dumps(one))
    drawn = [value for value in instances(schema, DRAWN, number) if not _LONG_NUMBER.search(json.dumps(value))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        try:
            constraint: Any = structgen.compile(schema, BYTES, property_order="any")
        except structgen.UnsatisfiableSchemaError:
            constraint = None
        except (structgen.LimitExceededError, structgen.SchemaError):  # judged by `test_random_schemas`
            return 0
    validator, ours = CLASSES[draft](schema, format_checker=FORMATS), validator_for(schema)
    decided = [value for value in drawn if is_valid(validator, value) and ours.is_valid(value)]
    for value in decided:
        assert allows(constraint, value), (schema, value)
    return len(decided)
