"""`map_file`: resumed after a kill, with nothing lost or done twice; the same on Ray."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Literal

import pytest
from pydantic import BaseModel, Field

import structgen
from structgen.mapping.files import MapSummary, map_file


class Person(BaseModel, extra="forbid"):
    name: str = Field(max_length=6)
    mood: Literal["good", "bad"]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "prompts.jsonl"
    rows = [f"text {n}" for n in range(6)]
    rows += [[{"role": "user", "content": "a message"}], {"id": "x", "prompt": "an object"}]
    write_lines(path, rows)
    return path


def test_each_row_has_its_value(tiny_model, prompts, tmp_path):
    out = tmp_path / "out.jsonl"
    options = {"temperature": 1.0, "seed": 5, "max_new_tokens": 200}
    summary = map_file(tiny_model, prompts, Person, out, batch_size=3, **options)
    assert summary == MapSummary(done=8, failed=0, skipped=0)
    rows = sorted(read_lines(out), key=lambda row: row["line"])
    assert [row["line"] for row in rows] == list(range(1, 9))
    assert rows[7]["id"] == "x" and "id" not in rows[0]
    expected = structgen.generate(tiny_model, "text 0", Person, temperature=1.0, seed=6, max_new_tokens=200)
    assert rows[0]["value"] == expected.model_dump()
    before = out.read_bytes()
    assert map_file(tiny_model, prompts, Person, out, **options) == MapSummary(done=8, failed=0, skipped=8)
    assert out.read_bytes() == before


def test_it_goes_on_behind_a_line_that_was_cut_off(tiny_model, prompts, tmp_path):
    out = tmp_path / "out.jsonl"
    map_file(tiny_model, prompts, Person, out, max_new_tokens=200)
    whole = out.read_bytes()
    lines = whole.splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:3]) + lines[3][:-9])
    summary = map_file(tiny_model, prompts, Person, out, max_new_tokens=200)
    assert summary == MapSummary(done=8, failed=0, skipped=3)
    assert sorted(out.read_bytes().splitlines()) == sorted(whole.splitlines())


def test_rows_that_fail_say_why(tiny_model, tmp_path):
    prompts, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    prompts.write_text('"fine"\n\nno json\n{"text": "x"}\n17\n' + json.dumps("hello " * 1500) + "\n")
    refused = {"validate": lambda value: (_ for _ in ()).throw(ValueError("never")), "max_new_tokens": 200}
    summary = map_file(tiny_model, prompts, Person, out, **refused)
    assert summary == MapSummary(done=0, failed=5, skipped=0)
    errors = {row["line"]: row for row in read_lines(tmp_path / "out.failed.jsonl")}
    assert errors[1]["error"] == "ValidationFailedError" and len(errors[1]["attempts"]) == 1
    assert (
        "not JSON" in errors[3]["message"] and "'prompt'" in errors[4]["message"] and errors[5]["error"] == "ValueError"
    )
    assert errors[6]["error"] == "GenerationError" and "context" in errors[6]["message"]
    assert map_file(tiny_model, prompts, Person, out, **refused).skipped == 5
    again = map_file(tiny_model, prompts, Person, out, retry_failed=True, field="text", max_new_tokens=200)
    assert again == MapSummary(done=2, failed=3, skipped=0)


def test_what_breaks_the_machine_is_no_row_of_its_own(tiny_model, prompts, tmp_path):
    def broken(value):
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        map_file(tiny_model, prompts, Person, tmp_path / "out.jsonl", validate=broken, max_new_tokens=200)
    assert not (tmp_path / "out.failed.jsonl").read_bytes()


def test_two_runs_do_not_write_to_one_file(tiny_model, prompts, tmp_path):
    out = tmp_path / "out.jsonl"

    def second(value):
        map_file(tiny_model, prompts, Person, out)

    with pytest.raises(OSError, match="another run"):
        map_file(tiny_model, prompts, Person, out, validate=second, max_new_tokens=200)


def test_a_file_of_something_else_is_left_alone(tiny_model, prompts, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("my notes\n")
    with pytest.raises(OSError, match="not written by map_file"):
        map_file(tiny_model, prompts, Person, out)
    assert out.read_text() == "my notes\n"


def test_answers_of_another_job_are_not_mixed(tiny_model, prompts, tmp_path):
    """The schema, the model and the options must be those of the run that began; all that there was stays."""
    out = tmp_path / "out.jsonl"
    options = {"max_new_tokens": 200, "context": object(), "examples": [("x", Person(name="A", mood="bad"))]}
    map_file(tiny_model, prompts, Person, out, **options)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert "out.job.json" in before
    with pytest.raises(ValueError, match=r"changed: the schema\. .*delete only .*out\.job\.json"):
        map_file(tiny_model, prompts, {"type": "boolean"}, out, **options)
    with pytest.raises(ValueError, match=r"changed: max_new_tokens \(100, was 200\), system \('x', was None"):
        map_file(tiny_model, prompts, Person, out, **options | {"max_new_tokens": 100, "system": "x"})
    with pytest.raises(ValueError, match="changed: examples"):
        map_file(tiny_model, prompts, Person, out, **options | {"examples": ()})
    with pytest.raises(ValueError, match="changed: the model"):
        map_file(structgen.from_logits(print, tiny_model.tokenizer), prompts, Person, out, **options)
    with pytest.raises(ValueError, match="changed: the schema"):  # retries may have other options, and nothing else
        map_file(tiny_model, prompts, {"type": "boolean"}, out, retry_failed=True, **options)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    (tmp_path / "out.job.json").unlink()
    assert map_file(tiny_model, prompts, Person, out).skipped == 8


def test_prompts_may_be_added_and_not_changed(tiny_model, prompts, tmp_path):
    out = tmp_path / "out.jsonl"
    prompts.write_text(prompts.read_text() + "no json")
    assert map_file(tiny_model, prompts, Person, out, max_new_tokens=200) == MapSummary(done=8, failed=1, skipped=0)
    prompts.write_text(prompts.read_text() + '\n"added"\n')
    assert map_file(tiny_model, prompts, Person, out, max_new_tokens=200) == MapSummary(done=9, failed=1, skipped=9)
    prompts.write_text(prompts.read_text().replace("no json", '"mended"'))
    with pytest.raises(ValueError, match=r"line 9 of .* has changed"):
        map_file(tiny_model, prompts, Person, out, max_new_tokens=200)
    again = map_file(tiny_model, prompts, Person, out, max_new_tokens=200, retry_failed=True)
    assert again == MapSummary(done=10, failed=0, skipped=9)
    prompts.write_text(prompts.read_text().replace("text 3", "other"))
    for retry_failed in (False, True):
        with pytest.raises(ValueError, match=r"line 4 of .* has changed"):
            map_file(tiny_model, prompts, Person, out, max_new_tokens=200, retry_failed=retry_failed)


KILLED = """
import sys, time
sys.path.insert(0, {folder!r})
import numpy as np
import structgen
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.mapping.files import map_file

