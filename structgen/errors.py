"""The exceptions of structgen, as one tree.

StructgenError
├── SchemaError(pointer, keyword)            a schema that cannot be used
│   ├── UnsupportedSchemaError               legal JSON Schema that this release cannot express exactly
│   └── UnsatisfiableSchemaError             no value can satisfy it
├── GrammarError(line, column)               a grammar or a regex that cannot be read
├── VocabularyError                          a vocabulary that cannot be built or used
├── TokenRejectedError(token_id, position)   a token or byte that the grammar does not allow
├── LimitExceededError(limit, value)         more was needed than structgen.Limits allow
├── QueueFullError(limit)                    too many runs wait for a model
├── ModelError                               a model that cannot be loaded or used
├── FunctionDefinitionError                  a function that @structgen.fn cannot use
└── GenerationError                          the run ended without a value
    ├── IncompleteOutputError(text, partial) the budget ended before the text did
    ├── ServerError(status)                  a server refused the request, or did not answer
    └── ValidationFailedError(attempts)      the validator refused every attempt
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

__all__ = [
    "FunctionDefinitionError",
    "GenerationError",
    "GrammarError",
    "IncompleteOutputError",
    "LimitExceededError",
    "ModelError",
    "QueueFullError",
    "SchemaError",
    "ServerError",
    "StructgenError",
    "TokenRejectedError",
    "UnsatisfiableSchemaError",
    "UnsupportedSchemaError",
    "ValidationFailedError",
    "VocabularyError",
]

_MAX_CONTEXT = 80  # characters of a line that an error shows before and after the position


class StructgenError(Exception):
    """The base class of all errors of structgen.

    Attributes:
        hint: what the caller can do about it, or an empty string.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}\nHint: {hint}" if hint else message)
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle stores: by default, it would call the class with the message alone."""
        return _restored, (type(self), self.args), self.__dict__

    def add_location(self, location: str) -> None:
        """Put a location before the message, for a caller that knows where the work was that failed."""
        self.args = (f"{location}: {self.args[0]}", *self.args[1:])


def _restored(kind: type[StructgenError], args: tuple[Any, ...]) -> StructgenError:
    """Return an error with its message; pickle adds its attributes."""
    return kind.__new__(kind, *args)


class SchemaError(StructgenError):
    """A schema that cannot be used.

    Attributes:
        pointer: the location as a JSON pointer (RFC 6901) without `#`; "" is the whole schema. In a schema of the
            registry, the pointer follows its URI and `#`.
        keyword: the keyword that is wrong, or an empty string.
    """

    def __init__(self, message: str, *, pointer: str, keyword: str = "", hint: str = "") -> None:
        is_elsewhere = pointer != "" and not pointer.startswith("/")
        first, *others = message.split("\n", 1)  # the others may draw a caret
        super().__init__("\n".join([f"{first} (at {pointer if is_elsewhere else '#' + pointer})", *others]), hint=hint)
        self.pointer = pointer
        self.keyword = keyword


class UnsupportedSchemaError(SchemaError):
    """Legal JSON Schema that this release cannot express exactly."""


class UnsatisfiableSchemaError(SchemaError):
    """A schema that no JSON value satisfies."""


class GrammarError(StructgenError):
    """A grammar or a regex that cannot be read.

    Attributes:
        line, column: the position, both counted from 1; 0 when the error has no position in a text.
        source: the line of the error, or an empty string.
    """

    def __init__(self, message: str, *, line: int = 0, column: int = 0, source: str = "", hint: str = "") -> None:
        position = f"line {line}, column {column}: " if line else ""
        caret = f"\n  {source}\n  {' ' * (column - 1)}^" if source and column else ""
        super().__init__(f"{position}{message}{caret}", hint=hint)
        self.line = line
        self.column = column
        self.source = source

    @classmethod
    def at(cls, text: str, offset: int, message: str, *, hint: str = "") -> Self:
        """Return the error for a position in a text, with a caret under it.

        Args:
            text: the whole input.
            offset: number of characters before the position.
            message: what is wrong.
            hint: what the caller can do.
        """
        start = text.rfind("\n", 0, offset) + 1
        end = text.find("\n", offset)
        source = text[start : end if end >= 0 else len(text)].rstrip("\r")
        line, before = text.count("\n", 0, offset) + 1, offset - start
        # A tab would move the caret, and a generated line may be a megabyte long.
        cut = max(0, before - _MAX_CONTEXT)
        shown = source[cut : before + _MAX_CONTEXT].replace("\t", " ")
        if len(shown) < len(source):
            message, shown = f"{message}\n  {shown}\n  {' ' * (before - cut)}^", ""
        return cls(message, line=line, column=before + 1, source=shown, hint=hint)


class VocabularyError(StructgenError):
    """A vocabulary that cannot be built, or that does not fit its tokenizer, schema or model."""


class TokenRejectedError(StructgenError):
    """A token or byte that the grammar does not allow at this position. The matcher is unchanged.

    Attributes:
        token_id: the token, or None when bytes were given.
        position: tokens accepted before it; for bytes, bytes of this call accepted before it.
    """

    def __init__(self, message: str, *, token_id: int | None, position: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.token_id = token_id
        self.position = position


class LimitExceededError(StructgenError):
    """Work that needs more than one of `structgen.Limits` allows. Other work is not affected.

    Args:
        limit: the name of the field of `Limits`.
        value: the value of that field, or the fixed bound.
        message: what was too large; by default, that the limit was passed.
        hint: how to mend it.
        is_fixed: a bound of the same kind was passed that no field raises.

    Attributes:
        limit: the name of the field of `Limits`.
        value: the value of that field, or the fixed bound.
    """

    def __init__(self, limit: str, value: float, *, message: str = "", hint: str = "", is_fixed: bool = False) -> None:
        smaller = "make the input smaller"
        raised = f"raise it with structgen.Limits({limit}=...), or {smaller}"
        usual = f"this bound is fixed: {smaller}" if is_fixed else raised
        super().__init__(message or f"the limit {limit}={value} was passed", hint=hint or usual)
        self.limit = limit
        self.value = value


class QueueFullError(StructgenError):
    """A run that was refused, because too many wait for the model already.

    Attributes:
        limit: the number of runs that may wait.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} runs wait for the model already", hint="try again later")
        self.limit = limit


