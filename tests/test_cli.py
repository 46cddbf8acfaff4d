"""The command: what goes to stdout and stderr, exit codes, help."""

import io
import json
import pathlib
import subprocess
import sys

import pytest

import structgen
from structgen import cli

SCHEMA = {
    "type": "object",
    "properties": {"name": {"enum": ["Ann", "Bob"]}, "age": {"type": "integer", "minimum": 0, "maximum": 120}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
MODULE = """
import typing, pydantic
class Person(pydantic.BaseModel):
    name: typing.Literal["Ann", "Bob"]
    age: int = pydantic.Field(ge=0, le=120)
class Outer:
    Answer = typing.Literal["yes", "no"]
class Free(pydantic.BaseModel):
    text: str
class Odd(pydantic.BaseModel):
    age: int = pydantic.Field(ge=0, le=9)
    @pydantic.field_validator("age")
    @classmethod
    def refuse(cls, value): raise ValueError("never good")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "person.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "cli_models.py").write_text(MODULE)
    (tmp_path / "cli_broken.py").write_text("class")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    sys.modules.pop("cli_models", None)


@pytest.fixture
def tiny(monkeypatch, tiny_model):
    monkeypatch.setattr("structgen.models.loading.load", lambda name: tiny_model)


@pytest.mark.parametrize("schema", ["person.json", json.dumps(SCHEMA), "cli_models:Person"])
def test_generate_prints_json_and_nothing_else(folder, tiny, capsys, schema):
    assert cli.main(["generate", "--schema", schema, "Ann is 34."]) == 0
    out, err = capsys.readouterr()
    assert set(json.loads(out)) == {"name", "age"}
    assert out.count("\n") == 1
    assert "tokens" in err


def test_generate_takes_options_and_stdin(folder, tiny, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("Ann is 34."))
    options = ["--temperature", "1", "--top-p", "0.9", "--top-k", "5", "--seed", "1", "--whitespace", "compact"]
    assert cli.main(["generate", "--schema", "cli_models:Outer.Answer", *options, "-"]) == 0
    assert json.loads(capsys.readouterr().out) in ("yes", "no")


def test_export(folder, capsys):
    assert cli.main(["export", "--to", "kbnf", "cli_models:Person"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    structgen.Grammar.kbnf(out)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["generate", "--schema", "missing.json", "x"], "missing.json"),
        (["generate", "--schema", "cli_models.py", "x"], "not JSON"),
        (["generate", "--schema", '{"type": ', "x"], "not JSON"),
        (["generate", "--schema", "nowhere:Model", "x"], "nowhere"),
        (["generate", "--schema", "cli_broken:Model", "x"], "cli_broken"),
        (["generate", "--schema", "cli_models:Nobody", "x"], "Nobody"),
        (["generate", "--schema", ":", "x"], "cannot import"),
        (["generate", "--schema", "person.json", "--temperature", "-1", "x"], "temperature"),
        (["generate", "--schema", "person.json", "--top-p", "0.5", "x"], "temperature"),
        (["export", "--to", "kbnf", "."], "cannot read"),
    ],
)
def test_wrong_command_lines_exit_with_two(folder, tiny, capsys, arguments, says):
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert "Traceback" not in err


def test_refused_schemas_exit_with_one(folder, tiny, capsys):
    (folder / "bad.json").write_text('{"type": "object", "properties": {"a": {"type": "colour"}}}')
    assert cli.main(["export", "--to", "kbnf", "bad.json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "#/properties/a" in err
    assert "Traceback" not in err


def test_an_unfinished_answer_exits_with_one(folder, tiny, capsys):
    assert cli.main(["generate", "--schema", "cli_models:Free", "--max-new-tokens", "3", "x"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "IncompleteOutputError" in err
    assert "What was complete: {}" in err


def test_a_refused_answer_exits_with_one(folder, tiny, capsys):
    assert cli.main(["generate", "--schema", "cli_models:Odd", "x"]) == 1
    assert "never good" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["generate", "--help"], ["export", "--help"], ["demo", "--help"]])
def test_help(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 0
    assert "usage: structgen" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["dance"], ["generate", "x"], ["export", "--to", "xml", "person.json"]])
def test_usage_errors_exit_with_two(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().out == ""


def test_a_module_of_the_working_folder_is_found(folder):
    """The installed command does not have the working folder on its path, as `python -m` does."""
    root = str(pathlib.Path(structgen.__file__).parents[1])
    code = f"import sys; sys.path[0] = {root!r}; from structgen.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "export", "--to", "kbnf", "cli_models:Person"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)
    assert run.returncode == 0, run.stderr
    assert "::=" in run.stdout


def test_the_demo_prints_three_instances(tiny, capsys):
    assert cli.main(["demo"]) in (0, 1)  # random weights may not finish a text in time
    for line in capsys.readouterr().out.splitlines():
        assert isinstance(json.loads(line), dict)


def test_the_demo_with_smollm2(smollm2, capsys, monkeypatch):
    monkeypatch.setattr("structgen.models.loading.load", lambda name: smollm2)
    assert cli.main(["demo"]) == 0
    out, err = capsys.readouterr()
    recipe, booking, message = map(json.loads, out.splitlines())
    assert recipe["ingredients"]
    assert booking["arrival"] == "2026-03-14"
    assert message["kind"] == "complaint"
    assert "tokens/s" in err
