"""Errors go through pickle and copy, as `multiprocessing` needs it: a pool hangs on an error that cannot be read."""

import copy
import pickle

import pytest

import structgen
from structgen import errors
from structgen.engine.vocabulary.vocabulary import byte_vocabulary

MADE = [
    errors.StructgenError("m", hint="h"),
    errors.UnsupportedSchemaError("m", pointer="/a", keyword="k"),
    errors.UnsatisfiableSchemaError("m", pointer="", hint="h"),
    errors.GrammarError("m", line=1, column=2, source="abc"),
    errors.TokenRejectedError("m", token_id=3, position=4),
    errors.LimitExceededError("mask_seconds", 1.0),
    errors.QueueFullError(3),
    errors.IncompleteOutputError("m", text='{"a', partial={"a": 1}),
    errors.ServerError("m", status=500),
]


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("copied", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_an_error_is_the_same_after_pickle_and_copy(error, copied):
    other = copied(error)
    assert (type(other), str(other), other.__dict__) == (type(error), str(error), error.__dict__)


def test_an_error_of_a_compile_can_be_pickled():
    schema = {"anyOf": [{"const": number} for number in range(50)]}
    with pytest.raises(errors.LimitExceededError) as caught:
        structgen.compile(schema, byte_vocabulary(), limits=structgen.Limits(schema_nodes=9))
    assert pickle.loads(pickle.dumps(caught.value)).limit == caught.value.limit
