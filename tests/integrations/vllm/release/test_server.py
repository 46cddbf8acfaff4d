"""`vllm serve` with the backend, asked by the real client."""

from __future__ import annotations

import asyncio
import json

import pytest
from pydantic import BaseModel, Field
from support.vllm_release.served_requests import ATTACK, PERSON, REFUSED, REQUESTS, is_valid
from support.vllm_release.server import Server

openai = pytest.importorskip("openai")

QUESTION = [{"role": "user", "content": "Tell me about a person, or about the number 42."}]
PROCESSOR = "structgen.vllm:GrammarLogitsProcessor"


class Person(BaseModel):
    name: str = Field(max_length=12)
    age: int = Field(ge=0, le=130)


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    tools = ("--enable-auto-tool-choice", "--tool-call-parser", "hermes")
    arguments = ("--logits-processors", PROCESSOR, *tools)
    with Server(model, log, arguments=arguments, environment={"STRUCTGEN_ON_BUDGET": "finish"}) as server:
        yield server


@pytest.fixture
def ask(server):
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)

    def ask(**more):
        options = {"model": "model", "messages": QUESTION, "max_tokens": 100, "temperature": 1.0, "seed": 1}
        return client.chat.completions.create(**{**options, **more}).choices

    ask.client = client
    yield ask
    assert server.is_healthy()
    client.close()


@pytest.mark.parametrize(("asked", "wanted"), REQUESTS)
def test_every_kind_of_request(ask, asked, wanted):
    choices = ask(n=4, extra_body={"structured_outputs": asked})
    assert len(choices) == 4
    ended = [choice for choice in choices if choice.finish_reason == "stop"]
    assert ended
    assert all(is_valid(choice.message.content, wanted) for choice in ended)


def test_response_formats(ask):
    own = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    (choice,) = ask(response_format=own)
    assert is_valid(choice.message.content, PERSON)
    (choice,) = ask(response_format={"type": "json_object"}, max_tokens=300, extra_body={"repetition_penalty": 1.2})
    assert choice.finish_reason == "length" or isinstance(json.loads(choice.message.content), dict)
    parsed = ask.client.chat.completions.parse(
        model="model", messages=QUESTION, response_format=Person, max_tokens=100, temperature=0
    )
    assert isinstance(parsed.choices[0].message.parsed, Person)


def test_texts_are_whole_within_their_budget(ask):
    asked = {"response_format": {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}}
    with pytest.raises(openai.BadRequestError, match=r"3 tokens are too few: the shortest answer needs \d+") as refused:
        ask(max_tokens=3, **asked)
    least = int(str(refused.value).split("needs ")[1].split()[0])
    for tokens, ending in ((least, "length"), (least + 1, "stop"), (least + 9, "stop")):
        choices = ask(max_tokens=tokens, n=4, **asked)
        assert {choice.finish_reason for choice in choices} == {ending}
        assert all(is_valid(choice.message.content, PERSON) for choice in choices)


def test_beams_with_a_constraint_are_refused(ask):
    """vLLM would drop the constraint."""
    with pytest.raises(openai.BadRequestError, match="drops structured outputs in beam search"):
        ask(n=2, extra_body={"use_beam_search": True, "structured_outputs": {"regex": "[0-9]{4}"}})
    assert len(ask(n=2, max_tokens=3, seed=None, extra_body={"use_beam_search": True})) == 2


@pytest.mark.parametrize(("asked", "message"), REFUSED)
def test_a_bad_request_is_a_400_that_names_the_location(ask, asked, message):
    with pytest.raises(openai.BadRequestError) as raised:
        ask(extra_body={"structured_outputs": asked})
    assert message in str(raised.value)
    if "x-structgen" in json.dumps(asked) or "null" in json.dumps(asked) or "choice" in asked:
        return
    name = next(iter(asked))
    with pytest.raises(openai.BadRequestError):
        processed = {"schema" if name == "json" else name: asked[name]}
        ask(extra_body={"vllm_xargs": {"structgen": json.dumps(processed)}})


