"""`@fn`: prompts, schemas, options, and errors at decoration."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pytest
from pydantic import BaseModel, Field

import structgen

if TYPE_CHECKING:
    from somewhere import Unknown  # an annotation that cannot be read at run time


class Person(BaseModel):
    name: str
    age: int


@dataclass
class Point:
    x: int
    y: int


@structgen.fn
def sentiment(review: str, language: str = "English") -> Literal["positive", "negative"]:
    """Is this {language} review positive or negative?

    {review}
    """


def test_the_docstring_is_the_prompt():
    expected = "Is this English review positive or negative?\n\nGreat {stuff}!"
    assert sentiment.prompt("Great {stuff}!") == expected
    assert sentiment.prompt(language="French", review="Bien.").startswith("Is this French review")


def test_it_looks_like_the_function():
    assert sentiment.__name__ == "sentiment"
    assert "review positive" in sentiment.__doc__
    assert list(inspect.signature(sentiment).parameters) == ["review", "language"]


def test_wrong_arguments_are_type_errors():
    with pytest.raises(TypeError, match=r"^sentiment\(\) missing a required argument: 'review'"):
        sentiment.prompt()
    with pytest.raises(TypeError, match=r"fn takes a function, not str; its options have names: fn\(model=…\)"):
        structgen.fn("smollm2")
    with pytest.raises(TypeError, match="nonsense"):
        sentiment("a", nonsense=1)


def test_data_is_written_as_json_and_formats_work():
    @structgen.fn
    def check(person: Person, points: list[Point], price: float, key: dict, *rest: int, **more: int) -> bool:
        """{person} {points} {price:.2f} {person.name!r} {key[a]} {rest} {more} {{literal}}"""

    prompt = check.prompt(Person(name="Ann", age=3), [Point(1, 2)], 1.5, {"a": 7}, 8, 9, b=1)
    assert prompt == """{"name":"Ann","age":3} [{"x":1,"y":2}] 1.50 'Ann' 7 [8,9] {"b":1} {literal}"""


def test_the_value_is_of_the_return_type(tiny_model):
    function = sentiment.with_options(model=tiny_model)
    assert function("Great!") in ("positive", "negative")


def test_a_schema_may_be_given_that_is_no_type(tiny_model):
    @structgen.fn(model=tiny_model, schema=structgen.json_lines(Literal["a", "b"], min_items=2, max_items=2))
    def letters(text: str) -> list[str]:
        """Which letters are in {text}?"""

    assert len(letters("cab")) == 2
    assert set(letters("cab")) <= {"a", "b"}
    years = letters.with_options(schema=structgen.Grammar.regex("1[0-9]{3}"))
    assert years("when?").startswith("1")
    assert len(letters("cab")) == 2


def test_options_go_to_the_generator(tiny_model):
    @structgen.fn(model=tiny_model, max_new_tokens=3, temperature=1.0, seed=1)
    def describe(thing: str) -> str:
        """Describe {thing}."""

    with pytest.raises(structgen.IncompleteOutputError):
        describe.with_options(on_budget="error")("a kettle")
    with pytest.raises(TypeError, match="nonsense"):
        describe.with_options(nonsense=1)("a kettle")


def test_with_options_leaves_the_original_alone(tiny_model):
    other = sentiment.with_options(model=tiny_model, temperature=1.0)
    assert other is not sentiment
    assert sentiment._options == {}
    assert other.with_options(seed=2)._options == {"model": tiny_model, "temperature": 1.0, "seed": 2}


def test_the_default_model(tiny_model):
    structgen.set_default_model(tiny_model)
    try:
        assert sentiment("Great!") in ("positive", "negative")
    finally:
        structgen.set_default_model(None)


def test_async_functions_are_awaited(tiny_model):
    @structgen.fn(model=tiny_model)
    async def pick(colour: str) -> Literal["red", "blue"]:
        """Which of red and blue is more like {colour}?"""

    async def both():
        return await asyncio.gather(pick("pink"), pick("cyan"))

    assert set(asyncio.run(both())) <= {"red", "blue"}
    assert pick.prompt("pink") == "Which of red and blue is more like pink?"


def test_annotations_may_name_local_types(tiny_model):
    class Local(BaseModel):
        kind: Literal["a", "b"]
        level: int = Field(ge=1, le=3)

    @structgen.fn(model=tiny_model)
    def classify(text: str) -> Local:
        """Classify {text}."""

    value = classify("x")
    assert isinstance(value, Local)


def test_parameters_may_have_unreadable_annotations(tiny_model):
    @structgen.fn
    def use(thing: Unknown) -> bool:
        """Is {thing} good?"""

    assert use.prompt(3) == "Is 3 good?"


def test_no_docstring():
    with pytest.raises(structgen.FunctionDefinitionError, match="no docstring"):

        @structgen.fn
        def silent(text: str) -> bool: ...


@pytest.mark.parametrize("annotation", [inspect.Signature.empty, None])
def test_no_return_annotation(annotation):
    def vague(text):
        """Is {text} good?"""

    if annotation is None:
        vague.__annotations__["return"] = None
    with pytest.raises(structgen.FunctionDefinitionError, match="no return annotation"):
        structgen.fn(vague)


def test_an_unreadable_return_annotation():
    with pytest.raises(structgen.FunctionDefinitionError, match="Unknown"):

        @structgen.fn
        def use(thing: int) -> Unknown:
            """Use {thing}."""


@pytest.mark.parametrize(
    ("docstring", "says"),
    [
        ("Is {txt} good?", r"\{txt\}"),
        ("Is {} good?", r"\{\}"),
        ("Is {0} good?", r"\{0\}"),
        ('Answer as {"a": 1}: {text}', "names"),
        ("Is {text good?", "is not a prompt"),
        ("Is text} good?", "is not a prompt"),
    ],
)
def test_braces_that_name_no_parameter(docstring, says):
    def unclear(text) -> bool: ...

    unclear.__doc__ = docstring
    with pytest.raises(structgen.FunctionDefinitionError, match=says) as caught:
        structgen.fn(unclear)
    assert "{{" in caught.value.hint


def test_smollm2_answers_a_typed_function(smollm2):
    function = sentiment.with_options(model=smollm2)
    assert function("I want my money back. It broke after one day.") == "negative"


def test_options_are_checked_where_they_are_written():
    with pytest.raises(TypeError, match="did you mean 'temperature'"):
        structgen.fn(temprature=1)(_positive)
    with pytest.raises(TypeError, match="did you mean 'temperature'"):
        structgen.fn(_positive).with_options(temprature=1)


def _positive(text: str) -> bool:
    """Is this positive? {text}"""


def test_methods(tiny_model):
    class Critic:
        name = "Ann"

        @structgen.fn(model=tiny_model)
        def likes(self, text: str) -> bool:
            """Does {self.name} like this? {text}"""

    assert isinstance(Critic().likes("a film"), bool)
    assert Critic.likes.prompt(Critic(), "a film") == "Does Ann like this? a film"
