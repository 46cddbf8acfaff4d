"""Compare the bytes of tokens with what each kind of tokenizer decodes."""

import os
import pathlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structgen import VocabularyError
from structgen.engine.vocabulary.token_bytes import spell_tokens

tokenizers = pytest.importorskip("tokenizers")
decoders, models, pre_tokenizers = tokenizers.decoders, tokenizers.models, tokenizers.pre_tokenizers

CORPUS = [
    'the cat sat on the mat. it\'s a dog\'s life, isn\'t it? {"age": 34, "city": "Lyon"}',
    "naïve café 日本語 — “quoted” 🙂 and\nlines\tand  runs   of    spaces",
] * 4
TEXTS = [
    "Hello world",
    "  two  spaces\n\n\n\ttab",
    "naïve café — “quotes” 日本語 🙂👩‍👩‍👧 \x00\x01 é",
    '{"a": [1, 2.5e-3, null], "b": "x\\n"}',
    "    def f(x):\r\n        return x**2  # ok\r\n",
    "<tool_call> <unused0> <0x0A> ▁ Ġ",
    "ﷺ مرحبا नमस्ते",
]


def byte_level(**options):
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        **options,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def byte_fallback():
    """Return a tokenizer like Gemma's: spaces become marks, characters outside the vocabulary become bytes."""
    marked = [text.replace(" ", "▁") for text in CORPUS]
    trained = tokenizers.Tokenizer(models.BPE())
    trained.train_from_iterator(marked, tokenizers.trainers.BpeTrainer(vocab_size=150, show_progress=False))
    pieces = ["<pad>", "<eos>", *(f"<0x{byte:02X}>" for byte in range(256)), *trained.get_vocab()]
    vocab = {piece: token_id for token_id, piece in enumerate(dict.fromkeys(pieces))}
    merges = [(a, b) for a in vocab for b in vocab if a + b in vocab and a[0] != "<" and b[0] != "<"]
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges, byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = tokenizers.normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(["<pad>", "<eos>"])
    return tokenizer


def unigram():
    """Return a tokenizer like T5's, which puts a space before the text."""
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(
        CORPUS,
        tokenizers.trainers.UnigramTrainer(
            vocab_size=120, special_tokens=["<unk>", "</s>"], unk_token="<unk>", show_progress=False
        ),
    )
    return tokenizer


def word_piece(cleanup=True):
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(cleanup=cleanup)
    tokenizer.train_from_iterator(
        CORPUS, tokenizers.trainers.WordPieceTrainer(vocab_size=200, special_tokens=["[UNK]"], show_progress=False)
    )
    return tokenizer


def words():
    tokenizer = tokenizers.Tokenizer(models.WordLevel({"[UNK]": 0, "yes": 1, "no": 2}, unk_token="[UNK]"))
    tokenizer.add_special_tokens(["[UNK]"])
    return tokenizer


KINDS = {
    "byte level": byte_level,
    "byte fallback": byte_fallback,
    "unigram": unigram,
    "word pieces": word_piece,
    "word pieces without cleanup": lambda: word_piece(cleanup=False),
    "words": words,
}


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_are_what_the_decoder_appends_in_the_middle_of_a_text(kind):
    tokenizer = KINDS[kind]()
    spelled, special = spell_tokens(tokenizer)
    first = next(token_id for token_id, text in spelled.items() if text.strip().isalpha())
    before = tokenizer.decode([first])
    whole = 0
    for token_id, text in spelled.items():
        decoded = tokenizer.decode([first, token_id], skip_special_tokens=False)
        if "�" not in decoded:  # a part of a character, on which the decoder gives up
            assert decoded == before + text.decode()
            whole += 1
    assert whole >= 2
    assert special and not special & spelled.keys()
    assert len(spelled) + len(special) == tokenizer.get_vocab_size()


@pytest.fixture(scope="module")
def byte_level_tokenizer():
    tokenizer = byte_level()
    tokenizer.add_tokens(["<think>", "naïve token", "  "])
    return tokenizer


@pytest.fixture(scope="module")
def byte_fallback_tokenizer():
    return byte_fallback()


