"""A typed function: the docstring is the prompt, the return annotation is the schema."""

import asyncio
from typing import Literal

import structgen


@structgen.fn
def sentiment(review: str) -> Literal["positive", "negative"]:
    """Is the sentiment of this review positive or negative? '{review}'"""
    raise NotImplementedError  # for type checkers: the body never runs


@structgen.fn(max_new_tokens=60)
async def capital(country: str) -> str:
    """What is the capital of {country}? Answer with its name only."""
    raise NotImplementedError


print(sentiment.prompt("I want my money back."))
print(sentiment("I want my money back. It broke after a day."))
print(sentiment.with_options(temperature=0.3, seed=1)("I love it, best purchase of the year!"))
print(asyncio.run(capital("France")))
