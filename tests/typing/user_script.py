"""A user's script, which is type checked and never run: each call has the type of its value."""

import dataclasses
import enum
import re
from typing import Annotated, Any, Literal, assert_type

import pydantic
from typing_extensions import TypedDict

import structgen


class Person(pydantic.BaseModel):
    name: str
    age: Annotated[int, pydantic.Field(ge=0)]


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclasses.dataclass
class Point:
    x: int


class Movie(TypedDict):
    title: str


model = structgen.load("smollm2")
other = structgen.load("some/model")
text = "Alice is 34."
vocabulary = model.vocabulary

# -- one value --------------------------------------------------------------------------------------------------------

assert_type(structgen.generate(model, text, Person), Person)
assert_type(structgen.generate(other, text, Point, temperature=0.7, seed=1), Point)
assert_type(structgen.generate(model, text, Movie), Movie)
assert_type(structgen.generate(model, text, Color), Color)
assert_type(structgen.generate(model, text, Literal["good", "bad"]), Literal["good", "bad"])
assert_type(structgen.generate(model, text, list[Person]), list[Person])
assert_type(structgen.generate(model, text, Person | Point), Person | Point)
assert_type(structgen.generate(model, text, Person | None), Person | None)
assert_type(structgen.generate(model, text, dict[str, int]), dict[str, int])
assert_type(structgen.generate(model, text, Annotated[str, structgen.SubstringOf(text)]), str)
assert_type(structgen.generate(model, text, int), int)
assert_type(structgen.generate(model, text, pydantic.TypeAdapter(list[Point])), list[Point])
assert_type(structgen.generate(model, text, structgen.Grammar.regex("[0-9]+")), str)
assert_type(structgen.generate(model, text, "id-" + structgen.Grammar.kbnf('start ::= "a";')), str)
assert_type(structgen.generate(model, text, structgen.Grammar.choice(["a", "b"])), str)
assert_type(structgen.generate(model, text, structgen.Grammar.choice({"yes": True, "no": False})), bool)
assert_type(structgen.generate(model, text, structgen.Grammar.choice(Color)), Color)
assert_type(structgen.generate(model, text, structgen.Grammar.yaml(Person)), Person)
assert_type(structgen.generate(model, text, structgen.json_lines(Person, max_items=3)), list[Person])
assert_type(structgen.generate(model, text, re.compile("[0-9]+")), str)
assert_type(structgen.generate(model, text, ["left", "right"]), str)
assert_type(structgen.generate(model, text, {"type": "integer"}), Any)
assert_type(structgen.generate(model, text, '{"type": "integer"}'), Any)
assert_type(structgen.generate(model, text, structgen.compile(Person, vocabulary)), Person)
assert_type(structgen.compile(list[Person], vocabulary).parse("[]"), list[Person])
assert_type(structgen.compile({"type": "integer"}, vocabulary), structgen.Constraint[Any])

holes: dict[str, Any] = structgen.generate(model, text, structgen.template("{x:[a-z]+}"))  # Any, for mypy

# -- many -------------------------------------------------------------------------------------------------------------

assert_type(structgen.batch(model, [text], Person), list[Person])
assert_type(structgen.batch(model, [text], list[Person], return_exceptions=True), list[list[Person] | Exception])
assert_type(structgen.batch(model, [text], Person, results=True), list[structgen.Result[Person]])
assert_type(
    structgen.batch(model, [text], Person, results=True, return_exceptions=True),
    list[structgen.Result[Person] | Exception],
)
assert_type(structgen.batch(model, [text], [Person, Point]), list[Any])
assert_type(structgen.batch(model, [text], {"type": "integer"}), list[Any])

# -- a generator and streams ------------------------------------------------------------------------------------------

generator = structgen.Generator(model, Literal["good", "bad"], max_new_tokens=8)
assert_type(generator, structgen.Generator[Literal["good", "bad"]])
assert_type(generator(text), Literal["good", "bad"])
assert_type(generator.run(text).value, Literal["good", "bad"])
assert_type(generator.batch([text]), list[Literal["good", "bad"]])
assert_type(generator.batch([text], results=True), list[structgen.Result[Literal["good", "bad"]]])
assert_type(structgen.Generator(model, {"type": "integer"})(text), Any)
assert_type(structgen.Generator(model, structgen.Grammar.regex("a+"))(text), str)

with structgen.stream(model, text, list[Person]) as stream:
    for part in stream:
        assert_type(part, list[Person])
    assert_type(stream.final(), list[Person])

# -- functions --------------------------------------------------------------------------------------------------------


@structgen.fn
def sentiment(review: str) -> Literal["good", "bad"]:
    """Is this review good or bad? {review}"""
    raise NotImplementedError


@structgen.fn(temperature=0.5, max_new_tokens=40)
async def people(text: str, *, limit: int = 3) -> list[Person]:
    """List at most {limit} people of this text: {text}"""
    raise NotImplementedError


assert_type(sentiment("I love it."), Literal["good", "bad"])
assert_type(sentiment.with_options(seed=1)("I love it."), Literal["good", "bad"])

# -- probabilities, which need a local model, and tools ----------------------------------------------------------------

assert_type(structgen.classify(model, text, ["a", "b"]), dict[str, float])
assert_type(structgen.score(model, text, ["a", "b"])[0], structgen.Score[str])


def weather(city: str) -> str:
    """Return the weather in a city."""
    return f"sunny in {city}"


reply = structgen.call(model, text, [weather])
assert_type(reply, structgen.ToolReply)
assert_type(reply.tool_calls[0].name, str)


async def main() -> None:
    assert_type(await structgen.agenerate(model, text, Person | None), Person | None)
    assert_type(await structgen.agenerate(model, text, {"type": "integer"}), Any)
    assert_type(await structgen.abatch(model, [text], Person), list[Person])
    assert_type(await structgen.abatch(model, [text], Person, return_exceptions=True), list[Person | Exception])
    assert_type(await generator.abatch([text]), list[Literal["good", "bad"]])
    assert_type((await generator.arun(text)).value, Literal["good", "bad"])
    async with structgen.astream(model, text, Person) as growing:
        async for part in growing:
            assert_type(part, Person)
        assert_type(await growing.final(), Person)
    assert_type(await people(text, limit=2), list[Person])
    assert_type(await structgen.acall(model, text, [weather]), structgen.ToolReply)
