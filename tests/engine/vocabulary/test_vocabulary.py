"""Vocabularies: what they are made of, what they refuse, and that equal ones are made only once."""

import copy
import gc
import subprocess
import sys
import threading
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structgen import Vocabulary, VocabularyError
from structgen.engine.vocabulary import vocabulary as module


@given(st.dictionaries(st.integers(0, 500), st.binary(min_size=1, max_size=5), min_size=1), st.integers(0, 500))
def test_from_bytes(tokens, end):
    size = max(*tokens, end) + 1
    if tokens.keys() == {end}:
        return
    vocabulary = Vocabulary.from_bytes(tokens, eos_token_ids=[end])
    assert vocabulary.size == size
    assert vocabulary.eos_token_ids == (end,)
    kept = {token_id: text for token_id, text in tokens.items() if token_id != end}
    assert {i: vocabulary.token_bytes(i) for i in range(-1, size + 2) if vocabulary.token_bytes(i)} == kept
    assert vocabulary.max_token_bytes == max(map(len, kept.values()))
    assert sorted(vocabulary.trie.tokens) == sorted(kept)


def test_duplicate_bytes_are_all_kept_in_the_order_of_ids():
    vocabulary = Vocabulary.from_bytes({9: b"a", 2: b"a", 5: b"a"}, size=20)
    assert list(vocabulary.trie.tokens) == [2, 5, 9]
    assert vocabulary.trie.node_count == 1
    assert vocabulary.size == 20


def test_tokens_that_stand_for_nothing():
    vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"", 2: b"</s>"}, eos_token_ids=(2, 2, 4), size=6)
    assert [vocabulary.token_bytes(i) for i in range(6)] == [b"a", None, None, None, None, None]
    assert vocabulary.eos_token_ids == (2, 4)
    assert list(vocabulary.trie.tokens) == [0]


def test_ids_far_above_the_tokens():
    vocabulary = Vocabulary.from_bytes({0: b"a", 7: b"", 8: b""}, eos_token_ids=[3], size=2**24)
    assert [vocabulary.token_bytes(i) for i in (0, 1, 3, 7, 8, 2**24 - 1, 2**24, -1)] == [b"a", *[None] * 7]
    assert len(vocabulary.trie.tokens) == 1


def test_what_is_held_is_nothing_to_the_garbage_collector():
    """A full collection visits every container: with one for each token it would take longer than a thousand masks."""
    before = len(gc.get_objects())
    vocabulary = Vocabulary.from_bytes({token_id: b"%d" % token_id for token_id in range(10_000)})
    gc.collect()
    assert len(gc.get_objects()) - before < 100
    assert vocabulary.token_bytes(9_999) == b"9999"


def test_end_tokens_as_generation_configs_have_them():
    for given_ids, expected in [(1, (1,)), ([2, 1], (2, 1)), (None, ()), ((), ()), (iter([1]), (1,))]:
        assert Vocabulary.from_bytes({0: b"a"}, eos_token_ids=given_ids, size=3).eos_token_ids == expected


@pytest.mark.parametrize(
    ("tokens", "options", "message"),
    [
        ({}, {}, "no token"),
        ({0: b""}, {}, "no token"),
        ({0: b"a"}, {"eos_token_ids": [0]}, "no token"),
        ({-1: b"a"}, {}, "negative"),
        ({0: b"a"}, {"eos_token_ids": [-1]}, "end token -1"),
        ({0: b"a"}, {"eos_token_ids": [3], "size": 3}, "end token 3 is not in a vocabulary of 3 tokens"),
        ({0: b"a", 7: b"x"}, {"size": 7}, r"token 7 \(b'x'\) is not in a vocabulary of 7 tokens"),
        ({0: b"a"}, {"size": 0}, "size must be"),
        ({0: b"a"}, {"size": 2.5}, "a vocabulary of 2.5 tokens: an int is needed"),
        ({0: b"a"}, {"size": "3"}, "a vocabulary of '3' tokens: an int is needed"),
        ({0: b"a"}, {"size": True}, "a vocabulary of True tokens: an int is needed"),
        ({0: b"a"}, {"size": 2**40}, "size must be"),
        ({2**40: b"a"}, {}, "size must be"),
        ({0: "a"}, {}, "str: bytes are needed"),
        ({"0": b"a"}, {}, "not a token id"),
        ({0: b"a"}, {"eos_token_ids": ["</s>"]}, "not a token id"),
        ({0: b"a"}, {"eos_token_ids": "</s>"}, "not a token id"),
    ],
)
def test_what_is_refused(tokens, options, message):
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_bytes(tokens, **options)


