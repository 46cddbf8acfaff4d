"""An agent of pydantic-ai: structured output and a stream, by a model in this process."""

import asyncio

from pydantic import BaseModel
from pydantic_ai import Agent

import structgen
from structgen.integrations.pydantic_ai import StructgenModel


class Person(BaseModel):
    name: str
    age: int


model = StructgenModel(structgen.load("smollm2"))


async def main():
    run = await Agent(model, output_type=Person).run("Alice Smith is a 34 year old nurse.")
    print(run.output, run.usage.output_tokens, "tokens")
    async with Agent(model).run_stream("What is the capital of France?") as stream:
        async for text in stream.stream_text(delta=True):
            print(text, end="")
    print()


asyncio.run(main())
