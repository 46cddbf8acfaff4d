"""`trace`: the steps are those of the run, the page says so in a real browser, and nothing in it is markup."""

import html
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import Literal

import numpy as np
import pydantic
import pytest

import structgen
from structgen import cli
from structgen.diagnostics.trace import MIN_PROBABILITY, AllowedToken, RefusedToken, Step, Trace

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TEMPLATE = pathlib.Path(structgen.__file__).parent / "diagnostics" / "trace.html"


class Answer(pydantic.BaseModel):
    name: Literal["Ann", "Bob"]
    age: int = pydantic.Field(ge=0, le=120)


@pytest.fixture(scope="module")
def traced(tiny_model):
    return structgen.trace(tiny_model, "Ann is 34.", Answer, temperature=1.0, seed=4)


def test_the_steps_are_those_of_the_run(traced, tiny_model):
    generator = structgen.Generator(tiny_model, Answer, temperature=1.0, seed=4)
    result = generator.run("Ann is 34.")
    steps = [step for step in traced.steps if not step.is_end]
    assert tuple(step.token_id for step in steps) == result.token_ids
    assert traced.text == result.text
    assert traced.value == result.value.model_dump()
    assert (traced.prompt_tokens, traced.model_calls) == (result.usage.prompt_tokens, result.usage.model_calls)
    assert traced.error == ""
    assert traced.vocabulary_size == tiny_model.vocabulary.size
    assert str(len(traced.steps)) in traced.summary


def test_the_numbers_of_a_step_are_right(traced, tiny_model, tiny_hf_model):
    import torch

    ids = tiny_model.encode_prompt("Ann is 34.")
    matcher = structgen.compile(Answer, tiny_model.vocabulary, whitespace="single").matcher()
    for step in traced.steps:
        with torch.inference_mode():
            odds = torch.softmax(tiny_hf_model(torch.tensor([ids])).logits[0, -1].double(), dim=-1).numpy()
        allowed = matcher.allowed_token_ids()
        assert step.allowed_tokens == len(allowed)
        if step.probability is not None:
            assert step.probability == pytest.approx(odds[step.token_id], rel=1e-3)
            assert step.refused_mass == pytest.approx(1 - odds[allowed].sum(), abs=1e-4)
            assert step.masked_probability == pytest.approx(odds[step.token_id] / odds[allowed].sum(), rel=1e-3)
            best = [int(token) for token in np.argsort(-odds) if token not in allowed][:5]
            best = [token for token in best if odds[token] >= MIN_PROBABILITY]
            assert [wanted.token_id for wanted in step.wanted] == best
            shares = odds[allowed] / odds[allowed].sum()
            best = [int(index) for index in np.argsort(-shares)[:5] if shares[index] >= MIN_PROBABILITY]
            assert [other.token_id for other in step.alternatives] == [allowed[index] for index in best]
            assert [other.share for other in step.alternatives] == pytest.approx(shares[best], rel=1e-3)
        else:
            assert step.alternatives == ()
            assert step.forced
            assert step.wanted == ()
        for wanted in step.wanted:
            assert wanted.why == str(matcher.explain(wanted.token_id))
            assert wanted.rules == matcher.explain(wanted.token_id).rules
        if not step.is_end:
            matcher.accept_token(step.token_id)
            ids.append(step.token_id)


def test_places_lead_through_the_answer(traced):
    pointers = [step.pointer for step in traced.steps]
    assert {"", "/name", "/age"} == set(pointers)
    assert all(step.open_rules or step.is_end for step in traced.steps)


def test_it_is_json(traced):
    data = json.loads(traced.to_json())
    assert len(data["steps"]) == len(traced.steps)
    assert data["steps"][0]["token_id"] == traced.steps[0].token_id
    assert data["summary"] == traced.summary


def test_an_unfinished_run_is_traced_too(tiny_model):
    found = structgen.trace(tiny_model, "x", Answer, max_new_tokens=3, on_budget="error")
    assert found.error.startswith("IncompleteOutputError")
    assert (len(found.steps), found.value, found.model_calls) == (3, None, -1)
    assert found.text == "".join(step.text for step in found.steps)


