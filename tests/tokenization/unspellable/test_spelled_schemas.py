"""Random schemas with texts that the tokenizer cannot spell, named or in patterns: exactly the others are left."""

import random
import unicodedata

import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import vocabulary_of
from support.reachable_texts import BYTES, texts_of

import structgen
from structgen.errors import UnsatisfiableSchemaError, UnsupportedSchemaError, VocabularyError
from structgen.schema import SchemaWarning

SPECIAL = "<|end|>"


class Schemas:
    """Random schemas of some alternatives of patterns.

    Args:
        rng: the source of randomness.
        literals: patterns of literals.
        classes: such that hold a class. The characters of these may be written as escapes, which a key's may as the
            first only: a pattern of keys has none.
        begun: a text that may be the beginning of one that cannot be spelled.
        lost: a text that cannot be spelled.
    """

    def __init__(self, rng, literals, classes, begun, lost):
        self.rng = rng
        self.literals = literals
        self.classes = classes
        self.begun = begun
        self.names = ["a", "x", lost, f"b{lost}"]

    def _pattern(self, alternatives):
        return f"^({'|'.join(self.rng.choices(alternatives, k=self.rng.randint(1, 3)))})$"

    def string(self, depth=2):
        rng = self.rng
        kind = rng.random() if depth else 0
        if kind < 0.45:
            pattern = self._pattern([*self.literals, *self.classes])
            return {"type": "string", "pattern": pattern, "maxLength": rng.randint(3, 8)}
        if kind < 0.6:
            return {"enum": rng.sample(["a", "b", self.begun, "x", 1, *self.names[2:]], rng.randint(1, 4))}
        parts = [self.string(depth - 1), self.string(depth - 1)]
        if kind < 0.8:
            return {"allOf": [parts[0], rng.choice([parts[1], {"not": parts[1]}])]}
        return {rng.choice(["anyOf", "oneOf"]): parts}

    def value(self, depth=2):
        rng = self.rng
        kind = rng.random() if depth else 0
        if kind < 0.4:
            return self.string()
        if kind < 0.6:
            found = {"type": "array", "items": self.string(1), "minItems": rng.randint(0, 2), "maxItems": 2}
            found["uniqueItems"] = rng.random() < 0.6
            return found | ({"contains": self.string(0)} if rng.random() < 0.3 else {})
        found = {"type": "object", "maxProperties": 2, "minProperties": rng.randint(0, 2)}
        found["additionalProperties"] = False
        found["patternProperties"] = {self._pattern(self.literals): self._child() for _ in range(rng.randint(1, 2))}
        if rng.random() < 0.4:
            found["properties"] = {name: self._child() for name in rng.sample(self.names, 2)}
        if rng.random() < 0.2:
            found[rng.choice(["anyOf", "oneOf"])] = [{"required": [name]} for name in rng.sample(self.names, 2)]
        if rng.random() < 0.2:
            found["dependentRequired"] = {rng.choice(self.names): [rng.choice(self.names)]}
        return {"anyOf": [found, self.value(depth - 1)]} if rng.random() < 0.2 else found

    def _child(self):
        return {"const": self.rng.choice(["a", True, "b"])} if self.rng.random() < 0.7 else self.string(0)


def with_special_tokens(rng):
    literals = [r"<\|end\|>", "a", "b", r"<\|end", r"d\|>", "ab?", r"<\|(en|x)d\|>"]
    return Schemas(
        rng, literals, [r"<\|en[dx]\|>", r"[<x]\|end\|>"], "<|end", SPECIAL
    ), lambda text: SPECIAL not in text


def with_accents(rng):
    literals = ["e\u0301", "a", "b", "e", "\u0301", "(e|x)\u0301", "ab?", "e(\u0301|x)"]
    return Schemas(rng, literals, ["[ex]\u0301", "e[\u0301x]"], "e", "e\u0301"), lambda text: unicodedata.is_normalized(
        "NFC", text
    )


