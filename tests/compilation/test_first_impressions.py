"""Inputs that a new user tries first: they work, or the error says what to do."""

import re
from functools import partial
from typing import Literal

import pytest
from pydantic import BaseModel

import structgen
from structgen.engine.vocabulary.vocabulary import byte_vocabulary
from structgen.generation.prompts import check_prompt

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
        (structgen.Limits(), "an instance of Limits is not a schema[^\0]*pass the class Limits itself"),
        (5, "5 is not a schema: pass a type, a Pydantic model, a JSON Schema as a dict, a Grammar"),
        (("red", "green"), "is not a schema: pass a type[^\0]*a list of str"),
        (Exception, "cannot make a schema of Exception: Unable to generate [^.]*$"),
        ([Person], r"is not a schema: [^\0]*for a list of them: list\[Person\]"),
    ],
)
def test_inputs_that_are_no_schema(schema, message):
    with pytest.raises(structgen.StructgenError, match=message):
        structgen.compile(schema, VOCABULARY)


def test_swapped_arguments():
    with pytest.raises(TypeError, match="the arguments are swapped"):
        structgen.compile(VOCABULARY, Person)


def test_a_tokenizer_in_place_of_a_vocabulary():
    with pytest.raises(TypeError, match=r"not object: structgen\.Vocabulary\.from_huggingface\(tokenizer\)"):
        structgen.compile(Person, object())


def test_several_prompts_in_place_of_one():
    with pytest.raises(TypeError, match=r"not .*; structgen\.batch answers several prompts"):
        check_prompt(["Who?", "When?"])
    with pytest.raises(TypeError, match=r"^(?!.*batch)"):
        check_prompt(b"Who?")


def test_the_location_stands_before_the_caret():
    with pytest.raises(structgen.SchemaError, match=r"is missing \(at #/properties/a\)\n  \[a\n  \^$"):
        structgen.compile({"properties": {"a": {"pattern": "[a"}}}, VOCABULARY)


@pytest.mark.parametrize(
    ("schema", "shown"),
    [(Person, "Person"), (set[int], r"set\[int\]"), (Literal["a", "b"], r"typing.Literal\['a', 'b'\]")],
)
def test_a_constraint_shows_its_type(schema, shown):
    assert re.match(rf"Constraint\({shown}, Vocabulary", repr(structgen.compile(schema, VOCABULARY)))


def test_a_misspelled_option_is_named_with_the_right_one():
    for use in (partial(structgen.compile, int, VOCABULARY), partial(structgen.export, int, "gbnf")):
        with pytest.raises(TypeError, match="there is no option 'propertyorder': did you mean 'property_order'"):
            use(propertyorder="any")


@pytest.mark.parametrize("limits", [3, {"mask_seconds": 1}])
def test_limits_of_another_type(limits):
    with pytest.raises(TypeError, match=r"limits must be a structgen\.Limits, not"):
        structgen.compile(Person, VOCABULARY, limits=limits)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("mask_seconds", -1, ValueError),
        ("mask_seconds", 0, ValueError),
        ("compile_seconds", float("nan"), ValueError),
        ("compile_seconds", float("inf"), ValueError),
        ("compile_seconds", "1", TypeError),
        ("mask_seconds", True, TypeError),
        ("memory_bytes", 0, ValueError),
        ("memory_bytes", 2**70, ValueError),
        ("mask_bytes", -1, ValueError),
        ("schema_nodes", 1.5, TypeError),
        ("item_sets", None, TypeError),
        ("set_items", 2**31, ValueError),
    ],
)
def test_a_limit_out_of_its_range(name, value, error):
    with pytest.raises(error, match=f"Limits: {name} must be"):
        structgen.Limits(**{name: value})


def test_the_largest_limits_are_usable():
    largest = structgen.Limits(
        schema_nodes=2**28,
        schema_depth=2**28,
        grammar_symbols=2**28,
        regex_nodes=2**28,
        regex_depth=2**28,
        automaton_states=2**28,
        item_sets=2**28,
        set_items=2**28,
        mask_bytes=2**60,
        cache_bytes=2**60,
        compile_seconds=1e9,
        mask_seconds=1e9,
        memory_bytes=2**60,
    )
    matcher = structgen.compile({"pattern": "^a{3}$", "type": "string"}, VOCABULARY, limits=largest).matcher()
    matcher.accept_bytes(b'"aaa"')
    assert matcher.is_accepting


@pytest.mark.parametrize("text", ["a", None, bytearray(b"a")])
def test_a_text_that_is_no_bytes(text):
    matcher = structgen.compile(str, VOCABULARY).matcher()
    for use in (matcher.accept_bytes, matcher.allows_bytes):
        with pytest.raises(TypeError, match="a text must be bytes, not"):
            use(text)
    matcher.accept_bytes(b'"a"')
    assert matcher.is_accepting


@pytest.mark.parametrize("tokens", [[b"a"], None])
def test_tokens_that_are_no_mapping(tokens):
    with pytest.raises(structgen.VocabularyError, match="a mapping of token ids to bytes is needed"):
        structgen.Vocabulary.from_bytes(tokens)


def test_a_misspelled_role():
    with pytest.raises(ValueError, match="message 0 has the role 'usr': did you mean 'user'"):
        check_prompt([{"role": "usr", "content": "x"}])
    for role in ("user", "system", "assistant", "tool", "developer", "ipython", "model"):
        check_prompt([{"role": role, "content": "x"}])


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


def test_types_by_name_are_no_json_schema():
    with pytest.raises(structgen.SchemaError, match=r"contains a type .*\n.*use a Pydantic model or a TypedDict"):
        structgen.compile({"name": str, "age": int}, VOCABULARY)
