"""`Stream` and `AsyncStream`: a value while it grows.

A stream steps its run, feeds the new text to a `PartialReader`, and yields a snapshot whenever more is visible. It asks
the matcher about the end of the text: a number is complete when no digit may follow; a string may be shown when any
text may follow.
"""

from __future__ import annotations

import reprlib
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, cast

import pydantic

from structgen.compilation.constraint import Constraint
from structgen.errors import (
    GenerationError,
    LimitExceededError,
    UnsatisfiableSchemaError,
    UnsupportedSchemaError,
    ValidationFailedError,
)
from structgen.generation.decoder import Answer
from structgen.generation.partial_json import Node, PartialReader
from structgen.generation.partial_yaml import PartialYaml
from structgen.generation.passes import PASS, Passes, Steps, adrive, drive
from structgen.generation.pydantic_fields import bare, has_grammar, item_type, lists_at
from structgen.generation.runs import Result, Run
from structgen.generation.scheduler import SharedThreads, in_threads
from structgen.generation.snapshots import MISSING, PartialValues
from structgen.models.base import AsyncServer
from structgen.schema import json_schema_to_rules
from structgen.schema.sentences import reasons

if TYPE_CHECKING:
    from structgen.generation.batches import NewSession
    from structgen.models.base import AnyModel
    from structgen.schema.sources import Source

__all__ = ["AsyncStream", "Stream"]

T = TypeVar("T")

# A string is shown while it grows where all of these bytes are allowed next, as in free text. Where the schema
# restricts the text (enums, dates, patterns), half a text is not a value. Half a text of a grammar is shown, as it is
# often long: a program, a query.
_FREE_TEXT = (b"e", b"Z", b"7", b" ")
_NUMBER_BYTES = tuple(bytes([byte]) for byte in b"0123456789.eE")


