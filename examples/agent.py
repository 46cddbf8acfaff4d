"""An agent with two tools: the model calls them until it answers; a tool's exception goes back to the model."""

from typing import Annotated

from pydantic import Field

import structgen

DEGREES = {"Lyon": 18, "Paris": 15}


def weather_in(city: Annotated[str, Field(max_length=20)]) -> str:
    """Look up the weather in a city."""
    return f"{DEGREES[city]} degrees and sunny in {city}"


def total(a: Annotated[int, Field(ge=0, le=999)], b: Annotated[int, Field(ge=0, le=999)]) -> int:
    """Add two numbers."""
    return a + b


model = structgen.load("smollm2")
for question in ["What is the sum of 120 and 45?", "Does it rain in Oslo?"]:
    # SmolLM2 is too small to decide when it needs a tool, so the first reply has to be a call.
    found = structgen.run_tools(
        model, question, [weather_in, total], tool_choice="required", parallel=False, max_turns=2, max_new_tokens=40
    )
    for message in found.messages:
        calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", ())]
        print(f"{message['role']}: {message['content']}", *calls)
