"""JSON Schemas that users write for their types: masks follow them, except where Pydantic reads no JSON at all."""

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, InstanceOf, PlainValidator, WithJsonSchema, WrapValidator
from pydantic_core import core_schema
from support.texts import constraint_of, is_read, is_valid_for

from structgen.errors import UnsatisfiableSchemaError

AS_INTEGER = WithJsonSchema({"type": "integer"})


class Connection:
    """A class of which Pydantic knows nothing."""


class Instance:
    """A type with a JSON Schema, of which only instances are read."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return core_schema.is_instance_schema(cls, ref="Instance")

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
        return {"type": "integer"}


class FromJson(Instance):
    """A type with a JSON Schema, and instances that are made of JSON."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from_int = core_schema.no_info_after_validator_function(lambda value: cls(), core_schema.int_schema())
        is_instance = core_schema.is_instance_schema(cls)
        return core_schema.json_or_python_schema(json_schema=from_int, python_schema=is_instance)


NEVER_READ = [
    Instance,
    Annotated[Instance, AS_INTEGER],
    Annotated[InstanceOf[Connection], AS_INTEGER],
    Annotated[Callable, AS_INTEGER],
    Annotated[type, AS_INTEGER],
    Annotated[type[int], AS_INTEGER],
    Annotated[Literal[b"a"], AS_INTEGER],
    Annotated[InstanceOf[Connection] | type, AS_INTEGER],
]


@pytest.mark.parametrize("kind", NEVER_READ)
def test_no_value_is_written_for_a_type_that_is_never_read(kind):
    with pytest.raises(UnsatisfiableSchemaError):
        constraint_of(kind)
    with pytest.raises(UnsatisfiableSchemaError):
        constraint_of(tuple[int, kind])


@pytest.mark.parametrize("kind", NEVER_READ)
def test_a_field_that_is_never_read_is_left_out(kind):
    class Model(BaseModel):
        a: int
        b: kind = None  # type: ignore[valid-type]
        c: kind | None = None  # type: ignore[valid-type]
        d: list[kind] = []  # type: ignore[valid-type]

    constraint = constraint_of(Model, whitespace="compact")
    texts = ['{"a":1}', '{"a":1,"c":null}', '{"a":1,"d":[]}', '{"a":1,"b":1}', '{"a":1,"c":1}', '{"a":1,"d":[1]}']
    assert [is_read(constraint, text) for text in texts] == [True] * 3 + [False] * 3


@pytest.mark.parametrize(
    "kind",
    [
        FromJson,
        Annotated[timedelta, AS_INTEGER],
        Annotated[Connection, PlainValidator(lambda value: Connection()), AS_INTEGER],
        Annotated[InstanceOf[Connection], BeforeValidator(lambda value: Connection()), AS_INTEGER],
        Annotated[InstanceOf[Connection], WrapValidator(lambda value, handler: value), AS_INTEGER],
        Annotated[InstanceOf[int], AS_INTEGER],
        Annotated[InstanceOf[Connection] | int, AS_INTEGER],
    ],
)
def test_masks_follow_the_schema_of_a_type_that_may_be_read(kind):
    constraint = constraint_of(kind)
    assert is_read(constraint, "12") and is_valid_for(kind, "12")
    assert not is_read(constraint, '"12"')


def test_an_option_for_any_class_changes_nothing():
    class Model(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        a: Annotated[Connection, AS_INTEGER] | None = None

    constraint = constraint_of(Model, whitespace="compact")
    texts = ["{}", '{"a":null}', '{"a":1}']
    assert [is_read(constraint, text) for text in texts] == [is_valid_for(Model, text) for text in texts]