def test_grammars_have_no_pointers(tiny_model):
    found = structgen.trace(tiny_model, "x", structgen.Grammar.kbnf('start ::= "yes" | "no";'), wanted=2)
    assert found.value == found.text
    assert found.schema.startswith("start")
    assert {step.pointer for step in found.steps} == {None}
    assert all(len(step.wanted) <= 2 for step in found.steps)
    assert found.steps[0].open_rules == ("start",)


def test_logits_that_are_not_finite(tiny_model, monkeypatch):
    class Session:
        def __init__(self, inner):
            self.inner, self.can_crop = inner, True
            self.crop = inner.crop

        def forward(self, token_ids, *, keep=1):
            logits = self.inner.forward(token_ids, keep=keep)
            logits[:, ::3], logits[:, 1::3] = math.nan, -math.inf
            logits[:, 5] = math.inf
            return logits

    session = tiny_model.session
    monkeypatch.setattr(tiny_model, "session", lambda: Session(session()))
    found = structgen.trace(tiny_model, "x", Literal["yes", "no"])
    json.loads(found.to_json())
    assert found.value in ("yes", "no")


def test_wrong_arguments(tiny_model):
    with pytest.raises(ValueError, match="wanted"):
        structgen.trace(tiny_model, "x", Answer, wanted=-1)
    with pytest.raises(ValueError, match="temperature"):
        structgen.trace(tiny_model, "x", Answer, temperature=-1)


def test_the_page_reads_members_that_a_step_has():
    script = TEMPLATE.read_text(encoding="utf-8").partition("<script>")[2]
    read = set(re.findall(r"\bstep\.([a-z_]+)", script))
    assert read - {"style"} <= set(Step.__dataclass_fields__)
    assert {"alternatives", "wanted", "rolled_back"} <= read


# -- the page ----------------------------------------------------------------------------------------------------------

NASTY = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    "<!--",
    "\u2028&amp;\"'`${1}",
    "\\x00\\ud83d",
    "{" + '"steps": []' + "}",
)


def step(text, **changes):
    wanted = RefusedToken(1, text, 0.25, text, (text,))
    allowed = AllowedToken(2, text, 0.5)
    made = Step(
        7, text, False, False, 0.5, 0.75, 0.25, 10, (allowed,), (wanted,), (text,), (text,), text, (text,), 0.01
    )
    return replace(made, **changes)


def page_of(steps):
    return Trace(NASTY[0], NASTY[1], NASTY[2], {"a": NASTY[0]}, tuple(steps), "".join(NASTY), NASTY, "", 3, 4, 5, 1.5)


def test_the_page_is_self_contained():
    text = page_of(map(step, NASTY)).to_html()
    assert not re.search(r"(?:https?:)?//[a-z]", text.split("<script>")[0])
    assert not re.search(r"\b(?:src|href|@import|url\()", TEMPLATE.read_text(encoding="utf-8"))
    assert "innerHTML" not in text
    # The data is JSON, and the only thing that could end its element is not in it.
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert [one["text"] for one in json.loads(data)["steps"]] == list(NASTY)
    assert json.loads(data)["steps"][0]["wanted"][0]["why"] == NASTY[0]


def dom(path, *, open_step=None):
    """The page as the browser has it after its script ran."""
    address = path.as_uri() + ("" if open_step is None else f"#step-{open_step}")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", address]
    return subprocess.run(command, check=True, capture_output=True, timeout=120).stdout.decode()


needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@needs_browser
def test_a_browser_shows_nasty_text_as_text(tmp_path):
    path = tmp_path / "trace.html"
    path.write_text(page_of(map(step, NASTY)).to_html(), encoding="utf-8")
    shown = dom(path, open_step=1)
    assert "<title>structgen trace</title>" in shown
    assert "<img" not in shown
    assert shown.count('<details class="step"') == len(NASTY)
    assert html.escape(NASTY[1], quote=False) in shown.split('id="steps"')[1]


