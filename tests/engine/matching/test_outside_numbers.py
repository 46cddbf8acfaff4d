"""Integers that callers give: token ids, rows of a mask, counts. All are checked before anything is indexed by them."""

from typing import Any

import numpy as np
import pytest
from support.vocabularies import BYTES

import structgen
from structgen.engine.matching.matcher import Matcher
from structgen.errors import TokenRejectedError, VocabularyError

NO_INTEGERS = ["a", 1.0, None, True, np.bool_(False), np.float32(1), [49], b"1"]
TOO_FAR = [-1, -(2**31), 257, 2**31, 2**63, 2**70, np.int32(-1), np.uint64(2**63)]


@pytest.fixture
def matcher() -> Matcher:
    made = structgen.compile(["12", "ab"], BYTES).matcher()
    made.accept_token(ord("1"))
    return made


@pytest.mark.parametrize("value", NO_INTEGERS)
def test_what_is_no_integer_is_named(matcher: Matcher, value: Any) -> None:
    mask = structgen.allocate_token_bitmask(2, BYTES.size)
    calls = {
        "a token id": (matcher.accept_token, matcher.explain, BYTES.token_bytes),
        "a row of a mask": (lambda row: matcher.fill_next_token_bitmask(mask, row),),
        "a count of tokens": (matcher.rollback,),
        "a number of rows": (lambda count: structgen.allocate_token_bitmask(count, 10),),
        "a number of tokens": (lambda count: structgen.allocate_token_bitmask(1, count),),
    }
    for name, functions in calls.items():
        for function in functions:
            with pytest.raises(TypeError) as caught:
                function(value)
            assert str(caught.value) == f"{name} must be an int, not {value!r}"
    assert matcher.allowed_token_ids() == [ord("2")]
    with pytest.raises(VocabularyError, match="is not a token id"):
        structgen.Vocabulary.from_bytes({str(value): b"a"})  # type: ignore[dict-item]


@pytest.mark.parametrize("value", TOO_FAR)
def test_integers_that_are_too_small_or_too_large_are_named(matcher: Matcher, value: Any) -> None:
    mask = structgen.allocate_token_bitmask(2, BYTES.size)
    with pytest.raises(TokenRejectedError, match=rf"token {int(value)} .*the vocabulary has the ids 0 to 256"):
        matcher.accept_token(value)
    assert not matcher.explain(value).allowed
    assert BYTES.token_bytes(value) is None
    with pytest.raises(ValueError, match=f"row {int(value)} of a mask of 2 rows"):
        matcher.fill_next_token_bitmask(mask, value)
    with pytest.raises(ValueError, match=f"cannot roll back {int(value)} of 1 "):
        matcher.rollback(value)
    assert (mask == structgen.allocate_token_bitmask(2, BYTES.size)).all()
    assert matcher.allowed_token_ids() == [ord("2")]


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint8, np.uint32, np.uint64])
def test_integers_of_numpy_are_integers(matcher: Matcher, kind: Any) -> None:
    mask = structgen.allocate_token_bitmask(kind(2), BYTES.size)
    matcher.fill_next_token_bitmask(mask, kind(1))
    assert int(mask[1, ord("2") // 32]) == 1 << ord("2") % 32
    assert matcher.explain(kind(ord("2"))).allowed
    matcher.accept_token(kind(ord("2")))
    assert matcher.is_accepting
    matcher.rollback(kind(2))
    assert matcher.allowed_token_ids() == [ord("1"), ord("a")]
    assert BYTES.token_bytes(kind(49)) == b"1"
