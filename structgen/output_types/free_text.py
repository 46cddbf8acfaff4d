r"""Free text of templates and structural tags, as parts of a KBNF tree.

    any_text(["</a>"])             text without `</a>`
    text_before("</a>")            the same: text that may stand before `</a>`, and ends where that first occurs
    up_to("<f=", ["<f=", "<g="])   text that ends with `<f=`, and has no mark before that: `x < y <f=`

Free text is valid UTF-8. In the tree, text without some texts is `#ex'…'`, as exports write it: `except!('…')` in the
older dialect.
"""

from __future__ import annotations

from collections.abc import Collection

from structgen.engine.regex import tree as rx
from structgen.engine.regex.unicode_classes import negation_of
from structgen.kbnf import ast
from structgen.kbnf.writing.regex_text import regex_to_rust

__all__ = ["any_text", "early", "text_before", "up_to"]

_ANY_BYTE = rx.ByteSet((1 << 256) - 1)


def any_text(excludes: Collection[str], max_chars: int | None = None, mark: str = "") -> ast.Expression:
    """Return text without some texts in it.

    Args:
        excludes: the texts, none of them empty.
        max_chars: the largest number of characters; None for any number.
        mark: one of the texts, which follows: no text makes an earlier occurrence of it, see `text_before`. "" where
            none of them follows.
    """
    text = rx.repeat(rx.ANY_CHAR, 0, max_chars)
    if _borders(mark):
        return ast.RegexTerminal(rx.difference(text, rx.choice(_holding(excludes), early(mark))))
    if not excludes:
        return ast.RegexTerminal(text)
    regex = rx.difference(text, _holding(excludes))
    if max_chars is not None:
        return ast.RegexTerminal(regex)
    return ast.Option(ast.RegexTerminal(regex, regex_to_rust(_any_of(excludes)), "ex"))


def text_before(mark: str) -> ast.Expression:
    r"""Return the free text before a mark: any text that makes no earlier occurrence of the mark, also with the mark.

    Before `ab` that is the text without `ab` in it. Before `\n\n`, `#ex'\n\n'` would match `a\n` too; but in `a\n\n\n`,
    the mark first occurs after `a`. So there it is a regex, `(?:\n?[^\n])*`.

    Args:
        mark: the text after the free text; "" where there is none.
    """
    if not _borders(mark):
        return any_text([mark] if mark else [])
    source = None
    if len(set(mark)) == 1:
        same = rx.repeat(rx.Literal(mark[0].encode()), 0, len(mark) - 1)
        other = rx.Chars(negation_of(((ord(mark[0]), ord(mark[0])),)))
        source = regex_to_rust(rx.star(rx.sequence(same, other)))
    return ast.RegexTerminal(rx.difference(rx.star(rx.ANY_CHAR), early(mark)), source)


def early(mark: str) -> rx.Regex:
    """Return the regex of texts after which a mark has occurred too early.

    With `aba`, these are the texts with `aba` in them, and those that end with `ab`: `xababa` has `aba` after `x`.
    """
    borders = _borders(mark)
    ending = [rx.sequence(rx.ANY_BYTES, _any_of(borders))] if borders else []
    return rx.choice(_holding([mark]), *ending)


def _borders(mark: str) -> list[str]:
    """Return the beginnings of a mark after which the mark would have occurred before its end: for `aba`, `ab`."""
    return [mark[:size] for size in range(1, len(mark)) if mark.startswith(mark[size:])]


def up_to(mark: str, marks: Collection[str], excludes: Collection[str] = ()) -> rx.Regex:
    """Return the regex of text up to the first mark, the mark included.

    Args:
        mark: the mark that comes first.
        marks: all marks.
        excludes: texts that must not occur in it.
    """
    any_bytes, data = rx.ANY_BYTES, mark.encode()
    refused = [rx.sequence(any_bytes, _any_of({*marks, *excludes}), _ANY_BYTE, any_bytes)]
    if excludes:
        refused.append(rx.sequence(any_bytes, _any_of(excludes)))
    return rx.difference(rx.sequence(rx.star(rx.ANY_CHAR), rx.Literal(data)), rx.choice(*refused))


def _holding(texts: Collection[str]) -> rx.Regex:
    """Return the regex of the texts that hold one of some."""
    return rx.sequence(rx.ANY_BYTES, _any_of(texts), rx.ANY_BYTES)


def _any_of(texts: Collection[str]) -> rx.Regex:
    return rx.literal_set([text.encode() for text in sorted(texts)])
