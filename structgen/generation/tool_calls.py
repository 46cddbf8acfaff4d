"""`call`: the model picks one of several Python functions, and its arguments by the function's signature."""

from __future__ import annotations

import asyncio
import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, Unpack

import pydantic

from structgen.errors import FunctionDefinitionError
from structgen.generation.generator import Generator
from structgen.generation.prompts import render
from structgen.generation.runs import Result
from structgen.generation.settings import GeneratorOptions
from structgen.limits import Limits
from structgen.schema.function_arguments import arguments_of, closed_typed_dict, description_of, name_of

if TYPE_CHECKING:
    from structgen.models.base import AnyModel, Prompt

__all__ = ["ToolCall", "acall", "call", "schema_of_tools"]

_SYSTEM = """\
Answer by calling one of these functions:
{tools}
Write the call as JSON: {{"name": the function's name, "arguments": its arguments}}."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function that the model picked, and its arguments.

    Attributes:
        name: the function's name.
        arguments: the validated arguments by parameter name; those that the model omitted have defaults.
        function: the function.
        text: the text that the model wrote.
        reasoning: the text that it wrote before, with `reasoning`.
    """

    name: str
    arguments: Mapping[str, Any]
    function: Callable[..., Any]
    text: str
    reasoning: str = ""

    def run(self) -> Any:
        """Call the function."""
        bound = inspect.BoundArguments(inspect.signature(self.function), OrderedDict(self.arguments))
        bound.apply_defaults()
        return self.function(*bound.args, **bound.kwargs)

    def messages(self, returned: Any) -> list[dict[str, str]]:
        """Return the call and the function's result, as messages for the next step.

        Args:
            returned: the function's result.
        """
        text = returned if isinstance(returned, str) else render(returned)
        return [
            {"role": "assistant", "content": self.text},
            {"role": "user", "content": f"{self.name} returned: {text}"},
        ]


def call(
    model: AnyModel,
    messages: Prompt,
    tools: Sequence[Callable[..., Any]],
    *,
    limits: Limits | None = None,
    **options: Unpack[GeneratorOptions],
) -> ToolCall:
    """Let the model pick a function and its arguments. The function is not called; use `ToolCall.run`.

    Args:
        model: see `structgen.generate`.
        messages: the conversation, or a text.
        tools: functions with annotated parameters. The system message has their names, docstrings and parameters;
            `Annotated[int, Field(ge=1, description="…")]` restricts and describes one.
        limits: bounds on what the schema may cost.
        options: see `structgen.generate`.

    Raises:
        FunctionDefinitionError: two tools of one name, a parameter without annotation, or `*args`.
        UnsupportedSchemaError: a parameter's type has no schema.
        IncompleteOutputError, ValidationFailedError: see `structgen.generate`.

    Example:
        >>> def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
        ...     "The weather in a city."
        >>> step = structgen.call(model, "Is it warm in Lyon?", [weather])                    # doctest: +SKIP
        >>> step.name, step.arguments                                                         # doctest: +SKIP
        ('weather', {'city': 'Lyon', 'unit': 'C'})
    """
    picking = _Picking(model, tools, limits, options)
    return picking.call(picking.generator.run(messages))


async def acall(
    model: AnyModel,
    messages: Prompt,
    tools: Sequence[Callable[..., Any]],
    *,
    limits: Limits | None = None,
    **options: Unpack[GeneratorOptions],
) -> ToolCall:
    """Run `call` in a thread, and await it. The arguments and errors are those of `structgen.call`."""
    picking = await asyncio.to_thread(_Picking, model, tools, limits, options)
    return picking.call(await picking.generator.arun(messages))


def schema_of_tools(tools: Sequence[Callable[..., Any]]) -> Any:
    """Return the type of a call of one of some functions; see `call` for the arguments and errors."""
    return _schema({name: arguments_of(tool) for name, tool in _by_name(tools).items()})


class _Picking:
    """The choice among some tools.

    Attributes:
        generator: answers with the name of a tool, and its arguments.
    """

    def __init__(
        self, model: AnyModel, tools: Sequence[Callable[..., Any]], limits: Limits | None, options: GeneratorOptions
    ) -> None:
        self._by_name = _by_name(tools)
        arguments = {name: arguments_of(tool) for name, tool in self._by_name.items()}
        described = [_described(name, tool, arguments[name]) for name, tool in self._by_name.items()]
        system = _SYSTEM.format(tools="\n".join(map(render, described)))
        own = options.get("system")
        options["system"] = f"{own}\n\n{system}" if own else system
        self.generator: Generator[Any] = Generator(model, _schema(arguments), limits=limits, **options)

    def call(self, result: Result[Any]) -> ToolCall:
        """Return the call of an answer."""
        name = result.value["name"]
        return ToolCall(name, result.value["arguments"], self._by_name[name], result.text, result.reasoning)


def _by_name(tools: Sequence[Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    by_name: dict[str, Callable[..., Any]] = {}
    for tool in tools:
        if by_name.setdefault(name_of(tool), tool) is not tool:
            raise FunctionDefinitionError(f"two tools are called {name_of(tool)}")
    if not by_name:
        raise ValueError("call needs at least one tool")
    return by_name


def _schema(arguments: Mapping[str, Any]) -> Any:
    """Return the type of a call: one of the functions by its name, with its arguments."""
    calls = [
        closed_typed_dict(f"{name}_call", {"name": Literal[name], "arguments": fields})
        for name, fields in arguments.items()
    ]
    if len(calls) == 1:
        return calls[0]
    return Annotated[Union[tuple(calls)], pydantic.Field(discriminator="name")]  # noqa: UP007


def _described(name: str, tool: Callable[..., Any], arguments: Any) -> dict[str, Any]:
    parameters = pydantic.TypeAdapter(arguments).json_schema()
    return {"name": name, "description": description_of(tool), "parameters": parameters}
