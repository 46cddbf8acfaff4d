"""Models behind servers: a schema and a grammar, for OpenAI's or a compatible server, with and without asyncio.

OPENAI_BASE_URL=http://localhost:8000/v1 OPENAI_API_KEY=- MODEL=Qwen/Qwen3-8B python examples/servers.py
"""

import asyncio
import os

import openai
from pydantic import BaseModel, Field

import structgen


class Person(BaseModel):
    name: str = Field(max_length=40)
    age: int = Field(ge=0, le=130)


name = os.environ.get("MODEL", "smollm2")
model = structgen.from_openai(openai.OpenAI(), name)

result = structgen.Generator(model, Person).run("Extract the person. Text: Alice Smith is 34.", max_retries=2)
print(result.value, "masked by:", result.masks)

date = structgen.Grammar.regex(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}")
print(structgen.generate(model, "Write the 14th of March 2026 as an ISO date.", date, max_retries=2))


async def main() -> None:
    async with openai.AsyncOpenAI() as client:
        awaited = structgen.from_openai(client, name)
        prompts = [f"Extract the person. Text: Person {number} is {number + 20}." for number in range(4)]
        print(await structgen.abatch(awaited, prompts, Person, max_retries=2))
        async with structgen.astream(awaited, prompts[0], Person) as s:
            async for part in s:
                print(part)


asyncio.run(main())
