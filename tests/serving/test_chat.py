"""/v1/chat/completions and /v1/completions: bodies, streams, constraints, tools, errors."""

import json
import re

import jsonschema
import pytest

import structgen

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
JSON_SCHEMA = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}
ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 9}},
            "required": ["a"],
            "additionalProperties": False,
        },
    },
}


def ask(client, content="hi", **fields):
    return client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": content}], **fields})


def answer(client, content="hi", **fields):
    response = ask(client, content, **fields)
    assert response.status_code == 200, response.text
    return response.json()


def events(client, path="/v1/chat/completions", **fields):
    """The chunks of a stream."""
    if path == "/v1/chat/completions":
        fields.setdefault("messages", [{"role": "user", "content": "hi"}])
    response = client.post(path, json={"stream": True, **fields})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


def content_of(chunks, index=0):
    choices = [choice for chunk in chunks for choice in chunk["choices"] if choice["index"] == index]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def refusal(client, status=400, **fields):
    response = ask(client, **fields)
    assert response.status_code == status, response.text
    return response.json()["error"]


def test_answers_fit_their_schema(client, tiny_model):
    found = answer(client, response_format=JSON_SCHEMA, max_tokens=60)
    choice = found["choices"][0]
    value = json.loads(choice["message"]["content"])
    assert value == structgen.generate(tiny_model, [{"role": "user", "content": "hi"}], PERSON, max_new_tokens=60)
    usage = found["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 10
    assert found["object"] == "chat.completion" and found["model"] == "tiny"


CONSTRAINTS = [
    ({"response_format": {"type": "json_object"}}, r"(?s)\{.*\}"),
    ({"response_format": {"type": "json_schema", "schema": {"enum": [1, 2]}}}, "[12]"),
    ({"response_format": {"type": "structural_tag", "format": {"type": "const_string", "value": "xy"}}}, "xy"),
    ({"structured_outputs": {"json": {"const": True}}}, "true"),
    ({"structured_outputs": {"json": '{"const": true}'}}, "true"),
    ({"structured_outputs": {"json_object": True}}, r"(?s)\{.*\}"),
    ({"structured_outputs": {"regex": "[ab]{4}"}}, "[ab]{4}"),
    ({"structured_outputs": {"choice": ["yes", "no"]}}, "yes|no"),
    ({"structured_outputs": {"grammar": 'root ::= "a" | "bc"'}}, "a|bc"),
    ({"structured_outputs": {"grammar": 'start: "a" | "bc"'}}, "a|bc"),
    ({"structured_outputs": {"grammar": 'start ::= #"[ab]c";'}}, "[ab]c"),
    ({"structured_outputs": {"structural_tag": '{"format": {"type": "const_string", "value": "xy"}}'}}, "xy"),
    ({"guided_json": {"enum": [3]}}, "3"),
    ({"guided_regex": "x{3}"}, "xxx"),
    ({"guided_choice": ["one"]}, "one"),
    ({"guided_grammar": 'root ::= "q"'}, "q"),
    ({"grammar": 'root ::= "z" [0-9]'}, "z[0-9]"),
    ({"json_schema": {"type": "boolean"}}, "true|false"),
]


@pytest.mark.parametrize(("fields", "pattern"), CONSTRAINTS)
def test_each_field_of_constraints_is_read(client, fields, pattern):
    found = answer(client, max_tokens=30, **fields)["choices"][0]
    assert re.fullmatch(pattern, found["message"]["content"])


PAIR = {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"]}
PAIR |= {"additionalProperties": False}


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ({}, {'{"a": 1, "b": 2}'}),
        ({"whitespace": "compact"}, {'{"a":1,"b":2}'}),
        ({"whitespace": "compact", "property_order": "any"}, {'{"a":1,"b":2}', '{"b":2,"a":1}'}),
    ],
)
@pytest.mark.parametrize("is_keyword", [False, True])
def test_own_options(client, options, texts, is_keyword):
    """They stand in a field of the request, or in a keyword of its schema."""
    schema = {**PAIR, "x-structgen": options} if is_keyword else PAIR
    fields = {} if is_keyword else {"structgen": options}
    found = set()
    for seed in range(8):
        choice = answer(client, guided_json=schema, temperature=2.0, seed=seed, **fields)["choices"][0]
        found.add(choice["message"]["content"])
    assert found == texts


