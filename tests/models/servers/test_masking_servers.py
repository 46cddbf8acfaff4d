"""Servers that mask: each is sent what its own definitions take, and answers with a model under what it was sent."""

import json
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field
from support.chat_server import serve

import structgen

openai = pytest.importorskip("openai", reason="the test group has it")

SERVERS = ["vllm", "sglang", "llama.cpp", "openai"]


class Person(BaseModel):
    name: str = Field(pattern="^[a-z]{1,8}$")
    age: int = Field(ge=0, le=120)


TAG = {
    "type": "structural_tag",
    "format": {"type": "tag", "begin": "<a>", "content": {"type": "regex", "pattern": "x+"}, "end": "</a>"},
}
CONSTRAINTS = {
    "schema": Person,
    "open": {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 9}},
        "maxProperties": 1,
    },
    "list": Annotated[list[Literal["a", "b"]], Field(max_length=3)],
    "regex": structgen.Grammar.regex("[0-9]{3}-[0-9]{4}"),
    "choice": structgen.Grammar.choice(["left", "right", 'a "quote"']),
    "values": structgen.Grammar.choice({"yes": True, "no": False}),
    "kbnf": structgen.Grammar.kbnf('start ::= "(" start? ")" | #"[a-c]{1,2}";'),
    "lark": structgen.Grammar.lark('start: "x" ("," /[0-9]/)~1..3'),
    "gbnf": structgen.Grammar.gbnf('root ::= ("ab" | "cd")'),
    "composed": structgen.Grammar.regex("[a-z]{2}") + ": " + structgen.Grammar.choice(["p", "q"]),
    "template": structgen.template("{city:[A-Z][a-z]{1,4}}: {age}", age=Annotated[int, Field(ge=1, le=99)]),
    "lines": structgen.json_lines(Literal["a", "b"], min_items=1, max_items=3),
    "tag": structgen.Grammar.structural_tag(TAG),
}


@pytest.fixture
def server(tiny_model):
    with serve(tiny_model) as server:
        yield server


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="-", max_retries=0) as client:
        yield client


@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_each_server_masks_what_it_is_sent(server, client, kind, name):
    server.kind = kind
    model = structgen.from_openai(client, "tiny", server=kind)
    result = structgen.Generator(model, CONSTRAINTS[name]).run("hi", temperature=1.0, seed=5)
    assert len(server.requests) == 1  # it was not refused
    assert result.value == result.value and not result.attempts
    # Strict schemas close their objects.
    assert result.masks == ("none" if (kind, name) == ("openai", "open") else "server")


class Short(BaseModel):
    name: str = Field(max_length=3)


def test_a_strict_schema_is_wider(server, client):
    server.kind, server.answers = "openai", ['{"name": "abc"}', '{"name": "abcd"}']
    model = structgen.from_openai(client, "tiny", server="openai")
    assert structgen.Generator(model, Short).run("hi").masks == "wider"
    with pytest.raises(structgen.ValidationFailedError, match="the answer is not valid"):
        structgen.generate(model, "hi", Short)


@pytest.mark.parametrize("kind", SERVERS)
def test_streams_grow(server, client, kind):
    server.kind = kind
    model = structgen.from_openai(client, "tiny", server=kind)
    with structgen.stream(model, "hi", CONSTRAINTS["regex"], temperature=1.0, seed=2) as s:
        parts = list(s)
    assert len(parts) > 2 and all(parts[-1].startswith(part) for part in parts)
    with structgen.stream(model, "hi", Person, temperature=1.0, seed=2) as s:
        assert isinstance(s.final(), Person)


