"""Normalizers and pre-tokenizers that few tokenizers have, each against `tokenizers` itself."""

import functools
import random

import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import sequences, texts_of
from support.charsmaps import charsmap
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

import structgen
from structgen.errors import VocabularyError
from structgen.tokenization.matching.proper_tokenization import ProperTokenization


def byte_level(normalizer=None, *splits):
    """Return a tokenizer of bytes with a normalizer, or more pre-tokenizers."""
    return bpe_tokenizers._bpe([*splits, pre_tokenizers.ByteLevel(add_prefix_space=False)], normalizer=normalizer)


def byte_fallback(normalizer=None, pre_tokenizer=None):
    """Return a tokenizer of characters, with byte tokens for those that are no tokens."""
    tokenizer = bpe_tokenizers._sentencepiece()
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    return tokenizer


MARKING = normalizers.Replace(" ", "▁")


def bert():
    return byte_level(normalizers.BertNormalizer())


def bert_cased():
    return byte_level(normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False))


def bert_accents():
    """Return a tokenizer that removes accents and keeps case."""
    options = {"clean_text": False, "handle_chinese_chars": True, "strip_accents": True, "lowercase": False}
    return byte_level(normalizers.BertNormalizer(**options))


def bert_pieces():
    normalizer = normalizers.BertNormalizer(strip_accents=False, clean_text=False)
    return byte_fallback(normalizers.Sequence([normalizer, MARKING]))


def bert_pieces_stripped():
    return byte_fallback(normalizers.Sequence([MARKING, normalizers.BertNormalizer()]))


def _replacing(*replaced, first=(), last=()):
    made = [normalizers.Replace(Regex(pattern), content) for pattern, content in replaced]
    return normalizers.Sequence([*first, *made, *last])


def spaces_joined():
    """Return a tokenizer with Precompiled before spaces are marked, as converters write it for SentencePiece."""
    stripping = normalizers.Strip(left=False, right=True)
    return byte_fallback(
        _replacing((" {2,}", "▁"), first=[stripping]), pre_tokenizers.Metaspace(prepend_scheme="never")
    )


def marks_joined():
    return byte_fallback(_replacing(("▁{2,}", "▁"), first=[MARKING]), None)


def white_space_made_marks():
    return byte_fallback(_replacing((r"\s+", "▁"), last=[normalizers.Strip()]))


def any_space_made_a_mark():
    return byte_fallback(_replacing((r"\s", "▁"), ("aa", "")))


def white_space_made_spaces():
    """Return a tokenizer like CLIP's."""
    first, last = [normalizers.NFC()], [normalizers.Lowercase()]
    return byte_level(_replacing((r"\s+", " "), first=first, last=last))


def quotes_replaced():
    made = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.Strip(left=False)]
    return byte_level(normalizers.Sequence(made))


def line_breaks_replaced():
    """Return a tokenizer with look-ahead, ambiguous ends, and a match that may begin within another."""
    made = _replacing((r"\n+(?!\n)", "\n"), ("ab?c|b", "b"), ("12?1", "212"), last=[normalizers.Strip(left=False)])
    return byte_level(made, pre_tokenizers.Digits(individual_digits=True))


def characters_taken_away():
    return byte_level(_replacing(("[b\t]", ""), ("a", "xyz")), bpe_tokenizers._split(r"\s", "merged_with_next"))


def _marked_after(*splits, split=True):
    last = pre_tokenizers.Metaspace(prepend_scheme="never", split=split)
    return byte_fallback(None, pre_tokenizers.Sequence([*splits, last]))


def marked_after_words():
    """Return a tokenizer whose splits see spaces, not marks."""
    return _marked_after(bpe_tokenizers._split(r" ?[a-z]+| +"), bpe_tokenizers._split("▁|W"), split=False)


def marked_after_punctuation():
    return _marked_after(pre_tokenizers.Punctuation(), pre_tokenizers.Digits())


