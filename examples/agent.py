"""An agent with two tools: the model calls them until it answers; a tool's exception goes back to the model."""

from typing import Annotated, Literal

from pydantic import Field

import structgen

PRICES = {"kettle": 39.9, "lamp": 12.5}


def price_of(product: Literal["kettle", "lamp", "chair"]) -> float:
    """Look up the price of one product."""
    return PRICES[product]


def total(price: Annotated[float, Field(ge=0, le=999)], count: Annotated[int, Field(ge=1, le=99)]) -> float:
    """Multiply a price by a number of pieces."""
    return round(price * count, 2)


model = structgen.load("smollm2")
for question in ["What does a kettle cost?", "What does a chair cost?"]:
    # SmolLM2 is too small to decide when it needs a tool, so the first reply has to be a call.
    found = structgen.run_tools(
        model, question, [price_of, total], tool_choice="required", parallel=False, max_turns=2, max_new_tokens=40
    )
    for message in found.messages:
        calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", ())]
        print(f"{message['role']}: {message['content']}", *calls)
