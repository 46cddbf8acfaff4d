"""Proper tokenizations against the tokenizer: the masks allow exactly what it makes."""

import functools
import random

import numpy as np
import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import sequences, texts_of, tokenizer_of, vocabulary_of

import structgen
from structgen.errors import TokenRejectedError, VocabularyError
from structgen.tokenization.matching.proper_matcher import ProperMatcher
from structgen.tokenization.matching.proper_tokenization import ProperTokenization

ATOMS = [
    *"aAbezZsStTrRvVlLmMdD'\"{}[]:,.!?-_/\\ \n\r\t1234567éñ中かナ한я",
    *("'s", "'re", "'LL", "  ", "   ", "    ", "\n\n", " \n", "123", "The", " William", "lliam", "<tool>", "<tool_c"),
    *(
        "\u00a0",
        "\u3000",
        "…",
        "😀",
        "\u0301",
        "e\u0301",
        "\u2028",
        "ǅ",
        "ʰ",
        "ſ",
        "ß",
        "½",
        "Ⅷ",
        "²",
        "<|im_end|>",
        "<0x41>",
    ),
    *("ò", "ù", "ײ", "丼", "伽", "¼", "³", "×"),  # whose bytes are digits, as characters of the byte map
    *("\u200d", "\U00016ff4", "Ⓐ", "«"),  # which Rust and Oniguruma, or versions of Unicode, take for different things
]


def encoded(make, text):
    return bpe_tokenizers.encoded(make, text)


def spelled(make, ids):
    return b"".join(vocabulary_of(make).token_bytes(token) or b"\xff" for token in ids)


# -- the tokenizer alone -----------------------------------------------------------------------------------------------


@functools.cache
def tokenization_of(make):
    return ProperTokenization(tokenizer_of(make), vocabulary_of(make))


def is_proper(make, ids):
    tokenization = tokenization_of(make)
    place = tokenization.start
    for token in ids:
        place = tokenization.advance(place, token)
        if place is None:
            return False
    return tokenization.may_end(place)


@pytest.mark.one_in(8, uncompiled=24)
@pytest.mark.parametrize("make", bpe_tokenizers.MADE, ids=lambda make: make.__name__)
def test_a_sequence_is_proper_if_the_tokenizer_makes_it_of_its_text(make):
    rng = random.Random(5)
    vocabulary = vocabulary_of(make)
    tokens = [token for token, text in enumerate(vocabulary.spellings) if text]
    outcomes = set()
    for _ in range(1500):
        text = "".join(rng.choices(ATOMS, k=rng.randint(1, 8)))
        ids = encoded(make, text)
        if rng.random() < 0.6:  # split, joined or replaced somewhere
            at = rng.randrange(len(ids) + 1)
            ids = [*ids[:at], *rng.choices(tokens, k=rng.randint(0, 2)), *ids[at + rng.randint(0, 2) :]]
        data = spelled(make, ids)
        try:
            expected = bool(ids) and encoded(make, data.decode()) == ids
        except UnicodeDecodeError:
            expected = False
        if ids:
            assert is_proper(make, ids) == expected, (text, [vocabulary.token_bytes(token) for token in ids])
            outcomes.add(expected)
    assert outcomes == {True, False}


# -- under a grammar: exactly the tokenizations of the language's texts ------------------------------------------------


