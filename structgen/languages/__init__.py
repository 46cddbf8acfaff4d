"""Grammars of programming languages, as KBNF files beside this module. See docs/languages.md."""

from __future__ import annotations

from importlib import resources

from structgen.errors import GrammarError

__all__ = ["language_names", "language_source"]


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
