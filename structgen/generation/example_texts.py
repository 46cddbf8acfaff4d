"""The text that a model under a grammar would have to write for a value: so examples are shown.

A value is taken apart as Pydantic would have read it: fields under the names that validation knows, without computed
ones; secrets are told; no serializer is asked. The grammar itself says in which order the keys of an object come, under
which of its names a field stands, and whether a decimal is a number or a string.
"""

from __future__ import annotations

import dataclasses
import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
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
"""The members of an object by their keys: of each, the names that it may have, the likeliest first."""

Place: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value."""


def text_of(pieces: Sequence[str | JsonValue], grammar: CompiledGrammar) -> str:
    """The text of a value, which is one of the grammar's language.

    Args:
        pieces: what stands in it, in order; see `structgen.compilation.inputs.CompileInput.pieces`.
        grammar: says how it is written.

    Raises:
        ValueError: there is no such text; with the place, and what could have stood there.
    """
    misfits: list[_MisfitError] = []
    # Most values have their keys in order; to find it takes the square of their number.
    for reorders in (False, True):
        for comma, colon in _PUNCTUATION:
            try:
                return _Writer(grammar, comma, colon, reorders=reorders).text(pieces)
            except _MisfitError as misfit:
                misfits.append(misfit)
    furthest = max(misfits, key=lambda misfit: len(misfit.before))
    raise ValueError(_told(furthest, grammar)) from None


class _MisfitError(Exception):
    """What cannot be written where it stands.

    Attributes:
        found: it, or what is amiss.
        before: the text before it.
        place: the value that it is of.
    """

    def __init__(self, found: str, before: bytes, place: Place) -> None:
        super().__init__(found)
        self.found = found
        self.before = before
        self.place = place


def _told(misfit: _MisfitError, grammar: CompiledGrammar) -> str:
    matcher = Matcher(grammar)
    matcher.accept_bytes(misfit.before)
    expected = [*map(str, matcher.expected())]
    told = "; ".join([*expected[:_MAX_EXPECTED], *(["…"] if len(expected) > _MAX_EXPECTED else [])])
    where = f"at byte {len(misfit.before)}" + (f", in {pointer_of(misfit.place)}" if misfit.place else "")
    return f"{misfit.found} does not fit {where}; expected: {told}"


class _Writer:
    """Writes values as far as a grammar allows.

    Args:
        grammar: the grammar.
        comma, colon: with the white space behind them.
        reorders: whether the keys of objects may come in another order than they have.
    """

    def __init__(self, grammar: CompiledGrammar, comma: str, colon: str, *, reorders: bool) -> None:
        self._matcher = Matcher(grammar)
        self._reorders = reorders
        self._comma = comma
        self._colon = colon
        self._written: list[bytes] = []  # one for each step of the matcher

    def text(self, pieces: Sequence[str | JsonValue]) -> str:
        """Writes all, to the end of the text.

        Raises:
            _MisfitError: at the first place where the grammar does not allow it.
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
            raise _MisfitError("the end", b"".join(self._written), ())
        return b"".join(self._written).decode()

    def _value(self, value: Any, place: Place) -> None:
        if isinstance(value, dict):
            self._object(value, place)
        elif isinstance(value, list):
            self._array(value, place)
        else:
            *others, last = _spellings(value)
            self._put(next(filter(self._allows, others), last), place)

    def _array(self, items: list[Any], place: Place) -> None:
        self._put("[", place)
        for index, item in enumerate(items):
            if index:
                self._put(self._comma, place)
            self._value(item, (*place, index))
        self._put("]", place)

    def _object(self, members: Object, place: Place) -> None:
        left = dict(members)
        self._put("{", place)
        while left:
            del left[self._member(left, place, self._comma if len(left) < len(members) else "")]
        self._put("}", place)

    def _member(self, left: Object, place: Place, lead: str) -> tuple[str, ...]:
        """Writes one of the members, before which no other that is left has to come; else any that can be written."""
        names = self._names(left if self._reorders else [next(iter(left))], lead)
        if len(names) < 2:
            keys = next(iter(names or left))  # where none may come, it tells what could stand there
            self._put_member(names.get(keys, keys[0]), left[keys], place, lead)
            return keys
        mark = len(self._written)
        possible: list[tuple[str, ...]] = []
        misfits: list[_MisfitError] = []
        for keys, name in names.items():
            try:
                self._put_member(name, left[keys], place, lead)
            except _MisfitError as misfit:
                misfits.append(misfit)
            else:
                if all(other == keys or self._names([other], self._comma) for other in names):
                    return keys
                possible.append(keys)
            self._take_back(mark)
        if not possible:
            raise max(misfits, key=lambda misfit: len(misfit.before))
        self._put_member(names[possible[0]], left[possible[0]], place, lead)
        return possible[0]

    def _put_member(self, name: str, value: Any, place: Place, lead: str) -> None:
        self._put(self._beginning(name, lead), place)
        self._value(value, (*place, name))

    def _names(self, members: Iterable[tuple[str, ...]], lead: str) -> dict[tuple[str, ...], str]:
        """Those members whose key may come next, with the name that it has there."""
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

    def _put(self, text: str, place: Place) -> None:
        data = text.encode(errors="surrogatepass")  # no grammar allows half of a surrogate pair
        try:
            self._matcher.accept_bytes(data)
        except TokenRejectedError as error:
            before = b"".join(self._written) + data[: error.position]
            # Of what is long, where it goes wrong.
            shown = text if len(text) <= _SHOWN else data[error.position :].decode(errors="replace")[:_SHOWN] + "…"
            raise _MisfitError(repr(shown), before, place) from None
        self._written.append(data)

    def _take_back(self, mark: int) -> None:
        """Goes back to where so many steps were written."""
        self._matcher.rollback(len(self._written) - mark)
        del self._written[mark:]


def _spellings(value: Any) -> list[str]:
    """How a string, number or literal may be written, the likeliest first."""
    if isinstance(value, Decimal):
        return [f'"{value}"', str(value)]  # which number is a multiple of another is asked of numbers only
    return [json.dumps(value, ensure_ascii=False)]


def plain(value: Any) -> Any:
    """The JSON data that a value would be read from: scalars (a `Decimal` among them), lists, and `Object`s.

    Raises:
        ValueError: a type that no JSON is known for.
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
    """The fields of an instance of a model or dataclass, and what it has besides."""
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
    """Whether values of a type are read from what they do not look like: `Base64Bytes`, `Json`."""
    is_one = isinstance(annotation, _ENCODINGS) or annotation is pydantic.Json
    return is_one or any(map(_is_encoded, get_args(annotation)))


def _encoded(value: Any, annotation: Any) -> Any:
    return pydantic.TypeAdapter(annotation).dump_python(value, mode="json", round_trip=True)


def _key(key: Any) -> str:
    """A key of a map, as JSON has it."""
    name: str = next(iter(pydantic_core.to_jsonable_python({key: None})))
    return name