@pytest.mark.filterwarnings("ignore:the tokenizer cannot spell")
@pytest.mark.one_in(4, uncompiled=20)
@pytest.mark.parametrize(
    ("make", "kind"), [(bpe_tokenizers.gpt2, with_special_tokens), (bpe_tokenizers.qwen3, with_accents)]
)
@pytest.mark.parametrize("seed", range(60))
def test_what_can_be_spelled_is_reached_and_nothing_leads_elsewhere(make, kind, seed):
    schemas, is_spelled = kind(random.Random(seed))
    written = None
    while written is None:  # of some there are too many
        given = schemas.value()
        try:
            written = texts_of(structgen.compile(given, BYTES, whitespace="compact"))
        except UnsatisfiableSchemaError:
            continue
    expected = {text for text in written if is_spelled(text)}
    try:
        constraint = structgen.compile(given, vocabulary_of(make), whitespace="compact", tokenization="proper")
    except VocabularyError:
        assert not expected
        return
    assert texts_of(constraint) == expected


def test_lone_surrogates_are_refused_as_without_a_tokenizer():
    for tokenization in ("any", "proper"):
        with pytest.raises(UnsupportedSchemaError):
            structgen.compile({"enum": ["a", "\udfff"]}, vocabulary_of(bpe_tokenizers.gpt2), tokenization=tokenization)


@pytest.mark.parametrize(
    "schema",
    [
        {"const": {"pattern": "("}},
        {"properties": {"enum": {"type": "string", "description": SPECIAL}}},
        {"properties": {"required": {"title": SPECIAL}, "const": {"title": SPECIAL}}},
        {"type": "string", "default": {"const": SPECIAL}},
        {"not": {"const": SPECIAL}, "type": "string"},
    ],
)
def test_data_and_descriptions_in_a_schema_need_not_be_spelled(schema):
    structgen.compile(schema, vocabulary_of(bpe_tokenizers.gpt2), tokenization="proper")


@pytest.mark.parametrize(
    ("schema", "texts"),
    [
        ({"enum": ["a", SPECIAL]}, {'"a"'}),
        ({"anyOf": [{"const": [SPECIAL]}, {"type": "null"}]}, {"null"}),
        ({"anyOf": [{"type": "string", "pattern": r"^(<\|end\|>)+$"}, {"type": "null"}]}, {"null"}),
        ({"items": {"const": SPECIAL}, "type": "array"}, {"[]"}),
        ({"enum": [{}, {"a": SPECIAL}, {SPECIAL: "a"}]}, {"{}"}),
    ],
)
def test_what_cannot_be_spelled_is_left_out_and_named(schema, texts):
    with pytest.warns(SchemaWarning, match="cannot spell .*: what needs it is left out"):
        constraint = structgen.compile(
            schema, vocabulary_of(bpe_tokenizers.gpt2), tokenization="proper", whitespace="compact", cache=False
        )
    assert texts_of(constraint) == texts


def test_texts_of_unused_definitions_need_not_be_spelled():
    unused = {"one": {"const": SPECIAL}, "two": {"type": "string", "pattern": r"^<\|end\|>$"}}
    structgen.compile(
        {"$defs": unused, "type": "string"}, vocabulary_of(bpe_tokenizers.gpt2), tokenization="proper", cache=False
    )


def test_a_key_that_is_only_required_must_be_spelled():
    """Other keys are free, so the schema names the key nowhere else."""
    with pytest.raises(VocabularyError, match="cannot spell"):
        structgen.compile(
            {"type": "object", "required": [SPECIAL], "additionalProperties": {"const": "a"}},
            vocabulary_of(bpe_tokenizers.gpt2),
            tokenization="proper",
        )


def test_texts_of_a_schema_that_only_a_reference_finds_must_be_spelled():
    with pytest.raises(VocabularyError, match="cannot spell"):
        structgen.compile(
            {"$ref": "#/x-parts/0", "x-parts": [{"const": SPECIAL}]},
            vocabulary_of(bpe_tokenizers.gpt2),
            tokenization="proper",
        )
