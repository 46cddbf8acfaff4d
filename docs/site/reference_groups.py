"""Pages of the reference: the public names in groups, each with its docstring."""

from __future__ import annotations

import re

GROUPS = {
    "Answers": ["generate", "agenerate", "stream", "astream", "batch", "abatch", "fn", "Generator", "TypedFunction"],
    "Results": ["Result", "Usage", "TokenLogprob", "Stream", "AsyncStream", "Reasoning"],
    "Probabilities": ["classify", "aclassify", "score", "ascore", "Score", "sample", "asample", "Sample", "Samples"],
    "Tools": [
        *("call", "acall", "stream_call", "astream_call", "run_tools", "arun_tools", "stream_tools", "astream_tools"),
        *("Tool", "ToolCall", "ToolReply", "ToolResult", "Transcript"),
        *("CallStream", "AsyncCallStream", "ToolStream", "AsyncToolStream"),
    ],
    "What to ask for": ["Grammar", "template", "Template", "json_lines", "JsonLines", "SubstringOf"],
    "Models": [
        *("load", "set_default_model", "from_transformers", "from_llama_cpp", "from_logits"),
        *("from_openai", "from_anthropic"),
    ],
    "Masks": [
        *("compile", "clear_cache", "export", "Constraint", "Matcher", "Vocabulary", "Limits"),
        *("allocate_token_bitmask", "fill_next_token_bitmask", "apply_token_bitmask"),
        *("direct_merge", "TokenAutomaton"),
    ],
    "Seeing why": ["check", "CheckResult", "Problem", "trace", "Trace", "Explanation", "Expected"],
    "Errors": [
        *("StructgenError", "SchemaError", "UnsupportedSchemaError", "UnsatisfiableSchemaError", "GrammarError"),
        *("VocabularyError", "TokenRejectedError", "LimitExceededError", "GenerationError", "IncompleteOutputError"),
        *("ValidationFailedError", "FunctionDefinitionError", "ModelError", "ServerError", "QueueFullError"),
    ],
}
OPTIONS = ["structgen.generation.settings.GenerationOptions", "structgen.generation.settings.ConstraintOptions"]


def reference_pages() -> dict[str, str]:
    """Return the Markdown of the pages, by their names in the site; mkdocstrings fills in the docstrings."""
    pages = {}
    overview = ["# Reference\n", "All public names, by what they are for.\n", "| page | names |", "|---|---|"]
    for title, names in {**GROUPS, "Options": OPTIONS}.items():
        page = re.sub(r"\W+", "-", title.lower()) + ".md"
        entries = [f"::: {name if '.' in name else f'structgen.{name}'}\n" for name in names]
        pages[f"reference/{page}"] = "\n".join([f"# {title}\n", *entries])
        shown = ", ".join(f"`{name.rpartition('.')[2]}`" for name in names)
        overview.append(f"| [{title}]({page}) | {shown} |")
    return {"reference/index.md": "\n".join(overview)} | pages