class Slow:
    vocabulary = Vocabulary.from_bytes({{i: bytes([i]) for i in range(256)}}, eos_token_ids=[256])
    context_tokens = chat_template = None
    encode_prompt = lambda self, prompt, **more: list(prompt.encode())
    encode_text = lambda self, text: list(text.encode())
    session = lambda self: Session()

class Session:
    can_crop = False
    def forward(self, token_ids, *, keep=1):
        time.sleep(0.02)
        return np.random.default_rng(len(token_ids)).normal(size=(keep, 257)).astype(np.float32)

map_file(Slow(), {prompts!r}, {{"enum": [12, 345, 6789]}}, {out!r}, batch_size=2, temperature=1.0)
"""


def test_a_killed_run_is_resumed(tmp_path):
    prompts, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write_lines(prompts, [f"row {n}" for n in range(25)])
    script = KILLED.format(folder=os.getcwd(), prompts=str(prompts), out=str(out))
    before = kills = 0
    for _ in range(40):
        process = subprocess.Popen([sys.executable, "-c", script])
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if out.exists() and out.read_bytes().count(b"\n") > before + 4:
                process.send_signal(signal.SIGKILL)
                process.wait()
            time.sleep(0.005)
        assert process.wait() in (0, -signal.SIGKILL)
        after = out.read_bytes().count(b"\n")
        assert after > before or after == 25
        before = after
        kills += process.returncode != 0
        if process.returncode == 0:
            break
    assert process.returncode == 0 and kills > 2
    assert sorted(row["line"] for row in read_lines(out)) == list(range(1, 26))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # Ray's own settings warn of themselves
def test_the_same_on_ray(tiny_hf_model, tiny_tokenizer, prompts, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    from structgen.mapping.ray import map_file_on_ray

    folder = tmp_path / "model"
    tiny_hf_model.save_pretrained(folder)
    tiny_tokenizer.save_pretrained(folder)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # would write a token into the home folder
    schema = Person.model_json_schema()
    temporary = tempfile.mkdtemp(prefix="ray")  # sockets have short names only
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _temp_dir=temporary)
    try:
        summary = map_file_on_ray(
            lambda: structgen.load(str(folder)), prompts, lambda: schema, tmp_path / "ray.jsonl", actors=1,
            batch_size=2, temperature=1.0, seed=5, max_new_tokens=200,
        )  # fmt: skip
    finally:
        ray.shutdown()
        shutil.rmtree(temporary, ignore_errors=True)
    assert summary == MapSummary(done=8, failed=0, skipped=0)
    model = structgen.load(str(folder))
    map_file(model, prompts, schema, tmp_path / "here.jsonl", temperature=1.0, seed=5, max_new_tokens=200)
    by_line = [sorted(map(str, read_lines(tmp_path / name))) for name in ("ray.jsonl", "here.jsonl")]
    assert by_line[0] == by_line[1]


@pytest.mark.parametrize("text", [b"my notes", b"my notes\nand more", b'{"mine": 1}\n'])
def test_files_that_no_run_has_written_are_left_alone(tiny_model, prompts, tmp_path, text):
    mine = tmp_path / "mine.txt"
    mine.write_bytes(text)
    for files in ({"out": mine}, {"out": tmp_path / "out.jsonl", "failed": mine, "retry_failed": True}):
        with pytest.raises(OSError, match="not written by map_file"):
            map_file(tiny_model, prompts, bool, **files)
        assert mine.read_bytes() == text


def test_prompts_values_and_failed_rows_are_three_files(tiny_model, prompts, tmp_path):
    before = prompts.read_bytes()
    with pytest.raises(ValueError, match="three different files"):
        map_file(tiny_model, prompts, bool, prompts)
    with pytest.raises(ValueError, match="three different files"):
        map_file(tiny_model, prompts, bool, tmp_path / "out.jsonl", failed=tmp_path / "out.jsonl")
    assert prompts.read_bytes() == before


def test_a_row_that_cannot_be_read_or_written_ends_no_other(tiny_model, tmp_path):
    path, out = tmp_path / "prompts.jsonl", tmp_path / "out.jsonl"
    path.write_text('{"id": "\\ud800", "prompt": "a"}\n' + "[" * 100_000 + '\n"b"\n')
    choice = structgen.Grammar.choice({"yes": object(), "no": object()})
    assert map_file(tiny_model, path, choice, out) == MapSummary(done=2, failed=1, skipped=0)
    assert {row["line"]: row.get("id") for row in read_lines(out)} == {1: "\ud800", 3: None}
