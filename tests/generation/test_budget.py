"""Answers within a budget of tokens: complete, valid, and as the model chooses while there is room."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from support.random_schemas import RandomSchemas

import structgen
from structgen.compilation.budget import Budget
from structgen.engine.matching.token_search import fewest_tokens
from structgen.errors import StructgenError
from structgen.models.base import Model
from structgen.models.logits import LogitsSession

TREE = {
    "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    "type": "object",
    "properties": {"tree": {"$ref": "#/$defs/tree"}, "note": {"type": "string"}},
    "required": ["tree"],
    "additionalProperties": False,
}
SCHEMAS: tuple[Any, ...] = (
    {"type": "string"},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2},
    {"type": "array", "items": {"enum": ["a", "b", 1]}, "uniqueItems": True, "minItems": 2},
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}, "required": ["b"]},
    {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 2},
    TREE,
)


def by_chance(tokenizer: Any, seed: int, preferred: bytes = b"") -> Model:
    """Return a model whose logits are random, and high for tokens with only some bytes."""
    rng = np.random.default_rng(seed)
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer)
    bonus = np.zeros(vocabulary.size, np.float32)
    for token in range(vocabulary.size):
        text = vocabulary.token_bytes(token)
        if text and set(text) <= set(preferred):
            bonus[token] = 8.0
    return structgen.from_logits(lambda ids: rng.normal(size=vocabulary.size).astype(np.float32) + bonus, tokenizer)


def shortest(constraint: structgen.Constraint[Any]) -> int:
    """Return the number of tokens of the shortest answer."""
    budget = Budget(1_000, is_proper=constraint.tokenization == "proper")
    rest = budget.rest(constraint.matcher([0]))
    assert rest is not None
    if constraint.tokenization == "proper":
        return len(rest)
    return len(fewest_tokens(constraint.matcher([0]), len(rest)) or rest)


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_every_budget_from_the_shortest_answer_up_gives_a_whole_one(tiny_tokenizer: Any, schema: Any) -> None:
    model = by_chance(tiny_tokenizer, 1, b"[{a1 ")
    least = shortest(structgen.Generator(model, schema).constraint)
    for tokens in range(least, least + 15):
        result = structgen.Generator(model, schema, max_new_tokens=tokens, temperature=1.0, seed=tokens).run("x")
        assert len(result.token_ids) <= tokens
        Draft202012Validator(schema).validate(result.value)
    with pytest.raises(structgen.IncompleteOutputError, match=f"the shortest answer needs {least}"):
        structgen.generate(model, "x", schema, max_new_tokens=least - 1)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.one_in(4)
def test_random_schemas_are_answered_within_random_budgets(tiny_tokenizer: Any, seed: int) -> None:
    rng = random.Random(seed)
    schema = RandomSchemas(rng, "2020-12").document()
    model = by_chance(tiny_tokenizer, seed, b'[{"a1 ')
    try:
        constraint = structgen.compile(schema, model.vocabulary, numbers="plain", formats="annotate")
    except StructgenError:
        return
    for _ in range(3):
        tokens = shortest(constraint) + rng.randint(0, 12)
        run = structgen.Generator(model, constraint, max_new_tokens=tokens, temperature=1.0, seed=seed).run("x")
        assert len(run.token_ids) <= tokens
        with contextlib.suppress(RecursionError):  # jsonschema follows some references without end
            Draft202012Validator(schema).validate(run.value)


def test_grammars_are_answered_within_their_budget(tiny_tokenizer: Any) -> None:
    grammar = structgen.Grammar.kbnf('start ::= "(" start ")" | "x";')
    model = by_chance(tiny_tokenizer, 3, b"(")
    for tokens in (1, 2, 3, 8, 21):
        text = structgen.generate(model, "x", grammar, max_new_tokens=tokens)
        assert text.count("(") == text.count(")")
        assert "x" in text


def test_proper_tokenizations_are_kept_within_the_budget(tiny_tokenizer: Any) -> None:
    tokenizer = copy.deepcopy(tiny_tokenizer)
    tokenizer.add_tokens(["<|budget|>"])  # or other tests' tokenizers would share its vocabulary
    model = by_chance(tokenizer, 4, b"[1")
    schema = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    least = shortest(structgen.Generator(model, schema, tokenization="proper").constraint)
    for tokens in range(least, least + 8):
        result = structgen.Generator(
            model, schema, max_new_tokens=tokens, tokenization="proper", temperature=1.0, seed=tokens
        ).run("x")
        assert len(result.token_ids) <= tokens
        assert list(result.token_ids) == tokenizer.encode(result.text, add_special_tokens=False)


def test_a_rest_that_the_tokenizer_would_split_otherwise_does_not_fit() -> None:
    """After `{`, the shortest rest `}` has no tokens: the tokenizer writes `{}` as one. Others need seven."""
    transformers = pytest.importorskip("transformers", reason="an extra")
    import tokenizers

    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    words = {word: token for token, word in enumerate([*letters, "{}", "<|end|>"])}
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE(words, [("{", "}")]))
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|end|>")
    model = by_chance(tokenizer, 5, b'{"')
    for tokens in range(1, 12):
        generator = structgen.Generator(model, {"type": "object"}, max_new_tokens=tokens, tokenization="proper")
        result = generator.run("x", temperature=1.0, seed=tokens)
        assert len(result.token_ids) <= tokens and isinstance(result.value, dict)


def test_the_rest_has_the_tokens_that_the_tokenizer_writes() -> None:
    """Some vocabularies have two tokens of the same bytes, such as Gemma's for the byte 0x30 and the character `0`."""
    tokenizers = pytest.importorskip("tokenizers", reason="comes with the extra transformers")
    words = [*(f"<0x{byte:02X}>" for byte in range(256)), *map(chr, range(33, 127)), "<|end|>"]
    ids = {word: token for token, word in enumerate(words)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(ids, [], byte_fallback=True))
    tokenizer.decoder = tokenizers.decoders.Sequence([tokenizers.decoders.ByteFallback(), tokenizers.decoders.Fuse()])
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, eos_token_ids=ids["<|end|>"])
    constraint = structgen.compile({"const": [0, "a"]}, vocabulary, tokenization="proper", whitespace="compact")
    rest = Budget(100, is_proper=True).rest(constraint.matcher())
    assert rest == tokenizer.encode('[0,"a"]').ids == [ids[letter] for letter in '[0,"a"]']


