"""vLLM in one process, with both of its model runners where the machine has what they need."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

RUNNERS = [
    (),
    pytest.param(
        ("v2",),
        marks=pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="runner V2 needs triton"),
    ),
]


@pytest.fixture
def run(model, release_folder):
    from support.vllm_release.server import ENVIRONMENT

    def run(name, *more):
        command = [sys.executable, str(release_folder / "engine.py"), model, name, *more]
        environment = {**os.environ, **ENVIRONMENT, "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        assert lines, done.stderr[-3000:]
        result = json.loads(lines[-1].removeprefix("RESULT "))
        assert not result.get("invalid"), result
        assert not result.get("failed"), result
        return result

    return run


@pytest.mark.parametrize("runner", RUNNERS)
def test_every_kind_of_request(run, runner):
    result = run("backend", "1" if runner else "3", *runner)
    assert result["ended"] >= (0.6 if runner else 0.9) * result["answers"]


@pytest.mark.parametrize("runner", RUNNERS)
def test_the_logits_processor(run, runner):
    result = run("processor", "1" if runner else "3", *runner)
    assert result["ended"] >= (0.6 if runner else 0.9) * result["answers"]
    texts = [text for text, _ in result["contradictions"]]
    assert texts == ["", "abc", "abc", "abc"]


def test_contradictions_and_an_attack(run):
    result = run("contradictions", "2")
    assert result["contradictions"] == [["", "error"], ["abc", "stop"], ["abc", "length"], ["abc", "stop"]]
    assert result["attack"] == ["", "error"]
    assert result["ended"] >= 0.9 * result["answers"]


def test_draft_tokens(run):
    result = run("speculation", "4")
    assert result["drafts"] > 0
    assert result["accepted"] > 0


def test_preemption(run):
    assert run("preemption", "6")["preemptions"] > 0


def test_beams(run):
    result = run("beams", "6")
    assert result["ended"] >= 6
    assert len(result["refused"]) == 2
    assert "#/properties/a" in result["refused"][0]
