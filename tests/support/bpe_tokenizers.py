"""Byte-pair tokenizers made on the spot, with the pre-tokenizers, normalizers and added tokens of real ones."""

import functools
import json

from support import reachable_texts
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
# With characters whose bytes are digits of the byte map: B2, B3, B9, BC to BE.
NUMERIC_BYTES = [
    "½ cup ¼¾ ²³¹ ò ó ù ü ý þ ײ מ 丼 伽 中文 đ 2³=8 x²+y² ×÷ üben für ý 1234567 “²”",
    "più già però, só três",
] * 3


def _bpe(splits, size=420, normalizer=None, ignore_merges=False, texts=TEXTS):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _split(pattern, behavior="isolated"):
    return pre_tokenizers.Split(Regex(pattern), behavior)


def gpt2():
    return _bpe([pre_tokenizers.ByteLevel(add_prefix_space=False)])


def gpt_neox():
    """Return a tokenizer with runs of spaces as added tokens, found after the normalizer (also OLMo, ModernBERT)."""
    tokenizer = _bpe([pre_tokenizers.ByteLevel(add_prefix_space=False)], normalizer=normalizers.NFC())
    runs = [AddedToken(" " * size, normalized=True) for size in (12, 4, 3, 2)]
    tokenizer.add_tokens([*runs, AddedToken("|||PHONE|||", normalized=True), AddedToken("<|pad|>", normalized=False)])
    return tokenizer


def smollm2_like():
    return _bpe([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])


def _bytes_only():
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def llama3():
    """Return a tokenizer with tokens that the merges do not make, as in the real one."""
    return _with_words(_bpe([_split(LLAMA3), _bytes_only()], ignore_merges=True))


def _with_words(tokenizer, *others):
    config = json.loads(tokenizer.to_str())
    config["model"]["ignore_merges"] = True
    vocabulary = config["model"]["vocab"]
    for word in ("ĠWilliamson", "there", "ab", "Ġ123", "ĠĠĠĠĠĠx", "Th", *others):
        vocabulary.setdefault(word, len(vocabulary))
    return Tokenizer.from_str(json.dumps(config))


def qwen3():
    tokenizer = _bpe([_split(LLAMA3.replace("{1,3}", "")), _bytes_only()], normalizer=normalizers.NFC())
    added = ("<tool>", "<tool_call>", "</tool>", "lliam", "it x", "23 4")
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in added])
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


def gpt4o_converted():
    """Return GPT-4o's tokenizer as in transformers.js: text between matches is removed, and there is none."""
    return _bpe([pre_tokenizers.Split(Regex(LLAMA3), "removed", invert=True), _bytes_only()])


def punctuation_and_digits():
    """Return a tokenizer that replaces "z", and makes some characters spaces or removes them."""
    normalizer = normalizers.Sequence([normalizers.Replace("z", "s"), normalizers.Nmt()])
    return _bpe(
        [pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Digits(), _bytes_only()], normalizer=normalizer
    )


def punctuation_merged():
    """Return a tokenizer with pieces of at most three characters, without slashes."""
    splits = [pre_tokenizers.Punctuation("merged_with_next"), pre_tokenizers.CharDelimiterSplit("/")]
    return _bpe([*splits, pre_tokenizers.FixedLength(3), _bytes_only()])


def inverted():
    vowels = pre_tokenizers.Split(Regex("[aeiou]+"), "merged_with_previous", invert=True)
    return _bpe([vowels, pre_tokenizers.Split(" ", "merged_with_next", invert=True), _bytes_only()])


def whitespace():
    """Return a tokenizer that removes white space, so it spells no text with white space."""
    return _bpe([pre_tokenizers.Whitespace(), _bytes_only()])


def bert_like():
    return _bpe([pre_tokenizers.BertPreTokenizer(), pre_tokenizers.ByteLevel(add_prefix_space=False)])


# -- after ByteLevel, where bytes are characters of its alphabet -------------------------------------------------------


def _after_bytes(*splits, before=(), use_regex=True, size=460):
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    return _bpe([*before, byte_level, *splits], size=size, texts=[*TEXTS, *NUMERIC_BYTES])


def falcon():
    splits = [pre_tokenizers.Digits(individual_digits=False), _split("[0-9][0-9][0-9]")]
    return _after_bytes(*splits, before=[pre_tokenizers.Punctuation("contiguous")])