class Stream(Generic[T]):
    """An answer while it is generated; made by `stream` and `Generator.stream`.

    The model runs as the stream is iterated. Iterating yields snapshots of the value, one whenever more of it is there,
    and at last the validated value.

    - Pydantic models, dataclasses and TypedDicts: instances whose missing attributes are None (a TypedDict has no such
      keys). Strings grow where the schema allows any text; numbers, enums, dates and literals appear when they are
      complete; values of a union appear when their member is known.
    - JSON Schema: JSON data. JSON Lines: the list so far. Grammars and templates: the text.
    - With `format="yaml"`, values grow by whole lines.

    Snapshots share the complete values; do not change them. When an answer is refused and tried again, they start anew.
    """

    def __init__(self, run: Run[T], constraint: Constraint[T]) -> None:
        self._run = run
        self._constraint = constraint
        self._is_lines = constraint.line is not None
        self._has_values = constraint.is_json or constraint.is_yaml or self._is_lines
        source = constraint.source or constraint.line
        annotation: Any = source.adapter if source is not None and source.adapter is not None else Any
        self._annotation: Any = list[annotation] if self._is_lines else annotation
        self._decoder: Answer | None = None
        self._is_broken = False  # whether the text so far is not JSON
        self._passes = Passes(run, "final()")
        self._begin()

    def __repr__(self) -> str:
        return f"Stream({reprlib.repr(self.text)}, {'ended' if self._run.result is not None else 'open'})"

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[T]:
        return drive(self._snapshots(), self._step)

    def _snapshots(self) -> Steps:
        before: tuple[Any, int] = (None, 0)
        shown: Any = MISSING
        while (yield PASS):
            state = (self._decoder, self._reader.changes if self._has_values else self._fed)
            if state == before or not state[1]:
                continue
            before = state
            value = self._snapshot()
            if value is not MISSING and value != shown:
                shown = value
                yield (value,)
        yield (cast(Result[T], self._run.result).value,)

    def items(self, *path: str) -> Iterator[Any]:
        """Yield each element of a list, validated, when it is complete.

        With `max_retries` the answer may be refused and written again. Only the elements of the accepted answer are
        yielded, so they come as they are complete only when no retry is left.

        Args:
            path: the names of the fields that lead to the list; none where the value itself is one, or is JSON Lines.

        Raises:
            ValidationFailedError: a validator written in Python refuses an element.
            TypeError: no value of the schema has a list at this location.

        Example:
            >>> with structgen.stream(model, text, list[Person]) as s:                        # doctest: +SKIP
            ...     for person in s.items():
            ...         print(person.name)
        """
        return drive(self._items(path), self._step)

    def _items(self, path: tuple[str, ...]) -> Steps:
        """Check that there is a list, and return the steps to its elements."""
        if not self._has_values:
            raise TypeError("the text is neither JSON nor YAML, so it has no list")
        lists = lists_at(self._annotation, path)
        if not lists or not _may_have_list(self._constraint.source, path):
            location = ".".join(map(repr, path)) if path else "its root"
            raise TypeError(f"no value of {_name_of(self._annotation)} has a list at {location}")
        return self._elements(path, lists)

    def _elements(self, path: tuple[str, ...], lists: list[Any]) -> Steps:
        yielded = 0
        while True:
            goes_on = yield PASS
            if goes_on and self._run.may_retry:
                continue
            items = self._items_at(path)
            while yielded < len(items) and items[yielded].is_complete:
                types = [found for kind in lists if (found := item_type(kind, yielded)) is not None]
                yielded += 1
                of_item = types[0] if len(types) == 1 else Union[tuple(types)]  # noqa: UP007  known only at run time
                yield (self._validated(items[yielded - 1], of_item),)
            if not goes_on:
                return

    @property
    def text(self) -> str:
        """The answer so far."""
        if self._run.result is not None:
            return self._run.result.text
        return "" if self._run.decoder is None else self._run.decoder.text_bytes.decode(errors="ignore")

    @property
    def reasoning(self) -> str:
        """The model's reasoning so far."""
        return self._run.reasoning

    @property
    def attempt(self) -> int:
        """The number of the attempt, from 0."""
        return len(self._run.attempts)

    def final(self) -> T:
        """Return the validated value, after generating the rest of the answer.

        Raises:
            IncompleteOutputError, ValidationFailedError, GenerationError: see `structgen.generate`.
        """
        return self.result().value

    def result(self) -> Result[T]:
        """Return the value with its text, usage, reasoning and attempts, after generating the rest of the answer."""
        while self._step():
            pass
        return cast(Result[T], self._run.result)

    def close(self) -> None:
        """End the run where it is, after the pass under way. The text generated so far stays readable."""
        self._passes.close()

    async def _aresult(self) -> Result[T]:
        while await self._astep():
            pass
        return cast(Result[T], self._run.result)

    def _step(self) -> bool:
        """Run one pass of the model; return False when there is a result."""
        if self._run.result is not None:
            return False
        return self._after(self._passes.step())

    async def _astep(self) -> bool:
        """Await one piece of a server's answer; return False when there is a result."""
        if self._run.result is not None:
            return False
        return self._after(await self._passes.astep())

    def _after(self, is_going_on: bool) -> bool:
        """Read what a pass has brought."""
        if self._run.decoder is not self._decoder:
            self._begin()
        try:
            if not self._is_broken:
                self._read()
        except ValueError:  # a server's text that is not JSON; at its end, it is refused
            if self._run.masks == "local":
                raise
            self._is_broken = True
        return is_going_on

    def _begin(self) -> None:
        """Begin to read an answer."""
        self._decoder = self._run.decoder
        self._reader = PartialReader()
        self._values = PartialValues(self._reader, self._run.settings.context)
        self._fed = 0
        self._yaml = PartialYaml(self._reader) if self._constraint.is_yaml else None
        self._is_broken = False
        if self._is_lines:  # read as the items of an array
            self._reader.feed(b"[")

    def _read(self) -> None:
        """Read the new text, and ask the matcher about the end of it."""
        if self._decoder is None:
            return
        text = self._decoder.text_bytes
        if not self._has_values:
            self._fed = len(text.decode(errors="ignore"))
            return
        if self._yaml is not None:
            self._yaml.read(text, has_ended=self._run.result is not None)
            return
        new, self._fed = text[self._fed :], len(text)
        self._reader.feed(new.replace(b"\n", b",") if self._is_lines else new)
        if self._is_lines and self._run.result is not None:
            self._reader.feed(b"]")
            return
        tail = self._reader.tail
        if not tail:
            return
        allows = self._decoder.matcher.allows_bytes
        if tail == "number" and not any(map(allows, _NUMBER_BYTES)):
            self._reader.end_scalar()
        elif tail == "string" and (
            self._reader.is_shown or all(map(allows, _FREE_TEXT)) or has_grammar(self._annotation, self._reader.path)
        ):
            self._reader.show_string()

    def _snapshot(self) -> Any:
        """Return the visible value; MISSING for a complete one, which is shown when it is validated."""
        if not self._has_values:
            return self.text
        root = self._reader.root
        if root is None or root.is_complete:
            return MISSING
        try:
            return self._values.value(root, self._annotation)
        except (ValueError, RecursionError):
            # It is refused at its end: a server's text that leaves JSON, a key that a validator refuses, or a text that
            # is nested too deeply.
            return MISSING

    def _items_at(self, path: tuple[str, ...]) -> list[Node]:
        node = self._reader.root
        for name in path:
            node = None if node is None else node.members.get(name)
        return [] if node is None else node.items

    def _validated(self, node: Node, annotation: Any) -> Any:
        try:
            return self._values.validated(node, annotation)
        except (pydantic.ValidationError, ValueError, AssertionError) as error:
            raise ValidationFailedError(
                f"an element fits the schema, but its validation failed: {error}",
                attempts=[*self._run.attempts, (self.text, error)],
                reasons=reasons(error),
            ) from error


