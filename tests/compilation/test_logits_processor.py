"""The processor for `hf_model.generate`: batches, beams, padding, one generation after another."""

import json
import sys

import numpy as np
import pytest

import structgen
from structgen.engine.vocabulary.vocabulary import byte_vocabulary

torch = pytest.importorskip("torch")

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}


@pytest.fixture
def constraint(tiny_model):
    return structgen.compile(SCHEMA, tiny_model.vocabulary, whitespace="single")


def inputs_for(tokenizer, *texts):
    tokenizer.padding_side = "left"
    return tokenizer(list(texts), padding=True, return_tensors="pt", return_token_type_ids=False)


def generate(model, processor, *texts, **options):
    inputs = inputs_for(model.tokenizer, *texts)
    options = {"max_new_tokens": 200, "do_sample": False, **options}
    ids = model.hf_model.generate(**inputs, logits_processor=[processor], **options)
    return model.tokenizer.batch_decode(ids[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"do_sample": True, "temperature": 5.0},
        {"num_beams": 3},
        {"num_beams": 4, "num_return_sequences": 3},
        {"num_beams": 3, "do_sample": True, "temperature": 2.0},
        {"do_sample": True, "num_return_sequences": 3},
    ],
    ids=str,
)
def test_every_row_is_valid_in_call_after_call(tiny_model, constraint, options):
    torch.manual_seed(0)
    processor = constraint.logits_processor()
    for texts in (["one", "two words and more", "three"], ["a single prompt that is longer"], ["one"] * 2, ["one"] * 2):
        answers = generate(tiny_model, processor, *texts, **options)
        assert len(answers) == len(texts) * options.get("num_return_sequences", 1)
        for answer in answers:
            constraint.parse(answer)


def test_it_is_a_processor_of_transformers(constraint):
    from transformers import LogitsProcessor

    assert isinstance(constraint.logits_processor(), LogitsProcessor)


def test_a_row_of_a_batch_gives_what_it_gives_alone(tiny_model, constraint):
    processor = constraint.logits_processor()
    together = generate(tiny_model, processor, "one", "two")  # the same length: no padding, so the same logits
    alone = [generate(tiny_model, processor, text)[0] for text in ("one", "two")]
    assert together == alone


def test_greedy_matches_the_processor_at_each_step(tiny_model, constraint):
    """The processor applies the matcher's masks."""
    processor, matcher = constraint.logits_processor(), constraint.matcher()
    row = [5, 6, 7]
    for _ in range(40):
        scores = torch.randn(1, tiny_model.vocabulary.size)
        kept = processor(torch.tensor([row]), scores)
        assert np.flatnonzero(torch.isfinite(kept[0])).tolist() == matcher.allowed_token_ids()
        best = int(kept.argmax())
        if best in tiny_model.vocabulary.eos_token_ids:
            break
        matcher.accept_token(best)
        row.append(best)


def test_scores_are_left_alone(constraint, tiny_model):
    scores = torch.zeros(1, tiny_model.vocabulary.size)
    constraint.logits_processor()(torch.tensor([[5]]), scores)
    assert (scores == 0).all()


def test_scores_wider_than_the_vocabulary_are_masked_to_the_end(constraint, tiny_model):
    size = tiny_model.vocabulary.size
    kept = constraint.logits_processor()(torch.tensor([[5]]), torch.zeros(1, size + 33))
    assert torch.isinf(kept[0, size:]).all()
    with pytest.raises(structgen.VocabularyError, match=f"vocab_size={size - 1}[^\0]*resize_token_embeddings"):
        constraint.logits_processor()(torch.tensor([[5]]), torch.zeros(1, size - 1))
    with pytest.raises(structgen.VocabularyError, match=r"more than twice[^\0]*the model's own tokenizer"):
        constraint.logits_processor()(torch.tensor([[5]]), torch.zeros(1, 50_000))


def test_padding_after_the_end_is_ignored(tiny_model):
    words = structgen.compile(structgen.Grammar.regex("yes|no, never"), tiny_model.vocabulary)
    processor = words.logits_processor()
    encode = tiny_model.encode_text
    end, pad = tiny_model.tokenizer.eos_token_id, tiny_model.tokenizer.pad_token_id
    short = [*encode("yes"), end]
    long = encode("no, never")
    short += [pad] * (len(long) - len(short))
    for width in range(len(long) + 1):
        rows = torch.tensor([[9, *short[:width]], [9, *long[:width]]])
        kept = processor(rows, torch.zeros(2, tiny_model.vocabulary.size))
    assert torch.isfinite(kept).any(dim=1).all()
    allowed = torch.isfinite(kept[1]).nonzero().flatten().tolist()
    assert allowed == [end]