def falcon3():
    """Return a tokenizer with tokens that the merges do not make; some end or begin within a character."""
    splits = [pre_tokenizers.Digits(individual_digits=True), _split("[0-9][0-9][0-9]")]
    tokenizer = _after_bytes(*splits, before=[pre_tokenizers.Punctuation("contiguous")])
    return _with_words(tokenizer, "ĠÃ", "½Ģ", "ä¸Ńæĸĩä", "¼ł", "xÂ")


def bytes_merged():
    """Return a tokenizer that cuts within and after characters, by matches and between them."""
    splits = [_split("[Ãä]+|Ġ", "merged_with_next"), _split("[²³]", "merged_with_previous")]
    return _after_bytes(*splits, before=[_split("é|t")])


def bytes_split_by_words():
    """Return a tokenizer with look-ahead over the bytes of characters; no text has the byte of an `×`."""
    lookahead = _split("[À-ÿ](?![À-ÿ])|[ĠĊ](?=[a-z])|ab?", "contiguous")
    return _after_bytes(pre_tokenizers.CharDelimiterSplit("×"), lookahead, pre_tokenizers.Punctuation("isolated"))


def bytes_in_threes():
    return _after_bytes(pre_tokenizers.Whitespace(), pre_tokenizers.FixedLength(3), use_regex=False)


def digits_of_bytes():
    """Return a tokenizer whose splits cut off few tokens."""
    return _after_bytes(pre_tokenizers.Digits(), use_regex=False)


OF_BYTES = [falcon, falcon3, bytes_merged, bytes_split_by_words, bytes_in_threes, digits_of_bytes]
CUTTING = [
    *(gpt2, gpt_neox, smollm2_like, llama3, qwen3, deepseek, o200k, merged_with_next, contiguous),
    *(gpt4o_converted, punctuation_and_digits, punctuation_merged, inverted, whitespace, bert_like, *OF_BYTES),
]


# -- without cuts ------------------------------------------------------------------------------------------------------


def bytes_only():
    return _trained_by_words(_bytes_only())


def bytes_only_nfc():
    """Return a tokenizer with added tokens, and tokens that stand for whole texts only."""
    tokenizer = _with_words(_trained_by_words(_bytes_only(), normalizer=normalizers.NFC()))
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in ("<tool>", "<tool_call>", "lliam")])
    return tokenizer


def _trained_by_words(*splits, normalizer=None):
    """Return a tokenizer that is trained on words with the space before them, and used without pre-tokens."""
    tokenizer = _bpe([_split(r" ?[^ ]+| +"), *splits], size=450, normalizer=normalizer)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(list(splits))
    return tokenizer


def _sentencepiece(*, size=330, fallback=True, newline=True, added=()):
    """Return a tokenizer as converters make it of SentencePiece's: any two tokens that make a third are merged."""
    trained = Tokenizer(models.BPE())
    trained.normalizer = normalizers.Replace(" ", "▁")
    trained.pre_tokenizer = pre_tokenizers.Split(Regex("▁"), "merged_with_next")
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<|end|>", "<unk>", *added], show_progress=False)
    spelled_by_bytes = str.maketrans(dict.fromkeys("éïПивет字글“😀", "") if fallback else {})
    texts = [text.replace("\n", " \n " if newline else " ").translate(spelled_by_bytes) for text in TEXTS]
    trained.train_from_iterator(texts, trainer)
    pieces = sorted(trained.get_vocab(), key=trained.get_vocab().get)
    pieces += [f"<0x{byte:02X}>" for byte in range(256)] * fallback
    pieces += [
        piece for piece in ("▁▁", "▁▁▁", "▁▁▁▁", ',"', '":', '{"', '",', "s▁", '."', "▁The▁") if piece not in pieces
    ]
    vocabulary = {piece: token for token, piece in enumerate(pieces)}
    whole = [piece for piece in pieces if not (piece.startswith("<0x") or piece in ("<|end|>", "<unk>", *added))]
    splits = [(piece[:at], piece[at:]) for piece in whole for at in range(1, len(piece))]
    merges = [(left, right) for left, right in splits if left in vocabulary and right in vocabulary]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, byte_fallback=fallback, unk_token="<unk>", fuse_unk=True))
    tokenizer.add_special_tokens(["<|end|>", "<unk>"])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in added])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def gemma_like():
    tokenizer = _sentencepiece(added=["\n\n", "\n\n\n", "<tool>", "<tool_call>"])
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    return tokenizer


