"""A signature of DSPy, whose output fields are the schema of the answer."""

from typing import Literal

import dspy

import structgen
from structgen.integrations.dspy import StructgenAdapter, StructgenLM


class Sort(dspy.Signature):
    """Say whether the review is positive."""

    review: str = dspy.InputField()
    mood: Literal["positive", "negative"] = dspy.OutputField()


with dspy.context(lm=StructgenLM(structgen.load("smollm2")), adapter=StructgenAdapter()):
    print(dspy.Predict(Sort)(review="I love it!").mood)