def test_rows_may_be_reordered_and_repeated(tiny_model):
    words = structgen.compile(structgen.Grammar.regex("ab|cd"), tiny_model.vocabulary)
    processor = words.logits_processor()
    a, b, c, d = (tiny_model.encode_text(letter)[0] for letter in "abcd")
    size = tiny_model.vocabulary.size
    processor(torch.tensor([[9], [9], [9]]), torch.zeros(3, size))
    processor(torch.tensor([[9, a], [9, c], [9, a]]), torch.zeros(3, size))
    kept = processor(torch.tensor([[9, c], [9, a], [9, c]]), torch.zeros(3, size))  # the same step again, reordered
    assert [b in torch.isfinite(row).nonzero().flatten() for row in kept] == [False, True, False]
    assert [d in torch.isfinite(row).nonzero().flatten() for row in kept] == [True, False, True]


def test_a_rejected_row_is_left_alone(tiny_model):
    """A beam with a score of -inf carries tokens that the grammar refused; it must not disturb the others."""
    words = structgen.compile(structgen.Grammar.regex("ab"), tiny_model.vocabulary)
    processor = words.logits_processor()
    a, x = (tiny_model.encode_text(letter)[0] for letter in "ax")
    size = tiny_model.vocabulary.size
    processor(torch.tensor([[9], [9]]), torch.zeros(2, size))
    kept = processor(torch.tensor([[9, a], [9, x]]), torch.zeros(2, size))
    assert torch.isfinite(kept[0]).sum() == 1
    assert torch.isfinite(kept[1]).all()


def test_an_unfinished_output_given_back_goes_on(tiny_model, constraint):
    processor = constraint.logits_processor()
    inputs = inputs_for(tiny_model.tokenizer, "one")
    ids = tiny_model.hf_model.generate(**inputs, logits_processor=[processor], max_new_tokens=4, do_sample=False)
    whole = tiny_model.hf_model.generate(
        ids, attention_mask=torch.ones_like(ids), logits_processor=[processor], max_new_tokens=200, do_sample=False
    )
    prompt_width = inputs["input_ids"].shape[1]
    constraint.parse(tiny_model.tokenizer.decode(whole[0, prompt_width:], skip_special_tokens=True))


def test_reset_begins_anew_where_the_input_goes_on(tiny_model):
    words = structgen.compile(structgen.Grammar.regex("ab"), tiny_model.vocabulary)
    processor = words.logits_processor()
    a, b = (tiny_model.encode_text(letter)[0] for letter in "ab")
    zeros = torch.zeros(1, tiny_model.vocabulary.size)
    processor(torch.tensor([[9]]), zeros)
    assert torch.isfinite(processor(torch.tensor([[9, a]]), zeros))[0, b]
    processor.reset()
    assert torch.isfinite(processor(torch.tensor([[9, a]]), zeros))[0, a]


def test_a_finished_output_given_back_is_a_prompt(tiny_model):
    words = structgen.compile(structgen.Grammar.regex("a"), tiny_model.vocabulary)
    processor = words.logits_processor()
    a, end = tiny_model.encode_text("a")[0], tiny_model.tokenizer.eos_token_id
    zeros = torch.zeros(1, tiny_model.vocabulary.size)
    for row in ([9], [9, a]):
        processor(torch.tensor([row]), zeros)
    assert torch.isfinite(processor(torch.tensor([[9, a, end]]), zeros))[0, a]


def test_assisted_decoding_goes_back_and_forth(tiny_model, constraint):
    """A draft's tokens are checked one prefix at a time, and dropped from the first wrong one on."""
    processor = constraint.logits_processor()
    matcher = constraint.matcher()
    zeros = torch.zeros(1, tiny_model.vocabulary.size)
    tokens = tiny_model.encode_text('{"name": "al')
    for width in [0, 1, 2, 3, 4, 2, 3, 1, 2, 3, 4]:
        kept = processor(torch.tensor([[9, *tokens[:width]]]), zeros)
        matcher.reset()
        for token in tokens[:width]:
            matcher.accept_token(token)
        assert np.flatnonzero(torch.isfinite(kept[0])).tolist() == matcher.allowed_token_ids()


