"""The adapter to transformers: sessions, prompts, widths, end tokens."""

import copy
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import structgen

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from structgen.models.transformers_forward import TransformersForward  # noqa: E402


def whole_logits(hf_model, tokens):
    with torch.inference_mode():
        return hf_model(torch.tensor([tokens])).logits[0].numpy()


def test_passes_in_pieces_give_the_logits_of_one_pass(tiny_model):
    tokens = list(range(10, 40))
    expected = whole_logits(tiny_model.hf_model, tokens)
    session = tiny_model.session()
    np.testing.assert_allclose(session.forward(tokens[:20])[0], expected[19], atol=1e-4)
    np.testing.assert_allclose(session.forward(tokens[20:21])[0], expected[20], atol=1e-4)
    np.testing.assert_allclose(session.forward(tokens[21:30], keep=4), expected[26:30], atol=1e-4)


def test_cropping_takes_tokens_back(tiny_model):
    session = tiny_model.session()
    assert session.can_crop
    session.forward([10, 11, 12, 13, 14])
    session.crop(2)
    session.crop(0)
    expected = whole_logits(tiny_model.hf_model, [10, 11, 12, 50, 51])
    np.testing.assert_allclose(session.forward([50, 51], keep=2), expected[3:], atol=1e-4)


def test_sliding_windows_cannot_be_cropped(tiny_tokenizer):
    config = transformers.MistralConfig(
        vocab_size=len(tiny_tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=1, num_key_value_heads=1, sliding_window=8,
    )  # fmt: skip
    model = structgen.from_transformers(transformers.MistralForCausalLM(config).eval(), tiny_tokenizer)
    assert not model.session().can_crop
    schema = {"type": "object", "properties": {"name": {"enum": ["a", "b"]}}, "required": ["name"]}
    assert structgen.generate(model, "hi", schema | {"additionalProperties": False})["name"] in ("a", "b")


@pytest.mark.parametrize("name", ["past_key_values", "cache"])
def test_releases_call_the_cache_by_either_name(tiny_hf_model, tiny_tokenizer, name):
    own = TransformersForward(tiny_hf_model)

    def logits(inputs, cache, keep):
        return types.SimpleNamespace(logits=own.logits(cache, keep, **inputs))

    class Renamed:
        config, device, generation_config = tiny_hf_model.config, tiny_hf_model.device, tiny_hf_model.generation_config
        get_output_embeddings = tiny_hf_model.get_output_embeddings
        if name == "cache":  # transformers from 5.24 on

            def forward(self, cache=None, use_cache=None, logits_to_keep=0, **inputs):
                return logits(inputs, cache, logits_to_keep)
        else:

            def forward(self, past_key_values=None, use_cache=None, logits_to_keep=0, **inputs):
                return logits(inputs, past_key_values, logits_to_keep)

        __call__ = forward

    model = structgen.from_transformers(Renamed(), tiny_tokenizer)
    expected = whole_logits(tiny_hf_model, [10, 11, 12])
    session = model.session()
    session.forward([10])
    np.testing.assert_allclose(session.forward([11, 12], keep=2), expected[1:], atol=1e-4)
    batch = model.session_batch()
    found = batch.forward([(batch.session(), [10, 11, 12], 1), (batch.session(), [10], 1)])
    np.testing.assert_allclose([one[0] for one in found], expected[[2, 0]], atol=1e-4)


def test_logits_of_half_precision_become_float32(tiny_hf_model, tiny_tokenizer):
    model = structgen.from_transformers(copy.deepcopy(tiny_hf_model).to(torch.bfloat16), tiny_tokenizer)
    assert model.session().forward([10, 11]).dtype == np.float32


def test_the_vocabulary_is_as_wide_as_the_logits(tiny_model, tiny_tokenizer):
    assert tiny_model.vocabulary.size == len(tiny_tokenizer) + 20
    assert tiny_model.session().forward([10]).shape == (1, tiny_model.vocabulary.size)
    assert tiny_model.vocabulary.token_bytes(len(tiny_tokenizer) + 5) is None


def test_end_tokens_of_the_generation_config_count(tiny_hf_model, tiny_tokenizer):
    hf_model = copy.deepcopy(tiny_hf_model)
    user = tiny_tokenizer.convert_tokens_to_ids("<|user|>")
    hf_model.generation_config.eos_token_id = [user, tiny_tokenizer.eos_token_id]
    model = structgen.from_transformers(hf_model, tiny_tokenizer)
    assert set(model.vocabulary.eos_token_ids) == {user, tiny_tokenizer.eos_token_id}


def test_prompts(tiny_model, tiny_tokenizer):
    def text(ids):
        return tiny_tokenizer.decode(ids)

    assert text(tiny_model.encode_prompt("hi")) == "<|user|>hi<|end|><|assistant|>"
    assert text(tiny_model.encode_prompt("hi", raw=True)) == "hi"
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert text(tiny_model.encode_prompt(messages)) == "<|user|>a<|end|><|assistant|>b<|end|><|assistant|>"
    assert text(tiny_model.encode_text('{"name')) == '{"name'


def test_messages_need_a_chat_template(tiny_hf_model, tiny_tokenizer):
    tokenizer = copy.deepcopy(tiny_tokenizer)
    tokenizer.chat_template = None
    model = structgen.from_transformers(tiny_hf_model, tokenizer)
    assert tokenizer.decode(model.encode_prompt("hi")) == "hi"
    with pytest.raises(structgen.ModelError, match="chat template"):
        model.encode_prompt([{"role": "user", "content": "hi"}])


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "narrator", "content": "x"}],
        [{"role": "assistant", "tool_calls": [{"id": "1"}]}],
    ],
)
def test_messages_that_the_template_refuses(tiny_hf_model, tiny_tokenizer, messages):
    tokenizer = copy.deepcopy(tiny_tokenizer)
    tokenizer.chat_template = (
        "{% for message in messages %}"
        "{% if message.role == 'narrator' %}{{ raise_exception('no narrator') }}{% endif %}"
        "{{ message.content + '' }}{% for call in message.tool_calls or [] %}{{ call.name }}{% endfor %}{% endfor %}"
    )
    model = structgen.from_transformers(tiny_hf_model, tokenizer)
    with pytest.raises(structgen.ModelError, match="the chat template refuses the messages"):
        structgen.generate(model, messages, bool)


def test_encoders_are_refused(tiny_tokenizer):
    config = transformers.T5Config(vocab_size=100, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    with pytest.raises(structgen.ModelError, match="causal"):
        structgen.from_transformers(transformers.T5ForConditionalGeneration(config), tiny_tokenizer)


def test_one_model_many_threads(tiny_model):
    tokens = [list(range(10 + i, 30 + i)) for i in range(8)]

    def work(index):
        session = tiny_model.session()
        tiny_model.encode_prompt("hi " * index)
        return session.forward(tokens[index])[0]

    with ThreadPoolExecutor(8) as pool:
        for index, logits in enumerate(pool.map(work, range(8))):
            np.testing.assert_allclose(logits, whole_logits(tiny_model.hf_model, tokens[index])[-1], atol=1e-4)
