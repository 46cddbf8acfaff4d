"""Random grammars and schemas with finite languages: the masks allow exactly the tokenizations of their texts."""

import random

import pytest
from support import bpe_tokenizers, reachable_texts
from support.bpe_tokenizers import vocabulary_of
from support.reachable_texts import BYTES

import structgen
from structgen.tokenization.matching.proper_tokenization import ProperTokenization

SPECIAL = ("<|end|>", "<|im_end|>")
ATOMS = [
    *("a", "b", "it", "'s", " ", "  ", "\n", "\t", "1", "12", '"', ",", ":", "{", "}", "é", "e", "中", "한", "😀", "<"),
    *("tool", "_call", ">", "\\", "n", "the", "The", "ory", "Will", "iam", ".", "-", "x", "t", "\u00a0"),
]
PATTERNS = ["[ab1 ]{0,2}", r"( |\\n){1,2}", "(a|é|中)?", "[0-2]{1,2}", "it(em)?"]
VALUES = [["x", "it", 1], [True, None], ["中", "a b"], [12, 1, -1], ['"', "\\", "\n"]]
KEYS = ["a", "it", "item", "Will", "1", "é", "the", "t"]
MOST = 3000
CUTTING, UNCUT = (
    [make for make in some if make in bpe_tokenizers.SPELLING_ALL]
    for some in (bpe_tokenizers.CUTTING, bpe_tokenizers.UNCUT)
)


def sequences(constraint):
    """Return all token sequences to the end; None if there are too many."""
    return reachable_texts.sequences(constraint.matcher(), set(constraint.vocabulary.eos_token_ids), MOST)


def literal(text):
    return "'" + text.replace("\\", r"\\").replace("'", r"\'").replace("\n", r"\n").replace("\t", r"\t") + "'"


def random_grammar(rng):
    """Return a KBNF grammar of a few rules, each using those after it.

    Something that comes nowhere else ends all texts, as KBNF ends a text where the grammar accepts it first.
    """
    count = rng.randint(2, 4)
    rules = ["start ::= N0 '!';"]
    for number in range(count):
        choices = []
        for _ in range(rng.randint(1, 3)):
            parts = []
            for _ in range(rng.randint(1, 3)):
                kind = rng.random()
                if kind < 0.6:
                    parts.append(literal("".join(rng.choices(ATOMS, k=rng.randint(1, 4)))))
                elif kind < 0.8:
                    parts.append(f"#'{rng.choice(PATTERNS)}'")
                elif number + 1 < count:
                    parts.append(f"N{rng.randint(number + 1, count - 1)}")
            choices += [" ".join(parts)] if parts else []
        rules.append(f"N{number} ::= {' | '.join(choices) or literal('x')};")
    return structgen.Grammar.kbnf(" ".join(rules))


def random_schema(rng):
    keys = rng.sample(KEYS, rng.randint(1, 3))
    if rng.random() < 0.5:
        return {
            "type": "object",
            "properties": {key: {"enum": rng.choice(VALUES)} for key in keys},
            "additionalProperties": False,
            "required": rng.sample(keys, rng.randint(0, len(keys))),
        }
    values = {"enum": rng.choice(VALUES)}
    return {"type": "object", "propertyNames": {"enum": keys}, "additionalProperties": values, "maxProperties": 2}


