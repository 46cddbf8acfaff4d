"""The backend for vLLM's structured outputs, against the definitions of 0.33.0. `make test-vllm` runs it in vLLM."""

from __future__ import annotations

import inspect
import random
from dataclasses import replace

import pytest
from support.vllm_interface import (
    Interface,
    ModelConfig,
    Request,
    SamplingParams,
    StructuredOutputsParams,
    ValidationError,
    VllmConfig,
)

import structgen
from structgen.integrations.vllm import plugin

torch = pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers")

TEXTS = ["<unk>", "</s>", *"abc12", '"', *"{}:,", "true", "false", "ab", '":', *" []", "null"]
WIDTH = 40  # wider than the tokens: the logits are padded
END = 1
ID = {text: token for token, text in enumerate(TEXTS)}


@pytest.fixture
def vllm(monkeypatch):
    interface = Interface(monkeypatch)
    plugin.register()
    return interface


@pytest.fixture
def manager(vllm):
    model = tokenizers.models.WordLevel(ID, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.decoder = tokenizers.decoders.Fuse()
    tokenizer.add_special_tokens(["<unk>", "</s>"])
    config = vllm.config.StructuredOutputsConfig(backend="structgen")
    made = vllm.manager(VllmConfig(ModelConfig(tokenizer, WIDTH, eos_token_ids=END), config))
    yield made
    made.clear_backend()


def params_of(manager, stop_token_ids=(), ignore_eos=False, max_tokens=100, **asked):
    params = SamplingParams(None, StructuredOutputsParams(**asked), {END, *stop_token_ids}, ignore_eos, max_tokens)
    config = manager.vllm_config
    from vllm.sampling_params import SamplingParams as Wrapped

    Wrapped._validate_structured_outputs(
        params, config.model_config, config.structured_outputs_config, manager.tokenizer
    )
    return params


def grammar_of(vllm, manager, prompt=None, **asked):
    return manager.compiled(Request(vllm, params_of(manager, **asked), prompt))


def allowed(grammar, manager):
    mask = manager.backend.allocate_token_bitmask(3)
    assert mask.dtype == torch.int32
    assert mask.shape == (3, 2)
    assert (mask == -1).all()
    grammar.fill_bitmask(mask, 1)
    assert (mask[0] == -1).all()
    assert (mask[2] == -1).all()
    return {token for token in range(WIDTH) if mask[1, token // 32] >> (token % 32) & 1}


def ids(*texts):
    return [ID[text] for text in texts]


def test_the_classes_are_of_the_interface(vllm):
    from structgen.integrations.vllm.backend import StructgenBackend, StructgenGrammar

    pairs = (
        (StructgenBackend, vllm.backend_types.StructuredOutputBackend),
        (StructgenGrammar, vllm.backend_types.StructuredOutputGrammar),
    )
    for ours, theirs in pairs:
        assert issubclass(ours, theirs)
        assert not inspect.isabstract(ours)
        for name in theirs.__abstractmethods__:
            wanted = inspect.signature(getattr(theirs, name)).parameters
            given = inspect.signature(getattr(ours, name)).parameters
            assert [(one.name, one.default) for one in given.values()] == [
                (one.name, one.default) for one in wanted.values()
            ]


REQUESTS = [
    ({"json": {"type": "array", "maxItems": 0}}, {"["}),
    ({"json": '{"type": "boolean", "x-structgen": {"whitespace": "compact"}}'}, {"true", "false"}),
    ({"json": {"type": "boolean"}, "disable_any_whitespace": True}, {"true", "false"}),
    ({"json_object": True, "disable_any_whitespace": True}, {"{"}),
    ({"json": True, "disable_any_whitespace": True}, {"true", "false", "null", "1", "2", '"', '":', "{", "["}),
    ({"regex": "ab*|c"}, {"a", "ab", "c"}),
    ({"choice": ["a1", "true"]}, {"a", "true"}),
    ({"grammar": 'root ::= "a" [12]+'}, {"a"}),
    ({"grammar": 'start ::= "b;" | "1";'}, {"b", "1"}),
    ({"grammar": 'start: "c" /[12]/'}, {"c"}),
    ({"grammar": '%lark-python\nstart: "c" /[12]/'}, {"c"}),
    ({"structural_tag": '{"type": "structural_tag", "format": {"type": "const_string", "value": "b1"}}'}, {"b"}),
]


@pytest.mark.parametrize(("asked", "first"), REQUESTS)
def test_each_kind_of_request(vllm, manager, asked, first):
    grammar = grammar_of(vllm, manager, **asked)
    assert {TEXTS[token] for token in allowed(grammar, manager)} == first
    assert manager.backend_name == "structgen"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"json": "null"}, "must be an object or a boolean, not null"),
        ({"json": "[1]"}, "must be an object or a boolean"),
        ({"json": "{"}, "not valid JSON"),
        ({"json": {"properties": {"a": {"type": "colour"}}}}, "#/properties/a"),
        ({"json": {"x-structgen": {"whitespace": "much"}}}, "#/x-structgen"),
        ({"json": {"x-structgen": {"registry": 1}}}, "unknown option 'registry'"),
        ({"json": {"x-structgen": 1}}, "must be an object with options"),
        ({"json": {"allOf": [{"type": "string"}, {"type": "null"}]}}, "no value"),
        ({"json": "[" * 100_000}, "nests too deep"),
        ({"regex": r"[^\s\S]"}, "matches no text"),
        ({"regex": "("}, "line 1, column"),
        ({"choice": []}, "at least one text"),
        ({"choice": ["a", 1]}, "1"),
        ({"grammar": ""}, "start"),
        ({"grammar": 'root ::= "a'}, "line 1"),
        ({"grammar": '%lark\nstart: "a" b'}, "line 2"),
        ({"structural_tag": "{}"}, "'format' is missing"),
        ({"json_object": False}, "must be true"),
        ({"json": {}, "whitespace_pattern": " "}, "x-structgen"),
        ({"regex": "a" * 3_000_000}, "STRUCTGEN_MAX_REQUEST_BYTES"),
    ],
)
def test_bad_requests_are_refused_at_the_door(manager, asked, message):
    with pytest.raises(ValidationError, match=r".") as raised:
        params_of(manager, **asked)
    assert message in str(raised.value)


