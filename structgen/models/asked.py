"""The constraint of an answer, as adapters of servers read it, and the form in which it is sent.

Asked  --structgen.models.servers.forms-->  Form: fields of the request, who masks, how the answer is read
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from structgen.schema.sources import Source

__all__ = ["AnswerForm", "Asked", "Form", "Kind", "Masks", "Notation"]

Masks: TypeAlias = Literal["local", "server", "wider", "none"]
"""The program that masked an answer; see `structgen.Result.masks`."""

AnswerForm: TypeAlias = Literal["text", "value", "text_value"]
"""The form of an answer: the text itself, `{"value": …}` around JSON, or `{"value": "…"}` around the text."""

Notation: TypeAlias = Literal["gbnf", "lark", "xgrammar"]
"""The notations in which servers take grammars; see `structgen.export`."""


Kind: TypeAlias = Literal["schema", "regex", "choice", "structural_tag", "grammar"]
"""See `Asked.kind`."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The constraint of an answer.

    Attributes:
        kind: "schema", "regex", "choice", "structural_tag", or "grammar" for all others.
        source: the schema; None for a grammar.
        content: the pattern of a regex, the texts of a choice, the JSON data of a structural tag; else None.
        write: returns the grammar of the answer in a notation. Raises GrammarError and LimitExceededError.
        options: the options of a schema that the user chose, such as `whitespace`; see `structgen.compile`.
    """

    kind: Kind
    source: Source | None
    content: Any
    write: Callable[[Notation], str]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema, as an object; that of any value for a grammar."""
        schema = True if self.source is None else self.source.plain_schema
        if isinstance(schema, bool):
            return {} if schema else {"not": {}}
        return schema


@dataclass(frozen=True, slots=True)
class Form:
    """A constraint in the form that a server takes.

    Attributes:
        fields: fields of the request that the official client knows.
        extra: fields that it does not know.
        masks: who masks the answer.
        answer: the form of the answer.
        otherwise: returns the form to send if the server refuses this one; None where there is no other.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    masks: Masks = "server"
    answer: AnswerForm = "text"
    otherwise: Callable[[], Form] | None = None