def test_equal_vocabularies_are_one_object():
    first = Vocabulary.from_bytes({0: b"a", 1: b"b"}, eos_token_ids=[2])
    assert Vocabulary.from_bytes({1: b"b", 0: bytearray(b"a"), 2: b"end"}, eos_token_ids=[2]) is first
    others = [
        Vocabulary.from_bytes({0: b"a", 1: b"b"}, eos_token_ids=[3]),
        Vocabulary.from_bytes({0: b"a", 1: b"b"}, eos_token_ids=[2], size=4),
        Vocabulary.from_bytes({0: b"b", 1: b"a"}, eos_token_ids=[2]),
        Vocabulary.from_bytes({0: b"ab"}, eos_token_ids=[2]),
        Vocabulary.from_bytes({0: b"a", 1: b"b"}, size=3),
    ]
    assert len({first.fingerprint, *(other.fingerprint for other in others)}) == 6


def test_unused_vocabularies_are_let_go():
    vocabulary = Vocabulary.from_bytes({0: b"let go"})
    gone = weakref.ref(vocabulary)
    del vocabulary
    gc.collect()
    assert gone() is None


def test_the_fingerprint_is_the_same_in_every_process():
    code = (
        "import structgen; print(structgen.Vocabulary.from_bytes({0: b'a', 3: b'bc'}, eos_token_ids=[1]).fingerprint)"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert out.stdout.strip() == Vocabulary.from_bytes({0: b"a", 3: b"bc"}, eos_token_ids=[1]).fingerprint


def test_threads_get_the_same_object():
    tokens = {token_id: token_id.to_bytes(2, "big") for token_id in range(5000)}
    made = []
    threads = [threading.Thread(target=lambda: made.append(Vocabulary.from_bytes(tokens))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert all(vocabulary is made[0] for vocabulary in made)


def test_repr():
    assert repr(Vocabulary.from_bytes({0: b"a"}, eos_token_ids=1)).startswith(
        "Vocabulary(2 tokens, eos_token_ids=(1,), "
    )


# -- Hugging Face ----------------------------------------------------------------------------------------------------


def test_from_huggingface(tiny_tokenizer):
    vocabulary = Vocabulary.from_huggingface(tiny_tokenizer)
    assert vocabulary.size == len(tiny_tokenizer)
    assert vocabulary.eos_token_ids == (tiny_tokenizer.eos_token_id,)
    assert vocabulary.token_bytes(tiny_tokenizer.convert_tokens_to_ids("<|user|>")) is None
    ids = tiny_tokenizer.encode('{"name": "Zoë"}')
    assert b"".join(vocabulary.token_bytes(token_id) for token_id in ids) == '{"name": "Zoë"}'.encode()


def test_padded_logits_and_more_end_tokens(tiny_tokenizer):
    user = tiny_tokenizer.convert_tokens_to_ids("<|user|>")
    vocabulary = Vocabulary.from_huggingface(tiny_tokenizer, 512, eos_token_ids=[user, 450])
    assert vocabulary.size == 512
    assert vocabulary.eos_token_ids == (tiny_tokenizer.eos_token_id, user, 450)
    assert all(vocabulary.token_bytes(token_id) is None for token_id in range(len(tiny_tokenizer), 512))
    assert max(vocabulary.trie.tokens) == len(tiny_tokenizer) - 1


def test_the_vocabulary_is_kept_with_its_tokenizer(tiny_tokenizer, monkeypatch):
    first = Vocabulary.from_huggingface(tiny_tokenizer)
    monkeypatch.setattr(module, "spell_tokens", None)  # would fail if it were read again
    assert Vocabulary.from_huggingface(tiny_tokenizer) is first
    assert Vocabulary.from_huggingface(tiny_tokenizer, eos_token_ids=tiny_tokenizer.eos_token_id) is first


def test_what_is_kept_is_bounded(tiny_tokenizer):
    sizes = range(1000, 1000 + 3 * module.MAX_PER_TOKENIZER)
    references = [weakref.ref(Vocabulary.from_huggingface(tiny_tokenizer, size)) for size in sizes]
    gc.collect()
    alive = [reference() is not None for reference in references]
    assert alive == [False] * 2 * module.MAX_PER_TOKENIZER + [True] * module.MAX_PER_TOKENIZER


def test_another_tokenizer_with_the_same_content(tiny_tokenizer):
    copy = type(tiny_tokenizer)(
        tokenizer_object=tiny_tokenizer.backend_tokenizer, eos_token="<|end|>", pad_token="<|pad|>"
    )
    assert Vocabulary.from_huggingface(copy) is Vocabulary.from_huggingface(tiny_tokenizer)


def test_tokens_added_later_are_seen(tiny_tokenizer):
    copy = type(tiny_tokenizer)(tokenizer_object=tiny_tokenizer.backend_tokenizer, eos_token="<|end|>")
    before = Vocabulary.from_huggingface(copy)
    copy.add_tokens(["<tool>"])
    after = Vocabulary.from_huggingface(copy)
    assert after.size == before.size + 1
    assert after.token_bytes(before.size) == b"<tool>"
    # It says nothing any more of how the texts of the other vocabulary are split.
    assert {tokenizer.get_vocab_size() for tokenizer in before.tokenizers} <= {before.size}


def test_a_decoder_set_later_is_seen():
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={"Ġa": 0}, merges=[]))
    assert Vocabulary.from_huggingface(tokenizer).token_bytes(0) == " Ġa".encode()
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    assert Vocabulary.from_huggingface(tokenizer).token_bytes(0) == b" a"
    tokenizer.add_tokens(["<x>"])
    assert Vocabulary.from_huggingface(tokenizer).token_bytes(1) == b"<x>"


def test_a_tokenizer_of_the_tokenizers_library(tiny_tokenizer):
    end = tiny_tokenizer.eos_token_id
    plain = tiny_tokenizer.backend_tokenizer
    assert Vocabulary.from_huggingface(plain).eos_token_ids == ()
    assert Vocabulary.from_huggingface(plain, eos_token_ids=end) is Vocabulary.from_huggingface(tiny_tokenizer)


def test_a_size_below_the_tokenizers(tiny_tokenizer):
    size = len(tiny_tokenizer)
    with pytest.raises(
        VocabularyError, match=rf"token {size - 1} .* not in a vocabulary of {size - 1} tokens"
    ) as caught:
        Vocabulary.from_huggingface(tiny_tokenizer, size - 1)
    assert f"at least {size}" in caught.value.hint


def test_special_tokens_past_the_logits_do_no_harm(tiny_tokenizer):
    """Gemma-3-1B has logits for 262,144 tokens; its tokenizer has one more, a special token for images."""
    copy = type(tiny_tokenizer)(tokenizer_object=tiny_tokenizer.backend_tokenizer, eos_token="<|end|>")
    size = len(copy)
    copy.add_special_tokens({"additional_special_tokens": ["<image>"]})
    assert Vocabulary.from_huggingface(copy, size).size == size
    with pytest.raises(VocabularyError, match=f"end token {size}"):
        Vocabulary.from_huggingface(copy, size, eos_token_ids=size)


@pytest.mark.slow
def test_smollm2(smollm2):
    vocabulary = Vocabulary.from_huggingface(smollm2.tokenizer)
    assert vocabulary.size == 49152
    assert vocabulary.eos_token_ids == (2,)
    assert vocabulary.token_bytes(0) is None
    assert vocabulary.trie.node_count == 100_297


def test_a_tokenizer_of_transformers_goes_when_nobody_else_holds_it(tiny_tokenizer):
    tokenizer = copy.deepcopy(tiny_tokenizer)
    vocabulary = Vocabulary.from_huggingface(tokenizer, 4567)
    assert vocabulary.tokenizers  # what it wraps is kept, for proper tokenizations
    gone = [weakref.ref(tokenizer), weakref.ref(vocabulary)]
    del tokenizer
    gc.collect()
    assert gone[0]() is None
    del vocabulary
    gc.collect()
    assert gone[1]() is None