def test_requests_that_are_not_for_this_engine(manager):
    manager.vllm_config.model_config.is_diffusion = True
    with pytest.raises(ValidationError, match="diffusion"):
        params_of(manager, regex="a")
    manager.vllm_config.model_config.is_diffusion = False
    manager.tokenizer = None
    with pytest.raises(ValidationError, match="skip_tokenizer_init"):
        params_of(manager, regex="a")


def test_a_compile_that_fails_is_an_error_of_its_request(vllm, manager, monkeypatch, caplog):
    good = grammar_of(vllm, manager, regex="ab")
    params = params_of(manager, regex="a{2}")
    settings = manager.backend._compiler._settings
    strict = type(settings)(limits=structgen.Limits(compile_seconds=1e-9))
    monkeypatch.setattr(manager.backend._compiler, "_settings", strict)
    with pytest.raises(structgen.LimitExceededError):
        manager.compiled(Request(vllm, params))
    assert "request request-1 ends with an error" in caplog.text
    assert allowed(good, manager) == set(ids("a", "ab"))


def test_end_tokens_only_where_the_text_may_end(vllm, manager):
    grammar = grammar_of(vllm, manager, regex="a[bc]{2}", stop_token_ids=[ID["c"], 10_000])
    assert allowed(grammar, manager) == set(ids("a", "ab"))
    assert not grammar.accept_tokens("r", ids("c"))
    assert grammar.accept_tokens("r", ids("a"))
    assert allowed(grammar, manager) == set(ids("b"))
    assert grammar.accept_tokens("r", ids("b", "b"))
    assert not grammar.is_terminated()  # the text is whole; the model has not ended it
    assert allowed(grammar, manager) == {END, ID["c"]}
    assert grammar.accept_tokens("r", ids("c", "a"))  # what follows an end token is ignored
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated()
    grammar.reset()
    assert allowed(grammar, manager) == set(ids("a", "ab"))


def test_nothing_follows_a_text_whose_end_tokens_are_ignored(vllm, manager):
    grammar = grammar_of(vllm, manager, regex="a", ignore_eos=True)
    assert grammar.accept_tokens("r", [ID["a"], END])
    assert not grammar.is_terminated()  # vLLM would no longer ask for masks
    for _ in range(2):
        assert allowed(grammar, manager) == {END}


