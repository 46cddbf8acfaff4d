"""Byte-pair tokenizers made on the spot, with the pre-tokenizers, normalizers and added tokens of real ones."""

import functools

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# o200k's: possessive quantifiers, and words that an upper-case letter begins.
O200K = (
    r"[^\r\n\p{L}\p{N}]?+[\p{Lu}\p{Lt}]*[\p{Ll}\p{Lo}\p{M}]+(?i:'s|'t)?|[^\r\n\p{L}\p{N}]?+[\p{Lu}\p{Lt}]+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEXTS = [
    '{"name": "Alice", "age": 34, "tags": ["a", "b"], "city": "Lyon"}\n{"name":"Bob","age":7}\n\n\n\nend',
    "The names William and Theodore. I'd say they're it's 'S don't. Then the theory, there.",
    "0123456789 12 123 1234 2026-11-22, 1.5e3; a1b2   spaces    more  \t\t tabs\n  indented\n\n",
    "café naïve über 中文字符 かな ナ 한글 Привет 😀😀 … — “quotes” \u00a0\u00a0 x",
] * 3


def _bpe(splits, size=420, normalizer=None, ignore_merges=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def _split(pattern, behavior="isolated"):
    return pre_tokenizers.Split(Regex(pattern), behavior)


def gpt2():
    return _bpe([pre_tokenizers.ByteLevel(add_prefix_space=False)])


def smollm2_like():
    return _bpe([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])


def _bytes_only():
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def llama3():
    """With tokens that the merges do not make, as in the real one."""
    import json

    tokenizer = _bpe([_split(LLAMA3), _bytes_only()], ignore_merges=True)
    config = json.loads(tokenizer.to_str())
    vocabulary = config["model"]["vocab"]
    for word in ("ĠWilliamson", "there", "ab", "Ġ123", "ĠĠĠĠĠĠx", "Th"):
        vocabulary.setdefault(word, len(vocabulary))
    return Tokenizer.from_str(json.dumps(config))


def qwen3():
    tokenizer = _bpe([_split(LLAMA3.replace("{1,3}", "")), _bytes_only()], normalizer=normalizers.NFC())
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in ("<tool>", "<tool_call>", "</tool>", "lliam")])
    tokenizer.add_special_tokens([AddedToken("<|im_end|>", normalized=False)])
    return tokenizer


def deepseek():
    return _bpe([_split(r"\p{N}{1,3}"), _split("[一-龥぀-ゟ゠-ヿ]+"), _split(DEEPSEEK), _bytes_only()])


def o200k():
    return _bpe([_split(O200K), _bytes_only()])


def merged_with_next():
    return _bpe([_split(r"[aeiou]|\s+", "merged_with_next"), _bytes_only()])


def merged_with_previous():
    return _bpe([_split(r"\s|ll", "merged_with_previous"), _bytes_only()])


def contiguous():
    return _bpe([_split(r"[a-m0-9]", "contiguous"), _bytes_only()])


CUTTING = [gpt2, smollm2_like, llama3, qwen3, deepseek, o200k, merged_with_next, contiguous]
MADE = [*CUTTING, merged_with_previous]


@functools.cache
def tokenizer_of(make):
    """A tokenizer, made once."""
    return make()


@functools.cache
def vocabulary_of(make):
    """Its vocabulary."""
    import structgen

    tokenizer = tokenizer_of(make)
    return structgen.Vocabulary.from_huggingface(tokenizer, eos_token_ids=tokenizer.token_to_id("<|end|>"))
