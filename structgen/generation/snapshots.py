"""Snapshots of a value that is being written, as instances of its type.

Only the last path is open. Complete values are validated as their type requires. For open ones, a model gets the
attributes that are there and None for the others, a list its first items, a string the characters so far. A value whose
type is not known yet, as that of a union before its discriminating key, is missing.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Iterator
from typing import Any, Union, get_args, get_origin

import pydantic
import typing_extensions
from pydantic import BaseModel, TypeAdapter

from structgen.generation.partial_json import Node, PartialReader
from structgen.generation.pydantic_fields import (
    MAPPINGS,
    UNORDERED,
    bare,
    bare_origin,
    field_type,
    fields_of,
    item_type,
)

__all__ = ["MISSING", "PartialValues"]


class _Missing:
    """The marker of a value that is missing."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class PartialValues:
    """Maker of values from the nodes of one text.

    Args:
        reader: has read the text.
        context: passed to validators as `info.context`.
    """

    def __init__(self, reader: PartialReader, context: Any = None) -> None:
        self._reader = reader
        self._context = context

    def value(self, node: Node | None, annotation: Any) -> Any:
        """Return a snapshot; MISSING where nothing is visible yet.

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
        """Return the value of a complete node.

        Args:
            node: the node.
            annotation: its type, or a `TypeAdapter`.

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
            # A validator in Python will refuse the whole value; until then, show the JSON data.
            return self.validated(node, Any)

    def _open(self, node: Node, kind: Any) -> Any:
        """Return a snapshot of an open node of a bare type."""
        if get_origin(kind) in (Union, types.UnionType):
            return self._of_union(node, get_args(kind))
        if node.kind == "string":
            return MISSING if node.shown is None or kind not in (str, Any, object) else node.shown
        if isinstance(kind, type) and issubclass(kind, pydantic.RootModel):
            root = self._open(node, bare(field_type(kind.model_fields["root"])))
            return MISSING if root is MISSING else _instance(kind, {"root": root})
        if node.kind == "object":
            return self._object(node, kind)
        return self._array(node, kind) if node.kind == "array" else MISSING

    def _of_union(self, node: Node, members: tuple[Any, ...]) -> Any:
        """Return a snapshot as the only member that the node fits so far; MISSING while there are several."""
        fitting = [member for member in map(bare, members) if self._fits(node, member)]
        return self._open(node, fitting[0]) if len(fitting) == 1 else MISSING

    def _fits(self, node: Node, kind: Any) -> bool:
        """Return whether an open node can still be a value of a bare type."""
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
            return node.kind == "object" and bare_origin(kind) in MAPPINGS
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
        origin = bare_origin(kind)
        if origin in UNORDERED:
            return frozenset(values) if origin is frozenset else set(values)
        return tuple(values) if origin is tuple else values

    def _object(self, node: Node, kind: Any) -> Any:
        fields = fields_of(kind)
        if fields is not None:
            return _instance(kind, dict(self._fields(node, fields)), self._extra(node, fields))
        if kind in (Any, object):
            return dict(self._entries(node, Any, Any))
        if bare_origin(kind) in MAPPINGS:
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


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    if isinstance(annotation, TypeAdapter):
        return annotation
    try:
        return _cached_adapter(annotation)
    except TypeError:  # not hashable
        return TypeAdapter(annotation)


@functools.lru_cache(maxsize=1024)
def _cached_adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def _instance(kind: Any, values: dict[str, Any], extra: dict[str, Any] | None = None) -> Any:
    """Return an instance with these attributes, and None for the others, without `__init__` and validators."""
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
