"""One sequence inside a server: a fault ends it, and raises nothing."""

from __future__ import annotations

import numpy as np
import pytest

import structgen
from structgen import Limits, Vocabulary
from structgen.integrations.serving.compiling import RequestCompiler, check
from structgen.integrations.serving.sequence import ServedSequence
from structgen.integrations.serving.settings import ServerSettings

# Intersected patterns, of which a mask takes seconds.
BOMB = "start: T\nT: " + " & ".join(f"/(?s:.)*{letter}(?s:.){{{20 + at}}}/" for at, letter in enumerate("abcdefgh"))


@pytest.fixture
def vocabulary():
    return Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256, 257])


def sequence_of(schema, vocabulary, **limits):
    constraint = structgen.compile(schema, vocabulary, cache=False, limits=Limits(**limits))
    return ServedSequence(constraint.matcher(), vocabulary)


def allowed(sequence):
    mask = structgen.allocate_token_bitmask(2, 258)
    sequence.fill(mask, 1)
    return np.flatnonzero(np.unpackbits(mask[1].view(np.uint8), bitorder="little")).tolist()


def test_a_mask_past_its_limit_allows_the_end_only(vocabulary, caplog):
    sequence = sequence_of(structgen.Grammar.lark(BOMB), vocabulary, mask_seconds=0.01)
    assert allowed(sequence) == [256, 257]
    assert isinstance(sequence.error, structgen.LimitExceededError)
    assert "the request ends" in caplog.text
    # Whatever the model writes then is refused: the engine ends the request with an error.
    assert not sequence.accept(256)
    assert not sequence.accept(ord("a"))
    assert sequence.accepted_prefix([256]) == []
    assert not sequence.has_ended
    assert not sequence.fork().accept(256)


class Failing:
    """A matcher whose masks fail at some counts of tokens."""

    def __init__(self, matcher, fails_at):
        self.matcher, self.fails_at, self.count = matcher, fails_at, 0

    def __getattr__(self, name):
        return getattr(self.matcher, name)

    def fill_next_token_bitmask(self, mask, row):
        if self.count in self.fails_at:
            raise MemoryError
        self.matcher.fill_next_token_bitmask(mask, row)

    def accept_token(self, token):
        self.matcher.accept_token(token)
        self.count += 1

    def rollback(self, count):
        self.matcher.rollback(count)
        self.count -= count


def test_a_fault_after_drafts_that_were_refused_is_forgotten(vocabulary):
    matcher = Failing(structgen.compile(structgen.Grammar.regex("a*b*"), vocabulary).matcher(), {2})
    sequence = ServedSequence(matcher, vocabulary)
    assert sequence.accept_all(b"aa")  # drafts
    assert allowed(sequence) == [256, 257]
    assert not sequence.accept(ord("b"))
    sequence.rollback(2)
    assert sequence.accept_all(b"ab")
    matcher.fails_at = set()
    assert allowed(sequence) == [ord("b"), 256, 257]
    assert sequence.accept_all([ord("b"), 256])
    assert sequence.has_ended


def test_a_fault_of_an_accepted_token_ends_the_sequence(vocabulary):
    matcher = Failing(structgen.compile(structgen.Grammar.regex("a*"), vocabulary).matcher(), set())
    sequence = ServedSequence(matcher, vocabulary)

    def accept_token(token):
        raise MemoryError

    matcher.accept_token = accept_token
    assert not sequence.accept(ord("a"))
    assert isinstance(sequence.error, MemoryError)


def test_many_slow_masks_end_the_sequence(vocabulary, monkeypatch):
    from structgen.integrations.serving import sequence as module

    seconds = iter([0.0, 0.01, 0.0, 0.6, 0.0, 0.6])  # when a mask begins and ends
    monkeypatch.setattr(module.time, "thread_time", lambda: next(seconds))
    matcher = structgen.compile(structgen.Grammar.regex("a*"), vocabulary).matcher()
    sequence = ServedSequence(matcher, vocabulary, slow_masks_seconds=1.0)
    for wanted in ([97, 256, 257], [97, 256, 257], [256, 257]):
        assert allowed(sequence) == wanted
    assert not sequence.accept(256)
    assert "STRUCTGEN_SLOW_MASKS_SECONDS" in str(sequence.error)


def test_an_end_token_inside_a_text_does_not_end_it():
    vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"b"}, eos_token_ids=[2], special_tokens={"<turn>": 2})
    sequence = sequence_of(structgen.Grammar.lark('start: "a" <turn> "b"'), vocabulary)
    assert sequence.accept_all([0, 2])
    assert not sequence.has_ended
    assert sequence.accept_all([1, 2])
    assert sequence.has_ended


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("grammar", BOMB),
        ("json", {"allOf": [{"anyOf": [{"required": [f"{i}{j}"]} for j in range(9)]} for i in range(30)]}),
        ("regex", "(a|b)*a(a|b){400}"),
        ("choice", [f"word{number}" for number in range(50_000)]),
    ],
)
def test_an_attack_takes_no_longer_than_its_deadline(kind, given, vocabulary):
    """Its check passes it or refuses it; its compile does, too. Nothing else is raised."""
    settings = ServerSettings(limits=Limits(compile_seconds=0.2, mask_seconds=0.05), check_seconds=0.05)
    try:
        check(kind, given, settings)
    except structgen.StructgenError as error:
        assert getattr(error, "limit", "") != "compile_seconds"
    try:
        made = RequestCompiler(Bytes(), 258, [256], settings).sequence(kind, given)
    except structgen.StructgenError:
        return
    assert allowed(made)


class Bytes:
    """Stands for a tokenizer; `Vocabulary.from_huggingface` is replaced below."""


@pytest.fixture(autouse=True)
def bytes_as_tokenizer(monkeypatch, vocabulary):
    real = Vocabulary.from_huggingface

    def from_huggingface(tokenizer, vocab_size=None, *, eos_token_ids=None):
        return vocabulary if isinstance(tokenizer, Bytes) else real(tokenizer, vocab_size, eos_token_ids=eos_token_ids)

    monkeypatch.setattr(Vocabulary, "from_huggingface", from_huggingface)


def test_tokens_in_a_request_are_looked_up_when_it_is_compiled():
    check("grammar", 'start: "a" <no_such_token>', ServerSettings())
    with pytest.raises(structgen.StructgenError, match="no_such_token"):
        RequestCompiler(Bytes(), 258, [256], ServerSettings()).sequence("grammar", 'start: "a" <no_such_token>')
