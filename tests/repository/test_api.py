"""What `structgen` exports, and what importing it costs."""

import importlib
import pathlib
import py_compile
import subprocess
import sys

import structgen

PUBLIC = [
    "AsyncCallStream",
    "AsyncStream",
    "AsyncToolStream",
    "CallStream",
    "CheckResult",
    "Constraint",
    "Expected",
    "Explanation",
    "FunctionDefinitionError",
    "GenerationError",
    "Generator",
    "Grammar",
    "GrammarError",
    "IncompleteOutputError",
    "JsonLines",
    "LimitExceededError",
    "Limits",
    "Matcher",
    "ModelError",
    "Problem",
    "QueueFullError",
    "Reasoning",
    "Result",
    "Sample",
    "Samples",
    "SchemaError",
    "Score",
    "ServerError",
    "Stream",
    "StructgenError",
    "SubstringOf",
    "Template",
    "TokenAutomaton",
    "TokenLogprob",
    "TokenRejectedError",
    "Tool",
    "ToolCall",
    "ToolReply",
    "ToolResult",
    "ToolStream",
    "Trace",
    "Transcript",
    "TypedFunction",
    "UnsatisfiableSchemaError",
    "UnsupportedSchemaError",
    "Usage",
    "ValidationFailedError",
    "Vocabulary",
    "VocabularyError",
    "abatch",
    "acall",
    "aclassify",
    "agenerate",
    "allocate_token_bitmask",
    "apply_token_bitmask",
    "arun_tools",
    "asample",
    "ascore",
    "astream",
    "astream_call",
    "astream_tools",
    "batch",
    "call",
    "check",
    "classify",
    "clear_cache",
    "compile",
    "direct_merge",
    "export",
    "fill_next_token_bitmask",
    "fn",
    "from_anthropic",
    "from_llama_cpp",
    "from_logits",
    "from_openai",
    "from_transformers",
    "generate",
    "json_lines",
    "load",
    "run_tools",
    "sample",
    "score",
    "set_default_model",
    "stream",
    "stream_call",
    "stream_tools",
    "template",
    "trace",
]


def test_public_names():
    assert sorted(structgen.__all__) == sorted(PUBLIC)
    for name in PUBLIC:
        if name not in ("from_anthropic", "from_openai", "from_transformers"):  # need other packages
            assert getattr(structgen, name) is not None
    assert set(PUBLIC) <= set(dir(structgen))


def test_the_list_of_names_leads_to_the_modules():
    """Each name is written once, as an import; the modules that it names export it."""
    assert structgen.__all__ == sorted(structgen._HOMES)
    for name, home in structgen._HOMES.items():
        assert name in importlib.import_module(home).__all__


def test_names_are_found_without_sources(tmp_path):
    """As in a program that is shipped as bytecode: the package has `__init__.pyc` and no `__init__.py`."""
    package = pathlib.Path(structgen.__file__).parent
    copied = tmp_path / "structgen"
    copied.mkdir()
    for entry in package.iterdir():
        if entry.name not in ("__init__.py", "__pycache__"):
            (copied / entry.name).symlink_to(entry)
    py_compile.compile(str(package / "__init__.py"), cfile=str(copied / "__init__.pyc"), doraise=True)
    code = "import structgen; print(structgen.__file__, *structgen.__all__, structgen.Grammar.__module__, sep='\\n')"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout.splitlines()
    assert found == [str(copied / "__init__.pyc"), *structgen.__all__, "structgen.output_types.grammar"]


def test_unknown_names_are_attribute_errors():
    assert not hasattr(structgen, "nonsense")


def test_errors_have_one_root():
    errors = [getattr(structgen, name) for name in PUBLIC if name.endswith("Error")]
    assert all(issubclass(error, structgen.StructgenError) for error in errors)


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60).stdout


def test_import_is_light():
    code = (
        "import sys, structgen\n"
        "print(*{'torch', 'transformers', 'numpy', 'pydantic', 'jsonschema', 'asyncio'} & set(sys.modules))\n"
        "print(sum(name.startswith('structgen') for name in sys.modules))"
    )
    heavy, count = run_python(code).splitlines()
    assert not heavy
    assert int(count) < 30


def test_masks_need_no_validator():
    code = "import sys, structgen; vocabulary = structgen.Vocabulary.from_bytes({0: b'1', 1: b''}, eos_token_ids=[1])\n"
    code += "structgen.compile({'type': 'integer'}, vocabulary).matcher().allowed_token_ids()\n"
    code += "print({'pydantic', 'jsonschema'} & set(sys.modules))"
    assert run_python(code).strip() == "set()"


def test_generation_needs_no_torch():
    code = "import sys, structgen; structgen.generate, structgen.compile, structgen.fn, structgen.load\n"
    code += "print({'torch', 'transformers'} & set(sys.modules))"
    assert run_python(code).strip() == "set()"
