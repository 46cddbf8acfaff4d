"""Inputs that a new user tries first: they work, or the error says what to do."""

import re

import pytest
from pydantic import BaseModel

import structgen
from structgen.engine.vocabulary.vocabulary import byte_vocabulary
from structgen.generation.prompts import _check

VOCABULARY = byte_vocabulary()


class Person(BaseModel):
    name: str


def _allows(schema: object, text: bytes) -> bool:
    matcher = structgen.compile(schema, VOCABULARY).matcher()
    if not matcher.allows_bytes(text):
        return False
    matcher.accept_bytes(text)
    return matcher.is_accepting


def test_a_compiled_regex_is_a_schema():
    for text in (b"ab12", b"1", b"ab", b"AB12"):
        assert _allows(re.compile(r"[a-z]{2}\d+"), text) == bool(re.fullmatch(rb"[a-z]{2}\d+", text))


def test_a_list_of_texts_is_a_choice():
    texts = [b"red", b"green", b"blue", b'"red"']
    assert [text for text in texts if _allows(["red", "green"], text)] == [b"red", b"green"]
    assert structgen.compile(["red"], VOCABULARY).parse("red") == "red"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (re.compile("a", re.IGNORECASE), r"re\.IGNORECASE[^\0]*write the flag into the pattern"),
        (re.compile(b"a"), "compile it from str"),
        ([], "at least one text"),
        (Person(name="Ada"), "an instance of Person is not a schema[^\0]*pass the class Person itself"),
    ],
)
def test_inputs_that_are_no_schema(schema, message):
    with pytest.raises(structgen.StructgenError, match=message):
        structgen.compile(schema, VOCABULARY)


def test_swapped_arguments():
    with pytest.raises(TypeError, match="the arguments are swapped"):
        structgen.compile(VOCABULARY, Person)


def test_a_misspelled_role():
    with pytest.raises(ValueError, match="message 0 has the role 'usr': did you mean 'user'"):
        _check([{"role": "usr", "content": "x"}])
    for role in ("user", "system", "assistant", "tool", "developer", "ipython", "model"):
        _check([{"role": role, "content": "x"}])


@pytest.mark.parametrize("token_id", [-1, -(2**31), 2**31, 2**63, 2**64, -(2**70), 257, 2**31 - 1])
def test_token_ids_out_of_range_are_refused(token_id):
    matcher = structgen.compile(Person, VOCABULARY).matcher()
    with pytest.raises(structgen.TokenRejectedError):
        matcher.accept_token(token_id)
    assert VOCABULARY.token_bytes(token_id) is None
    with pytest.raises((ValueError, OverflowError)):
        matcher.rollback(token_id)
    with pytest.raises((ValueError, OverflowError)):
        matcher.fill_next_token_bitmask(structgen.allocate_token_bitmask(3, VOCABULARY.size), token_id)
    assert matcher.allowed_token_ids() == structgen.compile(Person, VOCABULARY).matcher().allowed_token_ids()
