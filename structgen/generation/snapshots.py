"""Snapshots of a value that is being written, as instances of its type.

Only the last way down is open. What is complete is validated as its type asks; of what is open, models get the
attributes that are there and None for the others, lists their first items, strings what they hold so far. A value whose
type is not known yet, as of a union before the key that tells, is not there yet.
"""

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

from structgen.generation.partial_json import Node, PartialReader

__all__ = ["MISSING", "PartialValues", "bare", "fields_of", "item_type", "lists_at"]


class _Missing:
    """Stands for a value that is not there yet."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()

_ORDERED = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_UNORDERED = (set, frozenset, collections.abc.Set)
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class PartialValues:
    """Makes values of the nodes of one text.

    Args:
        reader: has read the text.
        context: what validators find as `info.context`.
    """

    def __init__(self, reader: PartialReader, context: Any = None) -> None:
        self._reader = reader
        self._context = context

    def value(self, node: Node | None, annotation: Any) -> Any:
        """A snapshot; MISSING where there is nothing to see yet.

        Args:
            node: the value's node.
            annotation: its type, or a `TypeAdapter`; `Any` for JSON data.
        """
        if node is None:
            return MISSING
        if node.is_complete:
            return self._complete(node, annotation)
        return self._open(node, bare(annotation))

    def validated(self, node: Node, annotation: Any) -> Any:
        """The value of a complete node.

        Raises:
            pydantic.ValidationError: a validator refuses it.
        """
        if node.cache is None or node.cache[0] is not annotation:
            read = _adapter(annotation).validate_json
            node.cache = annotation, read(self._reader.source(node), context=self._context)
        return node.cache[1]

    def _complete(self, node: Node, annotation: Any) -> Any:
        try:
            return self.validated(node, annotation)
        except (pydantic.ValidationError, ValueError, AssertionError):
            # A validator in Python will refuse the whole; until then this is what is there.
            return self.validated(node, Any)

    def _open(self, node: Node, kind: Any) -> Any:
        """A snapshot of an open node of a bare type."""
        if get_origin(kind) in (Union, types.UnionType):
            return self._of_union(node, get_args(kind))
        if node.kind == "string":
            return MISSING if node.shown is None or kind not in (str, Any, object) else node.shown
        if isinstance(kind, type) and issubclass(kind, pydantic.RootModel):
            root = self._open(node, bare(_field_type(kind.model_fields["root"])))
            return MISSING if root is MISSING else _instance(kind, {"root": root})
        if node.kind == "object":
            return self._object(node, kind)
        return self._array(node, kind) if node.kind == "array" else MISSING

    def _of_union(self, node: Node, members: tuple[Any, ...]) -> Any:
        """Of the only member that the node fits so far; nothing while there are several."""
        fitting = [member for member in map(bare, members) if self._fits(node, member)]
        return self._open(node, fitting[0]) if len(fitting) == 1 else MISSING

    def _fits(self, node: Node, kind: Any) -> bool:
        """Whether a bare type can still be that of an open node."""
        if get_origin(kind) in (Union, types.UnionType):
            return any(self._fits(node, bare(member)) for member in get_args(kind))
        if kind in (Any, object):
            return True
        if node.kind == "string":
            return kind is str
        if node.kind == "array":
            return item_type(kind, 0) is not None
        fields = fields_of(kind)
        if fields is None:
            return node.kind == "object" and _origin(kind) in _MAPPINGS
        by_key = {key: annotation for _, keys, annotation in fields for key in keys}
        return all(key in by_key and self._may_be(member, by_key[key]) for key, member in node.members.items())

    def _may_be(self, node: Node, annotation: Any) -> bool:
        if not node.is_complete:
            return True
        try:
            self.validated(node, annotation)
        except (pydantic.ValidationError, ValueError, AssertionError):
            return False
        return True

    def _array(self, node: Node, kind: Any) -> Any:
        values = []
        for index, item in enumerate(node.items):
            of_item = item_type(kind, index)
            if of_item is None:
                return MISSING
            value = self.value(item, of_item)
            if value is not MISSING:
                values.append(value)
        if item_type(kind, 0) is None:
            return MISSING
        if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return kind(*values, *[None] * (len(kind._fields) - len(values)))
        origin = _origin(kind)
        if origin in _UNORDERED:
            return frozenset(values) if origin is frozenset else set(values)
        return tuple(values) if origin is tuple else values

    def _object(self, node: Node, kind: Any) -> Any:
        fields = fields_of(kind)
        if fields is not None:
            return _instance(kind, dict(self._fields(node, fields)), self._extra(node, fields))
        if kind in (Any, object):
            return dict(self._entries(node, Any, Any))
        if _origin(kind) in _MAPPINGS:
            key, value = get_args(kind) or (Any, Any)
            return dict(self._entries(node, key, value))
        return MISSING

    def _fields(self, node: Node, fields: list[tuple[str, list[str], Any]]) -> Iterator[tuple[str, Any]]:
        for name, keys, annotation in fields:
            for key in keys:
                value = self.value(node.members.get(key), annotation)
                if value is not MISSING:
                    yield name, value
                    break

    def _extra(self, node: Node, fields: list[tuple[str, list[str], Any]]) -> dict[str, Any]:
        known = {key for _, keys, _ in fields for key in keys}
        found = {key: self.value(member, Any) for key, member in node.members.items() if key not in known}
        return {key: value for key, value in found.items() if value is not MISSING}

    def _entries(self, node: Node, key_type: Any, value_type: Any) -> Iterator[tuple[Any, Any]]:
        for key, member in node.members.items():
            value = self.value(member, value_type)
            if value is not MISSING:
                yield (key if key_type in (Any, str) else _adapter(key_type).validate_strings(key)), value


def item_type(annotation: Any, index: int) -> Any:
    """The type of an array's item; None where the type is not that of arrays, or has no such item."""
    kind = bare(annotation)
    if kind in (Any, object):
        return Any
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = typing.get_type_hints(kind, include_extras=True)
        return hints.get(kind._fields[index], Any) if index < len(kind._fields) else None
    if isinstance(kind, type) and issubclass(kind, pydantic.RootModel):
        return item_type(_field_type(kind.model_fields["root"]), index)
    origin, arguments = _origin(kind), get_args(kind)
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return arguments[index] if index < len(arguments) else None
    if origin in _ORDERED or origin in _UNORDERED or origin in (tuple, collections.deque):
        return arguments[0] if arguments else Any
    return None


