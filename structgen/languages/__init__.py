"""Grammars of programming languages, as KBNF files beside this module; docs/languages.md describes them."""

from __future__ import annotations

from functools import cache
from importlib import resources

from structgen.errors import GrammarError

__all__ = ["language_named", "language_names", "language_source"]


def language_names() -> tuple[str, ...]:
    """Return the names of the languages that have a grammar."""
    files = resources.files(__package__).iterdir()
    return tuple(sorted(file.name.removesuffix(".kbnf") for file in files if file.name.endswith(".kbnf")))


def language_source(name: str) -> str:
    """Return the grammar of a language as KBNF text.

    Raises:
        GrammarError: there is no grammar of that name.
    """
    names = language_names()
    if name not in names:
        raise GrammarError(f"there is no grammar of the language {name!r}", hint=f"there are {', '.join(names)}")
    return resources.files(__package__).joinpath(f"{name}.kbnf").read_text(encoding="utf-8")


def language_named(source: str) -> str | None:
    """Return the name of the language whose grammar a text is; None for other texts."""
    return _names_of_sources().get(source)


@cache
def _names_of_sources() -> dict[str, str]:
    return {language_source(name): name for name in language_names()}
