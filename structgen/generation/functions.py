"""`@structgen.fn`: a function whose docstring is the prompt and whose return annotation is the schema."""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, Unpack, cast, get_type_hints, overload

from structgen.errors import FunctionDefinitionError
from structgen.generation.generator import Generator
from structgen.generation.prompt_templates import filled, names_in
from structgen.generation.settings import OPTION_DEFAULTS, ConstraintOptions, GenerationOptions, check_names
from structgen.limits import Limits
from structgen.models.base import AsyncServer
from structgen.models.loading import default_model
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from structgen.models.base import AnyModel

__all__ = ["FunctionOptions", "TypedFunction", "fn"]

P = ParamSpec("P")
R = TypeVar("R")


class FunctionOptions(GenerationOptions, ConstraintOptions, total=False):
    """Keyword arguments of `@fn` and `TypedFunction.with_options`: those of `Generator`, and the model.

    Attributes:
        model: the model; by default that of `structgen.set_default_model`, or SmolLM2.
        schema: the schema, where it is not a type: a `Grammar`, `json_lines(…)`, `template(…)`, a JSON Schema. By
            default the return annotation is the schema.
        limits: see `Generator`.
    """

    model: AnyModel | None
    schema: Any
    limits: Limits | None


_DEFAULTS = {**OPTION_DEFAULTS, "model": None, "schema": None, "limits": None}


@overload
def fn(function: Callable[P, R], /) -> TypedFunction[P, R]: ...
@overload
def fn(**options: Unpack[FunctionOptions]) -> Callable[[Callable[P, R]], TypedFunction[P, R]]: ...
@shows_options(FunctionOptions, _DEFAULTS)
def fn(
    function: Callable[P, R] | None = None, /, **options: Unpack[FunctionOptions]
) -> TypedFunction[P, R] | Callable[[Callable[P, R]], TypedFunction[P, R]]:
    '''Make a function that a language model answers; its body is never run.

    The docstring is the prompt, with the arguments in braces: `{text}`, or `{price:.2f}` as in `str.format`. Double the
    braces of the prompt itself. Texts are inserted as they are; models, lists and dicts as JSON. The return annotation
    is the schema of the answer, unless `schema=` is given. A function with `async def` is awaited; a local model
    then runs in a thread. Type checkers want a body that returns a value or raises an error: see docs/typing.md.

    Args:
        function: the function, when the decorator is used bare.
        options: see `FunctionOptions`.

    Raises:
        FunctionDefinitionError: no docstring, no return annotation, or a name in braces that is not a parameter.

    Example:
        >>> @structgen.fn
        ... def sentiment(review: str) -> Literal["good", "bad"]:
        ...     """Is this review good or bad? {review}"""
        ...     raise NotImplementedError
        >>> sentiment.prompt("I want my money back.")
        'Is this review good or bad? I want my money back.'
        >>> sentiment("I want my money back.")                                                # doctest: +SKIP
        'bad'
    '''
    namespace = sys._getframe(1).f_locals  # the names of an enclosing function, for annotations written as text
    if function is not None:
        if not callable(function):
            raise TypeError(f"fn takes a function, not {type(function).__name__}; its options have names: fn(model=…)")
        return TypedFunction(function, options, namespace)
    return lambda decorated: TypedFunction(decorated, options, namespace)


class TypedFunction(Generic[P, R]):
    """A function made by `@fn`; call it with the function's own arguments."""

    def __init__(
        self, function: Callable[P, R], options: FunctionOptions, namespace: Mapping[str, Any] | None = None
    ) -> None:
        functools.update_wrapper(self, function)
        self._options = _checked(options)
        self._signature = inspect.signature(function)
        self._template = _template(function, self._signature)
        self._returned = _return_type(function, namespace or {}) if options.get("schema") is None else None
        self._is_async = inspect.iscoroutinefunction(function)
        if self._is_async and sys.version_info >= (3, 12):
            inspect.markcoroutinefunction(self)

    def __repr__(self) -> str:
        name = getattr(self, "__qualname__", "?")
        return f"<TypedFunction {'async ' if self._is_async else ''}{name}{self._signature}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Ask the model; see `Generator.run` for the errors."""
        prompt = self.prompt(*args, **kwargs)
        if self._is_async:
            return cast(R, self._arun(prompt))
        return self._generator()(prompt)

    def __get__(self, owner: object, kind: type | None = None) -> Any:
        """Return a method of `owner`, where the function was defined in a class."""
        return self if owner is None else functools.partial(self, owner)  # type: ignore[arg-type]

    def prompt(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Return the prompt for these arguments, without asking the model."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            name = getattr(self, "__name__", "the function")
            raise TypeError(f"{name}() {error}") from None
        bound.apply_defaults()
        return filled(self._template, bound.arguments)

    @shows_options(FunctionOptions, {})
    def with_options(self, **options: Unpack[FunctionOptions]) -> TypedFunction[P, R]:
        """Return the same function with other options; those that are not named stay.

        Args:
            options: see `FunctionOptions`.
        """
        twin = TypedFunction.__new__(TypedFunction)
        twin.__dict__.update(self.__dict__)
        twin._options = cast(FunctionOptions, {**self._options, **_checked(options)})
        return twin

    async def _arun(self, prompt: str) -> R:
        if isinstance(self._options.get("model"), AsyncServer):
            generator = self._generator()
        else:
            generator = await asyncio.to_thread(self._generator)
        return (await generator.arun(prompt)).value

    def _generator(self) -> Generator[R]:
        options = dict(self._options)
        model = options.pop("model", None) or default_model()
        schema = options.pop("schema", None)
        schema = self._returned if schema is None else schema
        return Generator(cast("AnyModel", model), schema, **cast(Any, options))


def _checked(options: FunctionOptions) -> FunctionOptions:
    check_names(cast(dict[str, Any], options), tuple(FunctionOptions.__annotations__))
    return options


def _template(function: Callable[..., Any], signature: inspect.Signature) -> str:
    """Return the function's docstring, after a check that every name in its braces is a parameter."""
    name = getattr(function, "__qualname__", repr(function))
    template = inspect.getdoc(function)
    if not template or not template.strip():
        raise FunctionDefinitionError(
            f"{name} has no docstring", hint="write the prompt as its docstring, with the arguments in {braces}"
        )
    try:
        names = names_in(template)
    except ValueError as error:
        raise FunctionDefinitionError(
            f"the docstring of {name} is not a prompt: {error}", hint="write {{ and }} for braces of the prompt itself"
        ) from error
    for parameter in names:
        if parameter not in signature.parameters:
            raise FunctionDefinitionError(
                f"the docstring of {name} names {{{parameter}}}, but its parameters are "
                f"({', '.join(signature.parameters)})",
                hint="write {{ and }} for braces of the prompt itself",
            )
    return template


def _return_type(function: Callable[..., Any], namespace: Mapping[str, Any]) -> Any:
    name = getattr(function, "__qualname__", repr(function))
    annotation = getattr(function, "__annotations__", {}).get("return")
    # Read the return annotation alone: the parameters' annotations may be unreadable at run time.
    holder = types.SimpleNamespace(__annotations__={"return": annotation})
    try:
        hints = get_type_hints(
            holder, globalns=getattr(function, "__globals__", {}), localns=dict(namespace), include_extras=True
        )
    except NameError as error:
        raise FunctionDefinitionError(f"the return annotation of {name} cannot be read: {error}") from error
    if hints.get("return") in (None, type(None)):
        raise FunctionDefinitionError(
            f"{name} has no return annotation", hint="annotate the type of the answer, for instance `-> list[str]`"
        )
    return hints["return"]
