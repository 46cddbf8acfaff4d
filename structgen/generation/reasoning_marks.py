"""The marks of models' reasoning, by family, and the family of a chat template.

    prompt  start  reasoning …  end  after  answer

Most families write `<think>` and `</think>`. gpt-oss (Harmony) writes each part of its turn as a message of a channel:

    <|channel|>analysis<|message|> reasoning … <|end|> <|start|>assistant<|channel|>final<|message|> answer
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["MARKS", "Marks", "marks_of"]


class Marks(NamedTuple):
    """The marks of a family.

    Attributes:
        start: open the reasoning; the first is the one to write. No start: the empty text.
        end: close the reasoning; the first is the one to write.
        after: written after the end.
        answer: written before the answer, after reasoning or without it; "" in most families.
    """

    start: tuple[str, ...]
    end: tuple[str, ...]
    after: str
    answer: str = ""


MARKS = {
    "harmony": Marks(
        ("<|channel|>analysis<|message|>",), ("<|end|>",), "<|start|>assistant", "<|channel|>final<|message|>"
    ),
    "kimi_k3": Marks(("<|open|>think<|sep|>",), ("<|close|>think<|sep|>",), "", "<|open|>response<|sep|>"),
    "muse_glimmer": Marks((" to=self<|message|>",), ("<|eom|>",), "<|start|>assistant", " to=user<|message|>"),
    "solar": Marks(("<|think|>",), ("<|end|>",), "<|begin|>assistant", "<|content|>"),
    "apriel": Marks(("",), ("[BEGIN FINAL RESPONSE]",), "\n"),
    "apertus": Marks(("<|inner_prefix|>",), ("<|inner_suffix|>",), ""),
    "gemma": Marks(("<|channel>thought\n",), ("<channel|>",), ""),
    "cohere": Marks(("<|START_THINKING|>",), ("<|END_THINKING|>",), ""),
    "mistral": Marks(("[THINK]",), ("[/THINK]",), ""),
    "seed": Marks(("<seed:think>",), ("</seed:think>",), ""),
    "minimax_m3": Marks(("<mm:think>",), ("</mm:think>",), ""),
    "hunyuan": Marks(("<think:opensource>", "<think>"), ("</think:opensource>", "</think>"), ""),
    "deepseek_r1": Marks(("<think>\n",), ("</think>",), "\n\n"),
    "deepseek_v3_1": Marks(("<think>",), ("</think>",), ""),
    "kimi_k2": Marks(("<think>",), ("</think>",), ""),
    "glm": Marks(("<think>",), ("</think>",), "\n"),
    "gigachat": Marks(("<think>",), ("</think>",), "\n\n"),
    "qwen": Marks(("<think>\n",), ("</think>",), "\n\n"),
}
"""The known families. The first whose marks a chat template has is its family."""

# Texts that a chat template of the family has, all of them; without an entry, the end mark.
_TELL_TALES = {
    "harmony": ("<|channel|>analysis", "<|end|>"),
    "kimi_k3": ("'<|open|>' + tag", "'think'"),
    "muse_glimmer": ("to=self<|message|>", "<|eom|>"),
    "solar": ("<|begin|>assistant<|think|>", "<|end|>"),
    "apriel": ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),
    "hunyuan": ("'</think{}>'",),
    "deepseek_r1": (r"<｜Assistant｜><think>\n", "</think>"),
    "deepseek_v3_1": ("<｜Assistant｜>", "</think>"),
    "kimi_k2": ("<|im_middle|>", "</think>"),
    "gigachat": ("<｜GCML｜", "</think>"),
    "glm": ("<|observation|>", "</think>"),
}

_JOIN = re.compile(r"""(['"]) *[+~] *\1""")  # '<think>' ~ '\n' is '<think>\n'
_WRITTEN = re.compile(r"""<think>((?:\\n)*)['"] *[+~][^<{}]*[+~] *['"](?:\\n)?</think>((?:\\n)*)['"]""")


def marks_of(chat_template: str | None) -> Marks | None:
    r"""Return the marks that a chat template knows; None if it has none of the known ones.

    Many families write `<think>`, with other white space around it. It is as the template writes it; where the template
    writes no reasoning, as Qwen's does.

    Args:
        chat_template: the template's text.

    Example:
        >>> marks_of(r"{{ '<think>\n' + message.reasoning_content + '\n</think>\n' + message.content }}").after
        '\n'
    """
    if chat_template is None:
        return None
    for name, marks in MARKS.items():
        if all(text in chat_template for text in _TELL_TALES.get(name, marks.end[:1])):
            return _as_written(marks, chat_template) if name == "qwen" else marks
    return None


def _as_written(marks: Marks, chat_template: str) -> Marks:
    """Return marks with the white space that a chat template writes around them."""
    found = _WRITTEN.search(_JOIN.sub("", chat_template))
    if found is None:
        return marks
    before, after = (breaks.replace("\\n", "\n") for breaks in found.groups())
    return marks._replace(start=(f"<think>{before}",), after=after)