def lists_at(annotation: Any, path: Sequence[str]) -> list[Any]:
    """The types of arrays that a path of keys may lead to, in a value of a type."""
    found = [annotation]
    for key in path:
        found = [value for one in found for kind in _alternatives(one) for value in _value_types(kind, key)]
    return [kind for one in found for kind in _alternatives(one) if item_type(kind, 0) is not None]


def _alternatives(annotation: Any) -> Iterator[Any]:
    """The bare types of a union; that of a root model's root; of any other type, itself."""
    kind = bare(annotation)
    if get_origin(kind) in (Union, types.UnionType):
        for member in get_args(kind):
            yield from _alternatives(member)
    elif isinstance(kind, type) and issubclass(kind, pydantic.RootModel):
        yield from _alternatives(_field_type(kind.model_fields["root"]))
    else:
        yield kind


def _value_types(kind: Any, key: str) -> list[Any]:
    """The types that an object of a bare type may have at a key."""
    if kind in (Any, object):
        return [Any]
    if _origin(kind) in _MAPPINGS:
        return [get_args(kind)[1] if get_args(kind) else Any]
    found = [annotation for _, keys, annotation in fields_of(kind) or () if key in keys]
    return found or [Any] * (getattr(kind, "model_config", {}).get("extra") == "allow")


def fields_of(kind: Any) -> list[tuple[str, list[str], Any]] | None:
    """The fields of a model, dataclass or TypedDict: name, keys in JSON, type. None for other types."""
    try:
        return _kept_fields(bare(kind))
    except TypeError:  # not hashable
        return None


@functools.lru_cache(maxsize=256)
def _kept_fields(kind: Any) -> list[tuple[str, list[str], Any]] | None:
    cls = get_origin(kind) or kind
    if not isinstance(cls, type):
        return None
    if issubclass(cls, BaseModel) and not issubclass(cls, pydantic.RootModel):
        return [(name, _keys(name, field), _field_type(field)) for name, field in cls.model_fields.items()]
    if typing_extensions.is_typeddict(cls):
        hints = typing_extensions.get_type_hints(cls, include_extras=True)
        return [(name, [name], _bare_of_typeddict(hint)) for name, hint in hints.items()]
    if dataclasses.is_dataclass(cls):
        own = getattr(cls, "__pydantic_fields__", None)
        if own is not None:
            return [(name, _keys(name, field), _field_type(field)) for name, field in own.items()]
        hints = typing.get_type_hints(cls, include_extras=True)
        return [(field.name, [field.name], hints[field.name]) for field in dataclasses.fields(cls)]
    return None


def _keys(name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias or field.alias
    if isinstance(alias, pydantic.AliasChoices):
        return [*(choice for choice in alias.choices if isinstance(choice, str)), name]
    return [alias, name] if isinstance(alias, str) else [name]


def _field_type(field: FieldInfo) -> Any:
    annotation = field.annotation
    return Annotated[(annotation, *field.metadata)] if field.metadata else annotation


def _bare_of_typeddict(hint: Any) -> Any:
    while get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.ReadOnly):
        hint = get_args(hint)[0]
    return hint


def bare(annotation: Any) -> Any:
    """A type without what surrounds it: annotations, names for types."""
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


def _origin(kind: Any) -> Any:
    return get_origin(kind) or kind


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    if isinstance(annotation, TypeAdapter):
        return annotation
    try:
        return _kept_adapter(annotation)
    except TypeError:  # not hashable
        return TypeAdapter(annotation)


@functools.lru_cache(maxsize=1024)
def _kept_adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def _instance(kind: Any, values: dict[str, Any], extra: dict[str, Any] | None = None) -> Any:
    """An instance with these attributes, and None for the others; neither `__init__` nor a validator is called."""
    cls = get_origin(kind) or kind
    if typing_extensions.is_typeddict(cls):
        return {**values, **(extra or {})}
    instance = cls.__new__(cls)
    if issubclass(cls, BaseModel):
        object.__setattr__(instance, "__dict__", {name: values.get(name) for name in cls.model_fields})
        object.__setattr__(instance, "__pydantic_fields_set__", set(values))
        allows_extra = cls.model_config.get("extra") == "allow"
        object.__setattr__(instance, "__pydantic_extra__", (extra or {}) if allows_extra else None)
        object.__setattr__(instance, "__pydantic_private__", None)
    else:
        for field in dataclasses.fields(cls):
            object.__setattr__(instance, field.name, values.get(field.name))
    return instance
