"""vLLM's beam search: a program's is told our backend, a server's refuses a constraint."""

from __future__ import annotations

from types import SimpleNamespace

import pydantic
import pytest
from support.vllm_interface import Interface, ModelConfig, StructuredOutputsParams, ValidationError, VllmConfig

from structgen.integrations.serving.settings import ServerSettings
from structgen.integrations.vllm import plugin

pytest.importorskip("torch", reason="make installs it, for the embedded model")


class Offline:
    """Stands for `BeamSearchOfflineMixin`."""

    def __init__(self, tokenizer, backend):
        size = len(tokenizer)
        settings = SimpleNamespace(backend=backend)
        self.model_config = ModelConfig(tokenizer, size, tokenizer.eos_token_id)
        self.llm_engine = SimpleNamespace(vllm_config=VllmConfig(self.model_config, settings))

    def _init_beam_search_structured_output(self, structured_outputs, tokenizer):
        raise ValueError(f"Unsupported structured output backend: {structured_outputs._backend}")


class Online:
    """Stands for `BeamSearchOnlineMixin`."""

    def __init__(self, backend):
        settings = SimpleNamespace(backend=backend)
        self.engine_client = SimpleNamespace(vllm_config=VllmConfig(None, settings))

    def beam_search(self, prompt, request_id, params, lora_request=None):
        return f"beams of {prompt}"


class ChatRequest:
    """Stands for `ChatCompletionRequest`."""

    def __init__(self, structured_outputs=None):
        self.structured_outputs = structured_outputs

    def extract_structured_outputs(self):
        return self.structured_outputs

    def to_beam_search_params(self, max_tokens, default_sampling_params):
        return SimpleNamespace(max_tokens=max_tokens, structured_outputs=None)


@pytest.fixture
def offline(monkeypatch):
    interface = Interface(monkeypatch)
    mixin = type("BeamSearchOfflineMixin", (Offline,), {})
    for name in ("entrypoints", "entrypoints.generate", "entrypoints.generate.beam_search", "entrypoints.llm"):
        interface._add(f"vllm.{name}")
    interface._add("vllm.entrypoints.generate.beam_search.offline", BeamSearchOfflineMixin=mixin)
    plugin.register()
    return mixin


@pytest.mark.parametrize("on_budget", ["cut", "finish"])
def test_a_program_asks_our_backend(offline, tiny_tokenizer, monkeypatch, on_budget):
    from structgen.integrations.vllm import backend as our_backend

    made = ServerSettings.from_environment({"STRUCTGEN_ON_BUDGET": on_budget})
    monkeypatch.setattr(our_backend, "server_settings", lambda: made)
    asked = StructuredOutputsParams(choice=["ab", "ac"])
    llm = offline(tiny_tokenizer, "structgen")
    backend, key, bitmask = llm._init_beam_search_structured_output(asked, tiny_tokenizer)

    def texts(tokens):
        """All texts under the constraint, as vLLM finds them: a grammar for each beam, which reads its tokens."""
        grammar = backend.compile_grammar(*key)
        assert not tokens or grammar.accept_tokens("beam", tokens)
        if grammar.is_terminated():
            return {tiny_tokenizer.decode(tokens, skip_special_tokens=True)}
        grammar.fill_bitmask(bitmask, 0)
        row = bitmask[0].tolist()
        allowed = [token for token in range(len(tiny_tokenizer)) if row[token // 32] >> token % 32 & 1]
        return set().union(*(texts([*tokens, token]) for token in allowed))

    assert texts([]) == {"ab", "ac"}
    backend.destroy()


def test_a_bad_constraint_is_refused_before_the_search(offline, tiny_tokenizer):
    llm = offline(tiny_tokenizer, "structgen")
    with pytest.raises(ValidationError, match="line 1, column"):
        llm._init_beam_search_structured_output(StructuredOutputsParams(regex="("), tiny_tokenizer)


def test_other_backends_go_through(offline, tiny_tokenizer):
    llm = offline(tiny_tokenizer, "xgrammar")
    with pytest.raises(ValueError, match="Unsupported"):
        llm._init_beam_search_structured_output(StructuredOutputsParams(regex="a"), tiny_tokenizer)
    wrapped = offline._init_beam_search_structured_output
    plugin.register()
    assert offline._init_beam_search_structured_output is wrapped


@pytest.fixture
def online(monkeypatch):
    interface = Interface(monkeypatch)
    names = (
        "entrypoints", "entrypoints.generate", "entrypoints.generate.beam_search", "entrypoints.openai",
        "entrypoints.openai.chat_completion", "entrypoints.openai.completion", "entrypoints.launchers",
        "entrypoints.launchers.api_server", "entrypoints.launchers.api_server.entry",
    )  # fmt: skip
    for name in names:
        interface._add(f"vllm.{name}")
    mixin, request = type("Mixin", (Online,), {}), type("Request", (ChatRequest,), {})
    interface._add("vllm.entrypoints.generate.beam_search.online", BeamSearchOnlineMixin=mixin)
    interface._add("vllm.entrypoints.openai.chat_completion.protocol", ChatCompletionRequest=request)
    interface._add("vllm.entrypoints.openai.completion.protocol", CompletionRequest=request)
    plugin.register()
    return mixin, request


def test_a_server_refuses_a_constraint(online):
    mixin, request = online
    params = request(StructuredOutputsParams(regex="a")).to_beam_search_params(5, {})
    with pytest.raises(ValidationError, match="drops structured outputs in beam search"):
        mixin("structgen").beam_search("hi", "1", params)
    with pytest.raises(ValidationError, match="drops structured outputs in beam search"):
        mixin("structgen").beam_search(prompt="hi", request_id="1", params=params)
    assert mixin("xgrammar").beam_search("hi", "1", params) == "beams of hi"
    assert mixin("structgen").beam_search("hi", "1", request().to_beam_search_params(5, {})) == "beams of hi"


def test_a_server_without_these_parts_refuses_the_backend(monkeypatch):
    """It would answer requests for beams without a mask."""
    interface = Interface(monkeypatch)
    for name in ("entrypoints", "entrypoints.launchers", "entrypoints.launchers.api_server"):
        interface._add(f"vllm.{name}")
    interface._add("vllm.entrypoints.launchers.api_server.entry")
    plugin.register()
    with pytest.raises(pydantic.ValidationError, match="its beam search in another place"):
        interface.config.StructuredOutputsConfig(backend="structgen")


def test_a_program_without_these_parts_is_left_alone(monkeypatch):
    interface = Interface(monkeypatch)
    interface._add("vllm.entrypoints")
    interface._add("vllm.entrypoints.llm")
    plugin.register()
    assert interface.config.StructuredOutputsConfig(backend="structgen").backend == "structgen"
