"""Kept JSON Schemas of models: what is kept, and what makes them anew."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Annotated, Any

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FutureDate,
    FutureDatetime,
    PastDate,
    PastDatetime,
    TypeAdapter,
    WithJsonSchema,
    create_model,
)
from pydantic.errors import PydanticUserError

from structgen.schema.pydantic import model_schemas
from structgen.schema.pydantic.model_schemas import adapter_and_schema


class Address(BaseModel):
    city: str


class Person(BaseModel):
    """A person."""

    name: Annotated[str, Field(min_length=2, json_schema_extra={"examples": ["Al"]})]
    home: Address | None = None


class Node(BaseModel):
    value: int
    children: list[Node] = []


def schema_of(given: Any) -> Any:
    return adapter_and_schema(given)[1]


def is_kept(model: type[BaseModel]) -> bool:
    return "__structgen_schema__" in model.__dict__


@pytest.mark.parametrize("model", [Person, Node, Address])
def test_the_second_schema_of_a_model_is_not_made(model: type[BaseModel], monkeypatch: pytest.MonkeyPatch) -> None:
    adapter, first = adapter_and_schema(model)

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(TypeAdapter, "json_schema", fail)
    assert adapter_and_schema(model) == (adapter, first)
    assert first == model_schemas.ExactJsonSchema(by_alias=True).generate(model.__pydantic_core_schema__)


def test_a_caller_cannot_change_what_is_kept() -> None:
    before = copy.deepcopy(schema_of(Person))
    schema_of(Person)["properties"].clear()
    assert schema_of(Person) == before


def test_a_subclass_has_a_schema_of_its_own() -> None:
    class Worker(Person):
        salary: int

    assert "salary" not in schema_of(Person)["properties"]
    assert "salary" in schema_of(Worker)["properties"]


def test_a_rebuilt_model_gets_a_new_schema() -> None:
    class Growing(BaseModel):
        a: int

    assert schema_of(Growing)["properties"].keys() == {"a"}
    Growing.model_fields["a"].description = "changed"
    Growing.__pydantic_fields__["a"].annotation = str
    Growing.model_rebuild(force=True)
    assert schema_of(Growing)["properties"]["a"]["type"] == "string"


def test_a_model_that_is_not_complete_is_not_kept() -> None:
    model = create_model("model", later=("NotYet", ...))  # type: ignore[call-overload]
    with pytest.raises(PydanticUserError, match="not fully defined"):
        schema_of(model)
    model.model_rebuild(_types_namespace={"NotYet": int})
    assert schema_of(model)["properties"]["later"]["type"] == "integer"


def test_code_of_the_user_is_asked_each_time() -> None:
    made: list[int] = []

    class Hooked(BaseModel):
        x: int

        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
            made.append(1)
            return handler(core_schema) | {"maxProperties": len(made)}

    class Outer(BaseModel):
        parts: list[Hooked]

    first, second = schema_of(Outer), schema_of(Outer)
    assert first != second
    assert not is_kept(Outer)

    class Extra(BaseModel):
        model_config = ConfigDict(json_schema_extra=lambda schema: schema.update(maxProperties=1))
        x: int

    class OfExtra(BaseModel):
        one: Extra
        two: Annotated[int, Field(json_schema_extra=lambda schema: None)]

    for model in (Extra, OfExtra):
        assert schema_of(model) == schema_of(model)
        assert not is_kept(model)


@pytest.mark.parametrize("kind", [PastDate, FutureDate, PastDatetime, FutureDatetime])
def test_bounds_by_the_clock_are_set_each_time(kind: Any) -> None:
    """Those of last week would let a date of today through as one of the future."""
    model = create_model("Meeting", dates=(list[kind], ...))
    assert schema_of(model)["properties"]["dates"]["items"]["format"].startswith("x-date")
    assert not is_kept(model)


def test_schemas_that_are_given_with_a_type_are_kept() -> None:
    class Given(BaseModel):
        x: Annotated[int, WithJsonSchema({"type": "integer", "maximum": 3})]

    assert schema_of(Given)["properties"]["x"]["maximum"] == 3
    assert schema_of(Given) == schema_of(Given)


def test_a_model_is_freed_with_its_schema() -> None:
    model = create_model("model", x=(int, ...))
    schema_of(model)
    assert is_kept(model)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_what_is_kept_is_in_no_pickle() -> None:
    schema_of(Person)
    kept = Person.__dict__["__structgen_schema__"]
    assert pickle.loads(pickle.dumps(kept)).adapter is None
    Person.__structgen_schema__ = copy.copy(kept)  # type: ignore[attr-defined]
    assert "name" in schema_of(Person)["properties"]
