"""Random schemas that refer to themselves at the same value many times: each compiles quickly, to the values decided.

`make test` takes 300 of them; `STRUCTGEN_ALL_CASES=1` takes 20,000.
"""

from __future__ import annotations

import contextlib
import os
import random
from typing import Any

import pytest
from support.dense_schemas import POOL, DenseSchemas, Evaluator, TooManySteps
from support.judging_schemas import accepts
from support.random_schemas import DRAFTS
from support.vocabularies import BYTES

import structgen

BLOCKS = 20 if os.environ.get("STRUCTGEN_ALL_CASES") else 1
EXAMPLES = 1_000 if os.environ.get("STRUCTGEN_ALL_CASES") else 300
LIMITS = structgen.Limits(schema_nodes=20_000)  # a tenth of the default: a measure of the work


@pytest.mark.parametrize("block", range(BLOCKS))
def test_dense_references_accept_what_is_derived(block):
    for seed in range(block * EXAMPLES, (block + 1) * EXAMPLES):
        rng = random.Random(seed)
        schema = DenseSchemas(rng, rng.choice(sorted(DRAFTS)), parts=rng.choice((8, 14, 22))).document()
        with contextlib.suppress(TooManySteps):
            _check(schema)


def _check(schema: dict[str, Any]) -> None:
    decides = Evaluator(schema)
    try:
        constraint = structgen.compile(schema, BYTES, property_order="any", limits=LIMITS)
    except structgen.UnsatisfiableSchemaError:
        assert True not in map(decides, POOL), schema
        return
    except structgen.SchemaError as error:
        assert "refers to itself" in str(error), schema
        if not error.pointer:
            assert {None} == set(map(decides, POOL)), schema
        return
    for value in POOL:
        assert accepts(constraint, value) == (decides(value) is True), (schema, value)
