"""Write docs/exports.md, ten schemas as KBNF: `python docs/build_exports.py`."""

from __future__ import annotations

import inspect
import json
import pathlib
import warnings
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field

import structgen

PAGE = pathlib.Path(__file__).with_name("exports.md")
HEAD = """\
# Ten schemas as KBNF

`structgen.export(schema, "kbnf")` writes a schema as a grammar that people can read. This page shows ten of them.
`python docs/build_exports.py` generates it, and a test compares it with what `export` writes today.

How to read them:

- Rules are called after the schema: `person` is the model `Person`, `tags` its field. `person_after_age` is what may
  follow the value of `age`, `person_from_email` the pairs from `email` on, `person_other` a pair whose key the schema
  does not name, `person_more` what may follow such a pair.
- Terminals that many schemas share have one rule each, at the end: `string`, `integer`, `number`, `date`, `key`, and
  `ws`, the white space that may stand in a gap. Sets of strings and numbers say what they hold: `string_up_to_40`,
  `integer_0_to_120`.
- `comma` and `colon` have the white space around them. They are rules of their own because the published `kbnf`
  removes the empty text from a rule by writing all combinations of its parts that may be empty. With `ws` beside every
  sign, an object of four properties would keep that package busy for minutes.
- Descriptions of models and fields are comments.
- A string is a class of characters and escapes, not `#ex'["\\\\]'`: `#ex` is of bytes in the published `kbnf`, and
  would let the model write text that is not UTF-8. The class is exact, and shorter.

[The page on KBNF](kbnf.md) explains the notation.
"""


class Person(BaseModel):
    """A person in a text."""

    name: str
    age: int = Field(ge=0, le=120, description="in years")
    email: str | None = Field(None, description="if it is mentioned")
    tags: list[str] = []


class Address(BaseModel):
    """Where a parcel goes."""

    street: str = Field(max_length=40)
    zip: str = Field(pattern="^[0-9]{5}$")
    kind: Literal["home", "work"]


class Tree(BaseModel):
    """A tree of labels."""

    label: str
    children: list[Tree] = []


class Cat(BaseModel):
    """A cat."""

    kind: Literal["cat"]
    lives: int = Field(ge=1, le=9)


class Dog(BaseModel):
    """A dog."""

    kind: Literal["dog"]
    tricks: list[str]


class Invoice(BaseModel):
    """An invoice."""

    issued: date
    total: Decimal = Field(ge=0)


FLAGS = Annotated[list[bool], Field(min_length=1, max_length=3)]
Whitespace: TypeAlias = Literal["any", "line", "compact", "single"]
Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
CONTAINS = {"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}, "maxItems": 4}
MAIL = {"type": "string", "format": "email"}

EXPORTS: tuple[tuple[str, str, tuple[type, ...], Any, Whitespace], ...] = (
    ("A model with optional fields", "", (Person,), Person, "any"),
    ("Fixed punctuation", 'export(Person, "kbnf", whitespace="single")', (), Person, "single"),
    ("Lengths, a pattern, a choice", "", (Address,), Address, "any"),
    ("A recursive model", "", (Tree,), Tree, "any"),
    ("A union with a tag", 'Pet = Annotated[Cat | Dog, Field(discriminator="kind")]', (Cat, Dog), Pet, "any"),
    ("A date and a decimal", "", (Invoice,), Invoice, "any"),
    ("A list between bounds", "Annotated[list[bool], Field(min_length=1, max_length=3)]", (), FLAGS, "any"),
    ("Any keys", "dict[str, float]", (), dict[str, float], "any"),
    ("An array that contains a 7", json.dumps(CONTAINS), (), CONTAINS, "any"),
    ("A mail address", json.dumps(MAIL), (), MAIL, "any"),
)
"""Title, code that is shown after the models, models, schema, white space."""


def build() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for title, code, models, schema, whitespace in EXPORTS:
        source = "\n\n\n".join([*(inspect.getsource(model).rstrip() for model in models), *filter(None, [code])])
        parts.append(f"## {title}\n\n```text\n{source}\n```\n\n```text\n{_exported(schema, whitespace)}```\n")
    return "\n".join(parts)


def _exported(schema: Any, whitespace: Whitespace) -> str:
    """Return the export of a schema, with its warnings above it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = structgen.export(schema, "kbnf", whitespace=whitespace)
    return "".join(f"SchemaWarning: {one.message}\n\n" for one in caught) + text.lstrip("\n")


if __name__ == "__main__":
    PAGE.write_text(build(), encoding="utf-8")
