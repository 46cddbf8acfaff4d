"""Samples beside the distribution that they are drawn from: every answer of small languages with its probability."""

import asyncio
import json
import math
import threading

import numpy as np
import pytest
from support.toy_models import END, ToyModel, posterior

import structgen
from structgen import Grammar
from structgen.generation.aligned import awrs

GRAMMAR = Grammar.regex("(a|b|aa){1,2}1?")
PROMPT = "ab"
KINDS = ["smc", "awrs", "asap"]


def sampled(model, grammar=GRAMMAR, **options):
    return structgen.sample(model, PROMPT, grammar, raw=True, **options)


def distance(samples, truth):
    """Return the total variation distance of weighted samples to a distribution that need not be normalized."""
    found = dict.fromkeys(truth, 0.0)
    for item in samples.items:
        found[item.token_ids] += item.weight
    total = sum(truth.values())
    return sum(abs(found[answer] - share / total) for answer, share in truth.items()) / 2


@pytest.mark.parametrize("options", [{}, {"temperature": 0.7}, {"max_new_tokens": 2}, {"max_new_tokens": 1}])
@pytest.mark.parametrize("on_budget", ["finish", "error"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_normalizing_constant_is_unbiased(kind, on_budget, options):
    model = ToyModel(3, scale=0.5)
    truth = posterior(
        model, PROMPT, GRAMMAR, max_tokens=options.get("max_new_tokens", 99), temperature=options.get("temperature", 1)
    )
    found = []
    for seed in range(200):
        try:
            samples = sampled(model, sampling=kind, particles=12, seed=seed, on_budget=on_budget, **options)
        except structgen.IncompleteOutputError:
            found.append(0.0)  # no answer was complete: the estimate is 0
        else:
            found.append(math.exp(samples.log_normalizer))
    error = np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(found) - sum(truth.values())) < 3.5 * error < 0.2 * sum(truth.values())


@pytest.mark.parametrize("kind", KINDS)
def test_the_distance_falls_with_the_root_of_the_number_of_samples(kind):
    model = ToyModel(3, scale=0.5)
    truth = posterior(model, PROMPT, GRAMMAR)
    counts = [16, 64, 256, 1024]
    distances = [
        np.mean([distance(sampled(model, sampling=kind, particles=count, seed=seed), truth) for seed in range(6)])
        for count in counts
    ]
    slope = np.polyfit(np.log(counts), np.log(distances), 1)[0]
    assert slope < -0.4  # particles that draw together come nearer even faster
    assert kind == "smc" or slope > -0.65
    assert distances[-1] < 0.08


def test_a_mask_alone_is_far_from_the_target():
    """What the samples are for: the same model, token by token under the mask."""
    size = END + 2

    def logits_after(ids):
        row = np.full(size, -9.0, np.float32)
        for token, logit in {(): {0: 1.0, 1: 0.0}, (0,): {3: 3.0, 7: -4.0}, (1,): {8: 3.0}}.get(
            tuple(ids[1:]), {END: 3.0}
        ).items():
            row[token] = logit
        return row

    model = ToyModel()
    model.logits_after = logits_after
    grammar = Grammar.regex("a1|b2")
    truth = posterior(model, PROMPT, grammar)
    assert len(model.encode_text(PROMPT)) == 1
    share = truth[1, 8] / sum(truth.values())
    masked = [structgen.generate(model, PROMPT, grammar, raw=True, temperature=1, seed=seed) for seed in range(100)]
    assert masked.count("b2") < 50 < 90 < 100 * share
    for kind in KINDS:
        samples = sampled(model, grammar, sampling=kind, particles=64, seed=1)
        assert samples.shares()[0] == ("b2", pytest.approx(share, abs=0.02))
        assert structgen.generate(model, PROMPT, grammar, raw=True, sampling=kind, particles=64, seed=1) == "b2"


def test_adaptive_sampling_learns_the_target():
    """Its weights become equal, but for answers that are new: the draws come from the target itself."""
    weights = np.array(sampled(ToyModel(3, scale=0.5), sampling="asap", particles=600, seed=1).weights) * 600
    assert np.mean(abs(weights[-100:] - 1) < 0.02) >= 0.95
    assert np.mean(abs(weights[:20] - 1) < 0.02) < 0.2


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_decides(kind):
    model = ToyModel()
    one, again, other = (sampled(model, sampling=kind, seed=seed) for seed in (5, 5, 6))
    assert [item.text for item in one.items] == [item.text for item in again.items]
    assert (one.weights, one.log_normalizer) == (again.weights, again.log_normalizer)
    assert one.log_normalizer != other.log_normalizer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", range(1, 9))
def test_answers_are_whole_and_within_the_budget(kind, budget):
    grammar = Grammar.regex("(a|b|aa){1,2}1?|(aa|c)+2")
    samples = sampled(ToyModel(2), grammar, sampling=kind, max_new_tokens=budget + 1, seed=budget)
    assert sum(samples.weights) == pytest.approx(1)
    for item in samples.items:
        assert structgen.check(grammar, item.text)
        assert len(item.token_ids) <= budget + 1


def test_a_refusal_by_the_budget_is_followed_by_the_shortest_rest(monkeypatch):
    """A model that would write on for ever, and an end that it never draws by itself."""
    monkeypatch.setattr(awrs, "MAX_REFUSED", 1)
    model = ToyModel()
    model.logits_after = lambda ids: np.eye(END + 2, dtype=np.float32)[0] * 12
    for kind in KINDS:
        samples = sampled(model, Grammar.regex("(a|b|c|aa|ab)*1"), sampling=kind, max_new_tokens=6, seed=0, particles=4)
        assert all(item.text.endswith("1") for item in samples.items)


@pytest.mark.parametrize("kind", KINDS)
def test_the_logprob_is_that_of_score(kind):
    model = ToyModel()
    samples = sampled(model, sampling=kind)
    plain = [item for item in samples.items if item.token_ids == tuple(model.encode_text(item.text))]
    scores = structgen.score(model, PROMPT, [item.text for item in plain], GRAMMAR, raw=True)
    assert plain
    assert [item.logprob for item in plain] == pytest.approx([found.logprob for found in scores], abs=1e-5)


def test_awaited_samples_are_the_same():
    samples = asyncio.run(structgen.asample(ToyModel(), PROMPT, GRAMMAR, raw=True, seed=1))
    assert samples.items == sampled(ToyModel(), seed=1).items
    with pytest.raises(ValueError, match="particles must be a whole number >= 1"):
        asyncio.run(structgen.asample(ToyModel(), PROMPT, GRAMMAR, particles=0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_cancelled_call_stops_after_the_pass_under_way(kind):
    model, cancelled = ToyModel(), threading.Event()
    logits_after, read = model.logits_after, []

    def cancelling(ids):
        read.append(ids)
        if len(read) == 3:
            cancelled.set()
        return logits_after(ids)

    model.logits_after = cancelling
    grammar = Grammar.regex("[ab]{9}1")
    run = structgen.Generator(model, grammar, raw=True, sampling=kind, particles=1, seed=0).begin(PROMPT)
    assert run.to_end(cancelled) is None
    assert len(read) == 3
    assert run.decoder.items == ()


def test_rejection_checks_the_same_tokens_as_the_mask():
    model = ToyModel()
    constraint = structgen.compile(Grammar.regex("(a|b|cab|aa){1,4}(1|2)c?"), model.vocabulary)
    from structgen.generation.adjusting import Adjuster
    from structgen.generation.aligned.target import Target

    target = Target(constraint, [0], max_new_tokens=9, temperature=1.0, adjuster=Adjuster(), finish=False)
    prefixes = [target.root()]
    while prefixes:
        prefix = prefixes.pop()
        allowed = target.allowed(prefix).tolist()
        assert [token for token in range(END + 2) if target.allows(prefix, token)] == allowed
        prefixes += [target.after(prefix, token, 0.0) for token in allowed if token < END]


def test_values_that_validators_refuse_are_left_out():
    schema = {"type": "object", "properties": {"a": {"enum": [1, 2, 11, 12]}}, "required": ["a"]}
    model = ToyModel(4, scale=0.3)

    def refuse(value):
        if value["a"] > 2:
            raise ValueError("too large")

    options = {"raw": True, "particles": 200, "seed": 3, "max_new_tokens": 30}
    everything = structgen.sample(model, PROMPT, schema, **options)
    small = structgen.sample(model, PROMPT, schema, validate=refuse, **options)
    assert {value["a"] for value in everything.values} == {1, 2, 11, 12}
    assert {value["a"] for value in small.values} == {1, 2}
    kept = sum(item.weight for item in everything.items if item.value["a"] <= 2)
    assert small.log_normalizer == pytest.approx(everything.log_normalizer + math.log(kept))
    assert len(everything.shares("/a")) == 4
    with pytest.raises(structgen.ValidationFailedError, match="the validation of all"):
        structgen.sample(model, PROMPT, schema, validate=lambda value: refuse({"a": 9}), **options)


def samples_of(*texts_and_weights, is_json=True):
    items = [
        structgen.Sample(json.loads(text) if is_json else text, text, (at,), weight, float(at))
        for at, (text, weight) in enumerate(texts_and_weights)
    ]
    return structgen.Samples(tuple(items), -1.5, structgen.Usage(0, 0, 0, 0, 0, 0.0), is_json=is_json)


def test_shares():
    samples = samples_of(('{"a": 1, "b": 2}', 0.3), ('{"a": 7}', 0.4), ('{"b": 2, "a": 1}', 0.3))
    assert samples.shares("/a") == [(1, 0.6), (7, 0.4)]
    assert samples.shares("/b") == [(2, 0.6)]
    assert samples.shares()[1] == ({"a": 7}, 0.4)
    assert samples_of(("[1]", 0.5), ("[1.0]", 0.5)).shares() == [([1], 1.0)]
    assert samples.effective_sample_size == pytest.approx(1 / 0.34)
    with pytest.raises(ValueError, match="no answer has a value at '/c'"):
        samples.shares("/c")
    with pytest.raises(ValueError, match="not JSON"):
        samples_of(("a", 1.0), is_json=False).shares("/c")


@pytest.mark.parametrize(
    ("texts_and_weights", "best", "is_json"),
    [
        ([("a", 0.4), ("b", 0.3), ("b", 0.3)], 2, False),
        ([("a", 0.5), ("b", 0.5)], 1, False),  # the likeliest of equals
        ([('{"a": 1, "b": 2}', 0.3), ('{"a": 7}', 0.4), ('{"b": 2, "a": 1}', 0.3)], 2, True),
        # No two are equal, and each field has its majority in the last one, which has the least weight.
        ([('{"a": 1, "b": 8}', 0.34), ('{"a": 5, "b": 2}', 0.36), ('{"a": 1, "b": 2}', 0.3)], 2, True),
        ([("[]", 0.4), ("[1, 2]", 0.3), ("[1]", 0.3)], 2, True),
        ([("[[]]", 0.4), ("[{}]", 0.3), ("7", 0.3)], 0, True),
        # Other paths are other values, and 1.0 is 1.
        ([('{"c": 1}', 0.4), ('{"a/b": 1}', 0.3), ('{"a": {"b": 1}}', 0.3)], 0, True),
        ([("[2]", 0.4), ("[1]", 0.3), ('{"0": 1}', 0.3)], 0, True),
        ([("2", 0.4), ("1", 0.3), ("1.0", 0.3)], 2, True),
        ([("[" * 900 + "]" * 900, 1.0)], 0, True),
    ],
)
def test_the_best_agrees_most_with_all(texts_and_weights, best, is_json):
    samples = samples_of(*texts_and_weights, is_json=is_json)
    assert samples.best_sample is samples.items[best]
    assert samples.best == samples.items[best].value


def test_an_answer_that_the_model_never_gives():
    model = ToyModel()
    model.logits_after = lambda ids: np.where(np.arange(END + 2) == 3, 0, -np.inf).astype(np.float32)
    with pytest.raises(structgen.ModelError, match="probability 0"):
        sampled(model, Grammar.regex("b1"))
    model.logits_after = lambda ids: np.full(END + 2, np.nan, np.float32)
    with pytest.raises(structgen.ModelError, match="NaN"):
        sampled(model)


def test_a_budget_that_is_too_small():
    with pytest.raises(structgen.IncompleteOutputError, match="needs 3"):
        sampled(ToyModel(), Grammar.regex("a:1"), max_new_tokens=2)
    with pytest.raises(structgen.IncompleteOutputError, match="not finished after 2 tokens"):
        sampled(ToyModel(), Grammar.regex("a:1"), max_new_tokens=2, on_budget="error")


def test_a_vocabulary_without_an_end():
    samples = sampled(ToyModel(ends=()), Grammar.regex("(a|b|aa)1"), particles=100, seed=1)
    assert {item.text for item in samples.items} == {"a1", "b1", "aa1"}


@pytest.mark.parametrize("kind", KINDS)
def test_on_transformers(tiny_model, kind):
    samples = structgen.sample(tiny_model, "Go", Grammar.regex("(yes|no)!{0,3}"), sampling=kind, particles=6, seed=1)
    assert all(structgen.check(Grammar.regex("(yes|no)!{0,3}"), item.text) for item in samples.items)
    scores = structgen.score(tiny_model, "Go", [item.text for item in samples.items], Grammar.regex("(yes|no)!{0,3}"))
    same = [(item, found) for item, found in zip(samples.items, scores) if item.token_ids == found.token_ids]
    assert all(item.logprob == pytest.approx(found.logprob, abs=1e-2) for item, found in same)


def test_proper_tokenization(tiny_tokenizer):
    import copy

    tokenizer = copy.deepcopy(tiny_tokenizer)
    tokenizer.add_tokens(["<|sample|>"])
    size = len(tokenizer)
    model = structgen.from_logits(
        lambda ids: np.random.default_rng([len(ids), *ids[-3:]]).normal(size=size).astype(np.float32), tokenizer
    )
    grammar = Grammar.regex("(good|bad|the quick) dog")
    for kind in KINDS:
        samples = structgen.sample(
            model, "It is ", grammar, raw=True, tokenization="proper", sampling=kind, particles=8, seed=2
        )
        for item in samples.items:
            assert item.text in ("good dog", "bad dog", "the quick dog")
            assert tokenizer.encode("It is " + item.text)[-len(item.token_ids) :] == list(item.token_ids)


def test_after_a_reasoning(tiny_model):
    generator = structgen.Generator(
        tiny_model, Grammar.regex("yes|no"), reasoning=structgen.Reasoning(max_tokens=5), sampling="smc", seed=1
    )
    result = generator.run("Go")
    assert result.value in ("yes", "no")
    assert result.usage.reasoning_tokens > 0
    assert result.usage.model_calls > 2


def test_one_value_of_every_call(tiny_model):
    import asyncio

    grammar = Grammar.regex("yes|no")
    options = {"sampling": "smc", "seed": 1}
    value = structgen.generate(tiny_model, "Go", grammar, **options)
    assert structgen.batch(tiny_model, ["Go", "On"], grammar, **options)[0] == value
    assert asyncio.run(structgen.agenerate(tiny_model, "Go", grammar, **options)) == value
    assert structgen.Generator(tiny_model, grammar)("Go", **options) == value


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"sampling": "mcmc"}, "sampling must be one of 'smc', 'awrs', 'asap'"),
        ({"particles": 4}, "particles needs sampling"),
        ({"sampling": "smc", "particles": 0}, "particles must be a whole number >= 1"),
        ({"num_beams": 0}, "num_beams must be a whole number >= 1"),
        ({"sampling": "smc", "num_beams": 2}, "sampling does not go together with num_beams"),
        ({"sampling": "smc", "temperature": 1, "top_p": 0.9}, "does not go together with top_p"),
        ({"sampling": "smc", "stop": "x", "max_retries": 2}, "does not go together with stop, max_retries"),
        ({"sampling": "smc", "logprobs": True}, "does not go together with logprobs"),
        ({"num_beams": 3, "temperature": 0.5}, "num_beams does not go together with temperature"),
    ],
)
def test_options_that_do_not_go_together(options, match):
    with pytest.raises(ValueError, match=match):
        structgen.generate(ToyModel(), PROMPT, GRAMMAR, **options)


def shout(text: str) -> str:
    """Shout."""
    return text.upper()


def test_what_compares_whole_answers_cannot_be_streamed_or_traced(tiny_model):
    with pytest.raises(ValueError, match="nothing to stream"):
        structgen.stream(tiny_model, "Go", GRAMMAR, sampling="smc")
    with pytest.raises(ValueError, match="traces"):
        structgen.Generator(tiny_model, GRAMMAR, num_beams=2).run("Go", observe=lambda ids: None)
    with pytest.raises(ValueError, match="tool calls"):
        structgen.call(tiny_model, "Go", [shout], sampling="smc")
    with pytest.raises(ValueError, match="temperatures in the grammar"):
        structgen.generate(tiny_model, "Go", Grammar.lark("start: x\nx[temperature=0.7]: /[ab]+/"), sampling="smc")


def test_servers_have_no_logits():
    from openai import OpenAI

    server = structgen.from_openai(OpenAI(api_key="none", base_url="http://127.0.0.1:9/v1"), "any")
    with pytest.raises(structgen.ModelError, match="servers do not return"):
        structgen.sample(server, "Go", GRAMMAR)
