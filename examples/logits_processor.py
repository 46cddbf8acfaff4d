"""structgen's masks in transformers' own `generate`: any of its decoding methods, batches and beams included."""

from typing import Literal

from pydantic import BaseModel

import structgen


class Answer(BaseModel):
    country: str
    continent: Literal["Africa", "America", "Asia", "Europe", "Oceania"]


model = structgen.load("smollm2")
hf_model, tokenizer = model.hf_model, model.tokenizer
tokenizer.padding_side = "left"

processor = structgen.compile(Answer, model.vocabulary, whitespace="single").logits_processor()
chats = [
    [{"role": "user", "content": f"Name the country of {city} and its continent as JSON with country, continent."}]
    for city in ("Nairobi", "the city of Kyoto")
]
inputs = tokenizer.apply_chat_template(
    chats, add_generation_prompt=True, padding=True, return_tensors="pt", return_dict=True
)
for beams in (1, 3):
    ids = hf_model.generate(**inputs, logits_processor=[processor], max_new_tokens=60, num_beams=beams, do_sample=False)
    for row in tokenizer.batch_decode(ids[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True):
        print(beams, Answer.model_validate_json(row))
