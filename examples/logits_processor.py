"""structgen's masks in transformers' own `generate`, with all its decoding methods, batches and beams included."""

from typing import Literal

from pydantic import BaseModel, Field

import structgen


class Person(BaseModel):
    name: str = Field(max_length=30)
    age: int = Field(ge=0, le=120)
    status: Literal["single", "married", "unknown"]


model = structgen.load("smollm2")
hf_model, tokenizer = model.hf_model, model.tokenizer
tokenizer.padding_side = "left"

processor = structgen.compile(Person, model.vocabulary, whitespace="single").logits_processor()
texts = ["Alice Smith is 34 and single.", "Yesterday I met Bob Stone, who is 51 years old and married."]
chats = [
    [{"role": "user", "content": f"Extract the person as JSON with name, age, status. Text: {text}"}] for text in texts
]
inputs = tokenizer.apply_chat_template(
    chats, add_generation_prompt=True, padding=True, return_tensors="pt", return_dict=True
)
for beams in (1, 3):
    ids = hf_model.generate(**inputs, logits_processor=[processor], max_new_tokens=60, num_beams=beams, do_sample=False)
    for row in tokenizer.batch_decode(ids[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True):
        print(beams, Person.model_validate_json(row))