def test_the_fields_of_each_server(server, client):
    def sent(kind, name, **options):
        server.kind = kind
        structgen.generate(structgen.from_openai(client, "tiny", server=kind), "hi", CONSTRAINTS[name], **options)
        return server.requests[-1]

    assert sent("vllm", "regex")["structured_outputs"] == {"regex": "[0-9]{3}-[0-9]{4}"}
    assert sent("vllm", "choice")["structured_outputs"] == {"choice": ['a "quote"', "left", "right"]}
    assert json.loads(sent("vllm", "tag")["structured_outputs"]["structural_tag"]) == TAG
    assert "root ::=" in sent("vllm", "kbnf")["structured_outputs"]["grammar"]
    assert sent("vllm", "open")["structured_outputs"] == {"json": CONSTRAINTS["open"]}
    assert sent("sglang", "tag")["response_format"] == TAG
    assert sent("sglang", "open")["response_format"]["json_schema"]["strict"] is True
    assert sent("sglang", "regex")["regex"] == "[0-9]{3}-[0-9]{4}"
    request = sent("llama.cpp", "schema", max_new_tokens=70)
    assert request["grammar"].startswith("root ::=") and request["max_tokens"] == 70
    request = sent("openai", "regex")
    assert request["tools"][0]["custom"]["format"]["grammar"]["syntax"] == "regex"
    assert request["tool_choice"] == {"type": "custom", "custom": {"name": "answer"}}
    assert sent("openai", "kbnf")["tools"][0]["custom"]["format"]["grammar"]["syntax"] == "lark"
    assert sent("openai", "choice")["response_format"]["json_schema"]["schema"]["properties"]["value"]["enum"]


def test_options_that_only_some_servers_have(server, client):
    options = {"temperature": 1.0, "top_k": 3, "min_p": 0.1, "repetition_penalty": 1.2}
    for kind, penalty in {
        "vllm": "repetition_penalty",
        "sglang": "repetition_penalty",
        "llama.cpp": "repeat_penalty",
    }.items():
        server.kind = kind
        structgen.generate(structgen.from_openai(client, "tiny", server=kind), "hi", Person, **options)
        request = server.requests[-1]
        assert (request["top_k"], request["min_p"], request[penalty]) == (3, 0.1, 1.2)
    model = structgen.from_openai(client, "tiny", server="openai")
    with pytest.raises(structgen.ModelError, match="has no option top_k"):
        structgen.generate(model, "hi", Person, **options)


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llama.cpp"])
def test_the_server_is_found_once(server, client, kind):
    server.kind = kind
    model = structgen.from_openai(client, "tiny")
    assert not server.listed
    structgen.batch(model, ["a", "b"], CONSTRAINTS["lark"], batch_size=1)
    assert (server.listed, model.server) == (1, kind)


def test_a_server_that_is_not_found(server, client):
    model = structgen.from_openai(client, "tiny")
    assert structgen.Generator(model, Person).run("hi", temperature=1.0).masks == "none"
    with pytest.raises(structgen.ModelError, match=r"takes no grammars[\s\S]*server='vllm'"):
        structgen.generate(model, "hi", CONSTRAINTS["regex"])
    assert [*server.requests[-1]].count("response_format") == 1


def test_openai_is_known_by_its_address():
    for url in ("https://api.openai.com/v1", "https://x.openai.azure.com/openai/v1"):
        assert structgen.from_openai(openai.OpenAI(base_url=url, api_key="-"), "x").server == "openai"
    for url in ("https://notopenai.com/v1", "http://localhost:1/v1"):
        assert structgen.from_openai(openai.OpenAI(base_url=url, api_key="-"), "x").server is None


@pytest.mark.parametrize(
    ("kind", "name", "refused", "then"),
    [
        ("vllm", "schema", "json", "grammar"),
        ("vllm", "tag", "structural_tag", "grammar"),
        ("sglang", "schema", "response_format", "ebnf"),
        ("sglang", "regex", "regex", "ebnf"),
        ("llama.cpp", "schema", "grammar", "json_schema"),
        ("openai", "choice", "response_format", "tools"),
    ],
)
def test_what_a_server_refuses_is_sent_in_another_form(server, client, kind, name, refused, then):
    server.kind, server.refuses = kind, {refused}
    model = structgen.from_openai(client, "tiny", server=kind)
    result = structgen.Generator(model, CONSTRAINTS[name]).run("hi", temperature=1.0)
    assert len(server.requests) == 2
    assert then in {*server.requests[-1], *server.requests[-1].get("structured_outputs", ())}
    assert result.masks == ("wider" if kind == "llama.cpp" else "server")


