"""A chat with tools: for each question the model picks a function and its arguments."""

from typing import Annotated, Literal

from pydantic import Field

import structgen


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def weather(city: Annotated[str, Field(max_length=20)], unit: Literal["C", "F"] = "C") -> str:
    """Return the weather in a city."""
    return f"18 {unit} in {city}"


model = structgen.load("smollm2")
for question in ["What is 17 plus 25?", "Is it warm in Lyon?"]:
    reply = structgen.call(model, question, [weather, add], tool_choice="required", parallel=False)
    for call in reply.tool_calls:
        print(f"{question} {call.name}({dict(call.arguments)}) -> {call.run()}")