def marked_before_others():
    """Return a tokenizer with a split that sees spaces, and one that sees marks."""
    marking = pre_tokenizers.Metaspace(prepend_scheme="never")
    splits = [bpe_tokenizers._split(r" [0-9]|▁+[0-9]"), marking, bpe_tokenizers._split(" a|▁+a")]
    return byte_fallback(normalizers.Replace(Regex("  +"), " "), pre_tokenizers.Sequence(splits))


def marked_after_whitespace():
    return _marked_after(pre_tokenizers.Whitespace())


def looking_behind():
    """Return a tokenizer that looks behind: beyond a match, but not beyond the cuts of earlier splits."""
    splits = [bpe_tokenizers._split(r"(?<![a-z])\s|\b[A-Z]+(?<!T)"), bpe_tokenizers._split("(?<= )[a-z]|^1+")]
    return bpe_tokenizers._bpe([pre_tokenizers.Digits(), *splits, bpe_tokenizers._bytes_only()])


def looking_behind_marks():
    """Return a tokenizer whose normalizer and split look behind."""
    return byte_fallback(_replacing(("(?<=▁)▁|^a", ""), first=[MARKING]), bpe_tokenizers._split(r"(?<=[▁1])\S|a{2}?1"))


def scripts():
    """Return a tokenizer that removes a space at the beginning of a text."""
    return byte_level(None, pre_tokenizers.UnicodeScripts())


def scripts_of_pieces():
    """Return a tokenizer that splits by scripts: spaces have none, marks have one."""
    return _marked_after(pre_tokenizers.UnicodeScripts(), bpe_tokenizers._split("1|,"))


def scripts_of_marks():
    return byte_fallback(MARKING, pre_tokenizers.UnicodeScripts())


def spaces_removed():
    """Return a tokenizer that removes all white space, by a split that looks around."""
    return byte_level(None, pre_tokenizers.Split(Regex(r"\s+(?!\S)|(?<=1)\s|\s"), "removed"))


def no_gaps():
    """Return a tokenizer like those of GPT-4 that would remove the text between matches: there is none."""
    pattern = r" ?[a-z]+|'s|\p{N}{1,3}|[^\s\p{N}]+|\s+(?!\S)|\s+"
    return byte_level(None, pre_tokenizers.Split(Regex(pattern), "removed", invert=True))


REPLACED = {"e\u0301": "é", "a\u0301": "á", "и\u0306": "й", "か\u3099": "が", "\u1112\u1161": "하", "A": "a", "ﬁ": "fi"}
TOGETHER = ["e\u0301", "a\u0301", "и\u0306"]  # not the others: a grapheme of six bytes stays
SPACED = {"\t": " ", "\n": " ", "\u3000": " "}


def precompiled():
    return byte_level(normalizers.Precompiled(charsmap(REPLACED)))


def precompiled_pieces():
    """Return a tokenizer like NLLB's."""
    normalizer = _replacing((" {2,}", " "), first=[normalizers.Precompiled(charsmap(REPLACED | SPACED))])
    return byte_fallback(normalizer, pre_tokenizers.Metaspace(prepend_scheme="never"))


