"""Inputs that are no schema say what to do instead."""

import sys
import typing

import pytest

from structgen.errors import SchemaError, UnsupportedSchemaError
from structgen.schema.sources import resolve


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Pydantic reads typing.TypedDict from Python 3.12 on")
def test_a_typed_dict_of_old_python_names_the_import():
    class Movie(typing.TypedDict):
        title: str

    for schema in (Movie, list[Movie]):
        with pytest.raises(UnsupportedSchemaError, match="Hint: from typing_extensions import TypedDict"):
            resolve(schema)


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]"])
def test_numbers_that_json_does_not_have(text):
    with pytest.raises(ValueError, match="is not JSON"):
        resolve(True).parse(text)


def test_a_prompt_in_place_of_the_schema():
    with pytest.raises(SchemaError, match=r"not valid JSON.*\nHint: .*the model, the prompt, then the schema"):
        resolve("Who wrote Emma?")
