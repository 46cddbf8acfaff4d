"""Regexes of the texts that match any of some patterns, most of which may match anywhere."""

from __future__ import annotations

from collections.abc import Sequence as Many

from structgen.engine.regex.tree import Regex, Sequence, choice, sequence

__all__ = ["ANY_OF_ECMA", "any_text_of"]

ANY_OF_ECMA = "ecma-any "
"""The beginning of the name of a language of several ECMA-262 patterns. A pattern's own name begins with `ecma `."""


def any_text_of(regexes: Many[Regex]) -> Regex:
    """Return a regex of the texts that match any of some regexes. Those that may match anywhere share the text around.

    With `.*` around each of 400 words, each state would be a union of 400 terms.
    """
    from structgen.engine.regex_syntax.edges import ANY_TEXT  # imported late: many schemas have no pattern

    inner: list[Regex] = []
    others: list[Regex] = []
    for regex in regexes:
        if isinstance(regex, Sequence) and regex.parts[0] == ANY_TEXT == regex.parts[-1] and len(regex.parts) > 2:
            inner.append(sequence(*regex.parts[1:-1]))
        else:
            others.append(regex)
    return choice(*([sequence(ANY_TEXT, choice(*inner), ANY_TEXT)] if inner else []), *others)
