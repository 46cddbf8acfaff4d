"""Does a small model write YAML with fewer tokens and less time than JSON, and is it as often right?

    python benchmarks/yaml_tokens.py [--tasks 10]

SmolLM2 extracts ten things from sentences whose right answers are known: the flat ones of `end_to_end.py`, and others
with lists and maps in them. Each is asked for in JSON without white space ("compact"), in JSON as `json.dumps` writes
it ("single"), and in block-style YAML with list dashes at the margin of their key ("compact") or two blanks further
("single"). The prompt names the format. Decoding is greedy. The model reads the ten tasks as one batch for each format,
one format after the other. *Seconds* are those of the whole batch: on a machine with other work, compare tokens and
passes. The schemas are compiled, and one answer is generated, before the measurement.

*Tokens of the right answer* do not depend on what the model writes: they are the tokens of the right answer's own text.
An answer is *right* if the whole value is right, ignoring case.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

from _report import heading, table
from end_to_end import extractions
from pydantic import BaseModel, Field

os.environ.setdefault("HF_HUB_OFFLINE", "1")
MAX_NEW_TOKENS = 128
Short = Field(max_length=40)


class Format(NamedTuple):
    """A format and its white space."""

    format: Literal["json", "yaml"]
    whitespace: Literal["compact", "single"]


FORMATS = [Format(name, space) for name in ("json", "yaml") for space in ("compact", "single")]


class Member(BaseModel):
    """A member of a team."""

    name: str = Short
    role: str = Short


class Team(BaseModel):
    """A team with its members."""

    team: str = Short
    members: list[Member] = Field(min_length=1, max_length=4)


class Recipe(BaseModel):
    """A recipe."""

    dish: str = Short
    minutes: int = Field(ge=1, le=600)
    ingredients: list[str] = Field(min_length=1, max_length=6)


class Address(BaseModel):
    """An address."""

    street: str = Short
    city: str = Short


class Shop(BaseModel):
    """A shop and its address."""

    name: str = Short
    address: Address
    open: bool


class Line(BaseModel):
    """A line of an invoice."""

    item: str = Short
    count: int = Field(ge=1, le=1000)
    price: int = Field(ge=0, le=100_000)


class Invoice(BaseModel):
    """An invoice."""

    number: int = Field(ge=1, le=99_999)
    lines: list[Line] = Field(min_length=1, max_length=4)


class Trip(BaseModel):
    """A trip."""

    traveller: str = Short
    stops: list[str] = Field(min_length=1, max_length=6)
    by: Literal["train", "car", "plane"]


class Task(NamedTuple):
    """A sentence, the model class of the answer, and the right answer."""

    text: str
    kind: type[BaseModel]
    answer: BaseModel


NESTED = [
    Task(
        "The team Blue Owls has two members: Ana is the captain and Ben is the keeper.",
        Team,
        Team(team="Blue Owls", members=[Member(name="Ana", role="captain"), Member(name="Ben", role="keeper")]),
    ),
    Task(
        "Pancakes take 20 minutes. You need flour, milk, eggs and sugar.",
        Recipe,
        Recipe(dish="Pancakes", minutes=20, ingredients=["flour", "milk", "eggs", "sugar"]),
    ),
    Task(
        "The shop Green Leaf at 12 Mill Road in Leeds is open.",
        Shop,
        Shop(name="Green Leaf", address=Address(street="12 Mill Road", city="Leeds"), open=True),
    ),
    Task(
        "Invoice 417 has two lines: 3 lamps at a price of 25, and 2 chairs at a price of 80.",
        Invoice,
        Invoice(number=417, lines=[Line(item="lamps", count=3, price=25), Line(item="chairs", count=2, price=80)]),
    ),
    Task(
        "Mia travels by train. Her stops are Paris, Lyon and Nice.",
        Trip,
        Trip(traveller="Mia", stops=["Paris", "Lyon", "Nice"], by="train"),
    ),
]


def tasks(count: int) -> list[Task]:
    """Return tasks, flat and nested in turn."""
    flat = [Task(one.prompt.partition('Text: "')[2].rstrip('"'), one.kind, one.answer) for one in extractions(count)]
    return [task for pair in zip(flat, NESTED, strict=False) for task in pair][:count]


@dataclass
class Measured:
    """The sums over all tasks of one format."""

    answer_tokens: int = 0
    tokens: int = 0
    forced: int = 0
    passes: int = 0
    seconds: float = 0.0
    right: int = 0
    failed: list[str] = field(default_factory=list)


def is_right(value: BaseModel, answer: BaseModel) -> bool:
    """Return whether a value is the right answer, ignoring case."""
    return str(value.model_dump()).casefold() == str(answer.model_dump()).casefold()


def right_text(constraint: Any, answer: BaseModel) -> str:
    """Return the text of the right answer, as the masks would let a model write it."""
    from structgen.generation.example_texts import text_of
    from structgen.generation.yaml_examples import yaml_text_of

    if constraint.is_yaml:
        return yaml_text_of(answer, constraint)
    return text_of(constraint.prepared.pieces(answer), constraint.grammar)


def measure(model: Any, asked: list[Task], form: Format) -> tuple[Measured, str]:
    """Ask for all answers in one format; return what they cost, and the text of the last one."""
    import structgen
    from structgen.generation.batches import run_batch

    found, beginnings = Measured(), []
    for number, task in enumerate(asked):
        constraint = structgen.compile(task.kind, model.vocabulary, format=form.format, whitespace=form.whitespace)
        found.answer_tokens += len(model.encode_text(right_text(constraint, task.answer)))
        fields = ", ".join(task.kind.model_fields)
        prompt = f'Extract the {task.kind.__name__.lower()} as {form.format.upper()} with {fields}. Text: "{task.text}"'
        generator = structgen.Generator(model, constraint, max_new_tokens=MAX_NEW_TOKENS)
        beginnings.append((number, partial(_begin, generator, prompt)))
    began = time.perf_counter()
    results = dict(run_batch(model, beginnings, batch_size=len(asked)))
    found.seconds = time.perf_counter() - began
    text = ""
    for task, (_, result) in zip(asked, sorted(results.items()), strict=True):
        if isinstance(result, Exception):
            found.failed.append(f"{task.kind.__name__}: {type(result).__name__}")
            continue
        text = result.text
        found.tokens += result.usage.completion_tokens
        found.forced += result.usage.forced_tokens
        found.passes += result.usage.model_calls
        found.right += is_right(result.value, task.answer)
    return found, text


def _begin(generator: Any, prompt: str, new_session: Any) -> Any:
    return generator.begin(prompt, new_session=new_session)


def main() -> None:
    """Run the benchmark, and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10, help="number of tasks, at most 10 (10)")
    options = parser.parse_args()
    import structgen

    model = structgen.load("smollm2")
    asked = tasks(options.tasks)
    measure(model, asked[:1], FORMATS[0])
    found: dict[Format, Measured] = {}
    samples: dict[Format, str] = {}
    for form in FORMATS:
        found[form], samples[form] = measure(model, asked, form)
        print(*form, found[form], file=sys.stderr)
    print(heading(), end="\n\n")
    columns = ["format", "white space", "tokens of the right answers", "tokens", "forced", "passes", "seconds", "right"]
    rows = [
        (*form, one.answer_tokens, one.tokens, one.forced, one.passes, one.seconds, f"{one.right} of {len(asked)}")
        for form, one in found.items()
    ]
    print(table(columns, rows, left=2), end="\n\n")
    failed = "; ".join(
        f"{form.format} {form.whitespace}: {', '.join(one.failed)}" for form, one in found.items() if one.failed
    )
    print(f"Without an answer, and not counted in tokens: {failed or 'none'}.", end="\n\n")
    print("The last task's answers:", end="\n\n")
    for form, text in samples.items():
        print(f"{form.format}, {form.whitespace}:\n\n```{form.format}\n{text}\n```\n")


if __name__ == "__main__":
    main()
