"""Structured output for language models: JSON Schema, Pydantic and KBNF, enforced token by token.

    model = structgen.load("smollm2")
    person = structgen.generate(model, "Alice Smith is a 34 year old nurse from Lyon.", Person)

The imports below are the one list of public names, in the form in which type checkers take them for exports. Those
under `TYPE_CHECKING` run when a name is first used. Their modules are read from the bytecode of this file, since some
programs are shipped without sources.
"""

from __future__ import annotations

import dis
import importlib
from typing import TYPE_CHECKING, Any

from structgen.errors import FunctionDefinitionError as FunctionDefinitionError
from structgen.errors import GenerationError as GenerationError
from structgen.errors import GrammarError as GrammarError
from structgen.errors import IncompleteOutputError as IncompleteOutputError
from structgen.errors import LimitExceededError as LimitExceededError
from structgen.errors import ModelError as ModelError
from structgen.errors import QueueFullError as QueueFullError
from structgen.errors import SchemaError as SchemaError
from structgen.errors import ServerError as ServerError
from structgen.errors import StructgenError as StructgenError
from structgen.errors import TokenRejectedError as TokenRejectedError
from structgen.errors import UnsatisfiableSchemaError as UnsatisfiableSchemaError
from structgen.errors import UnsupportedSchemaError as UnsupportedSchemaError
from structgen.errors import ValidationFailedError as ValidationFailedError
from structgen.errors import VocabularyError as VocabularyError
from structgen.limits import Limits as Limits

if TYPE_CHECKING:
    from structgen.compilation.compiler import clear_cache as clear_cache
    from structgen.compilation.compiler import compile as compile
    from structgen.compilation.constraint import Constraint as Constraint
    from structgen.compilation.export import export as export
    from structgen.diagnostics.check import CheckResult as CheckResult
    from structgen.diagnostics.check import Problem as Problem
    from structgen.diagnostics.check import check as check
    from structgen.diagnostics.trace import Trace as Trace
    from structgen.diagnostics.trace import trace as trace
    from structgen.engine.matching.batches import fill_next_token_bitmask as fill_next_token_bitmask
    from structgen.engine.matching.expectations import Expected as Expected
    from structgen.engine.matching.explaining import Explanation as Explanation
    from structgen.engine.matching.matcher import Matcher as Matcher
    from structgen.engine.vocabulary.bitmask import allocate_token_bitmask as allocate_token_bitmask
    from structgen.engine.vocabulary.bitmask import apply_token_bitmask as apply_token_bitmask
    from structgen.engine.vocabulary.vocabulary import Vocabulary as Vocabulary
    from structgen.generation.aligned.samples import Sample as Sample
    from structgen.generation.aligned.samples import Samples as Samples
    from structgen.generation.api import agenerate as agenerate
    from structgen.generation.api import astream as astream
    from structgen.generation.api import generate as generate
    from structgen.generation.api import stream as stream
    from structgen.generation.batch_api import abatch as abatch
    from structgen.generation.batch_api import batch as batch
    from structgen.generation.functions import TypedFunction as TypedFunction
    from structgen.generation.functions import fn as fn
    from structgen.generation.generator import Generator as Generator
    from structgen.generation.logprobs import TokenLogprob as TokenLogprob
    from structgen.generation.runs import Result as Result
    from structgen.generation.sample_api import asample as asample
    from structgen.generation.sample_api import sample as sample
    from structgen.generation.scoring import Score as Score
    from structgen.generation.scoring import aclassify as aclassify
    from structgen.generation.scoring import ascore as ascore
    from structgen.generation.scoring import classify as classify
    from structgen.generation.scoring import score as score
    from structgen.generation.settings import Reasoning as Reasoning
    from structgen.generation.streams import AsyncStream as AsyncStream
    from structgen.generation.streams import Stream as Stream
    from structgen.generation.tools.calling import acall as acall
    from structgen.generation.tools.calling import call as call
    from structgen.generation.tools.loop import ToolResult as ToolResult
    from structgen.generation.tools.loop import Transcript as Transcript
    from structgen.generation.tools.results import ToolCall as ToolCall
    from structgen.generation.tools.results import ToolReply as ToolReply
    from structgen.generation.tools.streaming import AsyncCallStream as AsyncCallStream
    from structgen.generation.tools.streaming import CallStream as CallStream
    from structgen.generation.tools.streaming import astream_call as astream_call
    from structgen.generation.tools.streaming import stream_call as stream_call
    from structgen.generation.tools.tool_streams import AsyncToolStream as AsyncToolStream
    from structgen.generation.tools.tool_streams import ToolStream as ToolStream
    from structgen.generation.tools.tool_streams import arun_tools as arun_tools
    from structgen.generation.tools.tool_streams import astream_tools as astream_tools
    from structgen.generation.tools.tool_streams import run_tools as run_tools
    from structgen.generation.tools.tool_streams import stream_tools as stream_tools
    from structgen.generation.usage import Usage as Usage
    from structgen.models.anthropic import from_anthropic as from_anthropic
    from structgen.models.gguf import from_llama_cpp as from_llama_cpp
    from structgen.models.loading import load as load
    from structgen.models.loading import set_default_model as set_default_model
    from structgen.models.logits import from_logits as from_logits
    from structgen.models.openai import from_openai as from_openai
    from structgen.models.transformers import from_transformers as from_transformers
    from structgen.output_types.grammar import Grammar as Grammar
    from structgen.output_types.json_lines import JsonLines as JsonLines
    from structgen.output_types.json_lines import json_lines as json_lines
    from structgen.output_types.substring import SubstringOf as SubstringOf
    from structgen.output_types.template import Template as Template
    from structgen.output_types.template import template as template
    from structgen.output_types.tool_formats.tools import Tool as Tool
    from structgen.tokenization.direct_merge import direct_merge as direct_merge
    from structgen.tokenization.merges.token_automata import TokenAutomaton as TokenAutomaton

__version__ = "0.1.0"


def _read_homes() -> dict[str, str]:
    """Return the module of each public name."""
    found: dict[str, str] = {}
    module = ""
    for instruction in dis.get_instructions(__spec__.loader.get_code(__name__)):  # type: ignore[union-attr]
        if instruction.opname == "IMPORT_NAME":
            module = instruction.argval
        elif instruction.opname == "IMPORT_FROM" and module.startswith(f"{__name__}."):
            found[instruction.argval] = module
    return found


_HOMES = _read_homes()
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'structgen' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
