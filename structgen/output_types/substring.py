"""`SubstringOf`: a string field of a Pydantic model that holds a piece of a source text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from structgen.output_types.string_fields import core_schema_of, json_schema_of
from structgen.schema.own_keywords import SUBSTRING_OF
from structgen.schema.reading.substrings import Unit, is_substring, read_keyword

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

__all__ = ["SubstringOf"]


@dataclass(frozen=True)
class SubstringOf:
    """An annotation of `str`: the value is a piece of a source text, so that a quote cannot be invented.

    A piece is never empty; where nothing may fit, allow None too. Length bounds and patterns on the same field hold as
    well. Instances made by hand are checked in the same way.

    Args:
        text: the source.
        unit: "character": any run of code points. "word": whole words only, as in "Alice" and not "lice"; see
            docs/formats.md.

    Raises:
        SchemaError: the text is empty, or the unit is unknown; when the model is used, the type is not `str`.

    Example:
        >>> from typing import Annotated
        >>> from pydantic import BaseModel
        >>> class Evidence(BaseModel):
        ...     quote: Annotated[str, structgen.SubstringOf("The cat sat.", unit="word")]
        >>> Evidence(quote="cat sat")
        Evidence(quote='cat sat')
    """

    text: str
    unit: Unit = field(default="character", kw_only=True)

    def __post_init__(self) -> None:
        read_keyword(self._keyword())

    def _keyword(self) -> dict[str, str]:
        return {"text": self.text, "unit": self.unit}

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema_of(source, handler, self._check, name="SubstringOf", keyword=SUBSTRING_OF)

    def _check(self, value: Any) -> Any:
        if isinstance(value, str) and not is_substring(value, self.text, self.unit):
            raise ValueError("it is not a piece of the source text")
        return value

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return json_schema_of(core, handler, {SUBSTRING_OF: self._keyword()})
