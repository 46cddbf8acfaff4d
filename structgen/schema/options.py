"""What a caller chooses about the reading of a schema: `SchemaOptions`, the same for every entrance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

if TYPE_CHECKING:
    from referencing import Registry

__all__ = ["Draft", "Formats", "PropertyOrder", "SchemaArguments", "SchemaOptions", "Whitespace"]

Whitespace = Literal["any", "compact", "single", "line"]
PropertyOrder = Literal["schema", "any"]
Formats = Literal["assert", "strict", "annotate"]
Draft = Literal["draft4", "draft6", "draft7", "2019-09", "2020-12"]


class SchemaArguments(TypedDict, total=False):
    """How a schema is read and written: keyword arguments of `compile`, `generate`, `Generator`, `@fn`, `export`.

    Attributes:
        whitespace: white space in JSON: "any" (at most 64 characters a gap), "line" (the same without line breaks),
            "compact" (none), or "single" (as `json.dumps` writes it: keys and punctuation are forced, and cost no step
            of a model). `compile` and `export` take "any" by default, what runs a model "single".
        property_order: "schema", the default: keys come in the schema's order. "any": in every order.
        formats: "assert", the default: the `format`s that are known are enforced, unknown ones are comments, with a
            warning each. "strict": a format that cannot be enforced is an `UnsupportedSchemaError`. "annotate": none
            is enforced, as the standard has it by default.
        draft: what a JSON Schema is written in that does not say so by `$schema`, or names there what nobody knows:
            "draft4", "draft6", "draft7", "2019-09" or "2020-12". None, the default: the newest, with the forms of older
            ones where they can mean one thing only.
        lenient: with True, what is unsupported is widened instead of refused, with a `SchemaWarning` that says what
            was dropped. The validator still checks the answer.
        registry: the schemas, by URI, that references may lead to outside of the schema: a `referencing.Registry`.
            The metaschemas of the drafts are always known. Nothing is ever fetched.
    """

    whitespace: Whitespace
    property_order: PropertyOrder
    formats: Formats
    draft: Draft | None
    lenient: bool
    registry: Registry[Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaOptions:
    """`SchemaArguments` with their defaults, checked.

    Raises:
        ValueError: a word that is none of those an option knows.
        TypeError: an unknown option, or `lenient` or `registry` of another type.
    """

    whitespace: Whitespace = "any"
    property_order: PropertyOrder = "schema"
    formats: Formats = "assert"
    draft: Draft | None = None
    lenient: bool = False
    registry: Registry[Any] | None = None

    def __post_init__(self) -> None:
        for name, words in (("whitespace", Whitespace), ("property_order", PropertyOrder), ("formats", Formats)):
            value = getattr(self, name)
            if value not in get_args(words):
                raise ValueError(f"{name} must be one of {', '.join(get_args(words))}, not {value!r}")
        if self.draft is not None and self.draft not in get_args(Draft):
            raise ValueError(f"draft must be one of {', '.join(get_args(Draft))}, not {self.draft!r}")
        if not isinstance(self.lenient, bool):
            raise TypeError(f"lenient must be True or False, not {self.lenient!r}")
        if self.registry is not None:
            self._check_registry()

    def _check_registry(self) -> None:
        from referencing import Registry

        if not isinstance(self.registry, Registry):
            raise TypeError(f"registry must be a referencing.Registry, not {type(self.registry).__name__}")

    def without_registry(self) -> SchemaOptions:
        """The same options as a key of caches; what the registry holds is compared by content."""
        return self if self.registry is None else replace(self, registry=None)
