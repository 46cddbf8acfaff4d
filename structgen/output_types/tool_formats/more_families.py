r"""Formats of tool calls that xgrammar does not name, as data; see `families`.

hermes      as qwen_3: Hermes, Qwen 2.5, Granite 4 and many others
pythonic    calls of Python in a list, or text: Llama 3.2 and 4, and others
json        structgen's own, for models that know no tools: one call a line, {"name": "f", "arguments": {…}}
"""

from __future__ import annotations

from dataclasses import replace

from structgen.output_types.tool_formats.families import FAMILIES, Family, Thinking

__all__ = ["MORE_FAMILIES"]

_GEMMA_THINK = ("<|channel>", "<channel|>")
_HUNYUAN_THINK = ("<think:opensource>", "</think:opensource>")
_APERTUS_THINK = ("<|inner_prefix|>", "<|inner_suffix|>")
_BEGIN = '{"name": "NAME", "arguments": '


def _listed(opening: str, closing: str, thinking: Thinking | None = None) -> Family:
    """Return the format of a list of JSON objects between two marks."""
    return Family(begin=_BEGIN, end="}", section=(opening, closing), separator=", ", thinking=thinking)


MORE_FAMILIES: dict[str, Family] = {
    "apertus": Family(
        begin='{"NAME": ',
        end="}",
        section=("<|tools_prefix|>[", "]<|tools_suffix|>"),
        separator=", ",
        excludes=(),
        thinking=Thinking(*_APERTUS_THINK, excludes=_APERTUS_THINK, opened_by_prompt=False),
    ),
    "apriel": _listed(
        "<tool_calls>[", "]</tool_calls>", Thinking("", "[BEGIN FINAL RESPONSE]", after="\n", excludes=())
    ),
    "cohere_2": Family(
        begin='{"tool_call_id": "NUMBER", "tool_name": "NAME", "parameters": ',
        end="}",
        section=("<|START_ACTION|>[\n    ", "\n]<|END_ACTION|>"),
        separator=",\n    ",
        excludes=FAMILIES["cohere"].excludes,
        thinking=FAMILIES["cohere"].thinking,
    ),
    "command_r": Family(
        begin='{\n        "tool_name": "NAME",\n        "parameters": ',
        end="\n    }",
        section=("Action:\n```json\n[\n    ", "\n]```"),
        trigger="Action:",
        separator=",\n    ",
        excludes=(),
        thinking=None,
    ),
    "firefunction_2": _listed(" functools[", "]"),
    "function_gemma": Family(
        begin="<start_function_call>call:NAME",
        end="<end_function_call>",
        style="function_gemma",
        excludes=(),
        thinking=None,
    ),
    "functionary_3_1": Family(begin="<function=NAME>", end="</function>", thinking=None),
    "gemma_4": Family(
        begin="<|tool_call>call:NAME",
        end="<tool_call|>",
        style="gemma",
        excludes=_GEMMA_THINK,
        thinking=Thinking("<|channel>thought\n", "<channel|>", excludes=_GEMMA_THINK, opened_by_prompt=False),
    ),
    "gigachat_3": Family(
        begin=f"<|message_sep|>\n\nfunction call<|role_sep|>\n{_BEGIN}", end="}", excludes=(), thinking=None
    ),
    "gigachat_3_1": Family(begin=f"<|function_call|>{_BEGIN}", end="}", excludes=(), thinking=None),
    "gigachat_3_5": Family(
        begin='<｜GCML｜invoke name="NAME">\n',
        end="</｜GCML｜invoke>",
        style="gcml_xml",
        section=("<｜GCML｜tool_calls>\n", "\n</｜GCML｜tool_calls>"),
        trigger="<｜GCML｜tool_calls>",
        separator="\n",
        thinking=Thinking(after="\n\n"),
    ),
    "glm_4_5": Family(
        begin="<tool_call>NAME\n",
        end="\n</tool_call>",
        style="glm_xml",
        separator="\n",
        excludes=FAMILIES["glm_4_7"].excludes,
    ),
    "granite_3": _listed("<|tool_call|>[", "]", Thinking(after="\n\n", opened_by_prompt=False)),
    "hermes": FAMILIES["qwen_3"],
    "hunyuan_3": Family(
        begin="<tool_call:opensource>NAME<tool_sep:opensource>\n",
        end="</tool_call:opensource>\n",
        style="hunyuan_xml",
        section=("<tool_calls:opensource>\n", "</tool_calls:opensource>"),
        trigger="<tool_calls:opensource>",
        excludes=_HUNYUAN_THINK,
        thinking=Thinking(*_HUNYUAN_THINK, excludes=_HUNYUAN_THINK),
    ),
    "json": Family(begin=_BEGIN, end="}", trigger='{"name":', separator="\n", excludes=(), thinking=None),
    "lfm_2": Family(
        begin="NAME",
        end="",
        style="python",
        section=("<|tool_call_start|>[", "]<|tool_call_end|>"),
        trigger="<|tool_call_start|>",
        separator=", ",
        thinking=Thinking(opened_by_prompt=False),
    ),
    "minicpm_5": Family(
        begin='<function name="NAME">', end="</function>", style="minicpm_xml", separator="\n", thinking=Thinking()
    ),
    "minimax_m1": Family(
        begin=_BEGIN, end="}", section=("<tool_calls>\n", "\n</tool_calls>"), separator="\n", thinking=None
    ),
    "mistral": replace(
        _listed("[TOOL_CALLS][", "]"), trigger="[TOOL_CALLS]", id_after=(', "id": "', '"'), may_have_blank=True
    ),
    "mistral_v11": Family(
        begin="[TOOL_CALLS]NAME[ARGS]", end="", id_before="[CALL_ID]", thinking=Thinking("[THINK]", "[/THINK]")
    ),
    "nemotron_2": _listed("<TOOLCALL>[", "]</TOOLCALL>", Thinking(after="\n\n")),
    "olmo_3": Family(
        begin="NAME",
        end="",
        style="python",
        section=("<function_calls>", "</function_calls>"),
        separator="\n",
    ),
    "phi_4": _listed("<|tool_call|>[", "]<|/tool_call|>"),
    "pythonic": Family(
        begin="NAME", end="", style="python", section=("[", "]"), separator=", ", excludes=(), thinking=None
    ),
    "seed": Family(
        begin="<seed:tool_call>\n<function=NAME>\n",
        end="\n</function>\n</seed:tool_call>",
        style="seed_xml",
        separator="\n",
        thinking=Thinking("<seed:think>", "</seed:think>", excludes=()),
    ),
}
"""The formats by name."""
