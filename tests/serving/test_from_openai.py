"""`from_openai` with structgen's own server: it is found, takes every constraint, and masks it."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

import structgen


class Person(BaseModel):
    name: str = Field(max_length=8)
    age: int = Field(ge=0, le=120)


@pytest.fixture(scope="session")
def model(client):
    openai = pytest.importorskip("openai", reason="the test group has it")
    made = openai.OpenAI(api_key="none", base_url="http://testserver/v1", http_client=client, max_retries=0)
    return structgen.from_openai(made, "tiny", frequency_penalty=0.1)


TAG = {"type": "tag", "begin": "<a>", "content": {"type": "regex", "pattern": "x{1,3}"}, "end": "</a>"}


@pytest.mark.parametrize(
    "constraint",
    [
        Person,
        {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True},
        Literal["a", 3],
        structgen.Grammar.regex("[0-9]{3}-[0-9]{4}"),
        structgen.Grammar.choice({"yes": True, "no": False}),
        structgen.Grammar.kbnf('start ::= "(" start? ")" | #"[a-c]{1,2}";'),
        structgen.Grammar.lark('start: "x" ("," /[0-9]/)~1..3'),
        structgen.Grammar.structural_tag({"type": "structural_tag", "format": TAG}),
        structgen.template("{city:[A-Z][a-z]{1,4}}: {age}", age=Annotated[int, Field(ge=1, le=99)]),
        structgen.json_lines(Literal["a", "b"], min_items=1, max_items=3),
    ],
)
def test_every_constraint(model, constraint):
    result = structgen.Generator(model, constraint).run("hi", temperature=1.0, seed=3, max_new_tokens=90)
    assert (result.masks, result.attempts, model.server) == ("server", (), "structgen")
    assert result.usage.completion_tokens


def test_options_of_schemas_are_sent(model, monkeypatch):
    """The answer is spelled as the options say; the client's own fields stay."""
    pair = {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"]}
    options = {"whitespace": "compact", "max_new_tokens": 200}
    result = structgen.Generator(model, {**pair, "additionalProperties": False}, **options).run("hi")
    assert (result.text, result.masks) == ('{"a":1,"b":2}', "server")
    more = {"structgen": {"property_order": "any"}}
    own = structgen.from_openai(model.client, "tiny", server="structgen", extra_body=more)
    generator = structgen.Generator(own, {**pair, "additionalProperties": False}, **options)
    texts = {generator.run("hi", temperature=2.0, seed=seed).text for seed in range(8)}
    assert texts == {'{"a":1,"b":2}', '{"b":2,"a":1}'}
    sent, completions = [], model.client.chat.completions
    create = completions.create
    monkeypatch.setattr(completions, "create", lambda **fields: sent.append(fields) or create(**fields))
    assert structgen.call(model, "hi", [Person], tool_choice="Person", **options).tool_calls
    assert sent[0]["extra_body"]["structgen"] == {"whitespace": "compact"}


def test_streams_and_options(model):
    options = {"temperature": 1.0, "top_k": 20, "min_p": 0.001, "repetition_penalty": 1.1, "max_new_tokens": 90}
    with structgen.stream(model, "hi", Person, **options) as s:
        assert isinstance(s.final(), Person)


def test_logprobs(model):
    result = structgen.Generator(model, Person).run("hi", logprobs=True, max_new_tokens=90)
    assert 0 < result.confidence("/age") <= 1


def test_a_schema_that_it_refuses(model):
    with pytest.raises(structgen.StructgenError, match="no value"):
        structgen.generate(model, "hi", {"type": "string", "enum": [1]})
    broken = structgen.from_openai(model.client, "tiny", server="structgen", extra_body={"nonsense": 1})
    with pytest.raises(structgen.ServerError, match="unknown field 'nonsense'"):
        structgen.generate(broken, "hi", Person)
