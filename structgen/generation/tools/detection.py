"""The format of a model's tool calls, found in its chat template."""

from __future__ import annotations

from typing import Any

__all__ = ["FALLBACK", "format_of", "format_of_model"]

FALLBACK = "json"
"""The format for models whose chat template knows no tools."""

# Texts of a chat template, all of which the format's templates have; more special ones first.
_TELL_TALES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gigachat_3_5", ("<｜GCML｜tool_calls>",)),
    ("gigachat_3_1", ("<|function_call|>", "<|role_sep|>")),
    ("gigachat_3", ("function call", "<|role_sep|>")),
    ("hunyuan_3", ("<tool_calls{}>", ":opensource")),
    ("hunyuan_3", ("<tool_call:opensource>",)),
    ("solar", ("<|tool_call:begin|>", "<|tool_call:args|>")),
    ("functionary_3_2", (">>>all",)),
    ("firefunction_2", (" functools[",)),
    ("minicpm_5", ('<function name="', '<param name="')),
    ("harmony", ("<|channel|>", "to=functions.")),
    ("harmony", ("<|channel|>commentary", "functions.")),
    ("kimi_k3", ("'<|open|>' + tag",)),
    ("kimi_k3", ("<|open|>tools",)),
    ("kimi", ("<|tool_call_argument_begin|>",)),
    ("deepseek_v4_1", ("｜DSML｜", " invoke name=", " calls")),
    ("deepseek_v4", ("DSML｜", "tool_calls>")),
    ("deepseek_v3_2", ("DSML｜", "function_calls")),
    ("deepseek_r1", ("<｜tool▁call▁begin｜>", "```json")),
    ("deepseek_v3_1", ("<｜tool▁call▁begin｜>",)),
    ("minimax_m3", ("]<]minimax[>[",)),
    ("muse_glimmer", ("<atem:function_calls>",)),
    ("minimax", ("<minimax:tool_call>",)),
    ("cohere", ("<cofl:tool_calls>",)),
    ("cohere_2", ("<|START_ACTION|>",)),
    ("command_r", ("Action:", '"tool_name": ')),
    ("apertus", ("<|tools_prefix|>",)),
    ("minimax_m1", ("<tool_calls>", "<beginning_of_sentence>")),
    ("gemma_4", ("<|tool_call>call:",)),
    ("function_gemma", ("<start_function_call>call:",)),
    ("seed", ("<seed:tool_call>",)),
    ("apriel", ("<tool_calls>[",)),
    ("nemotron_2", ("<TOOLCALL>",)),
    ("glm_4_5", ("<arg_key>", r"</arg_key>\n")),
    ("glm_4_5", ("<arg_key>", "</arg_key>\n<arg_value>", "<tool_call>")),
    ("glm_4_7", ("<arg_key>", "<tool_call>")),
    ("mimo", ("<tool_call><function=",)),
    ("qwen_3_coder", ("<function=", "<parameter=")),
    ("functionary_3_1", ("<function=", "</function>")),
    ("exaone", ("<tool_call>", "[|assistant|]")),
    ("mistral_v11", ("[TOOL_CALLS]", "[ARGS]")),
    ("mistral", ("[TOOL_CALLS]",)),
    ("hermes", ("<tool_call>", "arguments")),
    ("phi_4", ("<|/tool_call|>",)),
    ("granite_3", ("<|tool_call|>",)),
    ("lfm_2", ("<|tool_call_start|>",)),
    ("lfm_2", ("List of tools: ",)),
    ("olmo_3", ("<function_calls>",)),
    ("pythonic", ("<|python_start|>",)),
    ("pythonic", ("[func_name1(params_name1=",)),
    ("llama", ('{"name": ', '"parameters": ', "<|python_tag|>")),
    ("llama", ('{"name": function name, "parameters": ',)),
)


def format_of_model(model: Any, chat_template: str | None) -> str | None:
    """Return the name of the format of a model's calls; None where it knows none.

    Args:
        model: its tokenizer may have a response template.
        chat_template: its chat template; None without one.
    """
    found = format_of(chat_template)
    response = getattr(model, "response_template", None)
    if found is None and response is not None:
        found = format_of(f"tool {' '.join(_texts_of(response))}")
    return found


def _texts_of(data: Any) -> list[str]:
    """Return the texts in JSON data; of patterns, without their escapes."""
    if isinstance(data, str):
        return [data, data.replace("\\", "")]
    if isinstance(data, dict):
        return [text for key, value in data.items() for text in [str(key), *_texts_of(value)]]
    return [text for item in data for text in _texts_of(item)] if isinstance(data, list | tuple) else []


def format_of(chat_template: str | None) -> str | None:
    """Return the name of the format of calls that a chat template describes or writes; None where it knows none.

    Args:
        chat_template: the template's text; None without one.

    Example:
        >>> format_of("<tool_call>{{ call.name }} {{ call.arguments }}</tool_call>")
        'hermes'
    """
    if chat_template is None or "tool" not in chat_template:
        return None
    for name, texts in _TELL_TALES:
        if all(text in chat_template for text in texts):
            return name
    return None