def test_the_logits_processor_over_http(ask):
    asked = json.dumps({"schema": PERSON, "whitespace": "compact"})
    (choice,) = ask(extra_body={"vllm_xargs": {"structgen": asked}})
    assert is_valid(choice.message.content, PERSON)
    assert " " not in choice.message.content


def test_end_tokens_and_contradictions(ask):
    regex = {"structured_outputs": {"regex": "abc"}}
    assert ask(extra_body={**regex, "min_tokens": 20})[0].message.content == "abc"
    assert ask(extra_body={**regex, "ignore_eos": True}, max_tokens=9)[0].message.content == "abc"
    with pytest.raises(openai.InternalServerError):
        ask(extra_body={**regex, "allowed_token_ids": [70]})


def test_streams(ask):
    body = {"structured_outputs": {"json": PERSON}}
    with ask.client.chat.completions.create(
        model="model", messages=QUESTION, max_tokens=100, temperature=0, stream=True, extra_body=body
    ) as stream:
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert is_valid(text, PERSON)
    for _ in range(3):  # and clients that leave
        with ask.client.chat.completions.create(
            model="model", messages=QUESTION, max_tokens=100, stream=True, extra_body=body
        ) as stream:
            next(iter(stream))


def test_an_attack_among_good_requests(server):
    async def main():
        client = openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)

        async def one(asked):
            try:
                answer = await client.chat.completions.create(
                    model="model", messages=QUESTION, max_tokens=60, extra_body={"structured_outputs": asked}
                )
            except openai.APIStatusError as error:
                return error
            return answer.choices[0]

        good = [(asked, wanted) for asked, wanted in REQUESTS * 3]
        attacks = [{"grammar": ATTACK + f" & /.{{{number}}}.*/"} for number in range(4)]
        found = await asyncio.gather(*map(one, attacks), *(one(asked) for asked, _ in good))
        await client.close()
        return good, found

    good, found = asyncio.run(main())
    assert all(isinstance(error, openai.APIStatusError) for error in found[:4])
    for (_, wanted), choice in zip(good, found[4:]):
        assert choice.finish_reason == "length" or is_valid(choice.message.content, wanted), choice
    assert server.is_healthy()


def test_a_reasoning_parser(model, tmp_path):
    arguments = ("--reasoning-parser", "deepseek_r1")
    with Server(model, tmp_path / "server.log", arguments=arguments) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)
        # The model does not reason. A bias lets it write the mark that ends the reasoning.
        answer = client.chat.completions.create(
            model="model",
            messages=QUESTION,
            max_tokens=120,
            temperature=0,
            logit_bias={"7": 100},
            # The parser looks for the mark in the text; in this tokenizer it is a special token.
            extra_body={"structured_outputs": {"json": PERSON}, "skip_special_tokens": False},
        )
        client.close()
    message = answer.choices[0].message
    assert is_valid(message.content, PERSON)


def test_an_unknown_backend_is_refused_by_vllm(model, tmp_path):
    with pytest.raises(RuntimeError, match="structgen"), Server(model, tmp_path / "server.log", backend="nothing"):
        pass


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "weather"}}])
def test_tool_calls(ask, choice):
    parameters = {
        "type": "object",
        "properties": {"city": {"type": "string", "pattern": "^[A-Z][a-z]{2,8}$"}, "days": {"enum": [1, 3]}},
        "required": ["city", "days"],
        "additionalProperties": False,
    }
    tool = {"type": "function", "function": {"name": "weather", "parameters": parameters, "strict": True}}
    (found,) = ask(tools=[tool], tool_choice=choice, max_tokens=100)
    (call,) = found.message.tool_calls[:1]
    assert call.function.name == "weather"
    assert is_valid(call.function.arguments, parameters)
