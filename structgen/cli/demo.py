"""`structgen demo`: three sentences and three types; SmolLM2 extracts one instance of each."""

from __future__ import annotations

import datetime
import sys
import time
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, Field

from structgen.generation.generator import Generator
from structgen.models.base import Model

__all__ = ["CASES", "INTRODUCTION", "run"]

INTRODUCTION = """\
Three texts, three Pydantic types: a small model on this machine extracts one instance of each. Every answer fits its
type, whatever the model prefers. Loading takes 10 seconds at the first time, then a few; the answers take about 10."""


class Difficulty(StrEnum):
    """The difficulty of a recipe."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Ingredient(BaseModel):
    """An ingredient: a line of a recipe."""

    name: str = Field(max_length=20)
    grams: int = Field(ge=1, le=5000)


class Recipe(BaseModel):
    """A nested model with a list and an enum."""

    title: str = Field(max_length=40)
    difficulty: Difficulty
    minutes: int = Field(ge=1, le=600)
    ingredients: list[Ingredient] = Field(min_length=1, max_length=4)


class Booking(BaseModel):
    """A model with dates and bounded numbers."""

    guest: str = Field(max_length=40)
    arrival: datetime.date
    departure: datetime.date
    guests: int = Field(ge=1, le=6)
    price_per_night: float = Field(gt=0, le=1000)


class Payment(BaseModel):
    """The first member of a union."""

    kind: Literal["payment"]
    amount: float = Field(gt=0)
    currency: Literal["EUR", "USD", "GBP"]


class Complaint(BaseModel):
    """The second member of a union."""

    kind: Literal["complaint"]
    product: str = Field(max_length=40)
    urgent: bool


CASES: tuple[tuple[str, Any, str], ...] = (
    (
        "Recipe: nested, with a list and an enum",
        Recipe,
        "Extract the recipe as JSON with title, difficulty, minutes, ingredients. Text: Pancakes are easy and take "
        "20 minutes. Ingredients: flour 250 grams, sugar 50 grams, butter 100 grams.",
    ),
    (
        "Booking: dates and bounded numbers",
        Booking,
        "Extract the booking as JSON with guest, arrival, departure, guests, price_per_night. Text: Maria Lopez "
        "arrives on 2026-03-14 and leaves on 2026-03-18, 2 guests, at a price per night of 89.50.",
    ),
    (
        "Payment | Complaint: a union",
        Payment | Complaint,
        "Extract the message as JSON. Text: My new toaster caught fire! This complaint is urgent.",
    ),
)


def run(model: Model) -> None:
    """Print one instance per line on stdout, and its cost on stderr."""
    tokens, seconds = 0, 0.0
    for title, schema, prompt in CASES:
        began = time.perf_counter()
        result = Generator(model, schema, max_new_tokens=200).run(prompt)
        elapsed = time.perf_counter() - began
        tokens, seconds = tokens + result.usage.completion_tokens, seconds + elapsed
        print(f"\n{title}\n  {prompt}", file=sys.stderr, flush=True)
        print(result.value.model_dump_json(), flush=True)
        print(
            f"  {type(result.value).__name__}, valid: {result.usage.completion_tokens} tokens "
            f"({result.usage.forced_tokens} forced, {result.usage.model_calls} passes of the model) "
            f"in {elapsed:.1f} s: {result.usage.completion_tokens / elapsed:.0f} tokens/s",
            file=sys.stderr,
            flush=True,
        )
    print(f"\n{tokens} tokens in {seconds:.1f} s: {tokens / seconds:.0f} tokens/s", file=sys.stderr)
