"""Fifteen everyday tasks with answers that are known: lists, summaries, choices, forms. For `budgets.py --answers`.

Some ask for more than a budget of 64 tokens holds, as people do: "everything that a kitchen needs". Their fields that
have a right answer are compared; the others only have to be there.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pydantic import BaseModel


class Task(NamedTuple):
    """A prompt, the type of its answer, and the right values of some of its fields."""

    prompt: str
    kind: type[BaseModel]
    right: dict[str, Any]


class Shopping(BaseModel):
    """A shopping list."""

    items: list[str]
    note: str


class Summary(BaseModel):
    """A summary of a text."""

    title: str
    summary: str
    language: Literal["English", "French", "German"]


class Review(BaseModel):
    """A judgement of a review."""

    sentiment: Literal["positive", "negative"]
    reasons: list[str]


class Contact(BaseModel):
    """A contact."""

    name: str
    email: str
    phone: str


class Meeting(BaseModel):
    """A meeting."""

    day: Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    hour: int
    people: list[str]


class Recipe(BaseModel):
    """A recipe."""

    name: str
    minutes: int
    steps: list[str]


class Plan(BaseModel):
    """A task with smaller tasks in it."""

    task: str
    parts: list[Plan]


class Answer(BaseModel):
    """An answer with its reason."""

    reason: str
    answer: int


TASKS = [
    Task("Write a shopping list with everything that a kitchen needs, as JSON.", Shopping, {}),
    Task('A shopping list of milk and eggs, with the note "by noon", as JSON.', Shopping, {"note": "by noon"}),
    Task("Summarize as JSON: The cat slept all day. At night it went out.", Summary, {"language": "English"}),
    Task("Summarize as JSON: Le chat dort toute la journée. La nuit, il sort.", Summary, {"language": "French"}),
    Task("Judge this review as JSON: Awful. It broke after a day.", Review, {"sentiment": "negative"}),
    Task("Judge this review as JSON: I love it, and so do my kids!", Review, {"sentiment": "positive"}),
    Task(
        "The contact as JSON: Ann Lee, ann@example.org, 555-0101",
        Contact,
        {"name": "Ann Lee", "email": "ann@example.org", "phone": "555-0101"},
    ),
    Task(
        "The contact as JSON: write to Bo Ek at bo@example.net or call 555-0199",
        Contact,
        {"name": "Bo Ek", "email": "bo@example.net", "phone": "555-0199"},
    ),
    Task(
        "The meeting as JSON: Monday at 9 with Ann and Bo.",
        Meeting,
        {"day": "Monday", "hour": 9, "people": ["Ann", "Bo"]},
    ),
    Task("The meeting as JSON: Kim and I meet on Friday at 14.", Meeting, {"day": "Friday", "hour": 14}),
    Task("Write a recipe for pancakes, which take 20 minutes, as JSON.", Recipe, {"minutes": 20}),
    Task("Write a long recipe for a cake that takes 90 minutes, as JSON.", Recipe, {"minutes": 90}),
    Task("Plan a move to another city, as JSON, with parts of parts.", Plan, {}),
    Task("What is 7 plus 5? Answer as JSON with a reason and the answer.", Answer, {"answer": 12}),
    Task("How many days has a week? Answer as JSON with a reason and the answer.", Answer, {"answer": 7}),
]