def test_proper_tokens(own_client, own_tokenizer):
    """The text is written in the tokens that the tokenizer itself makes of it."""
    fields = {"guided_regex": "[a-z]{12}", "temperature": 2.0, "logprobs": True}

    def is_proper(seed, **more):
        choice = answer(own_client, seed=seed, **fields, **more)["choices"][0]
        return len(choice["logprobs"]["content"]) == len(
            own_tokenizer.encode(choice["message"]["content"], add_special_tokens=False)
        )

    assert not all(is_proper(seed) for seed in range(6))
    assert all(is_proper(seed, structgen={"tokenization": "proper"}) for seed in range(6))


def test_own_options_of_runs_and_tools(client):
    own = {"on_budget": "error", "whitespace": "compact"}
    error = answer(client, guided_json={"type": "string", "minLength": 30}, structgen=own, max_tokens=5)["choices"][0]
    assert error["finish_reason"] == "length"
    fields = {"tools": [ADD], "tool_choice": "required", "parallel_tool_calls": False, "structgen": own}
    (call,) = answer(client, **fields)["choices"][0]["message"]["tool_calls"]
    assert re.fullmatch(r'\{"a":[0-9]\}', call["function"]["arguments"])
    found = client.post("/v1/completions", json={"prompt": "hi", "guided_json": PAIR, "structgen": own}).json()
    assert found["choices"][0]["text"] == '{"a":1,"b":2}'
    found = client.post(
        "/v1/responses",
        json={"input": "hi", "text": {"format": {"type": "json_schema", "schema": PAIR}}, "structgen": own},
    ).json()
    assert found["output"][0]["content"][0]["text"] == '{"a":1,"b":2}'


def test_a_rule_has_its_own_temperature(client):
    """The request is greedy; one rule is not."""
    grammar = "start: x y\nx: /[a-z]{4}/\ny[temperature=3]: /[0-9]{4}/"
    fields = {"structured_outputs": {"grammar": grammar}, "temperature": 0}
    texts = {answer(client, seed=seed, **fields)["choices"][0]["message"]["content"] for seed in range(4)}
    assert len({text[:4] for text in texts}) == 1 and len({text[4:] for text in texts}) > 1


def test_free_text_ends_with_its_budget(client):
    found = answer(client, temperature=1.0, seed=3, max_tokens=7, response_format={"type": "text"})
    assert found["choices"][0]["finish_reason"] == "length"
    assert found["usage"]["completion_tokens"] <= 7
    again = answer(client, temperature=1.0, seed=3, max_completion_tokens=7)
    assert again["choices"][0]["message"] == found["choices"][0]["message"]


def test_an_answer_under_a_constraint_is_complete_within_its_budget(client):
    schema = {"type": "array", "items": {"enum": ["one", "two", "three"]}}
    response_format = {"type": "json_schema", "json_schema": {"name": "words", "schema": schema}}
    found = answer(client, temperature=1.0, seed=3, max_tokens=9, response_format=response_format)["choices"][0]
    assert isinstance(json.loads(found["message"]["content"]), list)
    assert found["finish_reason"] == "stop"


def test_streams_say_the_same(client):
    options = {"response_format": JSON_SCHEMA, "temperature": 1.0, "seed": 5, "max_tokens": 60}
    chunks = events(client, **options, stream_options={"include_usage": True})
    whole = answer(client, **options)
    assert content_of(chunks) == whole["choices"][0]["message"]["content"]
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert chunks[-2]["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"]
    assert chunks[-1]["choices"] == [] and chunks[-1]["usage"] == whole["usage"]
    assert len({chunk["id"] for chunk in chunks}) == 1


