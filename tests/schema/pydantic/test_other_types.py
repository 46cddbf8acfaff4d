"""Types of outlines in a field, and bounds that follow a validator."""

import json
import re
from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from pydantic_core import core_schema
from support.texts import constraint_of, is_read

from structgen.errors import UnsupportedSchemaError
from structgen.schema.schema_warnings import SchemaWarning


class Regex:
    """The protocol of `outlines.types.Regex`: its JSON Schema has the pattern, its validator matches the whole text."""

    __module__ = "outlines.types.dsl"

    def __init__(self, pattern):
        self.pattern = pattern

    def __get_pydantic_core_schema__(self, source, handler):
        validate = lambda value: self.validate(value)  # noqa: E731
        validate.__module__ = "outlines.types.dsl"
        return core_schema.no_info_plain_validator_function(validate)

    def __get_pydantic_json_schema__(self, core, handler):
        return {"type": "string", "pattern": self.pattern}

    def validate(self, value):
        if not re.fullmatch(self.pattern, str(value)):
            raise ValueError("no match")
        return value


class CFG(Regex):
    __module__ = "outlines.types.dsl"


class Order(BaseModel):
    code: Regex("[0-9]{2}|x")
    others: list[Regex("a.c")] = []


@pytest.mark.parametrize(
    ("code", "is_valid"), [("12", True), ("x", True), ("123", False), ("ax", False), ("x\n", False), ("", False)]
)
def test_a_field_of_outlines_is_matched_as_a_whole(code, is_valid):
    text = json.dumps({"code": code})
    constraint = constraint_of(Order)
    assert is_read(constraint, text) == is_valid
    if is_valid:
        assert constraint.parse(text).code == code


def test_items_of_outlines_too():
    constraint = constraint_of(list[Regex("a.c")])
    assert [is_read(constraint, text) for text in ('["abc"]', '["a-c", "a c"]', '["xabc"]', '["a\\nc"]')] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(("kind", "hint"), [(Regex, "Grammar.regex"), (CFG, "Grammar.lark")])
def test_a_type_of_outlines_is_no_schema(kind, hint):
    with pytest.raises(UnsupportedSchemaError, match=f"{kind.__name__} of outlines is not a schema[^\\0]*{hint}"):
        constraint_of(kind("a"))


def increased(value):
    return value + 1


@pytest.mark.parametrize("validator", [AfterValidator, BeforeValidator])
def test_a_bound_after_a_validator_is_warned_of(validator):
    """Pydantic applies it to the validator's result, which no mask can know."""
    with pytest.warns(SchemaWarning, match="^le applies to what the validator increased returns"):
        constraint = constraint_of(Annotated[int, validator(increased), Field(le=2)])
    assert is_read(constraint, "5")


@pytest.mark.parametrize(("kind", "keyword"), [(str, ""), (list[int], ""), (set[int], "max_length"), (float, "ge")])
def test_lengths_after_a_validator_are_enforced_or_warned_of(kind, keyword, recwarn):
    """Pydantic writes lengths of strings and lists into their JSON Schema all the same."""
    constraint_of(Annotated[kind, AfterValidator(increased), Field(**{keyword or "max_length": 2})])
    assert [str(warning.message).partition(" ")[0] for warning in recwarn] == [keyword] * bool(keyword)


def test_a_bound_before_a_validator_is_enforced():
    constraint = constraint_of(Annotated[int, Field(le=2), AfterValidator(increased)])
    assert is_read(constraint, "2") and not is_read(constraint, "3")
