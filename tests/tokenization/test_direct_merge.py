"""`direct_merge` against the tokenizer, and against the masks of proper tokens, also with a real tokenizer's merges."""

import functools

import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import tokenizer_of, vocabulary_of
from support.smollm2 import smollm2_tokenizer
from tokenizers import Tokenizer, decoders, models

import structgen
from structgen.errors import GrammarError, LimitExceededError, VocabularyError

MAKES = [
    *(bpe_tokenizers.gpt2, bpe_tokenizers.llama3, bpe_tokenizers.qwen3, bpe_tokenizers.bytes_only),
    *(bpe_tokenizers.gemma_like, bpe_tokenizers.llama2_like, bpe_tokenizers.without_fallback),
    *(bpe_tokenizers.some_fallback, bpe_tokenizers.falcon),
]
FINITE = {
    "( William)|( Theodore)|( Then)": [" William", " Theodore", " Then"],
    "the(re|ory)?|[ab]{1,3}": None,
    "(a|é|中文?|한|😀|Ж){1,2}": None,
    "[0-9]{1,2}|1234(5|6)?": None,
}
END = "</s>"
WHOLE_WORDS = {bpe_tokenizers.llama3: {"there", "ab"}}  # tokens that the merges do not make


def sequences(automaton):
    """Return all sequences of an automaton that accepts finitely many."""
    found, paths = set(), [((), automaton.start)]
    while paths:
        tokens, state = paths.pop()
        if state in automaton.accepting:
            found.add(tokens)
        paths.extend(((*tokens, token), to) for token, to in automaton.transitions.get(state, {}).items())
    return found


@functools.cache
def small_tokenizer(*merges):
    """Return a tokenizer of the letters of "lower", with these merges; kept, as a vocabulary does not keep it."""
    tokens = dict.fromkeys([*"lower", *(left + right for left, right in merges), END])
    tokenizer = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, list(merges)))
    tokenizer.decoder = decoders.Fuse()
    return tokenizer


def small_vocabulary(*merges):
    tokenizer = small_tokenizer(*merges)
    return structgen.Vocabulary.from_huggingface(tokenizer, eos_token_ids=tokenizer.token_to_id(END))


def is_more_than_merged(make, text):
    """Return whether a tokenizer does more than merge: cuts, normalizes, added tokens, whole words, no spelling."""
    tokenizer = tokenizer_of(make)
    spelled = [vocabulary_of(make).token_bytes(token) or b"" for token in bpe_tokenizers.encoded(make, text)]
    if b"".join(spelled) != text.encode():
        return True
    normal = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
    pieces = tokenizer.pre_tokenizer.pre_tokenize_str(normal) if tokenizer.pre_tokenizer else [normal]
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    return len(pieces) > 1 or any(content in text for content in added) or text in WHOLE_WORDS.get(make, ())


# -- against the tokenizer --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", FINITE)
@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
def test_each_text_has_the_sequence_that_the_tokenizer_makes(make, pattern):
    vocabulary = vocabulary_of(make)
    texts = FINITE[pattern] or bpe_tokenizers.texts_of(pattern)
    may_compose = make is bpe_tokenizers.qwen3 and not "".join(texts).isascii()  # NFC
    if may_compose or any(is_more_than_merged(make, text) for text in texts):
        with pytest.raises(VocabularyError, match=r"the tokenizer cuts|an added token|is one token"):
            structgen.direct_merge(pattern, vocabulary)
    else:
        expected = {tuple(bpe_tokenizers.encoded(make, text)) for text in texts}
        assert sequences(structgen.direct_merge(pattern, vocabulary)) == expected


def test_the_text_that_is_cut_is_named():
    vocabulary = vocabulary_of(bpe_tokenizers.gpt2)
    with pytest.raises(VocabularyError, match=r"such as 'b7'\nHint: merges_only=True"):
        structgen.direct_merge("a|b7", vocabulary)
    assert structgen.direct_merge("a|b7", vocabulary, merges_only=True).accepts(
        bpe_tokenizers.encoded(bpe_tokenizers.gpt2, "b7")
    )


def test_a_text_with_an_added_token_is_refused():
    with pytest.raises(VocabularyError, match="an added token of the tokenizer occurs in 'x<tool>'"):
        structgen.direct_merge("x(<tool>)?", vocabulary_of(bpe_tokenizers.bytes_only_nfc))


def test_a_word_that_the_merges_do_not_make_is_refused():
    with pytest.raises(VocabularyError, match="' Williamson' is one token of the tokenizer"):
        structgen.direct_merge(" William(son)?", vocabulary_of(bpe_tokenizers.llama3))
    assert structgen.direct_merge(" William(son)?", vocabulary_of(bpe_tokenizers.llama3), merges=300).accepting


