"""`load`, the default model, and the errors for missing packages."""

import importlib.util

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