@pytest.mark.parametrize("seed", range(6))
def test_streams_of_free_text_say_the_same(client, seed):
    """Random tokens are halves of characters: pieces are whole ones."""
    options = {"temperature": 2.0, "seed": seed, "max_tokens": 30, "stop": ["e", "ab"]}
    whole = answer(client, **options)["choices"][0]
    text = whole["message"]["content"]
    assert content_of(events(client, **options)) == text
    assert "e" not in text and "ab" not in text


@pytest.mark.parametrize("tool_choice", ["none", "auto"])
@pytest.mark.parametrize("seed", range(6))
def test_stop_counts_beside_tools_too(client, seed, tool_choice):
    """A text of `stop` is no part of the answer, and what could begin one is in the stream at last."""
    options = {"temperature": 2.0, "seed": seed, "max_tokens": 30, "stop": ["e", "ab"], "tools": [ADD]}
    whole = answer(client, **options, tool_choice=tool_choice)["choices"][0]
    text = whole["message"]["content"] or ""
    assert content_of(events(client, **options, tool_choice=tool_choice)) == text
    assert "e" not in text and "ab" not in text


def test_several_choices(client):
    options = {"response_format": JSON_SCHEMA, "temperature": 1.0, "seed": 5, "n": 3, "max_tokens": 60}
    whole = answer(client, **options)
    texts = [choice["message"]["content"] for choice in whole["choices"]]
    assert len(set(texts)) > 1
    for text in texts:
        jsonschema.validate(json.loads(text), PERSON)
    chunks = events(client, **options)
    assert [content_of(chunks, index) for index in range(3)] == texts
    alone = answer(client, **{**options, "n": 1, "seed": 6})
    assert alone["choices"][0]["message"]["content"] == texts[1]


def test_log_probabilities(client):
    choice = answer(client, response_format=JSON_SCHEMA, logprobs=True, top_logprobs=2, max_tokens=60)["choices"][0]
    entries = choice["logprobs"]["content"]
    assert b"".join(bytes(entry["bytes"]) for entry in entries).decode() == choice["message"]["content"]
    assert all(entry["logprob"] <= 0 and len(entry["top_logprobs"]) in (1, 2) for entry in entries)
    assert all(entry["logprob"] == entry["top_logprobs"][0]["logprob"] for entry in entries)  # greedy
    assert any(entry["logprob"] < 0 for entry in entries)


def test_calls_of_tools(client):
    found = answer(client, tools=[ADD], tool_choice="required", parallel_tool_calls=False, max_tokens=60)
    choice = found["choices"][0]
    assert choice["finish_reason"] == "tool_calls" and choice["message"]["content"] is None
    (call,) = choice["message"]["tool_calls"]
    assert call["function"]["name"] == "add"
    jsonschema.validate(json.loads(call["function"]["arguments"]), ADD["function"]["parameters"])
    named = answer(client, tools=[ADD], tool_choice={"type": "function", "function": {"name": "add"}}, max_tokens=60)
    assert named["choices"][0]["message"]["tool_calls"]
    chunks = events(client, tools=[ADD], tool_choice="required", parallel_tool_calls=False, max_tokens=60)
    first, *more = [call for chunk in chunks for one in chunk["choices"] for call in one["delta"].get("tool_calls", ())]
    assert first == {"index": 0, "id": first["id"], "type": "function", "function": {"name": "add", "arguments": ""}}
    assert len(more) > 1 and {one["index"] for one in more} == {0}
    assert "".join(one["function"]["arguments"] for one in more) == call["function"]["arguments"]
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_a_constraint_together_with_tools(client):
    """The model calls the tool, or answers under the schema; a stream says the same."""
    reasons = set()
    for seed in range(8):
        fields = {"tools": [ADD], "response_format": JSON_SCHEMA, "temperature": 1.5, "seed": seed, "max_tokens": 400}
        choice = answer(client, parallel_tool_calls=False, **fields)["choices"][0]
        message, reason = choice["message"], choice["finish_reason"]
        reasons.add(reason)
        chunks = events(client, parallel_tool_calls=False, **fields)
        assert chunks[-1]["choices"][0]["finish_reason"] == reason
        assert content_of(chunks) == (message["content"] or "")
        if reason == "stop":
            jsonschema.validate(json.loads(message["content"]), PERSON)
            assert "tool_calls" not in message and len(chunks) > 4
        else:
            (call,) = message["tool_calls"]
            assert call["function"]["name"] == "add" and message["content"] is None
    assert reasons == {"stop", "tool_calls"}
    fields = {"tools": [ADD], "guided_json": PERSON, "parallel_tool_calls": False, "max_tokens": 200}
    required = answer(client, tool_choice="required", **fields)["choices"][0]
    assert required["finish_reason"] == "tool_calls"
    none = answer(client, tool_choice="none", **fields)["choices"][0]
    jsonschema.validate(json.loads(none["message"]["content"]), PERSON)