LANGUAGES = [
    ("( William)|( Theodore)|( Then)", [" William", " Theodore", " Then"]),
    ("William(son)?|the(re|ory)?", ["William", "Williamson", "the", "there", "theory"]),
    (" {0,5}x?", [" " * n + x for n in range(6) for x in ("", "x")]),
    (r"(\n| ){1,4}(x|1)?", None),
    ("[ab ]{0,4}", None),
    ("[0-9]{1,2}|1234(5|6)?", None),
    ("(it|I|they)'(s|S|d|re|ll)", None),
    ("(a|é|e\u0301|中文?|한|😀){1,2}", None),
    ("(р|с|и|П|中|丕){1,2}", None),  # that begin with the same bytes
    ("(ò|é|x²|¼|丼|伽|中|ײ|1){1,2}", None),  # that may be cut within
    (r"(½|12)3?(²|\n| )?(ü|ý|é1|ß)?", None),
    (r'\{"name": ?"(Bob|Alice)","(age|ages)":(7|34)\}', None),
    ('"[a-c"]{0,2}",?"', None),
    ("a<tool(_call)?>b?|<tool", None),
    ("<0x(41|4|6G)?>?x?", None),  # names of bytes
    ("it x1|in|23 41|5", None),  # what mostly cuts a token off goes on with an added one
]


@pytest.mark.one_in(18, uncompiled=72)
@pytest.mark.parametrize("make", bpe_tokenizers.MADE, ids=lambda make: make.__name__)
@pytest.mark.parametrize(("pattern", "texts"), LANGUAGES, ids=[pattern for pattern, _ in LANGUAGES])
@pytest.mark.parametrize("few", [0, ProperTokenization.max_single_checks], ids=["by_masks", "one_by_one"])
def test_the_masks_allow_exactly_the_tokenizations_of_the_texts(make, pattern, texts, few, monkeypatch):
    vocabulary = vocabulary_of(make)
    monkeypatch.setattr(ProperTokenization.of(vocabulary), "max_single_checks", few)
    special = {"<|end|>", "<|im_end|>"}
    expected = set()
    for text in texts or texts_of(pattern):
        ids = encoded(make, text)
        is_spelled = spelled(make, ids) == text.encode()  # not where a normalizer changes it
        if is_spelled and not any(part in text for part in special):
            expected.add(tuple(ids))
    try:
        constraint = structgen.compile(structgen.Grammar.regex(pattern), vocabulary, tokenization="proper")
    except VocabularyError as error:  # each text has characters that are no tokens
        assert "spell" in str(error) and not expected
        return
    if not expected:  # or that a pre-tokenizer takes away
        assert constraint.matcher().allowed_token_ids() == []
        return
    found = sequences(constraint.matcher(), set(vocabulary.eos_token_ids))
    assert len(found) == len(set(found))
    assert set(found) == expected


@pytest.mark.one_in(6, uncompiled=18)
@pytest.mark.parametrize("make", bpe_tokenizers.MADE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("prompt", ["Hi", "It is", "a ", "a  ", "12", "x\n", '"', "<too", "Will"])
def test_after_a_prompt_its_last_token_counts(make, prompt):
    """The tokens of prompt and text together are those that the tokenizer makes of both together."""
    texts = ["iam", " there", "34", "\n", " x", "l>", "  y", '"name"', "!"]
    pattern = "|".join(texts).replace("!", "\\!")
    before = encoded(make, prompt)
    expected = set()
    for text in texts:
        ids = encoded(make, prompt + text)
        if ids[: len(before)] == before and spelled(make, ids[len(before) :]) == text.encode():
            expected.add(tuple(ids[len(before) :]))
    constraint = structgen.compile(structgen.Grammar.regex(pattern), vocabulary_of(make), tokenization="proper")
    matcher = constraint.matcher(before)
    if expected:
        assert set(sequences(matcher, set(vocabulary_of(make).eos_token_ids))) == expected
    else:
        assert matcher.allowed_token_ids() == []


SCHEMAS = [
    {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]},
    {"type": "array", "items": {"enum": ["a", "ab", "the", " ", "\u00e9", 1, 10, None]}, "maxItems": 4},
    {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}, "maxProperties": 3},
    {"type": "string", "pattern": "^[a-z]+( [a-z]+)*$", "maxLength": 20},
]