@needs_browser
def test_a_browser_lays_out_a_long_run(tmp_path):
    path = tmp_path / "trace.html"
    steps = [step(f"word{n}", forced=n % 2 == 0, probability=None if n % 2 == 0 else 0.5) for n in range(500)]
    path.write_text(page_of(steps).to_html(), encoding="utf-8")
    shown = dom(path, open_step=499)
    assert shown.count('<details class="step"') == 500
    assert shown.count('class="inside"') == 1  # details are laid out when they are opened
    assert "250 (50 %)" in shown


@needs_browser
def test_a_browser_shows_a_real_run(smollm2, tmp_path):
    prompt = "Extract the person as JSON with name, age. Text: Ann is 34 years old."
    found = structgen.trace(smollm2, prompt, Answer)
    path = tmp_path / "trace.html"
    path.write_text(found.to_html(), encoding="utf-8")
    most = max(range(len(found.steps)), key=lambda index: len(found.steps[index].wanted))
    shown = dom(path, open_step=most)
    assert found.value["name"] in ("Ann", "Bob")
    assert shown.count('<details class="step"') == len(found.steps)
    assert "Most wanted, and refused" in shown
    assert html.escape(found.steps[most].wanted[0].why, quote=False) in shown
    assert html.escape(found.summary, quote=False) in shown
    assert sum(one.forced for one in found.steps) >= 5


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch, tiny_model):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr("structgen.models.loading.load", lambda name: tiny_model)
    (tmp_path / "answer.json").write_text(json.dumps(Answer.model_json_schema()))
    return tmp_path


def test_the_command_writes_a_page(folder, capsys):
    assert cli.main(["trace", "--schema", "answer.json", "Ann is 34."]) == 0
    out, err = capsys.readouterr()
    assert {"name", "age"} <= set(json.loads(out))
    assert "trace.html: " in err
    assert (folder / "trace.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_command_writes_data(folder, capsys):
    options = ["--out", "why.json", "--wanted", "1", "--temperature", "1", "--seed", "2"]
    assert cli.main(["trace", "--schema", "answer.json", *options, "Ann is 34."]) == 0
    data = json.loads((folder / "why.json").read_text(encoding="utf-8"))
    assert data["text"] == capsys.readouterr().out.strip()
    assert max(len(one["wanted"]) for one in data["steps"]) == 1


def test_the_command_tells_of_an_unfinished_run(folder, capsys):
    assert cli.main(["trace", "--schema", "answer.json", "--max-new-tokens", "2", "x"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "IncompleteOutputError" in err
    assert (folder / "trace.html").exists()


@pytest.mark.parametrize("options", [["--wanted", "-1"], ["--top-k", "0"], ["--out", "no/such/folder.html"]])
def test_wrong_command_lines(folder, capsys, options):
    assert cli.main(["trace", "--schema", "answer.json", *options, "x"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_lines_and_templates_are_traced(tiny_model):
    template = structgen.template("{yes}!", yes=bool)
    assert "yes" in structgen.trace(tiny_model, "x", template).schema
    lines = structgen.json_lines(bool, max_items=1)
    assert "JsonLines" in structgen.trace(tiny_model, "x", lines).schema
    found = structgen.trace(tiny_model, "x", bool, context={"x": float("nan"), "y": b"\xff"})
    assert found.value in (True, False)
    found.to_json()


def test_what_is_no_schema_is_named():
    for schema in (structgen.template("{yes}!", yes=bool), structgen.json_lines(bool)):
        with pytest.raises(structgen.UnsupportedSchemaError, match="check takes a schema or a grammar, not"):
            structgen.check(schema, "true")


def test_what_is_no_json_is_shown_in_short(tiny_model):
    """A run must not be lost when it has ended."""
    deep = []
    for _ in range(400):
        deep = [deep]
    for context in (deep, {"a": "\ud800"}):
        found = structgen.trace(tiny_model, "x", bool, context={"given": context})
        assert found.value in (True, False)
        found.to_json().encode()
