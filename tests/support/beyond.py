"""Instances of the official suite that structgen treats otherwise on purpose, one function a reason.

The fewer the better. Each is given the file, the group and the instance, and says whether it is meant; its docstring is
the reason.
"""

from __future__ import annotations

from collections.abc import Callable

from support.shared_data import Case, Instance

__all__ = ["is_beyond"]


def content_is_an_annotation(file: str, case: Case, instance: Instance) -> bool:
    """Whether the text in a string is base64, or JSON, is not checked: the newer drafts forbid it by default."""
    return file == "draft7/optional/content" and not instance.is_valid


def dependencies_is_no_keyword_of_2020(file: str, case: Case, instance: Instance) -> bool:
    """`dependencies` became `dependentRequired` and `dependentSchemas`; who says 2020-12 gets 2020-12."""
    return file == "draft2020-12/optional/dependencies-compatibility" and not instance.is_valid


_REASONS: tuple[Callable[[str, Case, Instance], bool], ...] = (
    content_is_an_annotation,
    dependencies_is_no_keyword_of_2020,
)


def is_beyond(file: str, case: Case, instance: Instance) -> bool:
    """Whether an instance is left out."""
    return any(reason(file, case, instance) for reason in _REASONS)
