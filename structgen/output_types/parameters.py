"""`Parameters`: the arguments of a call in a model's own notation, such as XML or Python, in place of a JSON object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["STYLES", "Parameters"]

STYLES = (
    "json",
    "qwen_xml",
    "seed_xml",
    "minimax_xml",
    "minimax_m3_xml",
    "deepseek_xml",
    "deepseek_v4_1_xml",
    "glm_xml",
    "hunyuan_xml",
    "minicpm_xml",
    "atem_xml",
    "gcml_xml",
    "cohere_xml",
    "kimi_k3_xml",
    "gemma",
    "function_gemma",
    "python",
)
"""The notations, by the names that structural tags have for them."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A value of a schema in a notation.

    Attributes:
        schema: a type or a JSON Schema.
        style: the notation, one of `STYLES`.
        excludes: texts that must not occur in strings.
        special_tokens: names of tokens that have no text. In the marks of the notation they are token terminals.
    """

    schema: Any
    style: str
    excludes: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = ()