@pytest.mark.filterwarnings("ignore:the tokenizer cannot spell '. .'")  # where it removes white space
@pytest.mark.one_in(6, uncompiled=24)
@pytest.mark.parametrize("make", bpe_tokenizers.MADE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("schema", SCHEMAS, ids=["object", "array", "map", "pattern"])
@pytest.mark.parametrize("whitespace", ["compact", "any"])
def test_random_walks_spell_texts_of_which_the_tokenizer_makes_them_again(make, schema, whitespace):
    rng = random.Random(8)
    vocabulary = vocabulary_of(make)
    constraint = structgen.compile(schema, vocabulary, tokenization="proper", whitespace=whitespace)
    for _ in range(3):
        matcher = constraint.matcher()
        ids = bpe_tokenizers.random_walk(matcher, vocabulary, rng, 300)
        if matcher.is_accepting:
            constraint.parse(spelled(make, ids).decode())
            assert encoded(make, spelled(make, ids).decode()) == ids


# -- the matcher -------------------------------------------------------------------------------------------------------


@pytest.fixture
def matcher():
    grammar = structgen.Grammar.regex("( William)|( Theodore)")
    return structgen.compile(grammar, vocabulary_of(bpe_tokenizers.gpt2), tokenization="proper").matcher()


def test_a_token_that_is_not_proper_is_rejected_and_changes_nothing(matcher):
    before = matcher.allowed_token_ids()
    grammar = structgen.Grammar.regex("( William)|( Theodore)")
    others = set(structgen.compile(grammar, vocabulary_of(bpe_tokenizers.gpt2)).matcher().allowed_token_ids())
    assert others > set(before)
    for token in others - set(before):
        with pytest.raises(TokenRejectedError):
            matcher.accept_token(token)
    assert matcher.allowed_token_ids() == before


@pytest.mark.parametrize("make", [bpe_tokenizers.qwen3, bpe_tokenizers.bytes_only_nfc])
def test_characters_that_come_in_pieces_are_not_composed_with_those_before(make):
    """Check accents after a token: that of "ȓ" would be composed, those of "u̸֢" would be reordered."""
    vocabulary = vocabulary_of(make)
    grammar = structgen.Grammar.regex("[ru\u0311\u05a2\u0338]{0,3}")
    matchers = [structgen.compile(grammar, vocabulary, tokenization="proper").matcher()]
    places = 0
    while matchers:
        matcher = matchers.pop()
        for token in matcher.allowed_token_ids():
            after = matcher.fork()
            after.accept_token(token)
            places += 1
            if token not in vocabulary.eos_token_ids:
                matchers.append(after)
    assert places > 50


def test_going_back_copying_and_beginning_anew(matcher):
    ids = encoded(bpe_tokenizers.gpt2, " William")
    first = matcher.allowed_token_ids()
    matcher.accept_token(ids[0])
    twin = matcher.fork()
    assert isinstance(twin, ProperMatcher)
    behind = matcher.allowed_token_ids()
    matcher.rollback(1)
    assert matcher.allowed_token_ids() == first
    assert twin.allowed_token_ids() == behind
    for token in ids[1:]:
        twin.accept_token(token)
    assert twin.is_accepting
    twin.reset()
    assert twin.allowed_token_ids() == first


def test_bytes_are_no_tokens(matcher):
    with pytest.raises(TokenRejectedError, match="accepts tokens"):
        matcher.accept_bytes(b" W")


def test_when_the_sets_are_begun_anew_the_masks_are_the_same():
    vocabulary = vocabulary_of(bpe_tokenizers.llama3)
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    small = structgen.Limits(item_sets=9000)
    rng = random.Random(1)
    ids = []
    matcher = structgen.compile(schema, vocabulary, tokenization="proper").matcher()
    bounded = structgen.compile(schema, vocabulary, tokenization="proper", limits=small).matcher()
    for _ in range(60):
        allowed = matcher.allowed_token_ids()
        assert bounded.allowed_token_ids() == allowed
        going = [token for token in allowed if token not in vocabulary.eos_token_ids]
        if not going:
            break
        ids.append(rng.choice(going))
        matcher.accept_token(ids[-1])
        bounded.accept_token(ids[-1])


def test_sets_that_are_begun_anew_several_times_in_one_mask():
    """Each text of strings that must differ has sets of its own, and tokens near the maximum length are checked."""
    vocabulary = vocabulary_of(bpe_tokenizers.llama3)
    items = {"type": "string", "pattern": "ab|ba", "maxLength": 7}
    schema = {"type": "array", "items": items, "uniqueItems": True}
    matcher = structgen.compile(schema, vocabulary, tokenization="proper", cache=False).matcher()
    small = structgen.Limits(item_sets=120)
    bounded = structgen.compile(schema, vocabulary, tokenization="proper", limits=small, cache=False)
    begun = bounded.matcher()
    most = 0
    for token in encoded(bpe_tokenizers.llama3, '["xyz'):
        matcher.accept_token(token)
        begun.accept_token(token)
        before = bounded.grammar.epoch
        assert begun.allowed_token_ids() == matcher.allowed_token_ids()
        most = max(most, bounded.grammar.epoch - before)
    assert most > 1


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_a_vocabulary_of_bytes_knows_no_tokenizer():
    vocabulary = structgen.Vocabulary.from_bytes({0: b"a"}, eos_token_ids=[1])
    with pytest.raises(VocabularyError, match="does not know it"):
        structgen.compile(structgen.Grammar.regex("a"), vocabulary, tokenization="proper")


def test_other_names_are_no_tokenizations():
    with pytest.raises(ValueError, match="'some'"):
        structgen.compile(int, vocabulary_of(bpe_tokenizers.gpt2), tokenization="some")


def _with(**parts):
    tokenizer = bpe_tokenizers.gpt2()
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    return tokenizer


def _together(normalizers, Regex):
    """Return normalizers that are not supported together, or at all, with a part of the error message."""
    strip, prepend, marking = normalizers.Strip(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")
    joining = normalizers.Replace(Regex("a+"), "a")
    return [
        ([prepend, strip, marking], "'Strip' after 'Prepend'"),
        ([joining, prepend, marking], "beside 'Prepend'"),
        ([normalizers.Replace(Regex(" +"), "▁"), prepend], "beside 'Prepend'"),
        ([marking, normalizers.Replace("ab", "a b")], "after spaces were replaced"),
        ([normalizers.Replace("ab", "a"), normalizers.Replace("c", "ab")], "after a 'Replace' of 'ab'"),
        ([normalizers.Replace("ab", "A"), normalizers.Lowercase()], "which 'Lowercase' changes"),
        ([normalizers.NFD(), joining, normalizers.NFC()], "between others"),
        ([normalizers.Replace(Regex("(ab)+"), "ab")], "which may match 'ab'"),
        ([normalizers.Replace(Regex(" b?"), "▁")], "which may match ' '"),
        ([normalizers.Replace(Regex("a*"), "")], "matches the empty text"),
        ([normalizers.ByteLevel()], "'ByteLevel'"),
    ]


def _refused():
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    def split(pattern):
        return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), bpe_tokenizers._bytes_only()])

    def removing(pattern, invert=False):
        removed = pre_tokenizers.Split(Regex(pattern), "removed", invert)
        return pre_tokenizers.Sequence([removed, bpe_tokenizers._bytes_only()])

    words = Tokenizer(models.WordPiece({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    words.decoder = decoders.WordPiece()
    unigram = Tokenizer(models.Unigram([("a", 0.0)]))
    unigram.decoder = decoders.Metaspace()
    stripped = bpe_tokenizers.gpt2()
    stripped.add_tokens([AddedToken("<mask>", lstrip=True)])
    prefixed = bpe_tokenizers.llama2_like()
    prefixed.add_tokens([AddedToken("<tool>", normalized=True)])
    ended = bpe_tokenizers.gpt2()
    ended.add_tokens([AddedToken("<a>", rstrip=True, normalized=False), AddedToken("\n\n", normalized=True)])
    beginning = bpe_tokenizers.llama2_like()
    beginning.normalizer = normalizers.Prepend("x")
    renamed = _with(normalizer=normalizers.Lowercase())
    renamed.add_tokens([AddedToken("<TOOL>", normalized=True)])
    undone = bpe_tokenizers.gemma_like()
    undone.normalizer = None
    byteless = bpe_tokenizers.gemma_like()
    byteless.decoder = decoders.Replace("▁", " ")
    marked = bpe_tokenizers.gemma_like()
    marked.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.Metaspace()])
    mixed = bpe_tokenizers.gpt2()
    mixed.add_tokens([AddedToken("bc", normalized=False), AddedToken("abc", normalized=True)])
    respelled = bpe_tokenizers.gemma_like()
    respelled.add_tokens([AddedToken("a▁b", normalized=True)])
    bytes_only = bpe_tokenizers._bytes_only()
    after_bytes = pre_tokenizers.Sequence([bytes_only, pre_tokenizers.Metaspace()])
    after_digits = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.ByteLevel(add_prefix_space=True)])
    scripts = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.UnicodeScripts(), bytes_only])
    normalized = _with(normalizer=normalizers.Strip())
    normalized.add_tokens([AddedToken("<tool>", normalized=True)])
    patterns = {
        "(ab){2}?c": "followed by",
        "(a*b?)+c": "may be empty is repeated",
        "(?=a).*c": "'.' is repeated",
        "(?<=ab)c": "looks behind for more than one",
        "(?<=a)b|(?<=b)c|(?<=c)d|(?<=d)e|(?<=e)f": "more than 4 classes",
        "a{,2}b": "the count",
        "a{2,1}b": "the count",
        r"\012": "is used",
        r"\x1": "is used",
        r"\xc3\xa9": "is used",
        "(?=a)b?": "matches the empty text",
        "(?i:ss)": "in another case",
        "(?i:s(?:s))": "in another case",
        "(?i:(?:as){1}s)": "in another case",
        "(?i:ß)": "in another case",
        "(?i:[ß])": "does not matter",
        "[]a]": "begins with",
        r"\y": "is used",
    }
    return [
        *((_with(pre_tokenizer=split(pattern)), what) for pattern, what in patterns.items()),
        (mixed, "'abc' and 'bc' overlap"),
        (respelled, "'a▁b' is normalized"),
        (_with(pre_tokenizer=after_bytes), "'Metaspace' after 'ByteLevel'"),
        (_with(pre_tokenizer=pre_tokenizers.Sequence([bytes_only, bytes_only])), "'ByteLevel' after 'ByteLevel'"),
        (words, "WordPiece"),
        (unigram, "Unigram"),
        *((_with(normalizer=normalizers.Sequence(parts)), what) for parts, what in _together(normalizers, Regex)),
        (_with(normalizer=normalizers.Replace(" ", "▁")), "before 'ByteLevel'"),
        (normalized, "'<tool>' is normalized, by 'Strip'"),
        (_with(pre_tokenizer=after_digits), "a space before each piece"),
        (_with(pre_tokenizer=split(r"a*$")), "matches the empty text"),
        (_with(pre_tokenizer=split(r"a(?=bc)")), "more than one character"),
        (_with(pre_tokenizer=split(r"a*")), "matches the empty text"),
        (stripped, "lstrip=True"),
        (prefixed, "'<tool>' is normalized"),
        (ended, "before it with rstrip=True"),
        (beginning, "'Prepend' of"),
        (renamed, "'<TOOL>' is normalized"),
        (undone, "decodes it to"),
        (marked, "'Metaspace' puts a space"),
        (_with(pre_tokenizer=removing(r"a(?=\s)")), "decides whether it is removed"),
        (_with(pre_tokenizer=removing("ab")), "decides whether it is removed"),
        (_with(pre_tokenizer=removing("b|ac", invert=True)), "decides whether it is removed"),
        (_with(pre_tokenizer=scripts), "'UnicodeScripts' removes spaces"),
        (byteless, "'<0x00>' from"),
    ]


