"""Token healing: if the tokenizer might join a prompt's end with the text, the end is written again."""

import random

import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import tokenizer_of, vocabulary_of

import structgen

PROMPTS = ["Hi", "It is", "a ", "a  ", "12", "x\n", "x \n ", '"', "Will", "The answer:", "é", "中", "...", "", "it'"]
PIECES = ["iam", " there", "34", "\n", " x", "  y", '"name"', "!", "'s", "é", "文", "5", "", "{", " ", "ize"]


def encoded(make, text):
    return tokenizer_of(make).encode(text, add_special_tokens=False).ids


def spelled(make, ids):
    return b"".join(vocabulary_of(make).token_bytes(token) or b"\xff" for token in ids)


def sequences(matcher, ends):
    """Return all token sequences that the masks allow to the end; assert that none is stuck."""
    found, waiting = set(), [((), matcher)]
    while waiting:
        ids, place = waiting.pop()
        allowed = place.allowed_token_ids()
        assert allowed, f"stuck behind {ids}"
        for token in allowed:
            if token in ends:
                found.add(ids)
            else:
                after = place.fork()
                after.accept_token(token)
                waiting.append(((*ids, token), after))
    return found


@pytest.mark.one_in(12, uncompiled=48)
@pytest.mark.parametrize("make", bpe_tokenizers.SPELLING_ALL, ids=lambda make: make.__name__)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_prompt_and_text_are_tokenized_as_one_text(make, prompt):
    rng = random.Random(prompt)
    vocabulary = vocabulary_of(make)
    before = encoded(make, prompt)
    if spelled(make, before) != prompt.encode() or spelled(make, encoded(make, "a")) != b"a":
        pytest.skip("the tokenizer changes the prompt, or puts a space before it")
    for _ in range(6):
        texts = {"".join(rng.choices(PIECES, k=rng.randint(1, 2))) for _ in range(4)}
        grammar = structgen.Grammar.choice(sorted(texts))
        kept, prefix, matcher = structgen.compile(grammar, vocabulary, tokenization="proper").healed(before)
        assert kept == before[: len(kept)]
        assert spelled(make, kept) + prefix == prompt.encode()
        expected = set()
        for text in texts:
            whole = encoded(make, prompt + text)
            if spelled(make, whole) == (prompt + text).encode():
                assert whole[: len(kept)] == kept, text
                expected.add(tuple(whole[len(kept) :]))
        if expected:
            assert sequences(matcher, set(vocabulary.eos_token_ids)) == expected
        else:
            assert matcher.allowed_token_ids() == []


def test_only_what_may_be_joined_is_written_again():
    make = bpe_tokenizers.CUTTING[0]
    constraint = structgen.compile(structgen.Grammar.regex(" yes| no"), vocabulary_of(make), tokenization="proper")
    ids = encoded(make, "The answer:")
    kept, prefix, _ = constraint.healed(ids)
    assert (kept, prefix) == (ids, b"")


def test_any_tokenization_takes_the_prompt_as_it_is():
    make = bpe_tokenizers.CUTTING[0]
    ids = encoded(make, "The answer: ")
    kept, prefix, matcher = structgen.compile(structgen.Grammar.regex("yes"), vocabulary_of(make)).healed(ids)
    assert (kept, prefix) == (ids, b"")
    assert matcher.forced_bytes() == b"yes"


def test_an_eager_grammar_ends_right_after_its_own_text():
    make = bpe_tokenizers.CUTTING[0]
    grammar = structgen.Grammar.kbnf("start ::= 'x'? ;")
    _, prefix, matcher = structgen.compile(grammar, vocabulary_of(make), tokenization="proper").healed(
        encoded(make, "a ")
    )
    assert prefix == b" "
    found = sequences(matcher, set(vocabulary_of(make).eos_token_ids))
    assert {spelled(make, ids) for ids in found} == {b" x"}  # a grammar of KBNF never has the empty text


def test_going_back_and_beginning_anew():
    make = bpe_tokenizers.CUTTING[0]
    constraint = structgen.compile(structgen.Grammar.regex("yes|no"), vocabulary_of(make), tokenization="proper")
    matcher = constraint.healed(encoded(make, "The answer: "))[2]
    first = matcher.allowed_token_ids()
    for begin_anew in (
        lambda: matcher.rollback(1),
        matcher.reset,
        constraint.grammar.renew,
        constraint.grammar.renew_sets,
    ):
        twin = matcher.fork()
        matcher.accept_token(first[0])
        begin_anew()
        if begin_anew in (constraint.grammar.renew, constraint.grammar.renew_sets):
            matcher.rollback(1)
        assert matcher.allowed_token_ids() == twin.allowed_token_ids() == first


def test_the_answer_is_without_the_prompts_end(tiny_model, tiny_tokenizer):
    grammar = structgen.Grammar.regex("yes|no|[a-f]{3}")
    generator = structgen.Generator(tiny_model, grammar, tokenization="proper", raw=True, temperature=1.0)
    for seed in range(8):
        result = generator.run("The answer: ", seed=seed)
        assert result.value == result.text
        whole = tiny_tokenizer.encode("The answer: " + result.text, add_special_tokens=False)
        assert tuple(whole[-len(result.token_ids) :]) == result.token_ids
