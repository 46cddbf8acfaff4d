r"""Free text of structural tags, as regexes.

    any_text(["</a>"])             text without `</a>`; before the mark `</a>`, so it ends where that first occurs
    up_to("<f=", ["<f=", "<g="])   text that ends with `<f=`, and has no mark before that: `x < y <f=`

Free text is valid UTF-8.
"""

from __future__ import annotations

from collections.abc import Collection

from structgen.engine.regex import tree as rx

__all__ = ["any_of", "any_text", "up_to"]

_ANY_BYTE = rx.ByteSet((1 << 256) - 1)


def any_text(excludes: Collection[str], max_chars: int | None = None) -> rx.Regex:
    """Return the regex of text without some texts in it.

    Args:
        excludes: the texts, none of them empty.
        max_chars: the largest number of characters; None for any number.
    """
    text = rx.repeat(rx.ANY_CHAR, 0, max_chars)
    return rx.difference(text, _holding(excludes)) if excludes else text


def up_to(mark: str, marks: Collection[str], excludes: Collection[str] = ()) -> rx.Regex:
    """Return the regex of text up to the first mark, the mark included.

    Args:
        mark: the mark that comes first.
        marks: all marks.
        excludes: texts that must not occur in it.
    """
    any_bytes, data = rx.ANY_BYTES, mark.encode()
    refused = [rx.sequence(any_bytes, any_of({*marks, *excludes}), _ANY_BYTE, any_bytes)]
    if excludes:
        refused.append(rx.sequence(any_bytes, any_of(excludes)))
    return rx.difference(rx.sequence(rx.star(rx.ANY_CHAR), rx.Literal(data)), rx.choice(*refused))


def _holding(texts: Collection[str]) -> rx.Regex:
    return rx.sequence(rx.ANY_BYTES, any_of(texts), rx.ANY_BYTES)


def any_of(texts: Collection[str]) -> rx.Regex:
    """Return the regex of some texts."""
    return rx.literal_set([text.encode() for text in sorted(texts)])