# -- grammars, merges, limits -----------------------------------------------------------------------------------------


def test_a_grammar_without_recursion_is_read():
    vocabulary = small_vocabulary(("l", "o"), ("lo", "w"))
    grammar = structgen.Grammar.kbnf('start ::= word word; word ::= "low" | "o";')
    found = {
        tuple(map(vocabulary.token_bytes, tokens)) for tokens in sequences(structgen.direct_merge(grammar, vocabulary))
    }
    assert found == {(b"low", b"low"), (b"low", b"o"), (b"o", b"low"), (b"o", b"o")}


def test_a_grammar_with_recursion_is_refused():
    vocabulary = small_vocabulary(("l", "o"))
    with pytest.raises(GrammarError, match="'start' is recursive"):
        structgen.direct_merge(structgen.Grammar.kbnf('start ::= "l" start "o" | "w";'), vocabulary)


def test_only_the_first_merges_are_used():
    vocabulary = small_vocabulary(("l", "o"), ("lo", "w"), ("e", "r"))
    texts = [
        [
            vocabulary.token_bytes(token)
            for token in min(sequences(structgen.direct_merge("lower", vocabulary, merges=n)))
        ]
        for n in range(4)
    ]
    assert texts == [[b"l", b"o", b"w", b"e", b"r"], [b"lo", b"w", b"e", b"r"], [b"low", b"e", b"r"], [b"low", b"er"]]


def test_merges_in_an_order_that_training_does_not_make_are_refused():
    vocabulary = small_vocabulary(("lo", "w"), ("l", "o"))
    with pytest.raises(VocabularyError, match="not in an order that training makes"):
        structgen.direct_merge("low", vocabulary)


def test_arguments_are_checked():
    vocabulary = small_vocabulary(("l", "o"))
    with pytest.raises(TypeError, match="takes a Grammar or a regex, not a dict"):
        structgen.direct_merge({"type": "string"}, vocabulary)
    with pytest.raises(ValueError, match="merges=-1"):
        structgen.direct_merge("lo", vocabulary, merges=-1)


def test_a_text_that_has_no_tokens_is_refused_and_left_out_by_the_merges_alone():
    vocabulary = small_vocabulary(("l", "o"))
    with pytest.raises(VocabularyError, match="cannot spell texts of the grammar, such as 'lx'"):
        structgen.direct_merge("lo|lx", vocabulary)
    assert sequences(structgen.direct_merge("lo|lx", vocabulary, merges_only=True)) == {
        (vocabulary.spellings.index(b"lo"),)
    }


@pytest.mark.parametrize(
    ("limits", "name"), [({"automaton_states": 40}, "automaton_states"), ({"compile_seconds": 1e-9}, "compile_seconds")]
)
def test_limits_are_kept(limits, name):
    with pytest.raises(LimitExceededError, match=name):
        structgen.direct_merge(
            "[a-z]{1,60}", vocabulary_of(bpe_tokenizers.bytes_only), limits=structgen.Limits(**limits)
        )


# -- against the masks of proper tokens -------------------------------------------------------------------------------

MERGES = 1000
REAL = [
    (True, " (William|Theodore|Inverness)"),
    (True, "[a-z]+"),
    (True, " ?[A-Z][a-z]{0,3}"),
    (True, "(an|na|banana|ing|in)*"),
    (False, '"[a-z ]{0,2}", "(the|and|of) [0-9]+"'),
    (False, "( the| a|é|中|ü)*"),
]


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize(("has_words", "pattern"), REAL, ids=[pattern for _, pattern in REAL])
def test_the_masks_are_those_of_the_automaton_with_the_first_merges_of_smollm2(has_words, pattern):
    """Compare every state of the automaton with the mask after a sequence of tokens that leads there."""
    tokenizer = smollm2_tokenizer(MERGES, has_words=has_words)
    size = tokenizer.get_vocab_size() + has_words  # vocabularies of the same size would be one
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, eos_token_ids=0, vocab_size=size)
    grammar = structgen.Grammar.regex(pattern)
    automaton = structgen.direct_merge(grammar, vocabulary)
    constraint = structgen.compile(grammar, vocabulary, tokenization="proper")
    reached = {automaton.start: ()}
    states = [automaton.start]
    for state in states:  # grows meanwhile
        matcher = constraint.matcher()
        for token in reached[state]:
            matcher.accept_token(token)
        end = [0] if state in automaton.accepting else []
        assert matcher.allowed_token_ids() == end + automaton.allowed_token_ids(state), (pattern, reached[state])
        for token, target in automaton.transitions.get(state, {}).items():
            if target not in reached:
                reached[target] = (*reached[state], token)
                states.append(target)
    assert len(states) == automaton.state_count > 2
