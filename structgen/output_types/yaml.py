"""`Grammar.yaml`: a text in block-style YAML, read as a value of a schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic

from structgen.output_types.type_variables import AnyValue

__all__ = ["Yaml"]


@dataclass(frozen=True, slots=True)
class Yaml(Generic[AnyValue]):
    """A text of YAML. Make it with `Grammar.yaml`.

    Attributes:
        schema: the schema or type of the value.
    """

    schema: Any
