"""What a run of `map_file` is of, written beside its answers: what goes on otherwise than it began is refused."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

import pydantic_core

from structgen.compilation.compiler import compile_input
from structgen.compilation.constraint import Constraint
from structgen.generation.settings import GeneratorOptions, Settings, split_options
from structgen.limits import Limits
from structgen.models.base import AnyModel
from structgen.schema.options import SchemaOptions

__all__ = ["Job", "digest", "job_of"]

_DIGITS = 16
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Job:
    """What all answers of a file have in common.

    Attributes:
        schema: a digest of the schema, and of how it is read.
        model: what tells it from others; "" where it is not known here.
        options: of the runs; those that are long by a digest.
    """

    schema: str
    model: str
    options: dict[str, Any]

    def changes(self, before: Job, *, options_may_change: bool) -> list[str]:
        """What is not as it was, in words."""
        found = ["the schema"] if self.schema != before.schema else []
        if self.model and before.model and self.model != before.model:
            found.append(f"the model ({self.model}, and it was {before.model})")
        if not options_may_change:
            for name in sorted(self.options.keys() | before.options.keys()):
                now, was = self.options.get(name), before.options.get(name)
                if now != was:
                    found.append(f"{name} ({now!r}, and it was {was!r})")
        return found

    def write(self, path: Path) -> None:
        """Puts it into a file: wholly, or, when killed, not at all."""
        begun = path.with_name(f"{path.name}.tmp")
        begun.write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(begun, path)

    @classmethod
    def read(cls, path: Path) -> Job | None:
        """The job of a file; None where there is no file.

        Raises:
            OSError: it is something else.
        """
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise OSError(f"{path} is not what an earlier run has written") from error


def job_of(model: AnyModel | None, schema: Any, field: str, limits: Limits | None, options: GeneratorOptions) -> Job:
    """The job of a call of `map_file`.

    Args:
        model: the model, where it is at hand.
        schema: as of `map_file`.
        field: as of `map_file`.
        limits: as of `map_file`.
        options: as of `map_file`.

    Raises:
        SchemaError, GrammarError, TypeError, ValueError: see `structgen.compile` and `structgen.Generator`.
    """
    running, reading = split_options(cast(dict[str, Any], options))
    tokenization = reading.pop("tokenization", "any")
    if isinstance(schema, Constraint):
        key = schema.prepared.key
    else:
        key = compile_input(schema, SchemaOptions(**{"whitespace": "single", **reading}), limits or Limits()).key
    settings = Settings(**running)
    noted = {one.name: _noted(getattr(settings, one.name)) for one in fields(settings)}
    noted |= {"tokenization": tokenization, "field": field}
    return Job(digest(repr(key).encode()), "" if model is None else _name_of(model), noted)


def digest(data: bytes) -> str:
    """A short hash, the same in every process."""
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def _noted(value: Any) -> Any:
    """A value of an option: itself where it is short, else what tells it from others."""
    if value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _SHOWN):
        return value
    if not value and isinstance(value, (list, tuple)):
        return []
    data = pydantic_core.to_jsonable_python(value, by_alias=True, fallback=_type_or_function)
    return f"sha256 {digest(json.dumps(data).encode())}"


def _type_or_function(value: Any) -> str:
    return str(getattr(value, "__qualname__", type(value).__qualname__))


def _name_of(model: AnyModel) -> str:
    says_more = type(model).__repr__ is not object.__repr__
    name = repr(model) if says_more else type(model).__qualname__
    return f"{name}, vocabulary {model.vocabulary.fingerprint[:_DIGITS]}"