@given(text=st.text())
def test_byte_level_round_trip(byte_level_tokenizer, text):
    assert joined(byte_level_tokenizer, text) == text.encode()


@given(text=st.text())
def test_byte_fallback_round_trip(byte_fallback_tokenizer, text):
    text = text.replace("▁", "")  # cannot be told from a space
    assert joined(byte_fallback_tokenizer, text) == text.encode()


def joined(tokenizer, text):
    spelled, _ = spell_tokens(tokenizer)
    encoded = tokenizer.encode(text, add_special_tokens=False)
    return b"".join(spelled[token_id] for token_id in getattr(encoded, "ids", encoded))


def test_every_byte_has_a_token():
    spelled, _ = spell_tokens(byte_level())
    assert {bytes([byte]) for byte in range(256)} <= set(spelled.values())


def test_added_tokens_stand_for_their_content_and_special_ones_for_nothing():
    tokenizer = byte_level()
    tokenizer.add_tokens(["<think>", "é!", "Ġraw"])
    tokenizer.add_special_tokens(["plain words"])
    spelled, special = spell_tokens(tokenizer)
    ids = {piece: tokenizer.token_to_id(piece) for piece in ("<think>", "é!", "Ġraw", "plain words", "</s>")}
    assert spelled[ids["<think>"]] == b"<think>"
    assert spelled[ids["é!"]] == "é!".encode()  # through the byte table it would be one byte, 0xE9
    assert spelled[ids["Ġraw"]] == "Ġraw".encode()
    assert {ids["plain words"], ids["</s>"]} <= special
    assert not special & spelled.keys()


def test_an_added_token_that_the_model_knows_is_decoded():
    tokenizer = byte_fallback()
    piece, token_id = next(item for item in tokenizer.get_vocab().items() if "▁" in item[0][1:])
    tokenizer.add_tokens([piece])
    assert tokenizer.get_added_tokens_decoder()[token_id].special is False
    assert spell_tokens(tokenizer)[0][token_id] == piece.replace("▁", " ").encode()


def test_a_piece_outside_the_byte_alphabet_is_taken_as_it_stands():
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab={"a b": 0, "Ġb": 1, "日": 2}, merges=[]))
    tokenizer.decoder = decoders.ByteLevel()
    assert spell_tokens(tokenizer)[0] == {0: b"a b", 1: b" b", 2: "日".encode()}


def test_byte_pieces_are_bytes_only_with_byte_fallback():
    vocab = {"<0x0A>": 0, "<0xff>": 1, "<0x0A": 2, "<0xGG>": 3}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.decoder = decoders.Fuse()
    assert spell_tokens(tokenizer)[0][0] == b"<0x0A>"
    tokenizer.decoder = decoders.ByteFallback()
    assert spell_tokens(tokenizer)[0] == {0: b"\n", 1: b"\xff", 2: b"<0x0A", 3: b"<0xGG>"}


def test_strip_of_a_token_and_of_the_text():
    vocab = {"▁▁a": 0, "b▁": 1}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=[]))
    strip = decoders.Strip("▁", 1, 1)
    tokenizer.decoder = decoders.Sequence([strip, decoders.Replace("▁", " "), decoders.Fuse()])
    assert spell_tokens(tokenizer)[0] == {0: b" a", 1: b"b"}
    assert tokenizer.decode([0, 1]) == " ab"
    # Llama-2's: only the space that was put before the text is stripped, and that is not a token's.
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    assert spell_tokens(tokenizer)[0] == {0: b"  a", 1: b"b "}
    assert tokenizer.decode([1, 0]) == "b   a"


def test_other_decoders():
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab={"low</w>": 0, "er": 1}, merges=[]))
    tokenizer.decoder = decoders.BPEDecoder()
    assert spell_tokens(tokenizer)[0] == {0: b"low ", 1: b"er"}
    tokenizer.decoder = decoders.Replace(tokenizers.Regex("[e-w]+"), r"\1")
    assert spell_tokens(tokenizer)[0] == {0: rb"\1</\1>", 1: rb"\1"}


def test_ids_with_gaps():
    tokenizer = tokenizers.Tokenizer(models.WordLevel({"a": 0, "b": 7}, unk_token="a"))
    tokenizer.decoder = decoders.Fuse()
    assert spell_tokens(tokenizer)[0] == {0: b"a", 7: b"b"}


