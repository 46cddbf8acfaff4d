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


def test_several_answers(folder, tiny, capsys, tiny_model):
    arguments = ["generate", "--schema", "person.json", "--temperature", "2", "--seed", "3", "Ann is 34."]
    assert cli.main([*arguments, "--n", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and len(set(lines)) > 1
    assert cli.main(arguments) == 0
    assert capsys.readouterr().out.splitlines() == lines[:1]


def test_options_of_sampling(folder, tiny, capsys, tiny_model):
    """They are those of `generate`."""
    schema = {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 6}
    (folder / "letters.json").write_text(json.dumps(schema))
    (bias,) = tiny_model.encode_text("b")
    options = {
        "--temperature": 1, "--seed": 5, "--min-p": 0.05, "--frequency-penalty": 1.5, "--presence-penalty": 0.5,
        "--repetition-penalty": 1.25, "--max-tokens": 40, "--stop": "b", "--max-repeats": 3,
        "--logit-bias": f'{{"{bias}": 4}}',
    }  # fmt: skip
    given = [text for name, value in options.items() for text in (name, str(value))]
    assert cli.main(["generate", "--schema", "letters.json", *given, "hi"]) == 0
    found = structgen.Generator(tiny_model, schema).run(
        "hi", temperature=1, seed=5, min_p=0.05, frequency_penalty=1.5, presence_penalty=0.5, repetition_penalty=1.25,
        max_tokens=40, stop="b", logit_bias={bias: 4}, max_repeats=3,
    )  # fmt: skip
    assert capsys.readouterr().out.strip() == found.text


@pytest.mark.parametrize("options", [{"sampling": "smc", "particles": 3, "seed": 1}, {"num_beams": 2}], ids=str)
def test_options_of_whole_answers(tiny, capsys, tiny_model, options):
    schema = {"enum": ["red", "blue", "green"]}
    given = [text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    assert cli.main(["generate", "--schema", json.dumps(schema), *given, "hi"]) == 0
    assert json.loads(capsys.readouterr().out) == structgen.generate(tiny_model, "hi", schema, **options)


@pytest.mark.parametrize(
    "options",
    [
        ["--n", "0"],
        ["--particles", "4"],
        ["--n", "2", "--stream"],
        ["--min-p", "2"],
        ["--logit-bias", "[1]"],
        ["--logit-bias", '{"a": 1}'],
    ],
)
def test_options_out_of_their_range(folder, tiny, options):
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(cli.main(["generate", "--schema", "person.json", *options, "hi"]))
    assert ended.value.code == 2


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
    ("to", "begins"),
    [
        ("kbnf-older", "start ::="),
        ("gbnf", "root ::="),
        ("lark", "start: "),
        ("xgrammar", "root ::="),
        ("vllm", '{"grammar": "root ::='),
    ],
)
def test_export_to_other_engines(folder, capsys, to, begins):
    assert cli.main(["export", "--to", to, "--end", "!", "--whitespace", "single", "cli_models:Person"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(begins)
    assert out.endswith("\n")
    assert "!" in out


def test_what_a_dialect_cannot_say_exits_with_one(folder, capsys):
    assert cli.main(["export", "--to", "gbnf", '{"uniqueItems": true}']) == 1
    assert "uniqueItems" in capsys.readouterr().err


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
        (["generate", "--schema", "cli_models.Person", "x"], "named MODULE:Name"),
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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["generate", "--schema", "bad.json", "x"], "#/properties/a"),
        (["generate", "--schema", "bad.gbnf", "x"], "line 1"),
        (["generate", "--schema", "none.kbnf", "x"], "has no text"),
        (["generate", "--schema", "person.json", "--temperature", "-1", "x"], "temperature"),
        (["trace", "--schema", "bad.json", "x"], "#/properties/a"),
        (["call", "--tool", "cli_tools:unclear", "x"], "annotation"),
        (["call", "--tool", "cli_tools:odd", "x"], "Odd"),
        (["map", "in.jsonl", "--schema", "bad.json", "--out", "out.jsonl"], "#/properties/a"),
        (["map", "in.csv", "--schema", "person.json", "--out", "out.jsonl"], "have no field 'prompt'"),
        (["map", "in.csv", "--schema", "person.json", "--out", "out.jsonl", "--ray"], "have no field 'prompt'"),
        (["map", "in.jsonl", "--schema", "person.json", "--out", "out.jsonl", "--field", "text"], "--field prompt"),
        (["map", "missing.jsonl", "--schema", "person.json", "--out", "out.jsonl"], "missing.jsonl"),
    ],
)
def test_bad_input_is_found_before_the_model_is_loaded(folder, monkeypatch, capsys, arguments, says):
    monkeypatch.setattr("structgen.models.loading.load", lambda name: pytest.fail("the model was loaded"))
    (folder / "bad.json").write_text('{"type": "object", "properties": {"a": {"type": "colour"}}}')
    (folder / "bad.gbnf").write_text("root ::= missing")
    (folder / "none.kbnf").write_text("start ::= S; S ::= S;")
    (folder / "in.csv").write_text("id,text\n1,Ann is 34.\n")
    (folder / "in.jsonl").write_text('{"prompt": "Ann is 34."}\n')
    (folder / "cli_tools.py").write_text(
        "class Odd: pass\ndef unclear(number): return number\ndef odd(number: Odd): return number\n"
    )
    assert cli.main(arguments) in (1, 2)
    out, err = capsys.readouterr()
    assert not out and says in err and "Loading" not in err
    assert not (folder / "out.jsonl").exists()
    sys.modules.pop("cli_tools", None)


@pytest.mark.filterwarnings("default")
def test_a_warning_about_a_schema_is_shown_once(folder, tiny, capsys):
    """The schema is compiled twice: before the model is loaded, and for the model."""
    assert cli.main(["generate", "--schema", '{"format": "nonsense", "enum": ["a"]}', "x"]) == 0
    assert capsys.readouterr().err.count("unknown format") == 1


def test_an_unfinished_answer_exits_with_one(folder, tiny, capsys):
    assert (
        cli.main(["generate", "--schema", "cli_models:Free", "--max-new-tokens", "3", "--on-budget", "error", "x"]) == 1
    )
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


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dance"],
        ["generate", "x"],
        ["export", "--to", "xml", "person.json"],
        ["serve", "--port", "70000"],
        ["trace", "--schema", "person.json", "--port", "-1", "x"],
    ],
)
def test_usage_errors_exit_with_two(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert ("find where JSON or YAML texts break a schema" in err) == (arguments == [])


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
    out, err = capsys.readouterr()
    assert err.startswith("Three texts")
    for line in out.splitlines():
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


def test_generate_streams_snapshots(folder, tiny, capsys):
    assert cli.main(["generate", "--stream", "--schema", "person.json", "Ann is 34."]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == {} and set(lines[-1]) == {"name", "age"}
    assert cli.main(["generate", "--schema", "person.json", "Ann is 34."]) == 0
    assert json.loads(capsys.readouterr().out) == lines[-1]


def test_generate_takes_grammars_examples_and_reasoning(folder, tiny, capsys):
    (folder / "side.gbnf").write_text('root ::= "left" | "right"')
    assert cli.main(["generate", "--schema", "side.gbnf", "Which side?"]) == 0
    assert capsys.readouterr().out.strip() in ("left", "right")
    (folder / "examples.jsonl").write_text('["Bob is 5.", {"name": "Bob", "age": 5}]\n')
    options = ["--examples", "examples.jsonl", "--system", "Extract.", "--describe-schema", "--reasoning", "5"]
    options += ["--max-retries", "1", "--tokenization", "proper"]
    assert cli.main(["generate", "--schema", "person.json", *options, "Ann is 34."]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"name", "age"}


def test_map_writes_values_and_tells_of_failures(folder, tiny, capsys):
    (folder / "in.jsonl").write_text('"Ann is 34."\n{"prompt": "Bob is 5.", "id": 7}\n')
    command = ["map", "in.jsonl", "--schema", "cli_models:Person", "--out", "out.jsonl"]
    assert cli.main(command) == 0
    out, err = capsys.readouterr()
    assert not out and "2 rows have values, 0 failed" in err
    assert len((folder / "out.jsonl").read_text().splitlines()) == 2
    assert cli.main(command) == 0
    assert "2 of them were there before" in capsys.readouterr().err
    assert cli.main([*command, "--temperature", "0.5"]) == 2
    assert "temperature (0.5, was 0.0)" in capsys.readouterr().err
    assert cli.main(["map", "in.jsonl", "--schema", "cli_models:Odd", "--out", "odd.jsonl"]) == 1
    assert "never good" in (folder / "odd.failed.jsonl").read_text()
    assert cli.main(["map", "none.jsonl", "--schema", "person.json", "--out", "o.jsonl"]) == 2


def test_call_prints_the_call_or_runs_it(folder, tiny, capsys):
    (folder / "cli_tools.py").write_text("def double(number: bool) -> int:\n    return 2 * number\n")
    assert cli.main(["call", "--tool", "cli_tools:double", "Double one."]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "double"
    assert cli.main(["call", "--tool", "cli_tools:double", "--run", "Double one."]) == 0
    assert capsys.readouterr().out.strip() in ("0", "2")
    assert cli.main(["call", "--tool", "cli_tools:double", "--call-format", "herms", "Hi."]) == 1
    assert "did you mean 'hermes'" in capsys.readouterr().err
    sys.modules.pop("cli_tools", None)


@pytest.mark.filterwarnings("default")
def test_warnings_are_told_in_a_line(capsys):
    assert cli.main(["export", "--to", "gbnf", '{"format": "nonsense", "const": "a"}']) == 0
    assert capsys.readouterr().err == "structgen: warning: unknown format 'nonsense' (at #): it is not enforced\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion(shell, capsys):
    pytest.importorskip("shtab")
    assert cli.main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert "completion" in out
    assert shell == "tcsh" or "--max-new-tokens" in out  # there it completes the commands


def test_the_start_of_a_grammar_can_be_named(folder, capsys):
    """A text of the rule fits; without the option there are two candidates; other files have no such rule."""
    (folder / "two.kbnf").write_text("yes ::= 'y' | 'Y'; no ::= 'n';")
    (folder / "answer.txt").write_text("Y")
    assert cli.main(["check", "--schema", "two.kbnf", "--start", "yes", "answer.txt"]) == 0
    assert cli.main(["check", "--schema", "two.kbnf", "--start", "no", "answer.txt"]) == 1
    assert cli.main(["grammar", "stats", "two.kbnf", "--start", "yes"]) == 0
    capsys.readouterr()
    assert cli.main(["grammar", "stats", "two.kbnf"]) == 1
    assert "'yes', 'no'" in capsys.readouterr().err
    assert cli.main(["check", "--schema", "person.json", "--start", "yes", "answer.txt"]) == 2
    assert "--start is for grammars" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["generate", "--schema", "person.json", "\udcff"], "half of a surrogate pair"),
        (["generate", "--schema", "person.json", "--n", "2", "\udcff"], "half of a surrogate pair"),
        (["generate", "--schema", "person.json", "--stream", "\udcff"], "half of a surrogate pair"),
        (["generate", "--schema", "person.json", "-"], "the prompt on stdin is no text"),
        (["generate", "--schema", "person.json", "--template", "[1]", "x"], "--template is an object"),
        (["generate", "--schema", "person.json", "--logit-bias", '{"99999": 1}', "x"], "logit_bias names token 99999"),
        (["generate", "--schema", "person.json", "--logit-bias", f'{{"1": 1{"0" * 400}}}', "x"], "--logit-bias is"),
        (["generate", "--schema", "person.json", "--examples", "pairs.jsonl", "x"], "example 1 does not fit"),
        (["check", "--schema", "one.kbnf", "--format", "yaml", "one.kbnf"], "format='yaml' is for schemas"),
        (["serve", "--timeout", "nan"], "--timeout must be above 0"),
        (["serve", "--drain", "inf"], "--drain is a number of seconds"),
    ],
)
def test_what_only_the_run_finds_is_told_in_a_line(folder, tiny, capsys, monkeypatch, arguments, says):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff"), encoding="utf-8"))
    (folder / "one.kbnf").write_text('start ::= "a";')
    good = json.dumps(["a\u2028b", {"name": "Ann", "age": 1}], ensure_ascii=False)  # a separator that is no line's end
    (folder / "pairs.jsonl").write_text(f'{good}\n["b", 5]\n', encoding="utf-8")
    assert cli.main(arguments) == 2
    assert says in capsys.readouterr().err
