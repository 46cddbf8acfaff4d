"""A chat model of LangChain: structured output, a prompt, and a stream."""

from langchain_core.prompts import ChatPromptTemplate
from pydantic import BaseModel

import structgen
from structgen.integrations.langchain import ChatStructgen


class Person(BaseModel):
    name: str
    age: int


chat = ChatStructgen(structgen.load("smollm2"), max_tokens=100)
prompt = ChatPromptTemplate.from_messages([("user", "{text}")])
print((prompt | chat.with_structured_output(Person)).invoke({"text": "Alice Smith is a 34 year old nurse."}))
for chunk in chat.stream("What is the capital of France?"):
    print(chunk.text, end="")
print()
