"""The examples in docstrings run, and print what they say."""

import doctest
import importlib
import pathlib
from typing import Literal

import pytest

import structgen
from structgen.kbnf.reading.kbnf import parse

PACKAGE = pathlib.Path(structgen.__file__).parent
MODULES = sorted(
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for file in PACKAGE.rglob("*.py")
    if ">>>" in file.read_text()
)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

# What a reader of an example has imported; `from_transformers` needs torch.
NAMES = {name: getattr(structgen, name) for name in structgen.__all__ if name != "from_transformers"}
NAMES |= {"structgen": structgen, "Literal": Literal, "parse": parse}


# Adapters, each with the package that it needs.
FRAMEWORKS = {
    "structgen.integrations.dspy": "dspy",
    "structgen.integrations.langchain": "langchain_core",
    "structgen.integrations.llama_index": "llama_index.core",
    "structgen.integrations.pydantic_ai": "pydantic_ai",
}


def test_there_are_examples():
    assert {
        "structgen.engine.vocabulary.vocabulary",
        "structgen.compilation.compiler",
        "structgen.output_types.grammar",
    } <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    if name.startswith("structgen.models."):
        pytest.importorskip("torch")
    if name in FRAMEWORKS:
        pytest.importorskip(FRAMEWORKS[name], reason="make test-frameworks has it")
    said = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for example in doctest.DocTestFinder().find(importlib.import_module(name), extraglobs=NAMES):
        runner.run(example, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
