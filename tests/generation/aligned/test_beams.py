"""Beams beside exhaustive search over small languages."""

import pytest
from support.toy_models import ToyModel, posterior

import structgen
from structgen import Grammar
from structgen.generation.aligned.reader import PrefixReader

GRAMMAR = Grammar.regex("(a|b|cab|aa){1,3}(1|2)c?")
PROMPT = "ab"


def found_by(model, count, grammar=GRAMMAR, **options):
    return structgen.Generator(model, grammar, raw=True).run(PROMPT, num_beams=count, **options)


@pytest.mark.parametrize("seed", range(8))
def test_enough_beams_find_the_likeliest_answer(seed):
    model = ToyModel(seed)
    truth = posterior(model, PROMPT, GRAMMAR)
    assert found_by(model, 1000).token_ids == max(truth, key=truth.get)


@pytest.mark.parametrize("budget", [2, 3, 4])
@pytest.mark.parametrize("on_budget", ["finish", "error"])
def test_within_a_budget(budget, on_budget):
    model = ToyModel(5)
    truth = posterior(model, PROMPT, GRAMMAR, max_tokens=budget)
    found = found_by(model, 1000, max_new_tokens=budget, on_budget=on_budget)
    assert found.token_ids == max(truth, key=truth.get)


def test_no_two_beams_are_the_same(monkeypatch):
    """Where the budget refuses many tokens, the shortest rest goes on, unless it was among the likelier tokens."""
    monkeypatch.setattr("structgen.generation.aligned.beams.MAX_REFUSED", 1)
    steps, logits = [], PrefixReader.logits
    monkeypatch.setattr(PrefixReader, "logits", lambda self, paths: steps.append(paths) or logits(self, paths))
    for seed in range(8):
        found_by(ToyModel(seed), 5, max_new_tokens=4)
    assert steps and all(len(set(paths)) == len(paths) for paths in steps)


def test_more_beams_find_answers_that_are_no_less_likely():
    better = 0
    for seed in range(20):
        model = ToyModel(seed)
        truth = posterior(model, PROMPT, GRAMMAR)
        few, many = (truth[found_by(model, count).token_ids] for count in (2, 200))
        assert many >= few
        better += many > few
    assert better


def test_the_search_ends_at_once_when_nothing_can_be_better():
    model = ToyModel()
    grammar = Grammar.regex("a*")
    found = found_by(model, 2, grammar, max_new_tokens=400)
    truth = posterior(model, PROMPT, grammar, max_tokens=8)
    assert found.token_ids == max(truth, key=truth.get)
    assert found.usage.model_calls < 60


def test_a_validator_chooses_among_the_beams():
    model = ToyModel(5)
    truth = posterior(model, PROMPT, GRAMMAR)
    texts = {}
    for tokens, share in truth.items():
        text = b"".join(model.vocabulary.token_bytes(token) for token in tokens).decode()
        texts[text] = max(share, texts.get(text, 0.0))
    best, second = sorted(texts, key=texts.get, reverse=True)[:2]

    def refuse(text):
        if text == best:
            raise ValueError("no")

    assert found_by(model, 1000).text == best
    assert found_by(model, 1000, validate=refuse).text == second
    with pytest.raises(structgen.ValidationFailedError):
        found_by(model, 1, Grammar.regex("a1"), validate=lambda text: int("no"))


def test_an_answer_that_is_not_finished():
    with pytest.raises(structgen.IncompleteOutputError):
        found_by(ToyModel(), 3, Grammar.regex("a:1"), max_new_tokens=2, on_budget="error")


def test_values(tiny_model):
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
    values = structgen.batch(tiny_model, ["Go", "On"], schema, num_beams=3)
    assert all(type(value["a"]) is bool for value in values)