@pytest.mark.parametrize("case", range(53))
def test_what_is_not_supported_is_named(case):
    tokenizer, what = _refused()[case]
    size = tokenizer.get_vocab_size() + case  # a vocabulary of its own: those of the same tokens are one
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, vocab_size=size)
    with pytest.raises(VocabularyError, match=what):
        structgen.compile(structgen.Grammar.regex("a"), vocabulary, tokenization="proper")


def test_normalizers_in_a_row_are_taken_together():
    from tokenizers import normalizers

    tokenizer = _with(normalizer=normalizers.Sequence([normalizers.NFD(), normalizers.NFC()]))
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, vocab_size=1000)
    matcher = structgen.compile(structgen.Grammar.regex("é"), vocabulary, tokenization="proper").matcher()
    for token in tokenizer.encode("é", add_special_tokens=False).ids:
        assert token in matcher.allowed_token_ids()
        matcher.accept_token(token)
    assert matcher.is_accepting


def test_two_tokenizers_of_the_same_tokens_that_split_differently_are_refused():
    import json

    from tokenizers import Tokenizer

    first = bpe_tokenizers.gpt2()
    config = json.loads(first.to_str())
    config["model"]["merges"] = config["model"]["merges"][::-1]
    second = Tokenizer.from_str(json.dumps(config))
    vocabulary = structgen.Vocabulary.from_huggingface(first, vocab_size=500)
    assert structgen.Vocabulary.from_huggingface(second, vocab_size=500) is vocabulary
    with pytest.raises(VocabularyError, match="several"):
        structgen.compile(structgen.Grammar.regex("a"), vocabulary, tokenization="proper")


