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
    from structgen.compilation.compiler import clear_cache, compile
    from structgen.compilation.constraint import Constraint
    from structgen.diagnostics.check import CheckResult, Problem, check
    from structgen.diagnostics.trace import Trace, trace
    from structgen.engine.matching.expectations import Expected
    from structgen.engine.matching.explaining import Explanation
    from structgen.engine.matching.matcher import Matcher, fill_next_token_bitmask
    from structgen.engine.vocabulary.bitmask import allocate_token_bitmask, apply_token_bitmask
    from structgen.engine.vocabulary.vocabulary import Vocabulary
    from structgen.generation.api import abatch, agenerate, astream, batch, generate, stream
    from structgen.generation.functions import TypedFunction, fn
    from structgen.generation.generator import Generator
    from structgen.generation.runs import Result, Usage
    from structgen.generation.settings import Reasoning
    from structgen.generation.streams import AsyncStream, Stream
    from structgen.generation.tool_calls import ToolCall, acall, call
    from structgen.integrations.export import export
    from structgen.models.gguf import from_llama_cpp
    from structgen.models.loading import load, set_default_model
    from structgen.models.logits import from_logits
    from structgen.models.openai import from_openai
    from structgen.models.transformers import from_transformers
    from structgen.output_types.grammar import Grammar
    from structgen.output_types.json_lines import JsonLines, json_lines
    from structgen.output_types.substring import SubstringOf
    from structgen.output_types.template import Template, template

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
    "AsyncStream": "generation.streams",
    "CheckResult": "diagnostics.check",
    "Constraint": "compilation.constraint",
    "Expected": "engine.matching.expectations",
    "Explanation": "engine.matching.explaining",
    "Generator": "generation.generator",
    "Grammar": "output_types.grammar",
    "JsonLines": "output_types.json_lines",
    "Matcher": "engine.matching.matcher",
    "Problem": "diagnostics.check",
    "Reasoning": "generation.settings",
    "Result": "generation.runs",
    "Stream": "generation.streams",
    "SubstringOf": "output_types.substring",
    "Template": "output_types.template",
    "ToolCall": "generation.tool_calls",
    "Trace": "diagnostics.trace",
    "TypedFunction": "generation.functions",
    "Usage": "generation.runs",
    "Vocabulary": "engine.vocabulary.vocabulary",
    "abatch": "generation.api",
    "acall": "generation.tool_calls",
    "agenerate": "generation.api",
    "allocate_token_bitmask": "engine.vocabulary.bitmask",
    "apply_token_bitmask": "engine.vocabulary.bitmask",
    "astream": "generation.api",
    "batch": "generation.api",
    "call": "generation.tool_calls",
    "check": "diagnostics.check",
    "clear_cache": "compilation.compiler",
    "compile": "compilation.compiler",
    "export": "integrations.export",
    "fill_next_token_bitmask": "engine.matching.matcher",
    "fn": "generation.functions",
    "from_llama_cpp": "models.gguf",
    "from_logits": "models.logits",
    "from_openai": "models.openai",
    "from_transformers": "models.transformers",
    "generate": "generation.api",
    "json_lines": "output_types.json_lines",
    "load": "models.loading",
    "set_default_model": "models.loading",
    "stream": "generation.api",
    "template": "output_types.template",
    "trace": "diagnostics.trace",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'structgen' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"structgen.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
