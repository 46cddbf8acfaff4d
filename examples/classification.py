"""Classification: the answer is one of an enum's values, and nothing else can be said."""

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
]:
    topic = structgen.generate(model, f"Is this text about sports, politics or cooking? Text: {text}", Topic)
    print(topic, "-", text)