# Of each the tokenizer and patterns of finite languages.
CASES = {
    make: [
        "[aA \t]{0,3}",
        "(a|é|e\u0301|É|中文?|か|\x00|\ufffd){0,2}",
        "(\u302e|\U0001d165|x|\u0301|\u093e){0,3}",  # of other classes, and an accent
    ]
    for make in (bert, bert_cased, bert_accents, bert_pieces, bert_pieces_stripped)
}
SPACES = [r"[a ]{0,5}", r"([a \n]|\u3000){0,3}", "( |  )[Tt]he( |  |\n)([Ww]illiam)?( |<)?"]
SCRIPTS = [*SPACES, "[a1 ,]{0,3}", "(か|ー|字|ナ|x| |\u0378|1){0,3}", "(я|a|α|\u0301|한| ){0,3}"]
CASES |= {
    spaces_joined: SPACES,
    marks_joined: SPACES,
    white_space_made_marks: SPACES,
    any_space_made_a_mark: [*SPACES, "a{0,3}b?a?"],
    white_space_made_spaces: [*SPACES, "[A\u0301e ]{0,3}"],
    quotes_replaced: [*SPACES, "[`\"' ]{0,4}"],
    line_breaks_replaced: [*SPACES, "[ab c\n]{0,4}", "[12]{0,4}", "\n{0,3}[abc]{0,2}\n{0,2}"],
    marked_after_words: [*SPACES, "[aW ]{0,4}"],
    marked_after_punctuation: [*SPACES, "[1, ]{0,4}"],
    marked_before_others: [*SPACES, "[1a ]{0,4}"],
    marked_after_whitespace: ["[ab1, ]{0,3}"],
    looking_behind: [*SPACES, "[a1 ]{0,4}", "[aT\n]{0,4}"],
    looking_behind_marks: [*SPACES, "[a1 \n]{0,4}"],
    scripts: SCRIPTS,
    scripts_of_pieces: SCRIPTS,
    scripts_of_marks: SCRIPTS,
    spaces_removed: [*SPACES[:2], "x a|x(a| b)?", "[1a ]{0,3}"],
    no_gaps: [*SPACES, "[a1's]{0,4}"],
    characters_taken_away: [*SPACES, "[abcx\t]{0,3}"],
    precompiled: ["[aA\t]{0,3}", "(e|é|e\u0301|ﬁ|x|\u0301){0,2}", "(и|\u0306|か|\u3099|\u1112|\u1161|\u0378){0,3}"],
    precompiled_pieces: [*SPACES, "(e|é|ﬁ|\u0301){0,3}", "(か|\u3099|\u1112|\u1161| |\t){0,3}"],
}
MAKES = list(CASES)
LANGUAGES = [pytest.param(make, pattern, id=f"{make.__name__}-{pattern}") for make in MAKES for pattern in CASES[make]]


@functools.cache
def tokenizer_of(make):
    return make()


@functools.cache
def vocabulary_of(make):
    return bpe_tokenizers.vocabulary_of_its_own(tokenizer_of(make), 1 + MAKES.index(make))


def encoded(make, text):
    return tokenizer_of(make).encode(text, add_special_tokens=False).ids


def spelled(make, ids):
    return b"".join(vocabulary_of(make).token_bytes(token) or b"\xff" for token in ids)


def is_left_out(make, text):
    """Return whether a text holds a text that Precompiled would replace, if fewer accents followed."""
    return make in (precompiled, precompiled_pieces) and any(each in text for each in TOGETHER)


def is_made(make, ids):
    """Return whether the tokenizer makes these tokens of the text that they spell."""
    try:
        text = spelled(make, ids).decode()
        return encoded(make, text) == ids and not is_left_out(make, text)
    except UnicodeDecodeError:
        return False


@pytest.mark.one_in(8, uncompiled=24)
@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
def test_a_sequence_is_proper_if_the_tokenizer_makes_it(make):
    rng = random.Random(5)
    vocabulary = vocabulary_of(make)
    tokenization = ProperTokenization.of(vocabulary)
    tokens = [token for token, text in enumerate(vocabulary.spellings) if text]
    texts = [text for pattern in CASES[make] for text in texts_of(pattern)]
    outcomes = set()
    for _ in range(1500):
        ids = encoded(make, "".join(rng.choices(texts, k=rng.randint(1, 3))))
        if rng.random() < 0.5:
            at = rng.randrange(len(ids) + 1)
            ids = [*ids[:at], *rng.choices(tokens, k=rng.randint(0, 2)), *ids[at + rng.randint(0, 2) :]]
        place = tokenization.start
        for token in ids:
            place = place and tokenization.advance(place, token)
        is_proper = place is not None and tokenization.may_end(place)
        if ids:
            assert is_proper == is_made(make, ids), [vocabulary.token_bytes(token) for token in ids]
            outcomes.add(is_proper)
    assert outcomes == {True, False}


