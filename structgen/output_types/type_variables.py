"""The types of the values of output types, each with the type that it has where the user names none.

Type checkers read the defaults. At run time they are left out: before Python 3.13, `typing` has none.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    TextValue = TypeVar("TextValue", default=str)
    HolesValue = TypeVar("HolesValue", default=dict[str, Any])
    AnyValue = TypeVar("AnyValue", default=Any)
else:
    from typing import TypeVar

    TextValue = TypeVar("TextValue")
    HolesValue = TypeVar("HolesValue")
    AnyValue = TypeVar("AnyValue")

__all__ = ["AnyValue", "HolesValue", "TextValue"]