def test_an_answer_may_be_a_reference(client):
    """Pydantic writes recursive models like this."""
    node = {"type": "object", "properties": {"child": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}}}
    schema = {"$ref": "#/$defs/Node", "$defs": {"Node": {**node, "additionalProperties": False}}}
    fields = {"temperature": 1.5, "seed": 2, "max_tokens": 200, "parallel_tool_calls": False}
    choice = answer(client, tools=[ADD], guided_json=schema, **fields)["choices"][0]
    assert choice["finish_reason"] == "stop"
    jsonschema.validate(json.loads(choice["message"]["content"]), schema)


def test_results_of_tools_go_back(client):
    called = answer(client, tools=[ADD], tool_choice="required", parallel_tool_calls=False, max_tokens=60)
    message = called["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "3"}
    messages = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "1 + 2?"}, message, result]
    found = answer(client, messages=messages, tools=[ADD], tool_choice="none", response_format=JSON_SCHEMA)
    jsonschema.validate(json.loads(found["choices"][0]["message"]["content"]), PERSON)


def test_completions(client):
    fields = {"prompt": ["hi", "you"], "guided_regex": "[ab]{4}", "temperature": 1.0, "seed": 1, "n": 2}
    whole = client.post("/v1/completions", json=fields).json()
    texts = [choice["text"] for choice in whole["choices"]]
    assert len(texts) == 4 and all(re.fullmatch("[ab]{4}", text) for text in texts)
    chunks = events(client, "/v1/completions", **fields)
    for index, text in enumerate(texts):
        assert "".join(one["text"] for chunk in chunks for one in chunk["choices"] if one["index"] == index) == text
    assert client.post("/v1/completions", json={"prompt": [1, 2]}).json()["error"]["param"] == "prompt"
    assert client.post("/v1/completions", json={"prompt": "hi", "logprobs": 0}).json()["error"]["param"] == "logprobs"