def streamed(model: Model, schema: Any, tokens: int) -> list[Any]:
    """Return the last value of a stream."""
    with structgen.stream(model, "x", schema, max_new_tokens=tokens) as stream:
        return [stream.final()]


def batched(model: Model, schema: Any, tokens: int) -> list[Any]:
    """Return the values of a batch of two."""
    return list(structgen.batch(model, ["x", "yes"], schema, max_new_tokens=tokens))


def found_by_beams(model: Model, schema: Any, tokens: int) -> list[Any]:
    """Return the value that beams find."""
    run = structgen.Generator(model, schema, max_new_tokens=tokens, num_beams=2).run("x")
    assert len(run.token_ids) <= tokens
    return [run.value]


def particles(model: Model, schema: Any, tokens: int) -> list[Any]:
    """Return the values of particles."""
    return list(structgen.sample(model, "x", schema, max_new_tokens=tokens, particles=3, seed=1).values)


def processed(model: Model, schema: Any, tokens: int) -> list[Any]:
    """Return the value that a loop of its own writes, with the logits processor."""
    vocabulary = model.vocabulary
    processor = structgen.compile(schema, vocabulary, whitespace="single").logits_processor(max_tokens=tokens)
    ids = np.array([9], np.intc)  # the prompt
    rng = np.random.default_rng(tokens)
    while len(ids) <= tokens and int(ids[-1]) not in vocabulary.eos_token_ids:
        logits = processor(ids, rng.normal(size=vocabulary.size).astype(np.float32))
        ids = np.append(ids, logits.argmax()).astype(np.intc)
    return [json.loads(b"".join(vocabulary.token_bytes(token) or b"" for token in ids[1:].tolist()))]


def served(model: Model, schema: Any, tokens: int) -> list[Any]:
    """Return the value that a server answers with."""
    testclient = pytest.importorskip("starlette.testclient", reason="the test group has it")
    from structgen.serving.app import make_app

    asked = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    body = {"model": "any", "messages": [{"role": "user", "content": "x"}], "response_format": asked}
    with testclient.TestClient(make_app(model)) as client:
        refused = client.post("/v1/chat/completions", json=body | {"max_tokens": 1})
        assert refused.json()["error"]["code"] == "max_tokens_too_small"
        answer = client.post("/v1/chat/completions", json=body | {"max_tokens": tokens}).json()
    assert answer["usage"]["completion_tokens"] <= tokens
    return [json.loads(answer["choices"][0]["message"]["content"])]


@pytest.mark.parametrize("way", [streamed, batched, found_by_beams, particles, processed, served])
def test_every_way_to_an_answer_keeps_its_budget(tiny_tokenizer: Any, way: Callable[..., list[Any]]) -> None:
    model = by_chance(tiny_tokenizer, 5, b"[{a1, ")
    for schema in SCHEMAS[1::2]:
        least = shortest(structgen.Generator(model, schema).constraint)
        for tokens in (least, least + 1, least + 5):
            for value in way(model, schema, tokens):
                Draft202012Validator(schema).validate(value)


