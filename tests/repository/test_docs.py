"""Every page of docs/ is run from its top to its end: what it shows is what comes out."""

import ast
import asyncio
import contextlib
import inspect
import io
import pathlib
import re
import shlex

import pytest
from support.chat_server import serve

import structgen
from structgen.cli import main
from structgen.models.smollm2 import FILE_NAME, smollm2_folder

ROOT = pathlib.Path(__file__).parents[2]
PAGES = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run_python(code, namespace, name):
    """Runs a block, in which `await` may stand at the top. Returns what it printed."""
    printed = io.StringIO()
    compiled = compile(code, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with contextlib.redirect_stdout(printed):
        if compiled.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(compiled, namespace))
        else:
            exec(compiled, namespace)
    return printed.getvalue()


def run_console(text):
    """Runs what stands behind `$ `: `cat FILE` makes the file of the lines that follow. Returns what it looks like."""
    looks = ""
    for command, output in re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", text, re.MULTILINE):
        words = shlex.split(command)
        printed = io.StringIO()
        if words[0] == "cat":
            pathlib.Path(words[1]).write_text(output, encoding="utf-8")
            printed.write(output)
        else:
            assert words[0] == "structgen", command
            with contextlib.redirect_stdout(printed):
                main(words[1:])
        looks += f"$ {command}\n{printed.getvalue()}"
    return looks


def run_page(page, request, tmp_path, monkeypatch, stack):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    if "smollm2" in text:
        request.getfixturevalue("smollm2")
    if "logging.getLogger(" in text:
        structgen.clear_cache()  # what other tests left there is dropped, and that is logged
    if "structgen.serving" in text:
        pytest.importorskip("starlette", reason="the test group has it")
    for framework in ("pydantic_ai", "langchain"):
        if f"structgen.integrations.{framework} import" in text:
            pytest.importorskip(
                "langchain_core" if framework == "langchain" else framework,
                reason="make test-frameworks has all of them",
            )
    if "openai.OpenAI(" in text:
        openai = pytest.importorskip("openai", reason="the test group has it")
        server = stack.enter_context(serve(request.getfixturevalue("tiny_model")))
        server.kind = "vllm" if "structured_outputs" in text else None
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="-")
        monkeypatch.setattr(openai, "OpenAI", lambda **_: stack.enter_context(client))
    if "llama_cpp" in text:
        pytest.importorskip("llama_cpp")
        (tmp_path / FILE_NAME).symlink_to(smollm2_folder() / FILE_NAME)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    namespace = {"__name__": "__main__"}
    printed = None
    for number, (language, block) in enumerate(_BLOCK.findall(text), 1):
        if language == "python":
            printed = run_python(block, namespace, f"{page}, block {number}")
        elif language == "console":
            assert run_console(block) == block
        elif not language and printed is not None:
            assert printed == block
            printed = None


@pytest.mark.parametrize("page", PAGES)
def test_the_page_does_what_it_says(page, request, tmp_path, monkeypatch):
    with contextlib.ExitStack() as stack:
        run_page(page, request, tmp_path, monkeypatch, stack)


def test_the_reference_is_that_of_the_docstrings(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import build_reference

    assert build_reference.build() == (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


def test_the_exports_are_what_is_written_today(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import build_exports

    assert build_exports.build() == (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [*(f"docs/{page}" for page in PAGES), "README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page):
    text = _BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" not in target and not target.startswith("#"):
            assert ((ROOT / page).parent / target.partition("#")[0]).exists(), target


def test_names_of_the_pages_exist():
    for page in PAGES:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        for name in re.findall(r"\bstructgen\.([A-Za-z_]\w*)", text):
            known = name in structgen.__all__ or (ROOT / "structgen" / name).exists()
            assert known or (ROOT / "structgen" / f"{name}.py").exists(), (page, name)


def test_tests_that_the_publications_page_names_exist():
    text = (ROOT / "docs" / "publications.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:test_|Test)\w+)` in \[[^\]]+\]\(([^)]+)\)", text)
    assert len(named) > 20
    for name, file in named:
        source = (ROOT / "docs" / file).read_text(encoding="utf-8")
        assert re.search(rf"^(def|class) {name}\b", source, re.MULTILINE), (name, file)


def test_modules_of_the_architecture_page_exist():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", text))
    assert len(named) > 20
    for name in named:
        rooms = [ROOT, ROOT / "structgen", *(ROOT / "structgen").glob("*/")]
        assert any((folder / name).exists() for folder in rooms), name
