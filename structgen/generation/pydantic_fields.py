"""The types of fields, items and lists in a Pydantic model, dataclass, TypedDict or plain annotation."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

import pydantic
import typing_extensions
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from structgen.output_types.grammar import Grammar

__all__ = [
    "MAPPINGS",
    "UNORDERED",
    "bare",
    "bare_origin",
    "field_type",
    "fields_of",
    "has_grammar",
    "item_type",
    "lists_at",
]

ORDERED = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
UNORDERED = (set, frozenset, collections.abc.Set)
MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def item_type(annotation: Any, index: int) -> Any:
    """Return the type of an array's item; None where the type is not an array, or has no such item.

    Args:
        annotation: the type of the array.
        index: the position of the item.
    """
    kind = bare(annotation)
    if kind in (Any, object):
        return Any
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = typing.get_type_hints(kind, include_extras=True)
        return hints.get(kind._fields[index], Any) if index < len(kind._fields) else None
    if isinstance(kind, type) and issubclass(kind, pydantic.RootModel):
        return item_type(field_type(kind.model_fields["root"]), index)
    origin, arguments = bare_origin(kind), get_args(kind)
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return arguments[index] if index < len(arguments) else None
    if origin in ORDERED or origin in UNORDERED or origin in (tuple, collections.deque):
        return arguments[0] if arguments else Any
    return None


def lists_at(annotation: Any, path: Sequence[str]) -> list[Any]:
    """Return the types of arrays at a path of keys, in a value of a type.

    Args:
        annotation: the type.
        path: the keys.
    """
    return [
        kind for one in _types_at(annotation, path) for kind in _alternatives(one) if item_type(kind, 0) is not None
    ]


def has_grammar(annotation: Any, path: Sequence[str | int]) -> bool:
    """Return whether the strings at a path of keys and indices have a grammar of texts without end.

    Args:
        annotation: the type of the whole value.
        path: the keys and indices.
    """
    return any(
        isinstance(one, Grammar) and one.kind != "choice"
        for found in _types_at(annotation, path)
        for member in (found, *get_args(found))
        if get_origin(member) is Annotated
        for one in get_args(member)[1:]
    )


def _types_at(annotation: Any, path: Sequence[str | int]) -> list[Any]:
    """Return the types of the values at a path of keys and indices, in a value of a type."""
    found = [annotation]
    for part in path:
        kinds = [kind for one in found for kind in _alternatives(one)]
        if isinstance(part, str):
            found = [value for kind in kinds for value in _value_types(kind, part)]
        else:
            found = [item for kind in kinds if (item := item_type(kind, part)) is not None]
    return found


def _alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the bare types of a union or of a root model's root; any other bare type itself."""
    kind = bare(annotation)
    if get_origin(kind) in (Union, types.UnionType):
        for member in get_args(kind):
            yield from _alternatives(member)
    elif isinstance(kind, type) and issubclass(kind, pydantic.RootModel):
        yield from _alternatives(field_type(kind.model_fields["root"]))
    else:
        yield kind


def _value_types(kind: Any, key: str) -> list[Any]:
    """Return the types that a key of an object may have, for an object of a bare type."""
    if kind in (Any, object):
        return [Any]
    if bare_origin(kind) in MAPPINGS:
        return [get_args(kind)[1] if get_args(kind) else Any]
    found = [annotation for _, keys, annotation in fields_of(kind) or () if key in keys]
    return found or [Any] * (getattr(kind, "model_config", {}).get("extra") == "allow")


def fields_of(kind: Any) -> list[tuple[str, list[str], Any]] | None:
    """Return the fields of a model, dataclass or TypedDict: name, keys in JSON, type. None for other types."""
    try:
        return _cached_fields(bare(kind))
    except TypeError:  # not hashable
        return None


@functools.lru_cache(maxsize=256)
def _cached_fields(kind: Any) -> list[tuple[str, list[str], Any]] | None:
    cls = get_origin(kind) or kind
    if not isinstance(cls, type):
        return None
    if issubclass(cls, BaseModel) and not issubclass(cls, pydantic.RootModel):
        return [(name, _keys(name, field), field_type(field)) for name, field in cls.model_fields.items()]
    if typing_extensions.is_typeddict(cls):
        hints = typing_extensions.get_type_hints(cls, include_extras=True)
        return [(name, [name], _bare_of_typeddict(hint)) for name, hint in hints.items()]
    if dataclasses.is_dataclass(cls):
        own = getattr(cls, "__pydantic_fields__", None)
        if own is not None:
            return [(name, _keys(name, field), field_type(field)) for name, field in own.items()]
        hints = typing.get_type_hints(cls, include_extras=True)
        return [(field.name, [field.name], hints[field.name]) for field in dataclasses.fields(cls)]
    return None


def _keys(name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias or field.alias
    if isinstance(alias, pydantic.AliasChoices):
        return [*(choice for choice in alias.choices if isinstance(choice, str)), name]
    return [alias, name] if isinstance(alias, str) else [name]


def field_type(field: FieldInfo) -> Any:
    """Return a field's type, with its constraints."""
    annotation = field.annotation
    return Annotated[(annotation, *field.metadata)] if field.metadata else annotation


def _bare_of_typeddict(hint: Any) -> Any:
    while get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.ReadOnly):
        hint = get_args(hint)[0]
    return hint


def bare(annotation: Any) -> Any:
    """Return a type without its wrappers: annotations, and names of types."""
    while True:
        if isinstance(annotation, TypeAdapter):
            annotation = annotation._type
        elif get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, typing_extensions.TypeAliasType):
            annotation = annotation.__value__
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif annotation is pydantic.JsonValue or isinstance(annotation, typing.TypeVar):
            return Any
        else:
            return annotation


def bare_origin(kind: Any) -> Any:
    """Return the class of a generic type, such as list of list[int]; any other type as it is."""
    return get_origin(kind) or kind