def llama2_like():
    tokenizer = _sentencepiece(newline=False)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return tokenizer


def mistral_like():
    tokenizer = _sentencepiece(size=500)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    return tokenizer


def without_fallback():
    tokenizer = _sentencepiece(fallback=False)
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    return tokenizer


def some_fallback():
    """Return a tokenizer that lacks some byte tokens; and a text that is a piece of a byte token is that token."""
    tokenizer = _sentencepiece()
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    config = json.loads(tokenizer.to_str())
    config["model"]["ignore_merges"] = True
    for byte in (0xAD, 0xF0):
        del config["model"]["vocab"][f"<0x{byte:02X}>"]
    return Tokenizer.from_str(json.dumps(config))


UNCUT = [
    *(merged_with_previous, bytes_only, bytes_only_nfc, gemma_like, llama2_like, mistral_like),
    *(without_fallback, some_fallback),
]
MADE = [*CUTTING, *UNCUT]
_NOT_SPELLING_ALL = (
    *(punctuation_and_digits, punctuation_merged, whitespace, bert_like, bytes_split_by_words),
    *(without_fallback, some_fallback),
)
SPELLING_ALL = [make for make in MADE if make not in _NOT_SPELLING_ALL]


@functools.cache
def after_a_prompt(make):
    """Return the tokenizer that encodes texts as after a prompt: nothing is inserted before the first word."""
    config = json.loads(tokenizer_of(make).to_str())
    for part in (config["normalizer"] or {}).get("normalizers", []):
        if part["type"] == "Prepend":
            config["normalizer"]["normalizers"].remove(part)
    pre_tokenizer = config["pre_tokenizer"] or {}
    for part in [pre_tokenizer, *pre_tokenizer.get("pretokenizers", [])]:
        if part.get("type") == "Metaspace":
            part["prepend_scheme"] = "never"
        elif part.get("type") == "ByteLevel":
            part["add_prefix_space"] = False
    config["padding"] = config["truncation"] = None
    return Tokenizer.from_str(json.dumps(config))


@functools.cache
def tokenizer_of(make):
    """Return a tokenizer, made once."""
    return make()


def encoded(make, text):
    """Return the ids of a text after a prompt."""
    return after_a_prompt(make).encode(text, add_special_tokens=False).ids


@functools.cache
def vocabulary_of(make):
    """Return the vocabulary of a tokenizer, made once."""
    import structgen

    tokenizer = tokenizer_of(make)
    return structgen.Vocabulary.from_huggingface(tokenizer, eos_token_ids=tokenizer.token_to_id("<|end|>"))


# -- all of a finite language ------------------------------------------------------------------------------------------


def vocabulary_of_its_own(tokenizer, number):
    """Return a vocabulary with more ids by a number: vocabularies of the same tokens would be one."""
    import structgen

    size = tokenizer.get_vocab_size() + number
    ends = tokenizer.token_to_id("<|end|>")
    return structgen.Vocabulary.from_huggingface(tokenizer, eos_token_ids=ends, vocab_size=size)


def random_walk(matcher, vocabulary, rng, most):
    """Return tokens drawn from the masks up to the end, or so many; assert that the walk is not stuck.

    Soon, tokens that close a string are preferred.
    """
    ids = []
    while len(ids) < most:
        allowed = matcher.allowed_token_ids()
        assert allowed, f"stuck behind {[vocabulary.token_bytes(token) for token in ids]}"
        closing = [token for token in allowed if b'"' in (vocabulary.token_bytes(token) or b'"')]
        token = rng.choice(closing if closing and len(ids) > 12 else allowed)
        if token in vocabulary.eos_token_ids:
            break
        matcher.accept_token(token)
        ids.append(token)
    return ids


def sequences(matcher, ends):
    """Return all token sequences that the masks allow to the end; assert that none is stuck."""
    found = reachable_texts.sequences(matcher, ends, 20_000)
    assert found is not None
    return found


def texts_of(pattern):
    """Return the texts of a finite language, walked byte by byte."""
    import structgen

    vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256])
    matcher = structgen.compile(structgen.Grammar.regex(pattern), vocabulary).matcher()
    return [bytes(ids).decode() for ids in sequences(matcher, {256})]