def test_an_answer_with_room_is_the_one_without_a_budget(tiny_tokenizer: Any) -> None:
    schema = {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3}
    for seed in range(5):
        found = [
            structgen.Generator(by_chance(tiny_tokenizer, seed), schema, max_new_tokens=200, on_budget=kept).run("x")
            for kept in ("finish", "error")
        ]
        assert found[0].token_ids == found[1].token_ids
        assert found[0].finish_reason == found[1].finish_reason == "stop"


def test_the_budget_tells_where_it_decided(tiny_tokenizer: Any) -> None:
    model = by_chance(tiny_tokenizer, 6, b"abc")
    result = structgen.Generator(model, str, max_new_tokens=12).run("x")
    assert result.finish_reason == "length"
    assert result.text.endswith('"')


def test_nothing_optional_is_begun_in_the_last_part_of_the_budget(tiny_tokenizer: Any) -> None:
    model = by_chance(tiny_tokenizer, 7, b"[")
    result = structgen.Generator(model, TREE["$defs"]["tree"] | {"$defs": TREE["$defs"]}, max_new_tokens=40).run("x")
    written = b""
    for count, token in enumerate(result.token_ids):
        text = model.vocabulary.token_bytes(token) or b""
        assert count < 32 or text.count(b"[") <= text.count(b"]"), result.text
        written += text
    assert written.count(b"[") > 5


def test_strings_end_before_a_new_word_near_the_end_of_the_budget(tiny_tokenizer: Any) -> None:
    """The likelier the model thinks the end of the string, the earlier it ends."""
    vocabulary = structgen.Vocabulary.from_huggingface(tiny_tokenizer)
    texts = [vocabulary.token_bytes(token) or b"" for token in range(vocabulary.size)]
    word = next(text for text in texts if text[:1] == b" " and text[1:].isalpha())
    lengths = []
    for end in (11.0, 8.0, 1.0):
        rows = [
            np.array([liked.get(text, -9.0) for text in texts], np.float32)
            for liked in ({word: 12.0, b'"': end}, {b"x": 12.0})
        ]
        model = structgen.from_logits(lambda ids, rows=rows: rows[len(ids) % 2], tiny_tokenizer)
        result = structgen.Generator(model, str, max_new_tokens=60).run("x")
        assert result.finish_reason == "length"
        assert result.value.endswith(word.decode() + "x")
        lengths.append(len(result.token_ids))
    assert 48 <= lengths[0] < lengths[1] < lengths[2] <= 60


def test_refused_tokens_are_left_out_and_the_logits_stay(tiny_tokenizer: Any) -> None:
    vocabulary = structgen.Vocabulary.from_huggingface(tiny_tokenizer)
    logits = np.zeros(vocabulary.size, np.float32)
    for rank, text in enumerate((b'"', b"e", b"d", b"c", b"b", b"a")):  # the key's end is the last of these
        logits[[token for token in range(vocabulary.size) if vocabulary.token_bytes(token) == text]] = 5.0 + rank
    before = logits.copy()
    model = structgen.from_logits(lambda ids: logits, tiny_tokenizer)
    schema = {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 1}
    result = structgen.Generator(model, schema, max_new_tokens=20).run("x")
    assert set("".join(result.value)) == {"a"}
    assert result.finish_reason == "length"
    np.testing.assert_array_equal(logits, before)


def test_an_unknown_way_to_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="on_budget must be 'finish' or 'error', not 'stop'"):
        structgen.generate(None, "x", str, on_budget="stop")  # type: ignore[call-overload]


EXHAUSTED = (
    structgen.Grammar.kbnf('start ::= "(" start ")" | "x";'),
    structgen.Grammar.kbnf('start ::= "a" start "bcd" | "e" start | "f";'),
    structgen.Grammar.regex("(ab|c){2,6}d?"),
    {"type": "array", "items": {"enum": [1, [], {}]}, "minItems": 1},
    {"type": "object", "properties": {"a": {"enum": [0, "b"]}, "b": {"const": []}}, "additionalProperties": False},
)


