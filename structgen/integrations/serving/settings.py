"""Settings of structgen inside a server: options of schemas and limits, from environment variables.

    STRUCTGEN_WHITESPACE=compact STRUCTGEN_COMPILE_SECONDS=5 vllm serve …

The options are those of `structgen.compile`. The defaults of the limits suit a server whose users are not trusted: one
request may neither hold up the others for long nor take much memory.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from structgen.compilation.constraint import Tokenization
from structgen.engine.matching.warming import Warm, check_warm
from structgen.limits import Limits
from structgen.schema.options import SchemaOptions

__all__ = ["ServerSettings", "check_option", "server_settings"]

PREFIX = "STRUCTGEN_"
OnBudget = Literal["finish", "cut"]
# Options that a server or a request may set. A registry cannot be written as text.
OPTIONS = ("whitespace", "numbers", "property_order", "formats", "draft", "lenient", "tokenization")
LIMITS: dict[str, Callable[[str], float]] = {
    "compile_seconds": float,
    "mask_seconds": float,
    "memory_bytes": int,
    "cache_bytes": int,
    "mask_bytes": int,
}
NUMBERS: dict[str, Callable[[str], float]] = {
    "check_seconds": float,
    "max_request_bytes": int,
    "max_repeats": int,
    "slow_masks_seconds": float,
}
COMPILE_SECONDS = 10.0
MASK_SECONDS = 0.5
CHECK_SECONDS = 0.2
SLOW_MASKS_SECONDS = 10.0
MAX_REQUEST_BYTES = 2 * 2**20
_LIMITS = Limits(compile_seconds=COMPILE_SECONDS, mask_seconds=MASK_SECONDS)
_TRUTH = {"1": True, "true": True, "0": False, "false": False}


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Options and limits of the requests of one server.

    Attributes:
        options: options of schemas, as keyword arguments of `structgen.compile`; a request may replace them.
        limits: bounds on each compile, and on each mask.
        check_seconds: the time for the check of a request before it is queued. It runs in the thread that also answers
            other requests. What takes longer is decided by the compile.
        max_request_bytes: the largest schema or grammar, as text.
        slow_masks_seconds: the time that all slow masks of one request may take together. Each holds up the next token
            of all requests.
        on_budget: "finish" closes a text before the budget of its tokens ends, where the engine tells the budget. With
            "cut", the engine cuts it off.
        max_repeats: how often a text in JSON may repeat itself; see `structgen.compilation.repetition`. None for any
            number.
        warm: how masks are made ahead of time; see `structgen.compile`.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = _LIMITS
    check_seconds: float = CHECK_SECONDS
    max_request_bytes: int = MAX_REQUEST_BYTES
    slow_masks_seconds: float = SLOW_MASKS_SECONDS
    on_budget: OnBudget = "cut"
    max_repeats: int | None = None
    warm: Warm = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> ServerSettings:
        """Read the settings from environment variables.

        Args:
            environment: such as `os.environ`. The names are those of the options and limits in capitals, after
                `STRUCTGEN_`; and the other attributes, in the same way.

        Raises:
            ValueError: a value cannot be used; the message names the variable.
        """
        options: dict[str, Any] = {}
        for name in OPTIONS:
            text = environment.get(PREFIX + name.upper())
            if text is not None:
                options[name] = _read(name, functools.partial(_option, name), text)
        limits: dict[str, Any] = {"compile_seconds": COMPILE_SECONDS, "mask_seconds": MASK_SECONDS}
        found = {name: environment[PREFIX + name.upper()] for name in LIMITS if PREFIX + name.upper() in environment}
        limits |= {name: _read(name, _positive(LIMITS[name]), text) for name, text in found.items()}
        others: dict[str, Any] = {
            name: _read(name, _positive(kind), environment[PREFIX + name.upper()])
            for name, kind in NUMBERS.items()
            if PREFIX + name.upper() in environment
        }
        if f"{PREFIX}ON_BUDGET" in environment:
            others["on_budget"] = _read("on_budget", _on_budget, environment[f"{PREFIX}ON_BUDGET"])
        if f"{PREFIX}WARM" in environment:
            others["warm"] = _read("warm", _warm, environment[f"{PREFIX}WARM"])
        return cls(options, Limits(**limits), **others)


@functools.cache
def server_settings() -> ServerSettings:
    """Return the settings of this process, read from its environment once."""
    return ServerSettings.from_environment(os.environ)


def check_option(name: str, value: Any) -> None:
    """Check the value of an option.

    Raises:
        ValueError: the option or its value is unknown.
        TypeError: the value has a wrong type.
    """
    if name not in OPTIONS:
        raise ValueError(f"unknown option {name!r}; the options are {', '.join(OPTIONS)}")
    if name != "tokenization":
        options: dict[str, Any] = {name: value}
        SchemaOptions(**options)
    elif value not in get_args(Tokenization):
        raise ValueError(f"tokenization must be one of {', '.join(get_args(Tokenization))}, not {value!r}")


def _option(name: str, text: str) -> Any:
    value: Any = _TRUTH.get(text.lower(), text) if name == "lenient" else text
    check_option(name, value)
    return value


def _on_budget(text: str) -> str:
    if text not in get_args(OnBudget):
        raise ValueError(f"it must be one of {', '.join(get_args(OnBudget))}")
    return text


def _warm(text: str) -> Warm:
    value: Warm = "background" if text == "background" else float(text)
    check_warm(value)
    return value


def _positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = kind(text)
        if not value > 0:
            raise ValueError(f"it must be positive, not {text}")
        return value

    return read


def _read(name: str, read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except (ValueError, TypeError) as error:
        raise ValueError(f"the environment variable {PREFIX}{name.upper()}={text}: {error}") from error
