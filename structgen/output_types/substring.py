"""`SubstringOf`: a string field of a Pydantic model that holds a piece of a source text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from structgen.errors import SchemaError
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
        from pydantic_core import core_schema

        inner = handler(source)
        kind: Any = inner
        while kind["type"] == "definition-ref" or (kind["type"].startswith("function-") and "schema" in kind):
            kind = kind["schema"] if "schema" in kind else handler.resolve_ref_schema(kind)
        if kind["type"] != "str":
            raise SchemaError(
                "SubstringOf annotates str only",
                pointer="",
                keyword=SUBSTRING_OF,
                hint="if the quote may be missing, write Annotated[str, SubstringOf(…)] | None",
            )
        # First of all validators: others may change the string, and the source holds it as it was written.
        return core_schema.no_info_before_validator_function(self._check, inner)

    def _check(self, value: Any) -> Any:
        if isinstance(value, str) and not is_substring(value, self.text, self.unit):
            raise ValueError("it is not a piece of the source text")
        return value

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        # Pydantic makes a chain of a pattern that follows this annotation. Each step of the chain reads the string.
        steps: list[Any] = core["steps"] if core["type"] == "chain" else []
        found = [handler(step) for step in (core, *steps)]
        own = {SUBSTRING_OF: self._keyword()}
        if len(found) == 1 and SUBSTRING_OF not in found[0]:
            return {**found[0], **own}
        return {"allOf": [*found, own]}
