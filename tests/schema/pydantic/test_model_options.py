"""Options of models (`ConfigDict`) that decide what Pydantic reads: masks follow them, or refuse them by name."""

import dataclasses
import ipaddress
import json
from typing import Annotated, Any, NamedTuple

import pydantic
import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from typing_extensions import TypeAliasType, TypedDict

from structgen.errors import UnsupportedSchemaError
from structgen.schema import resolve, schema_to_rules


def is_read_by(model: type[BaseModel] | TypeAdapter[Any], text: str) -> bool:
    try:
        (model if isinstance(model, TypeAdapter) else TypeAdapter(model)).validate_json(text)
    except pydantic.ValidationError:
        return False
    return True


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int = Field(0, validation_alias=pydantic.AliasPath("x", 1))
    b: int = Field(0, validation_alias=pydantic.AliasPath("x", 2))
    c: int = Field(0, validation_alias=pydantic.AliasPath("y", "k"))


@pytest.mark.parametrize("text", ['{"x": []}', '{"x": [1]}', '{"x": [1, 2]}', '{"y": {}}', '{"y": {"k": 1}}', "{}"])
def test_a_path_leads_to_a_value_where_other_keys_are_forbidden(accepts, text):
    """A key of which no path finds a value is an extra one."""
    assert accepts(Forbidding)(text) == is_read_by(Forbidding, text)


class OnlyByName(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=False)
    a: int = Field(validation_alias=pydantic.AliasPath("x", "y"))
    b: int = Field(0, alias="B")
    c: int = Field(0, validation_alias=pydantic.AliasChoices("b", "d"))


TEXTS = ['{"a": 1}', '{"x": {"y": 1}}', '{"a": 1, "b": 2, "c": 3}', '{"a": 1, "B": 2}', '{"a": 1, "d": 2}', "{}"]


@pytest.mark.parametrize("text", TEXTS)
def test_aliases_that_are_not_read_are_not_written(accepts, text):
    assert accepts(OnlyByName)(text) == (is_read_by(OnlyByName, text) and not {"B", "d"} & json.loads(text).keys())


def model_of(kind: Any, **config: Any) -> type[BaseModel]:
    return pydantic.create_model("Configured", __config__=ConfigDict(**config), a=(kind, ...))


STRICT_ADDRESS = Annotated[ipaddress.IPv4Address, pydantic.Strict()]


@pytest.mark.parametrize(
    ("model", "texts"),
    [
        (model_of(ipaddress.IPv4Address, strict=True, str_max_length=8), ["1.2.3.4", "11.22.33.44"]),
        (model_of(ipaddress.IPv6Network, strict=True, str_min_length=6), ["::1", "::1/128"]),
        (model_of(STRICT_ADDRESS, str_max_length=8), ["1.2.3.4", "11.22.33.44"]),
        (model_of(ipaddress.IPv4Address, str_max_length=8), ["1.2.3.4", "11.22.33.44"]),  # not read as a string
        (model_of(pydantic.ByteSize, str_min_length=3), ["1b", "12b", "1kb"]),
    ],
)
def test_options_for_strings_hold_where_a_type_is_read_from_one(accepts, model, texts):
    reads = accepts(model)
    for text in texts:
        assert reads(json.dumps({"a": text})) == is_read_by(model, json.dumps({"a": text})), text


@pytest.mark.parametrize("kind", [pydantic.SecretStr, str, str | list[int], pydantic.SecretStr | None])
@pytest.mark.parametrize("lengths", [{"min_length": 1, "max_length": 5}, {"min_length": 3, "max_length": 4}])
def test_lengths_of_a_field_beside_those_of_the_options(accepts, kind, lengths):
    """They replace those of a string's options, and hold besides those of a string that another type is read from."""
    model = model_of(Annotated[kind, Field(**lengths)], str_min_length=2, str_max_length=3)
    reads = accepts(model)
    for size in range(7):
        text = json.dumps({"a": "x" * size})
        assert reads(text) == is_read_by(model, text), text


@pytest.mark.parametrize(
    ("model", "keyword"),
    [
        (model_of(pydantic.SecretBytes, val_json_bytes="hex"), "val_json_bytes"),
        (model_of(pydantic.Base64Bytes, val_json_bytes="base64"), "val_json_bytes"),
        (model_of(pydantic.Base64Str, str_to_lower=True), "str_to_lower"),
        (model_of(pydantic.Base64UrlStr, str_to_upper=True), "str_to_upper"),
    ],
)
def test_texts_that_are_decoded_twice_are_refused_by_name(model, keyword):
    with pytest.raises(UnsupportedSchemaError, match=f"{keyword} cannot be expressed"):
        schema_to_rules(resolve(model).json_schema)


Tree = TypeAliasType("Tree", "list[Tree] | str")


class Named(TypedDict):
    v: str


class Pair(NamedTuple):
    v: str
    next: "Pair | None" = None


@dataclasses.dataclass
class Linked:
    v: str
    next: "Linked | None" = None


def closed(*kinds: Any, **config: Any) -> type[BaseModel]:
    """A model with optional fields `a` and `b`, and no other keys."""
    fields: Any = {name: (kind | None, None) for name, kind in zip("ab", kinds)}
    return pydantic.create_model("Closed", __config__=ConfigDict(extra="forbid", **config), **fields)


KINDS = [
    (Tree, ["x", "xx", ["x", ["xx"]], ["x", ["x"]], ["xxx"]]),
    (Named, [{"v": "x"}, {"v": "xx"}, {"v": "xxx"}]),
    (Pair, [["x"], ["xx"], ["x", ["xx"]], ["xxx"]]),
    (Linked, [{"v": "x"}, {"v": "xx"}, {"v": "x", "next": {"v": "xx"}}, {"v": "xxx"}]),
]


@pytest.mark.parametrize(("kind", "values"), KINDS, ids=["alias", "typed dict", "named tuple", "dataclass"])
def test_options_hold_for_the_types_inside_of_a_model(accepts, kind, values):
    """Where two models with other options have one type, each has it with its own options."""
    short = closed(kind, str_max_length=1)
    for model in (
        short,
        list[short],
        closed(short, kind),
        closed(kind, short),
        closed(short, kind, str_max_length=2),
        closed(short, closed(kind, str_max_length=2)),
        closed(closed(kind), short, str_max_length=2),
        TypeAdapter(list[kind], config=ConfigDict(str_max_length=2)),
    ):
        reads = accepts(model)
        for value in values:
            for around in (
                {"a": value},
                [{"a": value}],
                [value],
                {"b": value},
                {"a": {"a": value}},
                {"b": {"a": value}},
            ):
                text = json.dumps(around)
                assert reads(text) == is_read_by(model, text), (model, text)


class Documented(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_mode_override="serialization")
    a: int = 1

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def b(self) -> int:
        return 2


@pytest.mark.parametrize("text", ["{}", '{"a": 1}', '{"b": 2}', '{"a": 1, "b": 2}'])
def test_texts_are_read_whatever_the_documentation_shows(accepts, text):
    assert accepts(Documented)(text) == is_read_by(Documented, text)
    whole = TypeAdapter(tuple[Documented], config=ConfigDict(json_schema_mode_override="serialization"))
    assert accepts(whole)(f"[{text}]") == is_read_by(whole, f"[{text}]")
