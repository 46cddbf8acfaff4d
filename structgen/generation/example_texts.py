"""The text that a model under a grammar would have to write for a value: the form of examples in a prompt.

A value is taken apart in the form from which Pydantic would have read it: fields under the names that validation
accepts, without computed fields; secrets in clear text; no serializer is called. The grammar itself decides the order
of an object's keys, the name of a field that has several, and whether a decimal is a number or a string.
"""

from __future__ import annotations

import dataclasses
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias, get_args

import pydantic
import pydantic_core

from structgen.compilation.inputs import JsonValue
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.errors import TokenRejectedError
from structgen.generation.pydantic_fields import fields_of
from structgen.schema.json_text.lexemes import pointer_of

__all__ = ["text_of"]

_PUNCTUATION = ((", ", ": "), (",", ":"))
_MAX_EXPECTED = 5
_SHOWN = 60
_SECRETS = (pydantic.SecretStr, pydantic.SecretBytes, pydantic.Secret)
_ENCODINGS = (pydantic.EncodedBytes, pydantic.EncodedStr, pydantic.Json)
_ARRAYS = (list, tuple, set, frozenset, deque)

Object: TypeAlias = dict[tuple[str, ...], Any]
"""The members of an object; the key of a member is the tuple of names that it may have, the likeliest first."""

Location: TypeAlias = tuple[str | int, ...]
"""The location of a value: the keys and indices that lead to it."""


def text_of(
    pieces: Sequence[str | JsonValue],
    grammar: CompiledGrammar,
    reasons_of: Callable[[bytes], tuple[str, ...]] | None = None,
) -> str:
    """Return the text of a value, in the language of a grammar.

    Args:
        pieces: the pieces of the text, in order; see `structgen.compilation.inputs.CompileInput.pieces`.
        grammar: the grammar.
        reasons_of: says in sentences what is wrong with the beginning of a text, for the error.

    Raises:
        ValueError: there is no such text; the message has the location, and what the grammar expected there.
    """
    misfits: list[_MisfitError] = []
    # Most values have their keys in the grammar's order. Finding another order takes the square of their number.
    for reorders in (False, True):
        for comma, colon in _PUNCTUATION:
            try:
                return _Writer(grammar, comma, colon, reorders=reorders).text(pieces)
            except _MisfitError as misfit:
                misfits.append(misfit)
    furthest = max(misfits, key=lambda misfit: len(misfit.before))
    reasons = () if reasons_of is None else reasons_of(furthest.before + furthest.rest)
    raise ValueError("; ".join([*reasons, _misfit_message(furthest, grammar)])) from None


class _MisfitError(Exception):
    """A text or value that does not fit the grammar where it is written.

    Attributes:
        found: the text, or a description.
        before: the text before it.
        rest: the text itself; b"" at the end of the whole.
        location: the location of the value that it belongs to.
    """

    def __init__(self, found: str, before: bytes, rest: bytes, location: Location) -> None:
        super().__init__(found)
        self.found = found
        self.before = before
        self.rest = rest
        self.location = location


def _misfit_message(misfit: _MisfitError, grammar: CompiledGrammar) -> str:
    matcher = Matcher(grammar)
    matcher.accept_bytes(misfit.before)
    expected = [*map(str, matcher.expected())]
    listed = "; ".join([*expected[:_MAX_EXPECTED], *(["…"] if len(expected) > _MAX_EXPECTED else [])])
    where = f"at byte {len(misfit.before)}" + (f", in {pointer_of(misfit.location)}" if misfit.location else "")
    return f"{misfit.found} does not fit {where}; expected: {listed}"


