"""Names of a printed grammar's rules."""

from __future__ import annotations

from typing import Literal

import pydantic
import pytest

from structgen.schema import schema_to_kbnf
from structgen.schema.algebra import NumberSet, StringSet
from structgen.schema.rules.rule_names import identifier, kind_name


class Address(pydantic.BaseModel):
    """Where someone lives."""

    street: str = pydantic.Field(max_length=40, description="with its number")
    kind: Literal["home", "work"] = "home"
    since: int = pydantic.Field(0, ge=1900, le=2100)


class HTTPUser(pydantic.BaseModel):
    """A user."""

    name: str
    addresses: list[Address]
    friends: list[HTTPUser] = []


def _names(schema, **options):
    return {rule.name: rule for rule in schema_to_kbnf(schema, **options).rules}


def test_rules_are_called_after_models_and_fields():
    names = set(_names(HTTPUser))
    assert {"start", "http_user", "http_user_after_addresses", "addresses", "address", "friends"} <= names
    assert {"address_from_kind", "address_after_street", "string_up_to_40", "integer_1900_to_2100"} <= names
    assert {"string", "ws", "comma", "colon"} <= names


@pytest.mark.parametrize("whitespace", ["compact", "single"])
def test_fixed_punctuation_has_no_rules(whitespace):
    assert not {"ws", "comma", "colon"} & set(_names(HTTPUser, whitespace=whitespace))


def test_descriptions_are_comments():
    assert _names(HTTPUser)["address"].comment == "Address: Where someone lives.\nstreet: with its number"
    assert _names(HTTPUser)["addresses"].comment == ""


def test_a_lone_surrogate_in_a_description_is_replaced():
    """No file could hold the export."""
    schema = {"type": "object", "title": "\udfff", "description": "half \ud83d", "properties": {"a": {}}}
    assert _names(schema)["start"].comment == "?: half ?"


def test_fields_called_like_the_shared_rules_get_other_names():
    schema = {
        "title": "start",
        "type": "object",
        "properties": {name: {"type": "array", "items": {"type": "string"}} for name in ("ws", "string", "comma")},
        "required": ["ws", "string", "comma"],
        "additionalProperties": False,
    }
    assert {"start", "start_2", "ws", "ws_2", "string", "string_2", "comma", "comma_2"} <= set(_names(schema))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Person", "person"),
        ("HTTPServer config", "http_server_config"),
        ("2nd", "n2nd"),
        ("名前", ""),
        ("a" * 99, "a" * 40),
    ],
)
def test_identifiers(text, name):
    assert identifier(text) == name


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (StringSet(high=40), "string_up_to_40"),
        (StringSet(3), "string_from_3"),
        (StringSet(2, 2), "string_of_2"),
        (StringSet(excluded=("a",)), ""),
        (NumberSet(0, high=120, multiple=1), "integer_0_to_120"),
        (NumberSet(high=5, multiple=1), "integer_up_to_5"),
        (NumberSet(-1, high=5, multiple=1), ""),
        (NumberSet(0, high=1), ""),
    ],
)
def test_names_of_kinds(part, name):
    assert kind_name(part) == name
