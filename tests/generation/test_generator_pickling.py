"""Generators in other processes: the model is loaded by its name, the schema is compiled again."""

import copy
import pickle

import pytest

import structgen


def test_a_generator_is_loaded_with_its_model_by_name(tiny_hf_model, tiny_tokenizer, tmp_path):
    tiny_hf_model.save_pretrained(tmp_path)
    tiny_tokenizer.save_pretrained(tmp_path)
    generator = structgen.Generator(structgen.load(tmp_path), {"enum": [1, 23]}, max_new_tokens=7)
    loaded = pickle.loads(pickle.dumps(generator))
    assert loaded.model is generator.model
    assert loaded("a") == generator("a")
    assert loaded._settings == generator._settings


def test_a_generator_of_an_unnamed_model_says_what_to_do(tiny_hf_model, tiny_tokenizer):
    generator = structgen.Generator(structgen.from_transformers(tiny_hf_model, tiny_tokenizer), {"enum": [1, 23]})
    with pytest.raises(TypeError, match=r"TransformersModel cannot be pickled unless structgen\.load made it"):
        pickle.dumps(generator)
    twin = copy.deepcopy(generator)
    assert twin is not generator
    assert twin.model is generator.model
    assert twin("a") == generator("a")