@pytest.mark.parametrize("kind", ["openai", None])
def test_a_strict_schema_that_is_refused_is_sent_unchanged(server, client, kind):
    """OpenAI bounds strict schemas: 1,000 values of enums, 5,000 properties, 10 levels."""
    server.kind, server.refuses = kind, {"strict"}
    server.answers = ['{"name": "al", "age": 130}', '{"name": "al", "age": 13}']
    model = structgen.from_openai(client, "tiny", **({"server": kind} if kind else {}))
    result = structgen.Generator(model, Person).run("hi", max_retries=1)
    assert (result.value.age, result.masks, len(result.attempts)) == (13, "none", 1)
    sent = [request["response_format"]["json_schema"] for request in server.requests]
    assert [schema["strict"] for schema in sent] == [True, False, False]
    assert sent[-1]["schema"] == Person.model_json_schema()


def test_a_refused_form_is_not_sent_again(server, client):
    server.kind, server.refuses = "vllm", {"json"}
    model = structgen.from_openai(client, "tiny", server="vllm")
    generator = structgen.Generator(model, CONSTRAINTS["schema"])

    def sent():
        server.requests.clear()
        generator.run("hi", temperature=1.0)
        return [next(iter(request["structured_outputs"])) for request in server.requests]

    assert [sent(), sent()] == [["json", "grammar"], ["grammar"]]
    server.refuses = {"grammar"}  # the server was changed
    assert [sent(), sent()] == [["grammar", "json"], ["json"]]


def test_what_a_server_refuses_in_every_form(server, client):
    server.kind, server.refuses = "vllm", {"json", "grammar"}
    model = structgen.from_openai(client, "tiny", server="vllm")
    with pytest.raises(structgen.ServerError, match="400: cannot compile grammar") as caught:
        structgen.generate(model, "hi", Person)
    assert caught.value.status == 400
    unique = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}  # it cannot be written as a grammar
    with pytest.raises(structgen.ServerError, match="400: cannot compile json"):
        structgen.generate(model, "hi", unique)


def test_llama_cpp_gets_the_schema_where_no_grammar_can_be_written(server, client):
    server.kind = "llama.cpp"
    model = structgen.from_openai(client, "tiny", server="llama.cpp")
    unique = {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}
    result = structgen.Generator(model, unique).run("hi", temperature=1.0)
    assert server.requests[0]["json_schema"] == unique
    assert result.masks == "wider"


@pytest.mark.parametrize(
    ("grammar", "text", "words"),
    [
        (structgen.Grammar.regex("[0-9]{3}"), "12x", "does not fit the grammar after '12', at byte 2"),
        (structgen.Grammar.regex("[0-9]{3}"), "x", "at its beginning"),
        (structgen.Grammar.regex("[0-9]{3}"), "12", "not complete after '12'"),
        (structgen.Grammar.kbnf('start ::= #"[0-9]+" "!";'), "12", "not complete"),
        (structgen.Grammar.choice(["a", "b"]), "c", "at its beginning"),
        (structgen.template("{a:x+}-"), "xx", "template"),
    ],
)
def test_answers_that_break_a_grammar_are_refused(server, client, grammar, text, words):
    server.kind = "vllm"
    server.answers += [text]
    model = structgen.from_openai(client, "tiny", server="vllm")
    with pytest.raises(structgen.ValidationFailedError, match=words):
        structgen.generate(model, "hi", grammar)


def test_answers_that_break_a_grammar_are_sent_back(server, client):
    server.kind = "vllm"
    server.answers += ["12x", "123"]
    model = structgen.from_openai(client, "tiny", server="vllm")
    result = structgen.Generator(model, structgen.Grammar.regex("[0-9]{3}")).run("hi", max_retries=1)
    assert (result.value, len(result.attempts)) == ("123", 1)
    assert "at byte 2" in server.requests[-1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    "text", ["no JSON", "JSON", "}", "[1]]", '{"name": "a\\x', '{"name": "al"x', '{"age": 1{"age": 1', '["a["b']
)
def test_a_stream_of_a_broken_text_ends_in_a_refusal(server, client, text):
    server.kind, server.answers = "vllm", [text]
    model = structgen.from_openai(client, "tiny", server="vllm")
    with structgen.stream(model, "hi", Person) as s, pytest.raises(structgen.ValidationFailedError, match="not valid"):
        list(s)