def test_a_decoder_that_looks_at_other_tokens_is_refused_by_name():
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab={"a": 0}, merges=[]))
    tokenizer.decoder = decoders.CTC()
    with pytest.raises(VocabularyError, match="'CTC' is not supported") as caught:
        spell_tokens(tokenizer)
    assert "from_bytes" in caught.value.hint


def test_a_deeply_nested_decoder():
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab={"▁": 0}, merges=[]))
    decoder = decoders.Replace("▁", " ")
    for _ in range(50):
        decoder = decoders.Sequence([decoder, decoders.Fuse()])
    tokenizer.decoder = decoder
    assert spell_tokens(tokenizer)[0] == {0: b" "}


# -- tokenizers without the Rust library -----------------------------------------------------------------------------


class FakeAdded:
    def __init__(self, content, special):
        self.content, self.special = content, special


class FakePython:
    """The part of a Python tokenizer of transformers that is read."""

    all_special_ids = (0,)

    @property
    def added_tokens_decoder(self):
        return {0: FakeAdded("</s>", True), 4: FakeAdded("▁as is", False)}

    def get_vocab(self):
        return {"</s>": 0, "▁the": 1, "<0x0A>": 2, "é": 3, "▁as is": 4}


def test_python_tokenizer_on_sentencepiece():
    tokenizer = FakePython()
    tokenizer.sp_model = object()
    spelled, special = spell_tokens(tokenizer)
    assert spelled == {1: b" the", 2: b"\n", 3: "é".encode(), 4: "▁as is".encode()}
    assert special == {0}


def test_python_tokenizer_on_bytes():
    tokenizer = FakePython()
    tokenizer.byte_decoder = {}
    assert spell_tokens(tokenizer)[0][3] == b"\xe9"


def test_tekken():
    class Tekken:
        n_words = 4
        special_ids = frozenset({0, 1})

        def id_to_byte_piece(self, token_id):
            return [b"", b"", b"a", b"\xff"][token_id]

    class Instruct:
        tokenizer = Tekken()

    class Mistral:
        instruct_tokenizer = Instruct()

    class Backend:
        """The wrapper of transformers."""

        all_special_ids = (1,)
        tokenizer = Mistral()

    for tokenizer in (Backend(), Mistral(), Tekken()):
        assert spell_tokens(tokenizer) == ({2: b"a", 3: b"\xff"}, {0, 1})


def test_mistrals_sentencepiece():
    class SentencePiece:
        n_words = 4
        special_ids = frozenset({0})  # control tokens only
        unk_id = 3

        def id_to_piece(self, token_id):
            return ["<s>", "▁a", "<0x41>", "<unk>"][token_id]

    assert spell_tokens(SentencePiece()) == ({1: b" a", 2: b"A"}, {0, 3})


def test_an_unknown_tokenizer_is_refused_by_name():
    with pytest.raises(VocabularyError, match="FakePython"):
        spell_tokens(FakePython())


# -- real ones -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_smollm2(smollm2):
    spelled, special = spell_tokens(smollm2.tokenizer)
    assert (len(spelled), len(special)) == (49135, 17)
    for text in TEXTS:
        assert joined(smollm2.tokenizer, text) == text.encode()


TOKENIZERS = os.environ.get("STRUCTGEN_TOKENIZERS", "")


@pytest.mark.parametrize("name", ["llama3", "qwen3", "gemma3"])
def test_downloaded(name):
    """STRUCTGEN_TOKENIZERS is a folder with a folder for each of these tokenizers."""
    file = pathlib.Path(TOKENIZERS, name, "tokenizer.json")
    if not TOKENIZERS or not file.exists():
        pytest.skip(f"STRUCTGEN_TOKENIZERS names no folder with {name}/tokenizer.json")
    tokenizer = tokenizers.Tokenizer.from_file(str(file))
    for text in TEXTS:
        text = text.replace("▁", "") if name == "gemma3" else text
        text = unicodedata.normalize("NFC", text) if name == "qwen3" else text
        assert joined(tokenizer, text) == text.encode()
