"""Proper tokenization of grammars with token terminals: the tokenizer itself reads the names of special tokens."""

from __future__ import annotations

import functools
import random

import pytest
from support import bpe_tokenizers, reachable_texts
from support.bpe_tokenizers import vocabulary_of

import structgen
from structgen import Grammar, Vocabulary, VocabularyError

NAMES = ("<|im_end|>", "<|end|>", "<tool_call>", "|||PHONE|||")
MARK, END = 256, 257
BYTES = Vocabulary.from_bytes(
    {byte: bytes([byte]) for byte in range(256)},
    eos_token_ids=[END],
    special_tokens={"<mark>": MARK},
)
ATOMS = ("a", "b", "it", "'s", " ", "  ", "\n", "1", "12", '"', ",", "é", "the", "The", "ory", "Will", "iam", "<", "中")
MOST = 2000
MAKERS = [
    *(bpe_tokenizers.gpt_neox, bpe_tokenizers.llama3, bpe_tokenizers.qwen3, bpe_tokenizers.bytes_only_nfc),
    *(bpe_tokenizers.gemma_like, bpe_tokenizers.llama2_like, bpe_tokenizers.digits_of_bytes),
]


@functools.cache
def vocabulary_with_end(make):
    """The vocabulary of a tokenizer with an end token of its own, so that `<|end|>` is any special token."""
    tokenizer = bpe_tokenizers.tokenizer_of(make)
    size = tokenizer.get_vocab_size()
    return Vocabulary.from_huggingface(tokenizer, vocab_size=size + 1, eos_token_ids=size)


def names_of(make):
    """The names of tokens that stand in the grammars of these tests: special ones, and added ones."""
    return [name for name in NAMES if name in vocabulary_with_end(make).special_tokens]


def random_grammar(rng, name):
    parts = []
    for _ in range(rng.randint(2, 5)):
        kind = rng.random()
        if kind < 0.4:
            parts.append(f"#token'{name}'" + rng.choice(("", "?")))
        elif kind < 0.8:
            texts = ["".join(rng.choices(ATOMS, k=rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]
            parts.append("(" + " | ".join(map(_literal, texts)) + ")")
        else:
            parts.append("#'" + rng.choice(("[ab1 ]{0,2}", "(it){1,2}", "(a|é)?", "[0-2]{1,2}")) + "'")
    return Grammar.kbnf(f"start ::= {' '.join(parts)} '!';", eager=False)


def _literal(text):
    return "'" + text.replace("\\", r"\\").replace("'", r"\'").replace("\n", r"\n") + "'"


@pytest.mark.one_in(8, uncompiled=24)
@pytest.mark.parametrize("seed", range(160))
def test_the_masks_allow_exactly_the_tokenizations(seed):
    rng = random.Random(seed)
    make = rng.choice(MAKERS)
    vocabulary, name = vocabulary_with_end(make), rng.choice(names_of(make))
    mark = vocabulary.special_tokens[name]
    paths = None
    while paths is None:
        grammar = random_grammar(rng, "<mark>")
        paths = reachable_texts.sequences(structgen.compile(grammar, BYTES).matcher(), {END}, MOST)
    expected = set()
    for path in paths:
        pieces = bytes(0xFF if token == MARK else token for token in path).split(b"\xff")
        ids = bpe_tokenizers.encoded(make, name.join(piece.decode() for piece in pieces))
        spelled = b"".join(b"\xff" if t == mark else vocabulary.token_bytes(t) or b"\xfe" for t in ids)
        if spelled == b"\xff".join(pieces):
            expected.add(tuple(ids))
    named = Grammar.kbnf(grammar.source.replace("<mark>", name), eager=False)
    if (
        make is bpe_tokenizers.llama2_like and "#token" in named.source
    ):  # after a special token, it puts a space before the text
        with pytest.raises(VocabularyError, match="changes the text after it"):
            structgen.compile(named, vocabulary, tokenization="proper")
        return
    constraint = structgen.compile(named, vocabulary, tokenization="proper")
    found = reachable_texts.sequences(constraint.matcher(), set(vocabulary.eos_token_ids), MOST)
    assert found is not None
    assert len(found) == len(set(found))
    assert set(found) == expected, (make.__name__, named.source)


def test_rollback_and_forks():
    make = bpe_tokenizers.qwen3
    vocabulary, name = vocabulary_of(make), "<|im_end|>"
    grammar = Grammar.kbnf(f"start ::= #'[a-z ]+' #token'{name}' #'[a-z ]+';", eager=False)
    matcher = structgen.compile(grammar, vocabulary, tokenization="proper").matcher()
    first = matcher.allowed_token_ids()
    matcher.accept_token(first[0])
    second = matcher.allowed_token_ids()
    assert vocabulary.special_tokens[name] in second
    matcher.accept_token(vocabulary.special_tokens[name])
    assert matcher.fork().allowed_token_ids() == matcher.allowed_token_ids() == first
    matcher.rollback(1)
    assert matcher.allowed_token_ids() == second


def test_an_end_token_between_turns():
    vocabulary = vocabulary_of(bpe_tokenizers.qwen3)
    end = vocabulary.eos_token_ids[0]
    grammar = Grammar.kbnf("start ::= (#'[a-z]+' #token'<|end|>')+;", eager=False)
    matcher = structgen.compile(grammar, vocabulary, tokenization="proper").matcher()
    letters = matcher.allowed_token_ids()
    assert end not in letters
    matcher.accept_token(letters[0])
    assert end in matcher.allowed_token_ids()
    matcher.accept_token(end)
    assert matcher.allowed_token_ids() == sorted([*letters, end])
    assert not matcher.is_terminated
    matcher.accept_token(end)
    assert matcher.is_terminated


def test_an_ordinary_token_is_refused_by_name():
    vocabulary = vocabulary_of(bpe_tokenizers.qwen3)
    with pytest.raises(VocabularyError, match="it is no added token"):
        structgen.compile(Grammar.kbnf("start ::= #token[70];"), vocabulary, tokenization="proper")


@pytest.mark.parametrize("option", ["lstrip", "single_word"])
def test_a_token_that_the_text_beside_it_decides_about_is_refused_by_name(option):
    """Check options under which the tokenizer makes no tokens `x`, ` `, `<m>`; or `x`, `<m>`, `y`."""
    from tokenizers import AddedToken

    tokenizer = bpe_tokenizers.gpt2()
    tokenizer.add_special_tokens([AddedToken("<m>", normalized=False, **{option: True})])
    size = tokenizer.get_vocab_size() + len(option)  # a vocabulary of its own: those of the same tokens are one
    vocabulary = Vocabulary.from_huggingface(tokenizer, vocab_size=size, eos_token_ids=size - 1)
    with pytest.raises(VocabularyError, match="lstrip=True or single_word=True"):
        structgen.compile(Grammar.kbnf("start ::= 'x ' #token'<m>' 'y';"), vocabulary, tokenization="proper")