@pytest.mark.one_in(18, uncompiled=72)
@pytest.mark.parametrize(("make", "pattern"), LANGUAGES)
@pytest.mark.parametrize("few", [0, ProperTokenization.max_single_checks], ids=["by_masks", "one_by_one"])
def test_the_masks_allow_exactly_the_tokenizations_of_the_texts(make, pattern, few, monkeypatch):
    vocabulary = vocabulary_of(make)
    monkeypatch.setattr(ProperTokenization.of(vocabulary), "max_single_checks", few)
    ids_of_texts = [(text, encoded(make, text)) for text in texts_of(pattern)]
    expected = {tuple(ids) for text, ids in ids_of_texts if is_made(make, ids) and spelled(make, ids) == text.encode()}
    constraint = structgen.compile(structgen.Grammar.regex(pattern), vocabulary, tokenization="proper")
    matcher = constraint.matcher()
    found = sequences(matcher, set(vocabulary.eos_token_ids)) if expected else []
    assert expected or not matcher.allowed_token_ids()
    assert len(found) == len(set(found))
    assert set(found) == expected


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize(
    ("make", "good", "bad"),
    [
        (bert, "a b", "É"),
        (spaces_joined, "a b ", "a  b"),
        (white_space_made_spaces, "a b ", "a\nb"),
        (quotes_replaced, "`a' ", "a``"),
        (characters_taken_away, "c", "abc"),
        (scripts, " a", None),
        (spaces_removed, "ab", "a b"),
    ],
)
def test_named_texts_that_are_changed_are_refused(make, good, bad):
    vocabulary = vocabulary_of(make)
    structgen.compile(structgen.Grammar.choice([good, "x"]), vocabulary, tokenization="proper")
    if bad is not None:
        with pytest.raises(VocabularyError, match="cannot spell"):
            structgen.compile(structgen.Grammar.choice([bad, "x"]), vocabulary, tokenization="proper")


@pytest.mark.one_in(12, uncompiled=32)
@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
def test_random_walks_spell_texts_of_which_the_tokenizer_makes_them_again(make):
    rng = random.Random(8)
    vocabulary = vocabulary_of(make)
    schema = {"type": "object", "additionalProperties": {"type": ["string", "number"]}, "maxProperties": 3}
    constraint = structgen.compile(schema, vocabulary, tokenization="proper")
    for _ in range(6):
        matcher = constraint.matcher()
        ids = bpe_tokenizers.random_walk(matcher, vocabulary, rng, 200)
        if matcher.is_accepting:
            constraint.parse(spelled(make, ids).decode())
            assert is_made(make, ids)


@pytest.mark.parametrize("ignore_merges", [False, True])
def test_pieces_that_are_no_letters_of_bytes_are_never_made(ignore_merges):
    tokenizer = bpe_tokenizers._with_words(byte_level(), "中", "中文", "a b")
    tokenizer.model.ignore_merges = ignore_merges
    size = tokenizer.get_vocab_size() + ignore_merges  # a vocabulary of its own
    end = tokenizer.token_to_id("<|end|>")
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, vocab_size=size, eos_token_ids=end)
    compiled = structgen.compile(structgen.Grammar.regex("中|中文|a b"), vocabulary, tokenization="proper")
    expected = {tuple(tokenizer.encode(text).ids) for text in ("中", "中文", "a b")}
    assert set(sequences(compiled.matcher(), {end})) == expected


@pytest.mark.parametrize("ignore_merges", [False, True])
def test_pieces_with_spaces_are_never_made_where_spaces_are_marked(ignore_merges):
    pieces = ["a", " ", "  ", "\u2581", "\u2581\u2581", "<|end|>"]
    merges = [(" ", " "), ("\u2581", "\u2581")]
    numbers = {piece: token for token, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(numbers, merges, ignore_merges=ignore_merges))
    tokenizer.normalizer = MARKING
    tokenizer.decoder = decoders.Replace("\u2581", " ")
    vocabulary = structgen.Vocabulary.from_huggingface(
        tokenizer, vocab_size=len(pieces) + ignore_merges, eos_token_ids=pieces.index("<|end|>")
    )
    matcher = structgen.compile(structgen.Grammar.regex("  |a"), vocabulary, tokenization="proper").matcher()
    assert matcher.allowed_token_ids() == [pieces.index("a"), pieces.index("\u2581\u2581")]
