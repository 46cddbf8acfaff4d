"""Options for reading a schema and writing its JSON: the same for every public function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from referencing import Registry

__all__ = [
    "Draft",
    "Format",
    "Formats",
    "Numbers",
    "PropertyOrder",
    "SchemaArguments",
    "SchemaOptions",
    "Whitespace",
    "read_options",
    "unknown_option",
]

Whitespace = Literal["any", "compact", "single", "line"]
PropertyOrder = Literal["schema", "any"]
Numbers = Literal["any", "plain"]
Format = Literal["json", "yaml"]
Formats = Literal["assert", "strict", "annotate"]
Draft = Literal["draft4", "draft6", "draft7", "2019-09", "2020-12"]


class SchemaArguments(TypedDict, total=False):
    """Keyword arguments of `compile`, `generate`, `Generator`, `@fn` and `export` about schemas.

    Attributes:
        format: "json", the default; or "yaml": the value is written in block-style YAML and read from it. See
            docs/yaml.md, also for what `whitespace` means there.
        whitespace: the white space in JSON. "any": at most 64 characters in each gap. "line": the same without line
            breaks. "compact": none. "single": as `json.dumps` writes it; keys and punctuation are then forced text,
            which costs no step of a model. The default is "any" for `compile` and `export`, and "single" for functions
            that run a model.
        numbers: "plain": integers are written in digits, as 12, and other numbers without an exponent, as 0.25, with at
            most 17 digits before and after the point; a schema whose numbers are longer has more forms. "any": every
            form of JSON that a validator takes: 12, 12.0, 1.2e1. The default is "any" for `compile`, and "plain" for
            `export` and for functions that run a model.
        property_order: "schema", the default: keys come in the schema's order. "any": they come in any order.
        formats: "assert", the default: known `format`s are enforced; each unknown one is ignored with a warning.
            "strict": a format that cannot be enforced raises `UnsupportedSchemaError`. "annotate": no format is
            enforced, the default of the standard.
        draft: the draft of a JSON Schema whose `$schema` is missing or unknown: "draft4", "draft6", "draft7",
            "2019-09" or "2020-12". None, the default: the newest draft, and forms of older drafts where they are
            unambiguous.
        lenient: with True, unsupported keywords are dropped with a `SchemaWarning` instead of raising an error, and an
            unknown `$schema` is read as the newest draft. The validator still checks the answer.
        registry: a `referencing.Registry` of the schemas outside of this one that references may name, by URI. The
            metaschemas of the drafts are always known. Nothing is fetched.
        base_uri: the URI that the schema comes from. Relative references, and a relative `$id` of the whole schema, are
            resolved against it. None, the default, for a schema without one.
    """

    format: Format
    whitespace: Whitespace
    numbers: Numbers
    property_order: PropertyOrder
    formats: Formats
    draft: Draft | None
    lenient: bool
    registry: Registry[Any] | None
    base_uri: str | None


_WORDS = (
    ("format", Format),
    ("whitespace", Whitespace),
    ("numbers", Numbers),
    ("property_order", PropertyOrder),
    ("formats", Formats),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaOptions:
    """`SchemaArguments` with their defaults, checked.

    Raises:
        ValueError: an option has an unknown value.
        TypeError: an option is unknown, or `lenient`, `registry` or `base_uri` has the wrong type.
    """

    format: Format = "json"
    whitespace: Whitespace = "any"
    numbers: Numbers = "any"
    property_order: PropertyOrder = "schema"
    formats: Formats = "assert"
    draft: Draft | None = None
    lenient: bool = False
    registry: Registry[Any] | None = None
    base_uri: str | None = None

    def __hash__(self) -> int:
        """Return a hash of some fields: that of all would take longer than comparing them."""
        return hash((self.whitespace, self.numbers, self.property_order, self.format))

    def __post_init__(self) -> None:
        for name, words in _WORDS:
            value = getattr(self, name)
            if value not in get_args(words):
                raise ValueError(f"{name} must be one of {', '.join(get_args(words))}, not {value!r}")
        if self.format == "yaml" and self.whitespace == "line":
            raise ValueError('whitespace="line" keeps JSON on one line; block-style YAML has many')
        if self.draft is not None and self.draft not in get_args(Draft):
            raise ValueError(f"draft must be one of {', '.join(get_args(Draft))}, not {self.draft!r}")
        if not isinstance(self.lenient, bool):
            raise TypeError(f"lenient must be True or False, not {self.lenient!r}")
        if self.registry is not None:
            self._check_registry()
        if self.base_uri is not None:
            self._check_base_uri()

    def _check_registry(self) -> None:
        from referencing import Registry

        if not isinstance(self.registry, Registry):
            raise TypeError(f"registry must be a referencing.Registry, not {type(self.registry).__name__}")

    def _check_base_uri(self) -> None:
        if not isinstance(self.base_uri, str):
            raise TypeError(f"base_uri must be a text, not {type(self.base_uri).__name__}")
        try:
            is_absolute = bool(urlsplit(self.base_uri).scheme)
        except ValueError:  # such as `http://[`
            is_absolute = False
        if not is_absolute or "#" in self.base_uri:
            raise ValueError(f"base_uri must be an absolute URI without a fragment, not {self.base_uri!r}")

    @property
    def draft_if_unknown(self) -> str | None:
        """The draft of a schema without a known `$schema`: "" for the newest, None to refuse an unknown `$schema`."""
        return "" if self.draft is None and self.lenient else self.draft

    def without_registry(self) -> SchemaOptions:
        """Return the options without the registry, as a part of a cache key; registries are compared by content."""
        return self if self.registry is None else replace(self, registry=None)


def read_options(**options: Unpack[SchemaArguments]) -> SchemaOptions:
    """Return the options that a caller gave, checked.

    Raises:
        ValueError, TypeError: see `SchemaOptions`; of an unknown option, the message suggests a known one.
    """
    for name in options:
        if name not in SchemaArguments.__annotations__:
            raise unknown_option(name, SchemaArguments.__annotations__)
    return SchemaOptions(**options)


def unknown_option(name: str, known: Iterable[str]) -> TypeError:
    """Return the error for an option that does not exist, with the known one that is most like it."""
    close = get_close_matches(name, known, n=1)
    return TypeError(f"there is no option {name!r}" + (f": did you mean {close[0]!r}?" if close else ""))