def test_prompt_lookup_decoding(tiny_model, constraint):
    answers = generate(tiny_model, constraint.logits_processor(), '{"name": "a"', prompt_lookup_num_tokens=3)
    assert all(constraint.parse(answer) for answer in answers)


def test_smollm2_in_a_batch_and_with_beams(smollm2):
    constraint = structgen.compile(SCHEMA, smollm2.vocabulary, whitespace="single")
    processor = constraint.logits_processor()
    texts = ["Ann is 34.", "Her friend Bob, who lives with her, turned 51 last week."]
    chats = [[{"role": "user", "content": f"Extract name, age and tags as JSON. {text}"}] for text in texts]
    smollm2.tokenizer.padding_side = "left"
    inputs = smollm2.tokenizer.apply_chat_template(
        chats, add_generation_prompt=True, padding=True, return_tensors="pt", return_dict=True
    )
    width = inputs["input_ids"].shape[1]
    for beams in (1, 2):
        ids = smollm2.hf_model.generate(
            **inputs, logits_processor=[processor], max_new_tokens=60, num_beams=beams, do_sample=False
        )
        for answer in smollm2.tokenizer.batch_decode(ids[:, width:], skip_special_tokens=True):
            assert constraint.parse(answer) == json.loads(answer)


# -- one row of numpy's, as llama-cpp-python calls it (with the library itself: models/test_llama_cpp.py) ----------


def run_row(processor, constraint, prompt, random):
    """Run a loop like llama.cpp's: the scores are a column of records, the tokens a view of a longer array."""
    size, ends = constraint.vocabulary.size, set(constraint.vocabulary.eos_token_ids)
    tokens = np.zeros(300, np.intc)
    tokens[: len(prompt)] = prompt
    records = np.zeros(size, np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)]))
    matcher = constraint.matcher()
    for count in range(len(prompt), 300):
        before = random.random(size, np.float32)
        records["logit"] = before
        masked = processor(tokens[:count], records["logit"])
        assert (records["logit"] == before).all()
        assert (masked.dtype, masked.shape) == (np.float32, (size,))
        assert np.flatnonzero(np.isfinite(masked)).tolist() == matcher.allowed_token_ids()
        chosen = int(masked.argmax())
        if chosen in ends:
            return constraint.vocabulary, tokens[len(prompt) : count].tolist()
        tokens[count] = chosen
        matcher.accept_token(chosen)
    raise AssertionError("no end")


def test_rows_of_numpy(tiny_model):
    schema = {"type": "array", "items": {"enum": ["a", 34, None]}, "minItems": 1, "maxItems": 4}
    constraint = structgen.compile(schema, tiny_model.vocabulary, whitespace="compact")
    processor = constraint.logits_processor()
    random = np.random.default_rng(0)
    for prompt in ([5, 6, 7], [5, 6, 7], [5], [5, 6, 7, 8, 9]):
        vocabulary, answer = run_row(processor, constraint, prompt, random)
        constraint.parse(b"".join(vocabulary.token_bytes(token_id) for token_id in answer).decode())


def test_scores_of_numpy_that_are_too_few_end_the_text(tiny_model, constraint):
    """llama.cpp's loop continues after an error: only an end token is allowed then."""
    (end,) = tiny_model.vocabulary.eos_token_ids
    scores = np.ones(tiny_model.vocabulary.size - 1, np.float32)
    with pytest.raises(structgen.VocabularyError):
        constraint.logits_processor()(np.array([5, 6], np.intc), scores)
    assert np.flatnonzero(np.isfinite(scores)).tolist() == [end]


def test_a_processor_needs_no_transformers(constraint, monkeypatch):
    monkeypatch.delitem(sys.modules, "transformers")
    assert type(constraint.logits_processor()).__mro__[1] is object