@pytest.mark.one_in(6, uncompiled=18)
@pytest.mark.parametrize("makes", [CUTTING, UNCUT], ids=["with_cuts", "without"])
@pytest.mark.parametrize("seed", range(40))
def test_the_masks_allow_exactly_the_tokenizations_of_the_texts(seed, makes, monkeypatch):
    rng = random.Random(seed)
    paths = None
    while paths is None:  # until a language is small enough to look at all of it
        source = random_grammar(rng) if rng.random() < 0.6 else random_schema(rng)
        paths = sequences(structgen.compile(source, BYTES, whitespace="compact"))
    make = rng.choice(makes)
    vocabulary = vocabulary_of(make)
    expected = set()
    for text in {bytes(path).decode() for path in paths}:
        ids = bpe_tokenizers.encoded(make, text)
        spelled = b"".join(vocabulary.token_bytes(token) or b"\xff" for token in ids)
        if spelled == text.encode() and not any(part in text for part in SPECIAL):
            expected.add(tuple(ids))
    monkeypatch.setattr(
        ProperTokenization.of(vocabulary), "max_single_checks", rng.choice([0, ProperTokenization.max_single_checks])
    )
    found = sequences(structgen.compile(source, vocabulary, whitespace="compact", tokenization="proper"))
    assert found is not None
    assert len(found) == len(set(found))
    assert set(found) == expected


# -- invented encodings: a few characters, many merges -----------------------------------------------------------------


def invented(rng):
    """Return a tokenizer without pre-tokens, with merges in any order; `▁` is a space."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

    pieces = ["a", "▁", "b", "c"][: rng.randint(2, 4)]
    for _ in range(rng.randint(2, 14)):
        piece = rng.choice(pieces) + rng.choice(pieces)
        if piece not in pieces and len(piece) <= 6:
            pieces.append(piece)
    splits = [(piece[:at], piece[at:]) for piece in pieces for at in range(1, len(piece))]
    merges = [(left, right) for left, right in splits if left in pieces and right in pieces]
    if rng.random() < 0.6:
        rng.shuffle(merges)
        merges = merges[: rng.randint(len(merges) // 2, len(merges))]
    named = {piece: token for token, piece in enumerate([*pieces, *[f"<0x{byte:02X}>" for byte in range(256)], "<e>"])}
    tokenizer = Tokenizer(models.BPE(named, merges, byte_fallback=True, ignore_merges=rng.random() < 0.3))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(["<e>"])
    if rng.random() < 0.3:
        texts = {"".join(rng.choices("ab", k=rng.randint(2, 3))) for _ in range(2)}
        tokenizer.add_tokens([AddedToken(text, normalized=False) for text in sorted(texts)])
    return tokenizer


@pytest.mark.one_in(4, uncompiled=12)
@pytest.mark.parametrize("seed", range(50))
def test_invented_encodings_without_cuts(seed):
    """Check random sets of texts over a few characters."""
    rng = random.Random(seed)
    tokenizer = invented(rng)
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, eos_token_ids=tokenizer.token_to_id("<e>"))
    for _ in range(4):
        alphabet = rng.choice(["ab", "abc", "ab é", "aaab"])
        longest = rng.choice((3, 5, 9))
        texts = {"".join(rng.choices(alphabet, k=rng.randint(1, longest))) for _ in range(rng.randint(1, 12))}
        source = structgen.Grammar.regex("|".join(sorted(texts, key=lambda text: rng.random())))
        ProperTokenization.of(vocabulary).max_single_checks = rng.choice([0, ProperTokenization.max_single_checks])
        found = sequences(structgen.compile(source, vocabulary, tokenization="proper"))
        assert len(found) == len(set(found))
        expected = {text: tuple(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts}
        assert set(found) == {ids for text, ids in expected.items() if tokenizer.decode(ids) == text}


def test_a_pre_token_that_is_one_token_continues_after_a_border():
    """Check that `a` and a space do not follow one by one, as `ignore_merges` makes one token of both."""
    from tokenizers import Tokenizer, decoders, models, normalizers

    pieces = ["a", "▁", "a▁", *[f"<0x{byte:02X}>" for byte in range(256)], "<e>"]
    named = {piece: token for token, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(named, [], byte_fallback=True, ignore_merges=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(["<e>"])
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, eos_token_ids=named["<e>"])
    ProperTokenization.of(vocabulary).max_single_checks = 0
    assert sequences(structgen.compile(structgen.Grammar.regex("a "), vocabulary, tokenization="proper")) == [(2,)]
