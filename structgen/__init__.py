"""Structured output for language models: JSON Schema, Pydantic and KBNF, enforced token by token.

    model = structgen.load("smollm2")
    person = structgen.generate(model, "Alice Smith is a 34 year old nurse from Lyon.", Person)

Everything public is named here; the modules behind the names are imported when a name is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from structgen.errors import (
    FunctionDefinitionError,
    GenerationError,
    GrammarError,
    IncompleteOutputError,
    LimitExceededError,
    ModelError,
    SchemaError,
    StructgenError,
    TokenRejectedError,
    UnsatisfiableSchemaError,
    UnsupportedSchemaError,
    ValidationFailedError,
    VocabularyError,
)
from structgen.limits import Limits

if TYPE_CHECKING:
    from structgen.batching import abatch, batch
    from structgen.cache import clear_cache, compile
    from structgen.checking import CheckResult, Problem, check
    from structgen.constraint import Constraint
    from structgen.engine.matching.expectations import Expected
    from structgen.engine.matching.explaining import Explanation
    from structgen.engine.matching.matcher import Matcher, fill_next_token_bitmask
    from structgen.engine.vocabulary.bitmask import allocate_token_bitmask, apply_token_bitmask
    from structgen.engine.vocabulary.vocabulary import Vocabulary
    from structgen.exporting import export
    from structgen.functions import TypedFunction, fn
    from structgen.generation import Generator, agenerate, generate
    from structgen.grammars import Grammar
    from structgen.lines import JsonLines, json_lines
    from structgen.models.gguf import from_llama_cpp
    from structgen.models.loading import load, set_default_model
    from structgen.models.logits import from_logits
    from structgen.models.openai import from_openai
    from structgen.models.transformers import from_transformers
    from structgen.reasoning import Reasoning
    from structgen.run import Result, Usage
    from structgen.streaming import AsyncStream, Stream, astream, stream
    from structgen.substrings import SubstringOf
    from structgen.templates import Template, template
    from structgen.tools import ToolCall, acall, call
    from structgen.tracing import Trace, trace

__all__ = [
    "AsyncStream",
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
    "Reasoning",
    "Result",
    "SchemaError",
    "Stream",
    "StructgenError",
    "SubstringOf",
    "Template",
    "TokenRejectedError",
    "ToolCall",
    "Trace",
    "TypedFunction",
    "UnsatisfiableSchemaError",
    "UnsupportedSchemaError",
    "Usage",
    "ValidationFailedError",
    "Vocabulary",
    "VocabularyError",
    "abatch",
    "acall",
    "agenerate",
    "allocate_token_bitmask",
    "apply_token_bitmask",
    "astream",
    "batch",
    "call",
    "check",
    "clear_cache",
    "compile",
    "export",
    "fill_next_token_bitmask",
    "fn",
    "from_llama_cpp",
    "from_logits",
    "from_openai",
    "from_transformers",
    "generate",
    "json_lines",
    "load",
    "set_default_model",
    "stream",
    "template",
    "trace",
]

_HOME = {
    "AsyncStream": "streaming",
    "CheckResult": "checking",
    "Constraint": "constraint",
    "Expected": "engine.matching.expectations",
    "Explanation": "engine.matching.explaining",
    "Generator": "generation",
    "Grammar": "grammars",
    "JsonLines": "lines",
    "Matcher": "engine.matching.matcher",
    "Problem": "checking",
    "Reasoning": "reasoning",
    "Result": "run",
    "Stream": "streaming",
    "SubstringOf": "substrings",
    "Template": "templates",
    "ToolCall": "tools",
    "Trace": "tracing",
    "TypedFunction": "functions",
    "Usage": "run",
    "Vocabulary": "engine.vocabulary.vocabulary",
    "abatch": "batching",
    "acall": "tools",
    "agenerate": "generation",
    "allocate_token_bitmask": "engine.vocabulary.bitmask",
    "apply_token_bitmask": "engine.vocabulary.bitmask",
    "astream": "streaming",
    "batch": "batching",
    "call": "tools",
    "check": "checking",
    "clear_cache": "cache",
    "compile": "cache",
    "export": "exporting",
    "fill_next_token_bitmask": "engine.matching.matcher",
    "fn": "functions",
    "from_llama_cpp": "models.gguf",
    "from_logits": "models.logits",
    "from_openai": "models.openai",
    "from_transformers": "models.transformers",
    "generate": "generation",
    "json_lines": "lines",
    "load": "models.loading",
    "set_default_model": "models.loading",
    "stream": "streaming",
    "template": "templates",
    "trace": "tracing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'structgen' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"structgen.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
