"""Classification: the answer is always one of an enum's values."""

from enum import StrEnum

import structgen


class Topic(StrEnum):
    SPORTS = "sports"
    POLITICS = "politics"
    COOKING = "cooking"


model = structgen.load("smollm2")

for text in [
    "The striker scored twice in the last ten minutes of the match.",
    "Bake the cake at 180 degrees until golden.",
    "Parliament voted on the new tax law on Monday.",
]:
    topic = structgen.generate(model, f"Text: {text}\nTopic:", Topic)
    print(topic, "-", text)