class AsyncStream(Generic[T]):
    """A `Stream` for `async with` and `async for`.

    A local model runs in threads; streams and calls that run at the same time share its passes. A server with an
    asynchronous client is awaited.
    """

    def __init__(self, model: AnyModel, begin: Callable[[NewSession], Stream[T]]) -> None:
        self._begin = begin
        self._opened: Stream[T] | None = None
        self._threads = None if isinstance(model, AsyncServer) else SharedThreads(model)

    def __repr__(self) -> str:
        return "AsyncStream(not open)" if self._opened is None else f"Async{self._opened!r}"

    async def __aenter__(self) -> AsyncStream[T]:
        self._opened = self._begin(None) if self._threads is None else await self._threads.open(self._begin)
        return self

    @property
    def _stream(self) -> Stream[T]:
        if self._opened is None:
            raise GenerationError("the stream is not open: use it in `async with structgen.astream(…) as s:`")
        return self._opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._threads is None:
            await self._stream._passes.aclose()
            return
        self._stream.close()
        self._threads.close()

    def __aiter__(self) -> AsyncIterator[T]:
        return self._parts(self._stream._snapshots())

    def items(self, *path: str) -> AsyncIterator[Any]:
        """Yield each element of a list, validated; see `Stream.items`."""
        return self._parts(self._stream._items(path))

    @property
    def text(self) -> str:
        """The text so far; see `Stream.text`."""
        return self._stream.text

    @property
    def reasoning(self) -> str:
        """The reasoning so far; see `Stream.reasoning`."""
        return self._stream.reasoning

    async def final(self) -> T:
        """Return the validated value; see `Stream.final`."""
        return (await self.result()).value

    async def result(self) -> Result[T]:
        """Return the value with its text, usage, reasoning and attempts; see `Stream.result`."""
        if self._threads is None:
            return await self._stream._aresult()
        return await self._threads.run(self._stream.result)

    def _parts(self, steps: Steps) -> AsyncIterator[Any]:
        stream, threads = self._stream, self._threads
        if threads is None:
            return adrive(steps, stream._astep)
        return in_threads(drive(steps, stream._step), threads)


def _may_have_list(source: Source | None, path: tuple[str, ...]) -> bool:
    """Return whether a value of a JSON Schema can have a list at a path; True for types, which are checked before."""
    if source is None or source.adapter is not None or isinstance(source.json_schema, bool):
        return True
    wanted: dict[str, Any] = {"type": "array"}
    for key in reversed(path):
        wanted = {"type": "object", "required": [key], "properties": {key: wanted}}
    # A schema under `not` evaluates no property, so `unevaluatedProperties` keeps its meaning.
    conditions = [*source.json_schema.get("allOf", ()), {"not": {"not": wanted}}]
    schema = {key: value for key, value in source.json_schema.items() if key != "$ref"}
    if "$ref" in source.json_schema:  # older drafts ignore keywords beside it
        conditions.append({"$ref": source.json_schema["$ref"]})
    try:
        json_schema_to_rules(schema | {"allOf": conditions}, source.options)
    except UnsatisfiableSchemaError:
        return False
    except (UnsupportedSchemaError, LimitExceededError):
        pass  # unknown: assume it can
    return True


def _name_of(annotation: Any) -> str:
    kind = bare(annotation)
    return "the schema" if kind is Any else str(getattr(kind, "__name__", kind))