def test_what_a_tokenizer_does_to_batches_does_not_matter():
    from tokenizers import Tokenizer

    first = bpe_tokenizers.gpt2()
    second = Tokenizer.from_str(first.to_str())
    second.enable_padding(length=8)
    second.enable_truncation(max_length=8)
    vocabulary = structgen.Vocabulary.from_huggingface(first, vocab_size=501)
    assert structgen.Vocabulary.from_huggingface(second, vocab_size=501) is vocabulary
    structgen.compile(structgen.Grammar.regex("a"), vocabulary, tokenization="proper")


# -- generation --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_generated_texts_are_tokenized_as_they_were_generated(tiny_model, tiny_tokenizer):
    schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}}, "required": ["name"]}
    schema["additionalProperties"] = False
    generator = structgen.Generator(tiny_model, schema, tokenization="proper", temperature=1.0, max_new_tokens=400)
    for seed in range(8):
        result = generator.run("Alice", seed=seed)
        assert tiny_tokenizer.encode(result.text, add_special_tokens=False) == list(result.token_ids)


def test_the_processor_looks_at_each_rows_prompt(tiny_hf_model, tiny_tokenizer):
    torch = pytest.importorskip("torch")
    size = tiny_hf_model.config.vocab_size
    vocabulary = structgen.Vocabulary.from_huggingface(tiny_tokenizer, vocab_size=size)
    constraint = structgen.compile(structgen.Grammar.regex("[a-z]{1,6}"), vocabulary, tokenization="proper")
    prompts = [tiny_tokenizer.encode(text)[-1:] for text in ("{", "the")]
    scores = constraint.logits_processor()(torch.tensor(prompts), torch.zeros(2, size))
    for row, prompt in enumerate(prompts):
        allowed = np.flatnonzero(np.isfinite(scores[row].numpy())).tolist()
        assert allowed == constraint.matcher(prompt).allowed_token_ids()


