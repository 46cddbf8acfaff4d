"""The text of an example's answer in YAML: written as JSON first, where the grammar decides keys and their order."""

from __future__ import annotations

from typing import Any

from structgen.compilation.compiler import json_grammar
from structgen.compilation.constraint import Constraint
from structgen.engine.matching.matcher import Matcher
from structgen.errors import TokenRejectedError
from structgen.generation.example_texts import text_of
from structgen.schema.yaml_text.writer import json_to_yaml

__all__ = ["yaml_text_of"]


def yaml_text_of(value: Any, constraint: Constraint[Any]) -> str:
    """Return the YAML text that a model would have to write for a value.

    Strings of several lines are blocks where the schema allows all of them to be.

    Args:
        value: an instance, or data.
        constraint: a constraint of YAML.

    Raises:
        ValueError: the value does not fit the schema, or the constraint has no schema.
    """
    if constraint.source is None:
        raise ValueError("the constraint has no schema")
    written = text_of([*constraint.prepared.pieces(value)], json_grammar(constraint.source))
    list_step = 0 if constraint.source.options.whitespace == "compact" else 2
    for blocks in (True, False):
        text = json_to_yaml(written, list_step=list_step, blocks=blocks)
        if _fits(text, constraint):
            return text
    raise ValueError(f"the masks would not let a model write this YAML: {text!r}")


def _fits(text: str, constraint: Constraint[Any]) -> bool:
    matcher = Matcher(constraint.grammar)
    try:
        matcher.accept_bytes(text.encode())
    except TokenRejectedError:
        return False
    return matcher.is_accepting