class ModelError(StructgenError):
    """A model that cannot be loaded, or that lacks a feature that the call needs."""


class FunctionDefinitionError(StructgenError):
    """A function that `@structgen.fn` cannot use: no docstring, no return annotation, or unknown names in braces."""


class GenerationError(StructgenError):
    """A run that ended without a value."""


class IncompleteOutputError(GenerationError):
    """A text that was not finished within the token budget.

    Attributes:
        text: the generated text.
        partial: the value of JSON or YAML, or the list of JSON Lines, as far as it is complete; None for other formats.
    """

    def __init__(self, message: str, *, text: str, partial: Any = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.text = text
        self.partial = partial


class ServerError(GenerationError):
    """A server that refused a request, or that did not answer. Its cause is the error of the official client.

    Attributes:
        status: the HTTP status; None where there was no answer.
    """

    def __init__(self, message: str, *, status: int | None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


class ValidationFailedError(GenerationError):
    """Texts that the validator refused, one for each attempt.

    The message begins with what is wrong, in sentences; the validator's own message follows.

    Attributes:
        attempts: the text and the error of each attempt.
        reasons: what is wrong with the last one, in sentences such as "age: 200 is more than the maximum 120"; empty
            where the error is neither Pydantic's nor jsonschema's.
    """

    def __init__(
        self,
        message: str,
        *,
        attempts: list[tuple[str, Exception]],
        hint: str = "",
        reasons: Sequence[str] = (),
    ) -> None:
        super().__init__("\n".join([*reasons, message]), hint=hint)
        self.attempts = attempts
        self.reasons = tuple(reasons)
