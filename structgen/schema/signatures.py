"""`shows_options`: a function's `**options` as parameters of its own, for `help()`, `inspect` and completion.

Type checkers read the options from `Unpack[SomeTypedDict]`. Everything that looks at a running program reads
`__signature__`, which this module writes:

    (model, prompt, schema, *, limits=None, **options)
    (model, prompt, schema, *, limits=None, max_new_tokens=512, temperature=0.0, …)
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from structgen.schema.options import SchemaArguments, SchemaOptions

__all__ = ["SCHEMA_DEFAULTS", "defaults_of", "shows_options"]

F = TypeVar("F", bound=Callable[..., Any])


def defaults_of(settings: type) -> dict[str, Any]:
    """Return the default of each field of a dataclass that has one."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(settings):
        if field.default_factory is not dataclasses.MISSING:
            found[field.name] = field.default_factory()
        elif field.default is not dataclasses.MISSING:
            found[field.name] = field.default
    return found


SCHEMA_DEFAULTS: Mapping[str, Any] = defaults_of(SchemaOptions)
"""The defaults of `SchemaArguments`."""


def shows_options(options: type = SchemaArguments, defaults: Mapping[str, Any] = SCHEMA_DEFAULTS) -> Callable[[F], F]:
    """Decorate a function so that its signature names each option.

    Args:
        options: the `TypedDict` of its `**options`.
        defaults: the default of each option. Where an option has none here, it keeps the value that an object has, and
            its default is shown as `...`.

    Example:
        >>> @shows_options()
        ... def read(schema, **options): ...
        >>> list(inspect.signature(read).parameters)[:3]
        ['schema', 'format', 'whitespace']
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        names = {one.name for one in own}
        shown = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name, ...),
                annotation=getattr(annotation, "__forward_arg__", annotation),
            )
            for name, annotation in options.__annotations__.items()
            if name not in names
        ]
        function.__signature__ = signature.replace(parameters=[*own, *shown])  # type: ignore[attr-defined]
        return function

    return decorate
