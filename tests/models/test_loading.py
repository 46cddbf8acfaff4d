"""`load`, the default model, and the errors for missing packages."""

import importlib.util
import sys

import pytest

import structgen
from structgen.models import loading


@pytest.fixture
def _nothing_loaded(monkeypatch):
    monkeypatch.setattr(loading, "_loaded", {})
    monkeypatch.setattr(loading, "_default", None)


@pytest.fixture
def without(monkeypatch):
    """Make packages look as if they were not installed."""
    real = importlib.util.find_spec

    def hide(*names):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in names else real(name))

    return hide


def test_other_names_need_transformers(_nothing_loaded, without):
    without("transformers")
    with pytest.raises(structgen.ModelError, match="transformers") as caught:
        structgen.load("some/model")
    assert caught.value.hint == "pip install 'structgen-llm[transformers]'"


def test_a_name_that_is_no_model(_nothing_loaded, tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(structgen.ModelError, match="cannot load"):
        structgen.load(str(tmp_path))


def test_a_folder(_nothing_loaded, tmp_path, tiny_hf_model, tiny_tokenizer):
    tiny_hf_model.save_pretrained(tmp_path)
    tiny_tokenizer.save_pretrained(tmp_path)
    model = structgen.load(str(tmp_path))
    assert model.vocabulary.size == tiny_hf_model.config.vocab_size
    assert structgen.load(str(tmp_path)) is model


def test_the_default_model(_nothing_loaded, monkeypatch, tiny_model):
    monkeypatch.setattr(loading, "_load", lambda name: f"loaded {name}")
    assert loading.default_model() == "loaded smollm2"
    loading.set_default_model(tiny_model)
    assert loading.default_model() is tiny_model
    loading.set_default_model(None)
    assert loading.default_model() == "loaded smollm2"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda model: structgen.load(3), "load takes the name or the path of a model, not int"),
        (
            lambda model: structgen.set_default_model("smollm2"),
            "or the like, not str",
        ),
        (lambda model: structgen.generate("smollm2", "hi", bool), "or the like, not str"),
        (lambda model: structgen.batch(model.hf_model, ["hi"], bool), "or the like, not LlamaForCausalLM"),
        (lambda model: structgen.from_transformers("gpt2", "gpt2"), r"not str and str; structgen.load\('gpt2'\) loads"),
        (
            lambda model: structgen.from_transformers(model.tokenizer, model.hf_model),
            "not .+ and LlamaForCausalLM",
        ),
        (lambda model: structgen.from_transformers(model.hf_model, None), "not LlamaForCausalLM and NoneType"),
        (lambda model: structgen.from_llama_cpp("m.gguf"), r"not str; structgen.load\('m.gguf'\) loads a file"),
        (lambda model: structgen.from_llama_cpp(model), "takes a llama_cpp.Llama, not TransformersModel"),
    ],
)
def test_what_is_no_model_is_named(tiny_model, wrong, says):
    with pytest.raises(TypeError, match=says):
        wrong(tiny_model)


def test_paths_are_names(_nothing_loaded, tmp_path):
    with pytest.raises(structgen.ModelError, match=r"there is no file|llama-cpp-python"):
        structgen.load(tmp_path / "none.gguf")


@pytest.mark.parametrize("name", ["model.gguf", "folder/MODEL.GGUF"])
def test_a_gguf_file_needs_llama_cpp(_nothing_loaded, without, name):
    without("llama_cpp")
    with pytest.raises(structgen.ModelError, match="llama-cpp-python") as caught:
        structgen.load(name)
    assert caught.value.hint == "pip install 'structgen-llm[llama-cpp]'"


SERVERS = [
    ("openai:gpt-5", "https://api.openai.com/v1/", "openai"),
    ("vllm:Qwen/Qwen3-8B", "http://localhost:8000/v1/", "vllm"),
    ("sglang:Qwen/Qwen3-8B", "http://localhost:30000/v1/", "sglang"),
    ("llama.cpp:any", "http://localhost:8080/v1/", "llama.cpp"),
    ("structgen:smollm2", "http://localhost:8000/v1/", "structgen"),
    ("ollama:llama3.2:1b", "http://localhost:11434/v1/", None),
]


@pytest.mark.parametrize(("name", "address", "server"), SERVERS)
def test_servers_have_names(_nothing_loaded, monkeypatch, name, address, server):
    pytest.importorskip("openai", reason="the test group has it")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model = structgen.load(name)
    assert (str(model.client.base_url), model.server, model.name) == (address, server, name.partition(":")[2])
    assert model.client.api_key == "secret"


def test_the_address_of_a_server_is_in_the_environment(_nothing_loaded, monkeypatch):
    pytest.importorskip("openai", reason="the test group has it")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gpu-3:9000/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = structgen.load("vllm:x")
    assert (str(model.client.base_url), model.server) == ("http://gpu-3:9000/v1/", "vllm")
    with pytest.raises(structgen.ModelError, match=r"cannot create the openai client.*api_key"):
        structgen.load("openai:x")


def test_anthropic_has_a_name(_nothing_loaded, monkeypatch):
    pytest.importorskip("anthropic", reason="the test group has it")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    model = structgen.load("anthropic:claude-sonnet-4-6")
    assert (model.name, model.client.api_key) == ("claude-sonnet-4-6", "secret")


@pytest.mark.parametrize(("name", "package"), [("anthropic:x", "anthropic"), ("vllm:x", "openai")])
def test_a_client_that_is_not_installed(_nothing_loaded, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(structgen.ModelError, match=f"{name} needs the package {package}") as caught:
        structgen.load(name)
    assert caught.value.hint == f"pip install 'structgen-llm[{package}]'"


def test_a_server_that_is_not_known(_nothing_loaded):
    with pytest.raises(structgen.ModelError, match="no server called 'openrouter'") as caught:
        structgen.load("openrouter:x/y")
    assert "openai:, anthropic:, vllm:" in caught.value.hint
