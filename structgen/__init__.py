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
    from structgen.cache import clear_cache, compile
    from structgen.constraint import Constraint
    from structgen.engine.bitmask import allocate_token_bitmask, apply_token_bitmask
    from structgen.engine.matcher import Matcher, fill_next_token_bitmask
    from structgen.engine.vocabulary import Vocabulary
    from structgen.functions import TypedFunction, fn
    from structgen.generation import Generator, Result, Usage, generate
    from structgen.grammars import Grammar, to_kbnf
    from structgen.models.loading import load, set_default_model
    from structgen.models.transformers import from_transformers

__all__ = [
    "Constraint",
    "FunctionDefinitionError",
    "GenerationError",
    "Generator",
    "Grammar",
    "GrammarError",
    "IncompleteOutputError",
    "LimitExceededError",
    "Limits",
    "Matcher",
    "ModelError",
    "Result",
    "SchemaError",
    "StructgenError",
    "TokenRejectedError",
    "TypedFunction",
    "UnsatisfiableSchemaError",
    "UnsupportedSchemaError",
    "Usage",
    "ValidationFailedError",
    "Vocabulary",
    "VocabularyError",
    "allocate_token_bitmask",
    "apply_token_bitmask",
    "clear_cache",
    "compile",
    "fill_next_token_bitmask",
    "fn",
    "from_transformers",
    "generate",
    "load",
    "set_default_model",
    "to_kbnf",
]

_HOME = {
    "Constraint": "constraint",
    "Generator": "generation",
    "Grammar": "grammars",
    "Matcher": "engine.matcher",
    "Result": "generation",
    "TypedFunction": "functions",
    "Usage": "generation",
    "Vocabulary": "engine.vocabulary",
    "allocate_token_bitmask": "engine.bitmask",
    "apply_token_bitmask": "engine.bitmask",
    "clear_cache": "cache",
    "compile": "cache",
    "fill_next_token_bitmask": "engine.matcher",
    "fn": "functions",
    "from_transformers": "models.transformers",
    "generate": "generation",
    "load": "models.loading",
    "set_default_model": "models.loading",
    "to_kbnf": "grammars",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'structgen' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"structgen.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
