"""Quotes from a long text, part by part: every quote is in the text, word for word."""

from typing import Annotated

from pydantic import BaseModel, Field, create_model

import structgen

LETTER = """\
Dear Sir or Madam, I bought the kettle from your shop on the second of March. It worked well for about two weeks.
Since Monday the handle gets so hot that my daughter burned her hand. I have asked for a refund twice.
Nobody has answered my letters. If I do not hear from you by Friday, I will go to the consumer office.
"""
model = structgen.load("smollm2")

prompts, schemas = [], []
for part in LETTER.splitlines():
    # The schema of each part contains the text of the part, so the model cannot invent a quote.
    quote = Annotated[str, structgen.SubstringOf(part, unit="word"), Field(max_length=60)]
    schemas.append(create_model("Finding", __base__=BaseModel, quote=(quote, ...)))
    prompts.append(f"Quote what matters most, as JSON with quote. Text: {part}")

for part, finding in zip(LETTER.splitlines(), structgen.batch(model, prompts, schemas)):
    assert finding.quote in part
    print(f"- {finding.quote}")