def test_a_compiled_schema_keeps_its_own_tokenization(tiny_model):
    constraint = structgen.compile(int, tiny_model.vocabulary)
    with pytest.raises(ValueError, match="tokenization='any'"):
        structgen.generate(tiny_model, "1", constraint, tokenization="proper")


@pytest.mark.slow
def test_threads_that_walk_one_tokenizer_do_not_disturb_each_other():
    import sys
    import threading

    tokenizer = bpe_tokenizers.gpt2()
    texts = ["ab1 '\n\té中😀ßЖ٣_.,!?\u0301\u200d"[at:] * 2 for at in range(8)]
    prompts = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]

    def masks(size, in_threads):
        vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, vocab_size=size)  # with tables of its own
        constraint = structgen.compile(structgen.Grammar.regex("(?s).*"), vocabulary, tokenization="proper")
        found = [None] * len(prompts)
        barrier = threading.Barrier(len(prompts) if in_threads else 1)

        def work(number):
            barrier.wait()
            found[number] = [*constraint.matcher(prompts[number]).allowed_token_ids()]

        if not in_threads:
            for number in range(len(prompts)):
                work(number)
            return found
        running = [threading.Thread(target=work, args=(number,)) for number in range(len(prompts))]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        return found

    interval = sys.getswitchinterval()
    expected = masks(600, in_threads=False)
    sys.setswitchinterval(1e-6)
    try:
        for trial in range(10):
            assert masks(601 + trial, in_threads=True) == expected
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize(
    "given",
    [
        structgen.Grammar.choice(["yes", "see <|end|> here"]),
        structgen.Grammar.kbnf('start ::= "yes" | "<|end|>";'),
        {"properties": {"tag": {"enum": [{"the": ["<|end|>"]}]}}, "required": ["tag"], "type": "object"},
        {"type": "object", "required": ["<|end|>"]},
    ],
)
def test_named_texts_that_cannot_be_spelled_are_refused(given):
    tokenizer = bpe_tokenizers.gpt2()
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer)
    with pytest.raises(VocabularyError, match=r"cannot spell .*<\|end\|>"):
        structgen.compile(given, vocabulary, tokenization="proper")
    structgen.compile({"not": {"enum": ["<|end|>"]}, "type": "string"}, vocabulary, tokenization="proper")


