"""What a compiled schema accepts, and whether random walks through it are valid."""

import json
import random
from typing import Any

from jsonschema.protocols import Validator
from support.texts import is_read
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen import Constraint

__all__ = ["accepts", "assert_walks_are_valid", "compiled_or_none"]


def compiled_or_none(schema: Any, **options: Any) -> Constraint[Any] | None:
    """A schema, compiled for bytes; None where no value satisfies it."""
    try:
        return structgen.compile(schema, BYTES, cache=False, **options)
    except structgen.UnsatisfiableSchemaError:
        return None


def accepts(constraint: Constraint[Any], value: Any) -> bool:
    """Whether masks let the JSON text of a value through."""
    return is_read(constraint, json.dumps(value))


def assert_walks_are_valid(
    constraint: Constraint[Any] | None, sampler: Sampler, validator: Validator, rng: random.Random, count: int
) -> None:
    """Random walks lead into no dead end, and finished ones are valid. Without a constraint there are none."""
    for _ in range(count if constraint is not None else 0):
        walk = sampler.walk(constraint.grammar, rng)  # raises DeadEnd
        if walk.finished:
            assert validator.is_valid(json.loads(walk.text)), walk.text
