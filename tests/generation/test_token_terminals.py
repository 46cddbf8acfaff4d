"""Runs under grammars with token terminals: texts, forced tokens, end tokens between turns, stop texts, traces."""

from __future__ import annotations

import numpy as np
import pytest

import structgen
from structgen import Grammar


@pytest.fixture
def scripted(tiny_tokenizer):
    """Return a function that makes a model which writes a script of tokens where it may, and else the others.

    The script is a list of texts and names of special tokens.
    """

    def make(*script):
        def ids_of(part):
            if part in tiny_tokenizer.all_special_tokens or part.startswith("<|"):
                return [tiny_tokenizer.convert_tokens_to_ids(part)]
            return tiny_tokenizer.encode(part, add_special_tokens=False)

        wanted = [token for part in script for token in ids_of(part)]
        prompt = len(tiny_tokenizer.encode("Go"))

        def next_logits(ids):
            logits = np.zeros(len(tiny_tokenizer), np.float32)
            at = len(ids) - prompt
            if at < len(wanted):
                logits[wanted[at]] = 100
            return logits

        return structgen.from_logits(next_logits, tiny_tokenizer)

    return make


TURNS = 'start ::= turn+; turn ::= #token"<|user|>" #"[a-z ]+" #token"<|end|>";'


def test_marks_are_in_the_text(scripted):
    model = scripted("<|assistant|>", "yes", "<|user|>", "no", "<|end|>")
    grammar = Grammar.kbnf('start ::= #token"<|assistant|>" #"[a-z]+" #token"<|user|>" #"[a-z]+";', eager=False)
    found = structgen.Generator(model, grammar, raw=True).run("Go")
    assert found.text == found.value == "<|assistant|>yes<|user|>no"
    assert found.finish_reason == "stop"


def test_forced_tokens_cost_no_pass(scripted):
    grammar = Grammar.kbnf('start ::= "yes" #token"<|user|>" "no" #token"<|assistant|>" ("a" | "b");', eager=False)
    model = scripted("yes", "<|user|>", "no", "<|assistant|>", "b")
    found = structgen.Generator(model, grammar, raw=True).run("Go")
    assert found.text == "yes<|user|>no<|assistant|>b"
    assert found.usage.model_calls == 1
    ids = model.vocabulary.special_tokens
    assert [t for t in found.token_ids if t in ids.values()] == [ids["<|user|>"], ids["<|assistant|>"]]


def test_an_end_token_between_turns_goes_on(scripted):
    model = scripted("<|user|>", "no", "<|end|>", "<|user|>", "yes", "<|end|>", "<|end|>")
    found = structgen.Generator(model, Grammar.kbnf(TURNS, eager=False), raw=True).run("Go")
    assert found.text == "<|user|>no<|end|><|user|>yes<|end|>"


def test_where_the_text_may_end_an_end_token_ends_it(scripted):
    model = scripted("a", "<|end|>", "b")
    grammar = Grammar.kbnf('start ::= "a" (#token"<|end|>" "b")?;', eager=False)
    assert structgen.generate(model, "Go", grammar, raw=True) == "a"


def test_a_stop_text_may_be_the_name_of_a_token(scripted):
    model = scripted("a", "<|user|>", "a", "<|user|>", "a")
    grammar = Grammar.kbnf('start ::= ("a" #token"<|user|>")+;', eager=False)
    assert structgen.generate(model, "Go", grammar, raw=True, stop="<|user|>") == "a<|user|>"
    assert structgen.generate(model, "Go", grammar, raw=True, stop="<|us", max_new_tokens=4) == "a<|user|>a<|user|>"


def test_streams_show_marks(scripted):
    model = scripted("yes", "<|user|>", "no", "<|end|>")
    grammar = Grammar.kbnf('start ::= #"[a-z]+" #token"<|user|>" #"[a-z]+";', eager=False)
    with structgen.stream(model, "Go", grammar, raw=True) as stream:
        shown = list(stream)
        assert shown[-1] == stream.final() == "yes<|user|>no"


def test_a_batch(scripted):
    grammar = Grammar.kbnf(TURNS, eager=False)
    model = scripted("<|user|>", "no", "<|end|>", "<|end|>")
    assert structgen.batch(model, ["Go", "Go"], grammar, raw=True) == ["<|user|>no<|end|>"] * 2


def test_a_trace_shows_marks(scripted):
    model = scripted("<|user|>", "no", "<|end|>", "<|end|>")
    found = structgen.trace(model, "Go", Grammar.kbnf(TURNS, eager=False), raw=True)
    assert found.text == "<|user|>no<|end|>"
    texts = [step.text for step in found.steps]
    assert (texts[0], "".join(texts[1:-2]), texts[-2:]) == ("<|user|>", "no", ["<|end|>", ""])
    assert found.steps[0].expected == ('the token "<|user|>" (turn)',)
    assert [step.is_end for step in found.steps][-2:] == [False, True]


def test_the_logits_processor_goes_on_after_an_end_token(scripted):
    model = scripted("x")
    constraint = structgen.compile(Grammar.kbnf(TURNS, eager=False), model.vocabulary)
    processor = constraint.logits_processor()
    special = model.vocabulary.special_tokens
    user, end = special["<|user|>"], special["<|end|>"]
    letter = next(t for t, text in enumerate(model.vocabulary.spellings) if text == b"a")

    def allowed(*ids):
        scores = processor(np.array([5, *ids], np.int32), np.zeros(model.vocabulary.size, np.float32))
        return set(np.flatnonzero(scores == 0).tolist())

    assert allowed() == {user}
    assert letter in allowed(user)
    assert end in allowed(user, letter)
    assert allowed(user, letter, end) == {user, end}
    assert end not in allowed(user, letter, end, user)
    assert end in allowed(user, letter, end, user, letter)
