"""A typed agent: in each step the model picks a function and its arguments; the last function answers."""

from typing import Annotated, Literal

from pydantic import Field

import structgen

PRICES = {"kettle": 39.9, "lamp": 12.5, "chair": 80.0}


def price_of(product: Literal["kettle", "lamp", "chair"]) -> float:
    """Look up the price of one product."""
    return PRICES[product]


def answer(price: Annotated[float, Field(ge=0, le=1000)]) -> float:
    """Tell the customer the price. Call this when the price is known."""
    return price


model = structgen.load("smollm2")
messages = [{"role": "user", "content": "What does a kettle cost? Look up its price, then answer."}]
for _ in range(3):
    known = any("price_of returned" in message["content"] for message in messages)
    step = structgen.call(model, messages, [answer] if known else [price_of])
    returned = step.run()
    print(f"{step.name}({', '.join(f'{name}={value!r}' for name, value in step.arguments.items())}) -> {returned}")
    if step.function is answer:
        break
    messages += step.messages(returned)