@pytest.mark.parametrize("grammar", ["x|xy{9}|xy{4}z", "x|xy{9}|xz{9}", "[xy]{1,3}|[xy]{7}z"])
@pytest.mark.parametrize("tokens", range(1, 12))
def test_a_vocabulary_without_an_end_token(grammar: str, tokens: int) -> None:
    """A text that is complete ends where nothing that fits the budget can follow."""

    class Endless:
        vocabulary = structgen.Vocabulary.from_bytes(dict(enumerate([b"x", b"y", b"z"])))
        context_tokens = chat_template = None

        def encode_prompt(self, prompt: Any, *, raw: bool = False, **template: Any) -> list[int]:
            return [0]

        def encode_text(self, text: str) -> list[int]:
            return ["xyz".index(letter) for letter in text]

        def session(self) -> LogitsSession:
            return LogitsSession(lambda ids: [0.0, 5.0, 1.0], 3)

    chosen = structgen.Grammar.regex(grammar)
    result = structgen.Generator(Endless(), chosen).run("x", max_new_tokens=tokens)
    assert len(result.token_ids) <= tokens and structgen.check(chosen, result.text).fits


@pytest.mark.parametrize("language", EXHAUSTED, ids=str)
def test_every_choice_under_a_narrowed_mask_ends_within_the_budget(language: Any) -> None:
    spellings = [bytes([byte]) for byte in range(33, 127)] + [b"((", b"))", b"ab", b"bc", b"[]", b'":', b",["]
    vocabulary = structgen.Vocabulary.from_bytes(dict(enumerate([*spellings, b"</s>"])), eos_token_ids=[len(spellings)])
    options: Any = {"whitespace": "compact"} if isinstance(language, dict) else {}
    constraint = structgen.compile(language, vocabulary, **options)
    least = len(Budget(99, is_proper=False).rest(constraint.matcher()) or ())
    for tokens in range(least, least + 6):
        budget = Budget(tokens, is_proper=False)
        mask = structgen.allocate_token_bitmask(1, vocabulary.size)
        waiting, seen, shortest = [(constraint.matcher(), 0, b"")], {b""}, 99
        while waiting:
            matcher, spent, text = waiting.pop()
            assert spent <= tokens, text
            if matcher.is_accepting:
                shortest = min(shortest, spent)
            matcher.fill_next_token_bitmask(mask)
            budget.limit(matcher, mask[0], spent)
            assert mask.any(), text
            for token in np.flatnonzero(np.unpackbits(mask[0].view(np.uint8), bitorder="little")).tolist():
                key = text + b"\0" + (vocabulary.token_bytes(token) or b"")
                if token in vocabulary.eos_token_ids or key in seen or len(seen) > 3_000:
                    continue
                seen.add(key)
                after = matcher.fork()
                after.accept_token(token)
                waiting.append((after, spent + 1, key))
        assert shortest == least


def test_a_budget_for_the_fewest_tokens_alone_gives_their_text(tiny_tokenizer: Any) -> None:
    tokenizer = copy.deepcopy(tiny_tokenizer)
    tokenizer.add_tokens(["completely"])
    model = by_chance(tokenizer, 9)
    grammar = structgen.Grammar.choice(["zqxjk", "completely"])
    run = structgen.Generator(model, grammar, max_new_tokens=1).run("x")
    assert (run.text, len(run.token_ids), run.finish_reason) == ("completely", 1, "length")
    assert structgen.generate(model, "x", grammar, max_new_tokens=20) in ("zqxjk", "completely")
    processor = structgen.compile(grammar, model.vocabulary).logits_processor(max_tokens=1)
    assert processor is not None
    longer = structgen.Grammar.choice(["zqxjk", "completely completely"])
    for tokens, refused in ((2, "2 tokens are too few"), (1, "1 token is too few")):
        with pytest.raises(structgen.IncompleteOutputError, match=f"{refused}: the shortest answer needs 3"):
            structgen.generate(model, "x", longer, max_new_tokens=tokens)
    for sampling in ("smc", "awrs", "asap"):
        samples = structgen.sample(model, "x", grammar, max_new_tokens=1, sampling=sampling, particles=2, seed=0)
        assert set(samples.values) == {"completely"}
    assert structgen.generate(model, "x", grammar, max_new_tokens=1, num_beams=2) == "completely"


def test_tokens_must_close_where_the_rest_has_to_become_shorter(tiny_tokenizer: Any) -> None:
    vocabulary = structgen.Vocabulary.from_huggingface(tiny_tokenizer)
    schema = {"type": "object", "additionalProperties": {"type": "boolean"}}
    matcher = structgen.compile(schema, vocabulary, whitespace="single").matcher()
    matcher.accept_bytes(b'{"a')
    letter = next(token for token in range(vocabulary.size) if vocabulary.token_bytes(token) == b"b")
    choices = [Budget(tokens, is_proper=False).choice(matcher, letter, 0) for tokens in range(1, 30)]
    before = choices[0].before
    assert before is not None
    assert before.tokens is not None
    for left, choice in enumerate(choices, 1):
        assert (choice.before, choice.after) == (before, before)
        assert choice.fits == (not choice.must_close) == (len(before.tokens) < left)
