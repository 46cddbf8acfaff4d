r"""The formats of tool calls by model family, as data.

The names and marks are those of xgrammar 0.2.8. In a begin mark, NAME stands for the name of the tool, and NUMBER for
a number that the model counts by:

    qwen_3     text <tool_call>\n{"name": "NAME", "arguments": {…}}\n</tool_call> text
    kimi       text <|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:NUMBER<|tool_call_argument_begin|>{…}…
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAMILIES", "Family", "Thinking"]

_THINK = ("<think>", "</think>")


@dataclass(frozen=True, slots=True)
class Thinking:
    """The reasoning of a model before its answer.

    Attributes:
        begin, end: its marks.
        after: the text after the end mark.
        excludes: texts that must not occur in it.
        excludes_opened: the same where the begin mark is in the prompt; None: as `excludes`.
        opened_by_prompt: whether the prompt ends with the begin mark, so that the text begins after it.
        skipped: the text in place of the reasoning, where it is disabled.
        may_only_end: whether the end mark may stand alone where the model chooses whether it reasons.
    """

    begin: str = "<think>"
    end: str = "</think>"
    after: str = ""
    excludes: tuple[str, ...] = _THINK
    excludes_opened: tuple[str, ...] | None = None
    opened_by_prompt: bool = True
    skipped: str = ""
    may_only_end: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """A format of tool calls in free text.

    Attributes:
        begin, end: the marks of a call.
        style: the notation of the arguments (`Parameters`).
        section: the marks around all calls, if there are any.
        trigger: the text after which a call or a section must follow; by default the begin mark of the section, or of a
            call up to NAME.
        separator: the text between two calls.
        lead: the text before the section, where a call is required.
        text_before: whether free text may come before the section, where a call is required.
        excludes: texts that must not occur in free text.
        excludes_alone: the same where there are no tools; None: as `excludes`.
        id_before: the mark of an id that the model may write between the name and the text after it.
        id_after: the texts around an id that the model may write after the arguments; None where it writes none.
        may_have_blank: whether a blank may follow the trigger in the begin mark of the section.
        thinking: the reasoning; None for a family without it.
    """

    begin: str
    end: str
    style: str = "json"
    section: tuple[str, str] | None = None
    trigger: str = ""
    separator: str = ""
    lead: str = ""
    text_before: bool = False
    excludes: tuple[str, ...] = _THINK
    excludes_alone: tuple[str, ...] | None = None
    id_before: str = ""
    id_after: tuple[str, str] | None = None
    may_have_blank: bool = False
    thinking: Thinking | None = Thinking()


def _deepseek_xml(invoke: str, calls: str, style: str, *, hides_calls: bool = False) -> Family:
    section = f"<｜DSML｜{calls}>"
    return Family(
        begin=f'<｜DSML｜{invoke} name="NAME">\n',
        end=f"</｜DSML｜{invoke}>\n",
        style=style,
        section=(f"{section}\n", f"</｜DSML｜{calls}>"),
        trigger=section,
        lead="\n\n",
        excludes_alone=(*_THINK, section) if hides_calls else None,
    )


def _qwen_xml() -> Family:
    return Family(
        begin="<tool_call>\n<function=NAME>\n",
        end="\n</function>\n</tool_call>",
        style="qwen_xml",
        thinking=Thinking(after="\n\n"),
    )


_GLM_MARKS = ("</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
_MIMO_EXCLUDES = (*_THINK, "</tool_call>", "<function=")
_M3 = "]<]minimax[>["
_M3_EXCLUDES = ("<mm:think>", "</mm:think>", f"{_M3}</tool_call>", f"{_M3}<invoke", f"{_M3}</invoke>")
_COHERE_THINK = ("<|START_THINKING|>", "<|END_THINKING|>")

FAMILIES: dict[str, Family] = {
    "cohere": Family(
        begin='<cofl:tool_call id="NUMBER" name="NAME">',
        end="</cofl:tool_call>",
        style="cohere_xml",
        section=("<cofl:tool_calls>", "</cofl:tool_calls>"),
        excludes=_COHERE_THINK,
        thinking=Thinking(*_COHERE_THINK, excludes=_COHERE_THINK, excludes_opened=()),
    ),
    "deepseek_r1": Family(
        begin="<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n```json\n",
        end="\n```<｜tool▁call▁end｜>",
        section=("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
        separator="\n",
    ),
    "deepseek_v3_1": Family(
        begin="<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>",
        end="<｜tool▁call▁end｜>",
        section=("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    ),
    "deepseek_v3_2": _deepseek_xml("invoke", "function_calls", "deepseek_xml"),
    "deepseek_v4": _deepseek_xml("invoke", "tool_calls", "deepseek_xml"),
    "deepseek_v4_1": _deepseek_xml(" invoke", " calls", "deepseek_v4_1_xml", hides_calls=True),
    "exaone": Family(
        begin='<tool_call>{"name": "NAME", "arguments": ',
        end="}</tool_call>",
        trigger="<tool_call>",
        thinking=Thinking(after="\n\n", excludes_opened=()),
    ),
    "glm_4_7": Family(
        begin="<tool_call>NAME",
        end="</tool_call>",
        style="glm_xml",
        excludes=(*_THINK, *_GLM_MARKS),
        excludes_alone=(*_THINK, "<tool_call>", *_GLM_MARKS),
        thinking=Thinking(excludes=(*_THINK, "<tool_call>", *_GLM_MARKS)),
    ),
    "kimi": Family(
        begin="<|tool_call_begin|>functions.NAME:NUMBER<|tool_call_argument_begin|>",
        end="<|tool_call_end|>",
        section=("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
        excludes=(*_THINK, "<|tool_call_begin|>"),
        excludes_alone=_THINK,
        thinking=Thinking(excludes_opened=()),
    ),
    "llama": Family(begin='{"name": "NAME", "parameters": ', end="}", trigger='{"name": ', thinking=None),
    "mimo": Family(
        begin="<tool_call><function=NAME>",
        end="</function></tool_call>",
        style="qwen_xml",
        trigger="<tool_call>",
        excludes=_MIMO_EXCLUDES,
        excludes_alone=("<tool_call>", *_MIMO_EXCLUDES),
        thinking=Thinking(excludes=("<tool_call>", *_MIMO_EXCLUDES), opened_by_prompt=False),
    ),
    "minimax": Family(
        begin='<invoke name="NAME">\n',
        end="</invoke>\n",
        style="minimax_xml",
        section=("<minimax:tool_call>\n", "</minimax:tool_call>"),
        trigger="<minimax:tool_call>",
        lead="\n",
        thinking=Thinking(after="\n\n", excludes_opened=(), skipped="\n</think>\n\n\n\n"),
    ),
    "minimax_m3": Family(
        begin=f'{_M3}<invoke name="NAME">',
        end=f"{_M3}</invoke>\n",
        style="minimax_m3_xml",
        section=(f"{_M3}<tool_call>\n", f"{_M3}</tool_call>"),
        trigger=f"{_M3}<tool_call>",
        text_before=True,
        excludes=_M3_EXCLUDES,
        excludes_alone=(f"{_M3}<tool_call>", *_M3_EXCLUDES),
        thinking=Thinking(
            "<mm:think>", "</mm:think>", excludes=(f"{_M3}<tool_call>", *_M3_EXCLUDES), may_only_end=True
        ),
    ),
    "qwen_3": Family(
        begin='<tool_call>\n{"name": "NAME", "arguments": ',
        end="}\n</tool_call>",
        trigger="<tool_call>",
        thinking=Thinking(after="\n\n"),
    ),
    "qwen_3_5": _qwen_xml(),
    "qwen_3_coder": _qwen_xml(),
}
"""The families whose calls stand in free text. `building` has those that send messages in channels besides."""
