"""Extraction: an instance of a Pydantic model from a sentence."""

from pydantic import BaseModel, Field

import structgen


class Person(BaseModel):
    name: str = Field(max_length=40)
    age: int = Field(ge=0, le=120)
    city: str = Field(max_length=40)


model = structgen.load("smollm2")
extract = structgen.Generator(model, Person)  # compiled once, used for every text

for text in [
    "Alice Smith is a 34 year old nurse from Lyon.",
    "Bob Stone, who lives in Oslo, is 51 years old.",
]:
    result = extract.run(f"Extract the person as JSON with name, age, city. Text: {text}")
    print(result.value)
    usage = result.usage
    print(f"  {usage.completion_tokens} tokens, {usage.forced_tokens} of them forced, {usage.seconds:.1f} s")
