"""`json_lines`: a text with one JSON value on each line, read as a list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from structgen.output_types.type_variables import AnyValue

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ["JsonLines", "json_lines"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JsonLines(Generic[AnyValue]):
    """A text of JSON Lines, whose value is a list. Make it with `json_lines`.

    Attributes:
        item: the schema or type of each value.
        min_items, max_items: bounds on the number of values; None is no bound.
    """

    item: Any
    min_items: int = field(default=0, kw_only=True)
    max_items: int | None = field(default=None, kw_only=True)


@overload
def json_lines(item: TypeForm[T], *, min_items: int = ..., max_items: int | None = ...) -> JsonLines[list[T]]: ...
@overload
def json_lines(item: Any, *, min_items: int = ..., max_items: int | None = ...) -> JsonLines[list[Any]]: ...
def json_lines(item: Any, *, min_items: int = 0, max_items: int | None = None) -> JsonLines[Any]:
    r"""Ask for a text with one JSON value on each line. Its value is a list.

    The last line may end with a line break or not. No value has a line break inside: `whitespace="any"` allows spaces
    and tabs only.

    Args:
        item: a Pydantic model or any type that Pydantic knows, or a JSON Schema as a dict.
        min_items: the smallest number of values. With 0, the default, the text may be empty.
        max_items: the largest number; None is no bound. Set it: a small model may never stop.

    Raises:
        ValueError: a bound is negative, or `max_items` is less than `min_items`.

    Example:
        >>> vocabulary = structgen.Vocabulary.from_bytes({0: b"1", 1: b"\n", 2: b""}, eos_token_ids=[2])
        >>> constraint = structgen.compile(structgen.json_lines(int, max_items=2), vocabulary)
        >>> constraint.parse("1\n11\n")
        [1, 11]
    """
    for name, bound in (("min_items", min_items), ("max_items", 0 if max_items is None else max_items)):
        if not isinstance(bound, int) or isinstance(bound, bool) or bound < 0:
            raise ValueError(f"{name} must be a whole number, 0 or more, not {bound!r}")
    if max_items is not None and max_items < max(min_items, 1):
        raise ValueError(f"max_items={max_items} is below {max(min_items, 1)}")
    return JsonLines(item, min_items=min_items, max_items=max_items)
