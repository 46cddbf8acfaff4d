"""The manifest beside `map_file`'s output. A run whose inputs changed is not resumed."""

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
from structgen.generation.settings import LOCAL_READING, GeneratorOptions, Settings, split_options
from structgen.limits import Limits
from structgen.models.base import AnyModel
from structgen.schema.options import SchemaOptions

__all__ = ["Job", "digest", "job_of"]

_DIGEST_DIGITS = 16  # hexadecimal digits of a hash
_MAX_SHOWN = 60  # characters of an option that is written as it is


@dataclass(frozen=True, slots=True)
class Job:
    """The inputs that all answers of one file share.

    Attributes:
        schema: a digest of the schema and of the options of its reading.
        model: identifies the model; "" if the model is not known on this machine.
        options: the options of the runs; long values are digests.
    """

    schema: str
    model: str
    options: dict[str, Any]

    def changes(self, before: Job, *, options_may_change: bool) -> list[str]:
        """Return what changed since `before`, in words."""
        found = ["the schema"] if self.schema != before.schema else []
        if self.model and before.model and self.model != before.model:
            found.append(f"the model ({self.model}, was {before.model})")
        if not options_may_change:
            for name in sorted(self.options.keys() | before.options.keys()):
                now, was = self.options.get(name), before.options.get(name)
                if now != was:
                    found.append(f"{name} ({now!r}, was {was!r})")
        return found

    def write(self, path: Path) -> None:
        """Write the manifest: the whole file, or nothing if the process is killed."""
        begun = path.with_name(f"{path.name}.tmp")
        begun.write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(begun, path)

    @classmethod
    def read(cls, path: Path) -> Job | None:
        """Read a manifest; None if there is no file.

        Raises:
            OSError: the file is no manifest.
        """
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise OSError(f"{path} was not written by map_file") from error


def job_of(
    model: AnyModel | None,
    schema: Any,
    field: str,
    limits: Limits | None,
    options: GeneratorOptions,
    template: str | None = None,
) -> Job:
    """Return the job of a call of `map_file`.

    Args:
        model: the model, or None if it is loaded elsewhere.
        schema: see `map_file`.
        field: see `map_file`.
        limits: see `map_file`.
        options: see `map_file`.
        template: the `prompt` of `map_file`.

    Raises:
        SchemaError, GrammarError, TypeError, ValueError: see `structgen.compile` and `structgen.Generator`.
    """
    running, reading = split_options(cast(dict[str, Any], options))
    tokenization = reading.pop("tokenization", "any")
    if isinstance(schema, Constraint):
        key = schema.prepared.key
    else:
        given = SchemaOptions(**{**LOCAL_READING, **reading})
        key = compile_input(schema, given, limits or Limits()).key
    settings = Settings(**running)
    noted = {one.name: _noted(getattr(settings, one.name)) for one in fields(settings)}
    noted |= {"tokenization": tokenization, "field": field}
    if template is not None:
        noted["prompt"] = _noted(template)
    return Job(digest(repr(key).encode()), "" if model is None else _name_of(model), noted)


def digest(data: bytes) -> str:
    """Return a short hash that is the same in every process."""
    return hashlib.sha256(data).hexdigest()[:_DIGEST_DIGITS]


def _noted(value: Any) -> Any:
    """Return an option's value if it is short, else a digest of it."""
    if value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _MAX_SHOWN):
        return value
    if not value and isinstance(value, (list, tuple, dict)):
        return []
    data = pydantic_core.to_jsonable_python(value, by_alias=True, fallback=_type_or_function)
    return f"sha256 {digest(json.dumps(data).encode())}"


def _type_or_function(value: Any) -> str:
    return str(getattr(value, "__qualname__", type(value).__qualname__))


def _name_of(model: AnyModel) -> str:
    says_more = type(model).__repr__ is not object.__repr__
    name = repr(model) if says_more else type(model).__qualname__
    return f"{name}, vocabulary {model.vocabulary.fingerprint[:_DIGEST_DIGITS]}"