def test_drafts_are_looked_at_and_forgotten(vllm, manager):
    grammar = grammar_of(vllm, manager, regex="(ab|a)c[12]*")
    assert grammar.validate_tokens(ids("a", "c", "1", "b", "2")) == ids("a", "c", "1")
    assert grammar.validate_tokens([]) == []
    assert grammar.validate_tokens([ID["a"], ID["c"], END, ID["1"]]) == [ID["a"], ID["c"], END]
    assert allowed(grammar, manager) == set(ids("a", "ab"))
    assert grammar.accept_tokens("r", [ID["ab"], ID["c"], END])
    assert grammar.validate_tokens(ids("1")) == []
    grammar.rollback(2)
    assert allowed(grammar, manager) == set(ids("c"))


def test_random_steps_agree_with_a_matcher(vllm, manager):
    """Accepted tokens, drafts, rollbacks and resets by chance: the masks are those of a matcher of the same tokens."""
    rng = random.Random(11)
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"enum": [1, 12]}}}
    grammar = grammar_of(vllm, manager, json=schema)
    vocabulary = manager.backend._compiler.vocabulary()
    constraint = structgen.compile(schema, vocabulary, limits=manager.backend._compiler._settings.limits)
    tokens: list[int] = []
    for _ in range(300):
        matcher = constraint.matcher()
        for token in tokens:
            matcher.accept_token(token)
        wanted = set(matcher.allowed_token_ids())
        has_ended = bool(tokens) and tokens[-1] == END
        assert grammar.is_terminated() is has_ended
        assert allowed(grammar, manager) == wanted
        action = rng.choice(["accept", "accept", "accept", "draft", "rollback", "reset"])
        if action == "accept" and not has_ended:
            token = rng.choice([*sorted(wanted), rng.randrange(WIDTH)])
            assert grammar.accept_tokens("r", [token]) is (token in wanted)
            tokens += [token] if token in wanted else []
        elif action == "draft" and not has_ended:
            drafts = [rng.choice(sorted(wanted)), *rng.choices(range(len(TEXTS)), k=2)]
            assert grammar.validate_tokens(drafts)[:1] == drafts[:1]
        elif action == "rollback":
            count = rng.randint(0, len(tokens))
            grammar.rollback(count)
            tokens = tokens[: len(tokens) - count]
        elif action == "reset" and rng.random() < 0.1:
            grammar.reset()
            tokens = []


def test_options_come_from_the_environment(vllm, manager, monkeypatch):
    from structgen.integrations.serving import settings
    from structgen.integrations.vllm import backend

    made = settings.ServerSettings.from_environment({"STRUCTGEN_WHITESPACE": "compact", "STRUCTGEN_MASK_SECONDS": "2"})
    monkeypatch.setattr(backend, "server_settings", lambda: made)
    schema = {"type": "array", "maxItems": 0}
    own = {**schema, "x-structgen": {"whitespace": "any"}}  # the options of a request come first
    for asked, wanted in ((schema, "]"), (own, "] ")):
        grammar = grammar_of(vllm, manager, json=asked)
        assert grammar.accept_tokens("r", ids("["))
        assert allowed(grammar, manager) == set(ids(*wanted))


def test_a_budget_that_is_too_small_is_refused_by_name(vllm, manager, monkeypatch):
    from structgen.integrations.serving import settings
    from structgen.integrations.vllm import backend

    made = settings.ServerSettings.from_environment(
        {"STRUCTGEN_WHITESPACE": "compact", "STRUCTGEN_ON_BUDGET": "finish"}
    )
    monkeypatch.setattr(backend, "server_settings", lambda: made)
    schema = {"type": "array", "items": {"enum": [True, None, "abc12"]}, "minItems": 1}
    with pytest.raises(ValidationError, match=r"2 tokens are too few: the shortest answer needs 3\nHint: max_tokens=3"):
        params_of(manager, json=schema, max_tokens=2)
    with pytest.raises(structgen.IncompleteOutputError, match="needs 3"):  # where the check had no time for it
        manager.compiled(Request(vllm, replace(params_of(manager, json=schema), max_tokens=2)))
    for tokens in (3, 4, 5):
        grammar = manager.compiled(Request(vllm, params_of(manager, json=schema, max_tokens=tokens)))
        written = []
        while len(written) < tokens and not grammar.is_terminated():
            written.append(max(allowed(grammar, manager)))  # the last tokens open, "null" is the very last
            assert grammar.accept_tokens("r", written[-1:])
        text = "".join(TEXTS[token] for token in written if token != END)
        assert structgen.check(schema, text).fits, text
        assert (END in written) == (tokens > 3)
    manager.vllm_config.structured_outputs_config.reasoning_parser = "any"
    params_of(manager, json=schema, max_tokens=2)  # tokens of reasoning count as well: nothing is known