def test_texts_that_a_normalizer_changes_or_that_have_no_tokens_are_refused():
    from tokenizers import normalizers

    composing = _with(normalizer=normalizers.NFC())
    vocabulary = structgen.Vocabulary.from_huggingface(composing, vocab_size=1001)
    with pytest.raises(VocabularyError, match="cannot spell"):
        structgen.compile(structgen.Grammar.choice(["y", "no a\u0301"]), vocabulary, tokenization="proper")
    structgen.compile(structgen.Grammar.choice(["y", "no \u00e1"]), vocabulary, tokenization="proper")


@pytest.mark.parametrize(
    ("split", "added", "pattern"),
    [
        (bpe_tokenizers.LLAMA3, "}", r"x {3}\}"),
        ("aa(?=n)|a", "n", "b{1,2}a{1,3}n"),
        ("aa(?=n)|a", "nm", "b{1,2}a{1,3}nm"),
    ],
)
def test_an_added_token_ends_the_text_before_it(split, added, pattern):
    """Check where a cut would come if the text of the added token followed as text: before the last space, after aa."""
    from tokenizers import AddedToken

    texts = ["x    y aan aan"] * 3
    tokenizer = bpe_tokenizers._bpe([bpe_tokenizers._split(split), bpe_tokenizers._bytes_only()], texts=texts)
    tokenizer.add_tokens([AddedToken(added, normalized=False)])
    end = tokenizer.token_to_id("<|end|>")
    size = tokenizer.get_vocab_size() + len(pattern)  # a vocabulary of its own
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, vocab_size=size, eos_token_ids=end)
    compiled = structgen.compile(structgen.Grammar.regex(pattern), vocabulary, tokenization="proper")
    expected = {tuple(tokenizer.encode(text).ids) for text in bpe_tokenizers.texts_of(pattern)}
    assert set(bpe_tokenizers.sequences(compiled.matcher(), {end})) == expected