class _Writer:
    """Writer of values, as far as a grammar allows.

    Args:
        grammar: the grammar.
        comma, colon: the punctuation, with the white space after it.
        reorders: whether the keys of objects may be written in another order than they have.
    """

    def __init__(self, grammar: CompiledGrammar, comma: str, colon: str, *, reorders: bool) -> None:
        self._matcher = Matcher(grammar)
        self._reorders = reorders
        self._comma = comma
        self._colon = colon
        self._written: list[bytes] = []  # the texts of the matcher's steps

    def text(self, pieces: Sequence[str | JsonValue]) -> str:
        """Write all pieces, and return the whole text.

        Raises:
            _MisfitError: the first part that the grammar does not allow.
        """
        for piece in pieces:
            if isinstance(piece, str):
                self._put(piece, ())
                continue
            value = plain(piece.value)
            if piece.is_bare and isinstance(value, str):
                self._put(value, ())
            else:
                self._value(value, ())
        if not self._matcher.is_accepting:
            raise _MisfitError("the end", b"".join(self._written), b"", ())
        return b"".join(self._written).decode()

    def _value(self, value: Any, location: Location) -> None:
        if isinstance(value, dict):
            self._object(value, location)
        elif isinstance(value, list):
            self._array(value, location)
        else:
            *others, last = _spellings(value)
            self._put(next(filter(self._allows, others), last), location)

    def _array(self, items: list[Any], location: Location) -> None:
        self._put("[", location)
        for index, item in enumerate(items):
            if index:
                self._put(self._comma, location)
            self._value(item, (*location, index))
        self._put("]", location)

    def _object(self, members: Object, location: Location) -> None:
        left = dict(members)
        self._put("{", location)
        while left:
            del left[self._member(left, location, self._comma if len(left) < len(members) else "")]
        self._put("}", location)

    def _member(self, left: Object, location: Location, lead: str) -> tuple[str, ...]:
        """Write a member that no other remaining member has to precede; else any member that can be written."""
        names = self._names(left if self._reorders else [next(iter(left))], lead)
        if len(names) < 2:
            keys = next(iter(names or left))  # where none is allowed, the error names what is expected
            self._put_member(names.get(keys, keys[0]), left[keys], location, lead)
            return keys
        mark = len(self._written)
        possible: list[tuple[str, ...]] = []
        misfits: list[_MisfitError] = []
        for keys, name in names.items():
            try:
                self._put_member(name, left[keys], location, lead)
            except _MisfitError as misfit:
                misfits.append(misfit)
            else:
                if all(other == keys or self._names([other], self._comma) for other in names):
                    return keys
                possible.append(keys)
            self._roll_back(mark)
        if not possible:
            raise max(misfits, key=lambda misfit: len(misfit.before))
        self._put_member(names[possible[0]], left[possible[0]], location, lead)
        return possible[0]

    def _put_member(self, name: str, value: Any, location: Location, lead: str) -> None:
        self._put(self._beginning(name, lead), location)
        self._value(value, (*location, name))

    def _names(self, members: Iterable[tuple[str, ...]], lead: str) -> dict[tuple[str, ...], str]:
        """Return the members whose key is allowed next, with the name that is allowed."""
        found: dict[tuple[str, ...], str] = {}
        for keys in members:
            for name in keys:
                if self._allows(self._beginning(name, lead)):
                    found[keys] = name
                    break
        return found

    def _beginning(self, name: str, lead: str) -> str:
        return lead + json.dumps(name, ensure_ascii=False) + self._colon

    def _allows(self, text: str) -> bool:
        return self._matcher.allows_bytes(text.encode(errors="surrogatepass"))

    def _put(self, text: str, location: Location) -> None:
        data = text.encode(errors="surrogatepass")  # no grammar allows half of a surrogate pair
        try:
            self._matcher.accept_bytes(data)
        except TokenRejectedError as error:
            before = b"".join(self._written) + data[: error.position]
            # Show a long text from the error on.
            shown = text if len(text) <= _SHOWN else data[error.position :].decode(errors="replace")[:_SHOWN] + "…"
            raise _MisfitError(repr(shown), before, data[error.position :], location) from None
        self._written.append(data)

    def _roll_back(self, mark: int) -> None:
        """Remove the steps after the first `mark` ones."""
        self._matcher.rollback(len(self._written) - mark)
        del self._written[mark:]


def _spellings(value: Any) -> list[str]:
    """Return the ways in which a string, number or literal may be written, the likeliest first."""
    if isinstance(value, Decimal):
        return [f'"{value}"', str(value)]  # only numbers are written under `multipleOf`
    return [json.dumps(value, ensure_ascii=False)]


def plain(value: Any) -> Any:
    """Return the JSON data from which a value would be read: scalars (a `Decimal` among them), lists, and `Object`s.

    Args:
        value: the value.

    Raises:
        ValueError: a value of a type without a JSON form.
    """
    if value is None or isinstance(value, (bool, Decimal)):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, _SECRETS):
        return plain(value.get_secret_value())
    if isinstance(value, pydantic.RootModel):
        return plain(value.root)
    if isinstance(value, Mapping):
        return {(_key(key),): plain(member) for key, member in value.items()}
    if isinstance(value, _ARRAYS):
        return [plain(item) for item in value]
    fields = fields_of(type(value))
    if fields is not None:
        return _members(value, fields)
    data = pydantic_core.to_jsonable_python(value)
    return plain(data) if isinstance(data, (dict, list)) else data


def _members(value: Any, fields: list[tuple[str, list[str], Any]]) -> Object:
    """Return the fields of an instance of a model or dataclass, and its extra attributes."""
    own = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    unread = {field.name for field in own if not field.init}
    found: Object = {}
    for name, keys, annotation in fields:
        if name not in unread and hasattr(value, name):
            member = getattr(value, name)
            found[tuple(keys)] = plain(_encoded(member, annotation) if _is_encoded(annotation) else member)
    for name, member in (getattr(value, "__pydantic_extra__", None) or {}).items():
        found[(name,)] = plain(member)
    return found


def _is_encoded(annotation: Any) -> bool:
    """Return whether values of a type differ from their JSON form, as those of `Base64Bytes` and `Json` do."""
    is_one = isinstance(annotation, _ENCODINGS) or annotation is pydantic.Json
    return is_one or any(map(_is_encoded, get_args(annotation)))


def _encoded(value: Any, annotation: Any) -> Any:
    return pydantic.TypeAdapter(annotation).dump_python(value, mode="json", round_trip=True)


def _key(key: Any) -> str:
    """Return a key of a mapping in its JSON form."""
    name: str = next(iter(pydantic_core.to_jsonable_python({key: None})))
    return name
