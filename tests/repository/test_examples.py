"""Every example runs as it stands, and README's first example prints what README says."""

import contextlib
import io
import pathlib
import re
import runpy

import pytest
from support.chat_server import serve

ROOT = pathlib.Path(__file__).parents[2]
# What each one must print, whatever else the model makes of it.
PRINTS = {
    "csv_to_parquet": "2 Lamp negative",
    "long_text": "- ",
    "agent": "('weather_in', {'city': 'Oslo'})\ntool: Error: KeyError: 'Oslo'",
    "chat_with_tools": "-> 42\nIs it warm in Lyon? weather({'city': 'Lyon', 'unit': 'C'})",
    "sql": "SELECT COUNT(*) FROM orders",
    "streaming": "Maria Lopez 2026-03-14 3\n1 London - UK",
    "servers": "masked by: server",
    "classification": "cooking - Bake the cake",
    "extraction": "name='Alice Smith' age=34",
    "grammar": "2026-03-14",
    "json_schema": "'price': 39.9",
    "proper_tokenization": "any           0.18",
    "logits_processor": "3 name='Bob Stone' age=51",
    "typed_function": "negative",
}


@pytest.fixture
def vllm_like_server(tiny_model):
    with serve(tiny_model) as server:
        server.kind = "vllm"
        yield server


# Those of examples/frameworks, each with the package that it needs.
OF_FRAMEWORKS = {
    "pydantic_ai_agent": ("pydantic_ai", "age=34 19 tokens\nThe capital of France is Paris."),
    "langchain_chat": ("langchain_core", "name='Alice Smith' age=34\nThe capital of France is Paris."),
    "dspy_signature": ("dspy", "positive"),
    "llama_index_prediction": (
        "llama_index.core",
        "Person(name='Alice Smith', age=34)\nThe capital of France is Paris.",
    ),
}


def test_every_example_is_known():
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(PRINTS)
    assert {path.stem for path in (ROOT / "examples" / "frameworks").glob("*.py")} == set(OF_FRAMEWORKS)


@pytest.mark.filterwarnings("default")  # frameworks have warnings of their own
@pytest.mark.parametrize("name", sorted(OF_FRAMEWORKS))
def test_the_example_of_a_framework_runs(smollm2, name, capsys):
    package, printed = OF_FRAMEWORKS[name]
    pytest.importorskip(package, reason="make test-frameworks has it")
    runpy.run_path(str(ROOT / "examples" / "frameworks" / f"{name}.py"), run_name="__main__")
    assert printed in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(PRINTS))
def test_the_example_runs(smollm2, name, capsys, request, monkeypatch):
    if name == "csv_to_parquet":
        pytest.importorskip("pyarrow")
    if name == "servers":
        server = request.getfixturevalue("vllm_like_server")
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "-")
    side = smollm2.tokenizer.padding_side
    try:
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")  # `load` gives the fixture's model
    finally:
        smollm2.tokenizer.padding_side = side
    assert PRINTS[name] in capsys.readouterr().out


def test_readme_prints_what_it_says(smollm2):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    code, expected = found.groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == expected
