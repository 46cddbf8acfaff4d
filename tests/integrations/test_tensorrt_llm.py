"""The logits processors for TensorRT-LLM, called as it calls them. TensorRT-LLM itself does not run here."""

from __future__ import annotations

import inspect

import pytest

import structgen
from structgen.integrations import tensorrt_llm
from structgen.integrations.tensorrt_llm import BatchedGrammarLogitsProcessor, GrammarLogitsProcessor

torch = pytest.importorskip("torch")


@pytest.fixture
def constraint():
    vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256])
    return structgen.compile(structgen.Grammar.regex("ab|a[cd]{2}"), vocabulary)


def allowed(logits):
    """The bytes that each row allows; 255 stands for the end token."""
    rows = logits.view(-1, logits.shape[-1])
    return [bytes(torch.nonzero(row.isfinite()).flatten().clamp(max=255).tolist()) for row in rows]


def test_the_signatures():
    """Those of `tensorrt_llm.sampling_params` in release 1.2."""
    names = list(inspect.signature(GrammarLogitsProcessor.__call__).parameters)
    assert names == ["self", "req_id", "logits", "token_ids", "stream_ptr", "client_id"]
    names = list(inspect.signature(BatchedGrammarLogitsProcessor.__call__).parameters)
    assert names == ["self", "req_ids", "logits", "token_ids", "stream_ptr", "client_ids"]


def test_requests_share_a_processor(constraint):
    process = GrammarLogitsProcessor(constraint)
    texts = {1: b"prompt ", 2: b"another "}
    steps = (
        (1, b"", b"a"),
        (2, b"", b"a"),
        (2, b"a", b"bcd"),
        (1, b"a", b"bcd"),
        (1, b"ad", b"cd"),
        (2, b"ac", b"cd"),
        (1, b"ab", b"\xff"),
    )
    for request, text, wanted in steps:
        logits = torch.zeros(1, 1, 300)
        process(request, logits, [list(texts[request] + text)], None, None)
        assert allowed(logits) == [wanted]


def test_beams(constraint):
    process = GrammarLogitsProcessor(constraint)
    steps = (([b"", b""], [b"a", b"a"]), ([b"a", b"a"], [b"bcd", b"bcd"]), ([b"ac", b"ab"], [b"cd", b"\xff"]))
    for texts, wanted in steps:
        logits = torch.zeros(2, 300)
        process(7, logits, [list(b"prompt" + text) for text in texts], None, 3)
        assert allowed(logits) == wanted


def test_batches(constraint):
    process = BatchedGrammarLogitsProcessor({5: constraint}.get)
    logits = [torch.zeros(1, 1, 300) for _ in range(2)]
    process([1, 2], logits, [[[1, 2]], [[1, 2, 3]]], None, [5, None])
    assert allowed(logits[0]) == [b"a"]
    assert (logits[1] == 0).all()


def test_a_request_that_cannot_be_masked_ends(constraint, caplog):
    process = GrammarLogitsProcessor(constraint)
    logits = torch.zeros(1, 257 * 100)  # those of another model
    process(1, logits, [[1]], None, None)
    assert torch.nonzero(logits[0].isfinite()).flatten().tolist() == [256]
    assert "request 1 cannot be masked" in caplog.text


def test_old_requests_are_dropped(constraint, monkeypatch):
    monkeypatch.setattr(tensorrt_llm, "MAX_REQUESTS", 2)
    process = GrammarLogitsProcessor(constraint)
    for request in (1, 2, 1, 3, 1):
        process(request, torch.zeros(1, 300), [[1]], None, None)
    assert list(process._requests._states) == [3, 1]
