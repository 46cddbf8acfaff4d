"""`call` with a model that knows no tools: functions and arguments picked by a model."""

import asyncio
import dataclasses
import datetime
import enum
import functools
import inspect
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

import structgen


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


class Place(BaseModel):
    city: str = Field(max_length=8)


def weather(place: Place, day: datetime.date, unit: Unit = Unit.CELSIUS) -> str:
    """The weather of a day."""
    return f"{place.city} {day} {unit.value}"


def add(a: Annotated[int, Field(ge=0, le=99)], b: Annotated[int, Field(ge=0, le=99)] = 1, /) -> int:
    return a + b


def nothing() -> None:
    """Does nothing."""


def picked(model, messages, tools, **options):
    """Return the one call that is required."""
    reply = structgen.call(model, messages, tools, tool_choice="required", parallel=False, **options)
    (step,) = reply.tool_calls
    return step


@pytest.mark.parametrize("seed", range(6))
def test_a_call_can_be_run(tiny_model, seed):
    step = picked(tiny_model, "hi", [weather, add, nothing], temperature=2.0, seed=seed, max_new_tokens=300)
    assert step.function.__name__ == step.name
    bound = inspect.signature(step.function)
    assert set(step.arguments) <= set(bound.parameters)
    if step.function is weather:
        assert isinstance(step.arguments["place"], Place)
        assert step.run().startswith(step.arguments["place"].city)
    elif step.function is add:
        assert step.run() == step.arguments["a"] + step.arguments.get("b", 1)
    else:
        assert step.run() is None and step.arguments == {}


def test_one_tool_only(tiny_model):
    messages = [{"role": "user", "content": "hi"}]
    options = {"tool_choice": "required", "parallel": False, "temperature": 1.0, "seed": 1}
    reply = structgen.call(tiny_model, messages, [add], **options)
    assert [step.name for step in reply.tool_calls] == ["add"]
    assert [message["role"] for message in reply.messages()] == ["assistant", "tool"]
    assert reply.messages([Place(city="x")])[1]["content"] == '{"city": "x"}'
    with pytest.raises(ValueError, match="got 0 results for 1 calls"):
        reply.messages([])


def test_methods_and_partials(tiny_model):
    class Shop:
        def price(self, item: Literal["tea", "milk"]) -> int:
            return {"tea": 3, "milk": 1}[item]

    assert picked(tiny_model, "hi", [Shop().price]).run() in (1, 3)

    @functools.wraps(add)
    def wrapped(*args):
        return -add(*args)

    assert picked(tiny_model, "hi", [wrapped]).run() <= 0


@dataclasses.dataclass
class Order:
    """Something is bought."""

    count: Annotated[int, Field(ge=1, le=9)]


def test_classes_are_tools(tiny_model):
    step = picked(tiny_model, "hi", [Place], max_new_tokens=100)
    assert step.name == "Place"
    assert isinstance(step.run(), Place)
    step = picked(tiny_model, "hi", [Order])
    assert isinstance(step.run(), Order)


def test_the_model_is_told_of_the_tools(tiny_model, monkeypatch):
    seen = []
    encode = tiny_model.encode_prompt
    monkeypatch.setattr(tiny_model, "encode_prompt", lambda prompt, **more: seen.append(prompt) or encode("hi"))
    picked(tiny_model, "hi", [weather, nothing], system="Be brief.", temperature=1.0, max_new_tokens=300)
    system = seen[0][0]
    assert system["role"] == "system" and system["content"].startswith("Be brief.\n\n")
    assert "The weather of a day." in system["content"] and '"name": "nothing"' in system["content"]


def test_tools_that_a_model_cannot_call(tiny_model):
    def bare(x):
        return x

    def many(*values: int) -> None: ...

    def unknown(x: "Nowhere") -> None: ...  # noqa: F821

    for tools, message in [
        ([bare], "parameter x of bare has no annotation"),
        ([many], r"\*values"),
        ([unknown], "Nowhere"),
        ([add, lambda x: x, lambda y: y], "two tools are called '<lambda>'"),
    ]:
        with pytest.raises(structgen.FunctionDefinitionError, match=message):
            structgen.call(tiny_model, "hi", tools)
    with pytest.raises(structgen.GrammarError, match="a call is required, and there are no tools"):
        picked(tiny_model, "hi", [])


def test_acall(tiny_model):
    options = {"tool_choice": "required", "parallel": False, "temperature": 1.0, "seed": 1}
    reply = asyncio.run(structgen.acall(tiny_model, "hi", [add], **options))
    assert reply == structgen.call(tiny_model, "hi", [add], **options)


def test_the_real_model_picks_the_right_one(smollm2):
    def weather_in(city: Annotated[str, Field(max_length=20)], unit: Literal["C", "F"] = "C") -> str:
        """The weather in a city."""
        return f"18 {unit} in {city}"

    def total(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    assert picked(smollm2, "What is 17 plus 25?", [weather_in, total]).run() == 42
    assert picked(smollm2, "Is it warm in Lyon?", [weather_in, total]).run() == "18 C in Lyon"


def test_arguments_that_are_only_positional_keep_their_places():
    def pair(a: int = 1, b: int = 2, /) -> tuple[int, int]:
        return a, b

    assert structgen.ToolCall("pair", {"b": 5}, pair, "").run() == (1, 5)