REFUSED = [
    ({"response_format": {"type": "json_schema", "json_schema": {"schema": {"properties": {"a": {"type": "no"}}}}}},
     "response_format.json_schema.schema#/properties/a"),
    ({"structured_outputs": {"grammar": 'root ::= "a'}}, "structured_outputs.grammar"),
    ({"structured_outputs": {"regex": "(a"}}, "structured_outputs.regex"),
    ({"structured_outputs": {"regex": "a", "choice": ["b"]}}, "structured_outputs"),
    ({"structured_outputs": {"whitespace_pattern": " "}}, "structured_outputs.whitespace_pattern"),
    ({"structured_outputs": {"choice": []}}, "structured_outputs.choice"),
    ({"guided_regex": "a", "guided_choice": ["b"]}, "guided_choice"),
    ({"guided_json": "{"}, "guided_json"),
    ({"guided_json": [1]}, "guided_json"),
    ({"grammar": "a" * (1 << 18) + "b"}, "grammar"),
    ({"response_format": {"type": "yaml"}}, "response_format.type"),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
    ({"tools": [ADD], "guided_regex": "a"}, "guided_regex"),
    ({"tools": [ADD], "guided_json": {"type": "array"}}, "guided_json#"),
    ({"tools": [ADD], "guided_json": {"type": "object", "required": 3}}, "guided_json#"),
    ({"tools": [ADD], "logprobs": True}, "logprobs"),
    ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools"),
    ({"tools": [ADD], "tool_choice": "sometimes"}, "tool_choice"),
    ({"tools": [ADD], "tool_choice": {"type": "function", "function": {"name": "sub"}}}, "tools"),
    ({"tools": [ADD], "tool_choice": {"type": "function", "function": {"name": "none"}}}, "tool_choice"),
    ({"tools": [ADD], "messages": [{"role": "usr", "content": "x"}]}, "messages"),
    ({"tools": [ADD], "messages": [{"role": "assistant", "tool_calls": [5]}]}, "messages"),
    ({"tools": [ADD], "messages": [{"role": "assistant", "tool_calls": [
        {"function": {"name": "add", "arguments": "[" * 3000}}]}]}, "messages"),
    ({"max_completion_tokens": 3, "response_format": JSON_SCHEMA}, "max_completion_tokens"),
    ({"messages": []}, "messages"),
    ({"messages": [{"content": "x"}]}, "messages[0]"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]"),
    ({"messages": [{"role": "user", "content": "word " * 1500}]}, "messages"),
    ({"temperature": "hot"}, "temperature"),
    ({"temperature": -1}, "temperature"),
    ({"n": 0}, "n"),
    ({"n": True}, "n"),
    ({"stop": [""]}, "stop"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"max_tokens": 3, "response_format": JSON_SCHEMA}, "max_tokens"),
    ({"logprobs": True, "top_logprobs": 30}, "top_logprobs"),
    ({"frequency_penalty": "much"}, "frequency_penalty"),
    ({"logit_bias": {"five": 1}}, "logit_bias"),
    ({"stream_options": 3, "stream": True}, "stream_options"),
    ({"timeout": -1}, "timeout"),
    ({"colour": "red"}, "colour"),
    ({"structgen": "compact"}, "structgen"),
    ({"structgen": {"spaces": "none"}}, "structgen.spaces"),
    ({"structgen": {"whitespace": "none"}}, "structgen.whitespace"),
    ({"structgen": {"on_budget": "cut"}}, "structgen.on_budget"),
    ({"structgen": {"max_repeats": 0}}, "structgen.max_repeats"),
    ({"structgen": {"tokenization": "best"}}, "structgen.tokenization"),
    ({"structgen": {"sampling": "smc", "particles": 8}}, "structgen.sampling"),
    ({"num_beams": 4}, "num_beams"),
    ({"guided_json": {"x-structgen": {"numbers": "roman"}}}, "guided_json#/x-structgen"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "param"), REFUSED)
@pytest.mark.parametrize("stream", [False, True])
def test_refusals_name_the_field(client, fields, param, stream):
    error = refusal(client, **{"stream": stream, **fields})
    assert error["type"] == "invalid_request_error" and error["param"] == param and error["message"]


def test_a_grammars_error_names_its_position(client):
    error = refusal(client, structured_outputs={"grammar": 'root ::= "a"\nb ::= )'})
    assert "line 2, column" in error["message"] and error["code"] == "invalid_grammar"


def test_a_field_without_effect_is_accepted(client):
    fields = {"frequency_penalty": 0, "logit_bias": None, "user": "me", "top_p": 1, "metadata": {}, "store": False}
    assert answer(client, guided_choice=["a"], **fields)["choices"][0]["message"]["content"] == "a"
