"""The names by which models were loaded in this process: pickle stores a model by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["by_name", "remember_name"]

Load = Callable[[str], Any]

_names: dict[int, tuple[Any, Load, str]] = {}  # by `id` of a model, which is kept


def remember_name(model: Any, load: Load, name: str) -> None:
    """Remember how a model was loaded.

    Args:
        model: the model.
        load: returns the model of a name, in any process.
        name: its name.
    """
    _names[id(model)] = model, load, name


def by_name(model: Any) -> tuple[Load, tuple[str]]:
    """Return what pickle stores of a model: the function that loads it, and its name.

    Raises:
        TypeError: the model has no name.
    """
    if id(model) not in _names:
        raise TypeError(
            f"a {type(model).__name__} cannot be pickled unless structgen.load made it; pickle the Constraint alone, "
            "and make the model in the other process"
        )
    _, load, name = _names[id(model)]
    return load, (name,)
