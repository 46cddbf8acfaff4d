"""Choices, JSON Lines, templates and substrings through every function, on a tiny model with random weights."""

import enum
import json
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

import structgen
from structgen import Grammar, SubstringOf, json_lines, template
from structgen.schema.reading.substrings import is_substring

SOURCE = 'Alice said: "the roof\nleaks" since Tuesday \\ ça 😀'


class Side(enum.Enum):
    LEFT = "left"
    RIGHT = "left or right"


class Note(BaseModel):
    quote: Annotated[str, SubstringOf(SOURCE, unit="word"), Field(max_length=12)]
    kind: Literal["a", "b"]


def is_note(note):
    """A substring of the source that is short enough."""
    return isinstance(note, Note) and is_substring(note.quote, SOURCE, "word") and len(note.quote) <= 12


FORMATS = {
    "choice": (Grammar.choice(Side), lambda value: isinstance(value, Side)),
    "substring": (Grammar.substring(SOURCE, max_length=9), lambda value: value in SOURCE and 0 < len(value) <= 9),
    "field": (Note, is_note),
    "lines": (
        json_lines(Note, min_items=1, max_items=2),
        lambda value: 1 <= len(value) <= 2 and all(map(is_note, value)),
    ),
    "template": (
        template(
            "{side} {n}: {quote}\n{note} {rest:[a-z]{2}}",
            side=Side,
            n=Annotated[int, Field(ge=0, le=99)],
            quote=Annotated[str, SubstringOf("the roof", unit="word")],
            note=Note,
        ),
        lambda value: (
            isinstance(value["side"], Side)
            and 0 <= value["n"] <= 99
            and value["quote"] in ("the", "roof", "the roof")
            and is_note(value["note"])
            and value["rest"].isalpha()
        ),
    ),
}


@pytest.mark.parametrize("tokenization", ["any", "proper"])
@pytest.mark.parametrize("name", FORMATS)
def test_generate(tiny_model, name, tokenization):
    kind, holds = FORMATS[name]
    run = structgen.Generator(tiny_model, kind, tokenization=tokenization, max_new_tokens=300, temperature=2.0)
    for seed in range(4):
        result = run.run("Tell.", seed=seed)
        assert holds(result.value), result
        assert structgen.compile(kind, tiny_model.vocabulary, whitespace="single").parse(result.text) == result.value
    assert holds(structgen.generate(tiny_model, "Tell.", kind, tokenization=tokenization, max_new_tokens=300))


@pytest.mark.parametrize("name", FORMATS)
def test_logits_processor(tiny_model, name):
    torch = pytest.importorskip("torch")
    kind, holds = FORMATS[name]
    constraint = structgen.compile(kind, tiny_model.vocabulary, whitespace="single")
    tiny_model.tokenizer.padding_side = "left"
    inputs = tiny_model.tokenizer(["one", "two words"], padding=True, return_tensors="pt", return_token_type_ids=False)
    torch.manual_seed(0)
    ids = tiny_model.hf_model.generate(
        **inputs, logits_processor=[constraint.logits_processor()], max_new_tokens=300, do_sample=True
    )
    for row in ids[:, inputs["input_ids"].shape[1] :]:
        assert holds(constraint.parse(tiny_model.tokenizer.decode(row, skip_special_tokens=True)))


def test_typed_functions(tiny_model):
    @structgen.fn(model=tiny_model, max_new_tokens=100)
    def quote(text: str) -> Annotated[str, SubstringOf(SOURCE)]:
        """Who? '{text}'"""

    assert quote(SOURCE) in SOURCE


def test_a_budget_that_ends_too_early(tiny_model):
    kind, _ = FORMATS["lines"]
    with pytest.raises(structgen.IncompleteOutputError) as raised:
        structgen.generate(tiny_model, "Tell.", kind, max_new_tokens=8, on_budget="error")
    assert raised.value.text.startswith('{"quote"')


def test_the_real_model_quotes_the_source(smollm2):
    note = structgen.generate(smollm2, f"Quote from this text, as JSON: {SOURCE}", Note)
    assert is_note(note)
    assert json.loads(note.model_dump_json()) == note.model_dump()
