"""Runs under llguidance's Lark: captures of results, and the temperature of rules."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import structgen
from structgen import Grammar
from structgen.generation import settings
from structgen.generation.sampling import Sampler


@pytest.fixture
def scripted(tiny_tokenizer):
    """Return a function that makes a model which writes a text where it may."""
    tiny_tokenizer = copy.deepcopy(tiny_tokenizer)
    tiny_tokenizer.add_tokens(["<|lark|>"])  # or other tests' tokenizers would share its vocabulary

    def make(text):
        wanted = tiny_tokenizer.encode(text, add_special_tokens=False)
        prompt = len(tiny_tokenizer.encode("Go"))

        def next_logits(ids):
            logits = np.zeros(len(tiny_tokenizer), np.float32)
            at = len(ids) - prompt
            logits[wanted[at] if at < len(wanted) else tiny_tokenizer.eos_token_id] = 100
            return logits

        return structgen.from_logits(next_logits, tiny_tokenizer)

    return make


def test_a_result_has_the_captures_of_its_text(scripted):
    grammar = Grammar.lark('start: name ", " age\nname[capture, suffix=";"]: /[a-z]*/\nage[capture]: %json true')
    found = structgen.Generator(scripted("ann;, 12"), grammar, raw=True).run("Go")
    assert found.text.startswith("ann;, ")
    assert found.captures == {"name": "ann", "age": found.text.removeprefix("ann;, ")}


def test_other_results_have_no_captures(scripted):
    assert structgen.Generator(scripted("ab"), Grammar.regex("[ab]+"), raw=True).run("Go").captures == {}


@pytest.mark.parametrize("tokenization", ["any", "proper"])
def test_the_sampler_is_told_the_temperature_of_a_rule(scripted, monkeypatch, tokenization):
    told = []

    class Listening(Sampler):
        def sample(self, logits, mask, temperature=None, few=None):
            told.append(temperature)
            return super().sample(logits, mask, 0.0, few)

    monkeypatch.setattr(settings, "Sampler", Listening)
    grammar = Grammar.lark('start: /[a-z]+/ ";" y ";" /[a-z]+/\ny[temperature=0.5]: /[0-9]+/')
    found = structgen.Generator(scripted("no;12;no"), grammar, raw=True, tokenization=tokenization).run("Go")
    assert found.text == "no;12;no"
    assert set(told) == {None, 0.5}
    assert told[0] is None
    assert told[-1] is None


def test_a_temperature_in_place_of_the_samplers_own():
    logits = np.array([2.0, 1.9, 0.0], np.float32)
    mask = np.array([7], np.uint32)
    greedy, free = Sampler(), Sampler(temperature=1.0, top_k=2, seed=3)
    assert {greedy.sample(logits, mask) for _ in range(50)} == {0}
    assert {greedy.sample(logits, mask, 1.0) for _ in range(50)} >= {0, 1}
    assert {free.sample(logits, mask, 0.0) for _ in range(50)} == {0}
    assert {free.sample(logits, mask) for _ in range(50)} == {0, 1}


@pytest.mark.parametrize("on_budget", ["finish", "error"])
def test_a_bound_on_tokens_ends_a_rule(scripted, tiny_tokenizer, on_budget):
    words = "one two three four five six"
    grammar = Grammar.lark('start: x ";" /[0-9]/\nx[capture, max_tokens=3, temperature=0]: /[a-z ]*/')
    model = scripted(words + ";1")
    found = structgen.Generator(model, grammar, raw=True, on_budget=on_budget, max_new_tokens=20).run("Go")
    ids = tiny_tokenizer.encode(words, add_special_tokens=False)[:3]
    assert found.captures == {"x": tiny_tokenizer.decode(ids)}
    assert found.text[:-1] == tiny_tokenizer.decode(ids) + ";"


def test_text_after_a_bound_is_not_forced_ahead(scripted):
    grammar = Grammar.lark('start: x "bcdefg"\nx[max_tokens=1]: /a{0,20}/')
    assert structgen.Generator(scripted("aaaabcdefg"), grammar, raw=True).run("Go").text.endswith("bcdefg")
