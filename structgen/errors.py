"""Every error that structgen raises on purpose.

StructgenError
├── SchemaError(pointer, keyword)            something about the schema
│   ├── UnsupportedSchemaError               legal JSON Schema that this release cannot express exactly
│   └── UnsatisfiableSchemaError             no value can satisfy it
├── GrammarError(line, column)               KBNF text or a regex that does not parse, or makes no sense
├── VocabularyError                          a vocabulary that cannot be built or used
├── TokenRejectedError(token_id, position)   a token (or byte) that the grammar does not allow here
├── LimitExceededError(limit, value)         one of structgen.Limits was passed
├── ModelError                               a model that cannot be loaded, or not be used here
├── FunctionDefinitionError                  a function that @structgen.fn cannot make sense of
└── GenerationError                          the model's run did not give a value
    ├── IncompleteOutputError(text, partial) the budget ended before the text did
    └── ValidationFailedError(attempts)      the text fits the grammar, and the validator still refused it
"""

from __future__ import annotations

from typing import Any, Self

__all__ = [
    "FunctionDefinitionError",
    "GenerationError",
    "GrammarError",
    "IncompleteOutputError",
    "LimitExceededError",
    "ModelError",
    "SchemaError",
    "StructgenError",
    "TokenRejectedError",
    "UnsatisfiableSchemaError",
    "UnsupportedSchemaError",
    "ValidationFailedError",
    "VocabularyError",
]

_AROUND = 80  # characters of a line on each side of a place that are shown


class StructgenError(Exception):
    """The root of structgen's errors.

    Attributes:
        hint: what the caller can do about it, or an empty string.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}\nHint: {hint}" if hint else message)
        self.hint = hint


class SchemaError(StructgenError):
    """A schema that cannot be used.

    Attributes:
        pointer: JSON pointer (RFC 6901) of the place, as a URI fragment without `#`; "" is the whole schema. In a
            schema of the registry, behind its URI and `#`.
        keyword: the keyword at fault, or an empty string.
    """

    def __init__(self, message: str, *, pointer: str, keyword: str = "", hint: str = "") -> None:
        is_elsewhere = pointer != "" and not pointer.startswith("/")
        super().__init__(f"{message} (at {pointer if is_elsewhere else '#' + pointer})", hint=hint)
        self.pointer = pointer
        self.keyword = keyword


class UnsupportedSchemaError(SchemaError):
    """Legal JSON Schema that this release cannot express exactly, and so refuses."""


class UnsatisfiableSchemaError(SchemaError):
    """A schema that no JSON value satisfies."""


class GrammarError(StructgenError):
    """A grammar or a regex that cannot be read.

    Attributes:
        line, column: the place, both from 1; 0 when the error has no place in a text.
        source: the line at fault, or an empty string.
    """

    def __init__(self, message: str, *, line: int = 0, column: int = 0, source: str = "", hint: str = "") -> None:
        place = f"line {line}, column {column}: " if line else ""
        caret = f"\n  {source}\n  {' ' * (column - 1)}^" if source and column else ""
        super().__init__(f"{place}{message}{caret}", hint=hint)
        self.line = line
        self.column = column
        self.source = source

    @classmethod
    def at(cls, text: str, offset: int, message: str, *, hint: str = "") -> Self:
        """The error that points at a place of a text.

        Args:
            text: all that is read.
            offset: characters before the place.
            message: what is wrong there.
            hint: what to do about it.
        """
        start = text.rfind("\n", 0, offset) + 1
        end = text.find("\n", offset)
        source = text[start : end if end >= 0 else len(text)].rstrip("\r")
        line, before = text.count("\n", 0, offset) + 1, offset - start
        # A tab before the place would put the caret elsewhere, and a line that a program wrote may be a megabyte.
        cut = max(0, before - _AROUND)
        shown = source[cut : before + _AROUND].replace("\t", " ")
        if len(shown) < len(source):
            message, shown = f"{message}\n  {shown}\n  {' ' * (before - cut)}^", ""
        return cls(message, line=line, column=before + 1, source=shown, hint=hint)


class VocabularyError(StructgenError):
    """A vocabulary that cannot be built, or that does not fit what it is used with."""


class TokenRejectedError(StructgenError):
    """A token, or a byte, that the grammar does not allow here. The matcher's state is unchanged.

    Attributes:
        token_id: the token, or None when bytes were given.
        position: how many tokens (for bytes: how many bytes of the call) were accepted before it.
    """

    def __init__(self, message: str, *, token_id: int | None, position: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.token_id = token_id
        self.position = position


class LimitExceededError(StructgenError):
    """One of `structgen.Limits` was passed. Everything else goes on working.

    Attributes:
        limit: name of the field of `Limits`.
        value: its value.
    """

    def __init__(self, limit: str, value: float, *, message: str = "", hint: str = "") -> None:
        super().__init__(
            message or f"the limit {limit}={value} was passed",
            hint=hint or f"raise it with structgen.Limits({limit}=...), or make the input smaller",
        )
        self.limit = limit
        self.value = value


class ModelError(StructgenError):
    """A model that cannot be loaded, or that cannot do what is asked of it."""


class FunctionDefinitionError(StructgenError):
    """A function that `@structgen.fn` cannot make sense of: no docstring, no return annotation, unknown names."""


class GenerationError(StructgenError):
    """The model's run did not give a value."""


class IncompleteOutputError(GenerationError):
    """The token budget ended before the text did.

    Attributes:
        text: what was generated.
        partial: the JSON value, or the list of JSON Lines, with what was complete in it; of other formats None.
    """

    def __init__(self, message: str, *, text: str, partial: Any = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.text = text
        self.partial = partial


class ValidationFailedError(GenerationError):
    """Every attempt gave a text that the validator refused.

    Attributes:
        attempts: for each attempt, the text and the error.
    """

    def __init__(self, message: str, *, attempts: list[tuple[str, Exception]], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.attempts = attempts