def test_an_eager_grammar_is_of_whole_texts(server, client):
    """A local model ends such a text at the first token after which it may end; a server does not."""
    server.kind, server.answers = "vllm", ["123"]
    model = structgen.from_openai(client, "tiny", server="vllm")
    assert structgen.generate(model, "hi", structgen.Grammar.kbnf('start ::= #"[0-9]+";')) == "123"


def test_rules_with_a_temperature_are_refused(client):
    grammar = structgen.Grammar.lark("start: x\nx[temperature=0.5]: /[a-z]/")
    with pytest.raises(structgen.ModelError, match="temperatures of rules"):
        structgen.generate(structgen.from_openai(client, "tiny", server="vllm"), "hi", grammar)


def test_grammars_of_tokens_are_refused(client):
    model = structgen.from_openai(client, "tiny", server="vllm")
    grammar = structgen.Grammar.kbnf('start ::= "a" #token"<|im_end|>";')
    with pytest.raises(structgen.StructgenError, match="im_end"):
        structgen.generate(model, "hi", grammar)


def test_logprobs_of_the_server(server, client):
    server.kind, server.answers = "vllm", ['{"name": "é", "age": 7}']
    model = structgen.from_openai(client, "tiny", server="vllm")
    result = structgen.Generator(model, {"type": "object"}).run("hi", logprobs=True)
    assert server.requests[0]["logprobs"] is True
    spans = [result.text.encode()[token.start : token.end] for token in result.logprobs]
    assert b"".join(spans).decode() == result.text
    assert 0 < result.confidence("/age") < 1


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (400, "change the schema"),
        (401, "api_key"),
        (404, "base_url"),
        (413, "shorten"),
        (429, "batch_size"),
        (500, "log"),
    ],
)
def test_errors_have_the_servers_words(server, client, status, hint):
    server.error = status, {"error": {"message": "my words", "type": "x", "code": "y"}}
    model = structgen.from_openai(client, "tiny", server="openai")
    with pytest.raises(structgen.ServerError, match=f"the server answers {status}: my words") as caught:
        structgen.generate(model, "hi", Person)
    assert (caught.value.status, hint in caught.value.hint) == (status, True)
    assert isinstance(caught.value.__cause__, openai.APIStatusError)


def test_no_answer(server):
    client = openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key="-", max_retries=0)
    model = structgen.from_openai(client, "tiny")
    with pytest.raises(structgen.ServerError, match=r"no answer from http://127.0.0.1:9[\s\S]*base_url") as caught:
        structgen.generate(model, "hi", Person)
    assert caught.value.status is None
    rows = structgen.batch(model, ["a", "b"], Person, return_exceptions=True)
    assert [type(row) for row in rows] == [structgen.ServerError] * 2


def test_a_timeout():
    httpx = pytest.importorskip("httpx2", reason="the clients openai and anthropic bring it")

    def wait(request):
        raise httpx.ReadTimeout("too long", request=request)

    with openai.OpenAI(
        api_key="-", max_retries=0, http_client=httpx.Client(transport=httpx.MockTransport(wait))
    ) as client:
        model = structgen.from_openai(client, "tiny", server="openai")
        with pytest.raises(structgen.ServerError, match="did not answer in time") as caught:
            structgen.generate(model, "hi", Person)
    assert caught.value.status is None and "timeout" in caught.value.hint


def test_an_error_within_a_stream(server, client):
    server.kind, server.answers, server.broken_stream = "vllm", ['{"name": "a', ""], {"message": "out of memory"}
    model = structgen.from_openai(client, "tiny", server="vllm")
    with structgen.stream(model, "hi", Person) as s, pytest.raises(structgen.ServerError, match="out of memory"):
        list(s)
