"""The kinds of schemas by the type of their values: what a type checker reads to infer the result of `generate`.

A call has one overload for each kind, in this order:

    TypeForm[T]   a type: Person, list[Person], int | None, Literal["a", "b"]. It is for all types what `type[T]` is for
                  classes; see PEP 747                                                                         -> T
    Format[T]     a grammar, JSON Lines, a template, YAML, an adapter of Pydantic's; or a compiled constraint  -> T
    Texts         a list of texts, or a compiled regex                                                         -> str
    Any           a JSON Schema                                                                                -> Any
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from structgen.compilation.constraint import Constraint
    from structgen.output_types.grammar import Grammar
    from structgen.output_types.json_lines import JsonLines
    from structgen.output_types.template import Template
    from structgen.output_types.yaml import Yaml

    T = TypeVar("T")

    Format: TypeAlias = Grammar[T] | JsonLines[T] | Template[T] | Yaml[T] | TypeAdapter[T]
    FormatOrConstraint: TypeAlias = Format[T] | Constraint[T]
    Texts: TypeAlias = re.Pattern[str] | list[str]
