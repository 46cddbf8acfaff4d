"""A structured prediction of LlamaIndex."""

from llama_index.core.prompts import PromptTemplate
from pydantic import BaseModel

import structgen
from structgen.integrations.llama_index import StructgenLLM


class Person(BaseModel):
    name: str
    age: int


llm = StructgenLLM(structgen.load("smollm2"), max_tokens=100)
prompt = PromptTemplate("{text}")
print(repr(llm.structured_predict(Person, prompt, text="Alice Smith is a 34 year old nurse.")))
print(llm.complete("What is the capital of France?"))