@pytest.mark.parametrize("width", [0, 5])
def test_rules_with_a_temperature_are_scaled(tiny_model, width):
    """After the loop has divided by its own temperature, the scores are those divided by the rule's."""
    grammar = structgen.Grammar.lark('start: "a" x y\nx[temperature=0.5]: /[a-z]/\ny[temperature=0]: /[0-9]/')
    constraint = structgen.compile(grammar, tiny_model.vocabulary)
    processor, matcher = constraint.logits_processor(temperature=0.8), constraint.matcher()
    size = tiny_model.vocabulary.size
    scores = torch.randn(1, size + width, generator=torch.Generator().manual_seed(3))
    row = [5]
    for text, own in (("a", None), ("b", 0.5), ("7", 0.0)):
        expected = np.full(size + width, -np.inf, np.float32)
        allowed = np.array(matcher.allowed_token_ids())
        plain = scores[0].numpy()
        if own == 0:
            best = allowed[plain[allowed].argmax()]
            expected[best] = plain[best]
        else:
            expected[allowed] = plain[allowed] * (1 if own is None else 0.8 / own)
        np.testing.assert_allclose(processor(torch.tensor([row]), scores)[0].numpy(), expected, rtol=1e-6)
        row += tiny_model.encode_text(text)
        matcher.accept_token(row[-1])


def test_rules_with_a_temperature_need_that_of_the_loop(tiny_model):
    grammar = structgen.Grammar.lark("start: x\nx[temperature=0.5]: /[a-z]/")
    constraint = structgen.compile(grammar, tiny_model.vocabulary)
    for temperature in (None, 0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="rules with a temperature"):
            constraint.logits_processor(temperature=temperature)
    constraint.logits_processor(temperature=1)


@pytest.mark.parametrize("options", [{}, {"num_beams": 3}, {"do_sample": True, "temperature": 5.0}], ids=str)
def test_texts_are_whole_within_a_budget(tiny_model, options):
    torch.manual_seed(0)
    constraint = structgen.compile(list[str], tiny_model.vocabulary, whitespace="single")
    for tokens in (2, 5, 9, 30):
        processor = constraint.logits_processor(max_tokens=tokens)
        for _ in range(2):
            answers = generate(tiny_model, processor, "one", "two words", max_new_tokens=tokens, **options)
            assert all(isinstance(json.loads(answer), list) for answer in answers), answers


def test_a_budget_below_the_shortest_text_is_an_error(constraint):
    with pytest.raises(ValueError, match="max_tokens=3: 3 tokens are too few: the shortest answer needs"):
        constraint.logits_processor(max_tokens=3)
    with pytest.raises(ValueError, match="max_tokens must be a whole number >= 1, not 0"):
        constraint.logits_processor(max_tokens=0)


def test_a_text_that_repeats_itself_is_closed_in_another_loop(tiny_model):
    vocabulary = tiny_model.vocabulary
    processor = structgen.compile(str, vocabulary, whitespace="single").logits_processor(max_repeats=2)
    begin = [token for token in range(vocabulary.size) if vocabulary.token_bytes(token) in (b'"', b"x")]
    quote, letter = sorted(begin, key=vocabulary.token_bytes)
    ids = np.array([7], np.int32)
    for token in [quote] + [letter] * 60:
        masked = processor(ids, np.zeros(vocabulary.size, np.float32))
        assert masked[token] == 0
        ids = np.append(ids, np.int32(token))
    left = np.flatnonzero(processor(ids, np.zeros(vocabulary.size, np.float32)) == 0)
    assert letter not in left
    assert all(b'"' in vocabulary.token_bytes(int(token)) for token in left)


@pytest.mark.parametrize(
    ("input_ids", "scores", "name"),
    [
        (torch.zeros(3, dtype=torch.long), torch.zeros(1, 257), "input_ids"),
        (torch.zeros(1, 3), torch.zeros(1, 257), "input_ids"),
        (None, torch.zeros(1, 257), "input_ids"),
        (torch.zeros((1, 3), dtype=torch.long), torch.zeros(257), "scores"),
        (torch.zeros((1, 3), dtype=torch.long), torch.zeros((1, 257), dtype=torch.int32), "scores"),
    ],
)
def test_tensors_of_another_shape_are_refused_by_name(input_ids, scores, name):
    processor = structgen.compile(int, byte_vocabulary()).logits_processor()
    with pytest.raises(structgen.VocabularyError, match=f"{name} must be a tensor of"):
        processor(input_ids, scores)
