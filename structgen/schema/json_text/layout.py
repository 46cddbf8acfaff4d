r"""White space in JSON text: the punctuation of each white space mode, as terminals that include the allowed gaps.

Modes, with one array as each writes it:

    compact   {"a":[1,2]}                 no white space
    single    {"a": [1, 2]}               as `json.dumps` writes
    any       { "a" :\n  [1,\t2 ] }       up to `MAX_GAP` characters in every gap
    line      { "a" :  [1,\t2 ] }         as "any", without line breaks

No mode allows white space before or after the top-level value: it would cost tokens and say nothing.
"""

from __future__ import annotations

from structgen.engine.regex.tree import ByteSet, Literal, Regex, Repeat, Sequence
from structgen.schema.json_text.strings import canonical

__all__ = ["LAYOUTS", "MAX_GAP", "Layout"]

MAX_GAP = 64
"""Maximum length of a gap, in characters."""

_SPACE = Repeat(ByteSet(1 << 0x20 | 1 << 0x09 | 1 << 0x0A | 1 << 0x0D), 0, MAX_GAP)
_SPACE_IN_LINE = Repeat(ByteSet(1 << 0x20 | 1 << 0x09), 0, MAX_GAP)


class Layout:
    """The punctuation of one mode, as shared terminals.

    Args:
        comma: the text between two items or pairs, without gaps.
        colon: the text after a key, without gaps.
        gap: see below.
        braces: the signs around the pairs of an object.

    Attributes:
        gap: the white space that may stand beside a sign; None where it is fixed.
        open_object, open_array: an opening bracket, and the gap after it.
        end_object, end_array: a closing bracket directly after an opening one.
        close_object, close_array: the gap before a closing bracket, and the bracket.
        comma, colon: with the gaps on both sides.
    """

    def __init__(self, comma: str, colon: str, gap: Regex | None = None, braces: str = "{}") -> None:
        opening, closing = braces[0].encode(), braces[1].encode()
        self.gap = gap
        self._comma = comma.encode()
        self._colon = colon.encode()
        self.open_object = self._after(opening)
        self.open_array = self._after(b"[")
        self.end_object: Regex = Literal(closing)
        self.end_array: Regex = Literal(b"]")
        self.close_object = self._before(closing)
        self.close_array = self._before(b"]")
        self.comma = self._around(self._comma)
        self.colon = self._around(self._colon)

    def _after(self, sign: bytes) -> Regex:
        return Sequence((Literal(sign), self.gap)) if self.gap else Literal(sign)

    def _before(self, sign: bytes) -> Regex:
        return Sequence((self.gap, Literal(sign))) if self.gap else Literal(sign)

    def _around(self, sign: bytes) -> Regex:
        return Sequence((self.gap, Literal(sign), self.gap)) if self.gap else Literal(sign)

    def key(self, name: str) -> Regex:
        """Return a known key and its colon as one terminal.

        Raises:
            UnicodeEncodeError: the name contains a lone surrogate.
        """
        text = canonical(name)
        return Sequence((Literal(text), self.colon)) if self.gap else Literal(text + self._colon)

    def key_after(self, lead: str, name: str) -> tuple[Regex, ...]:
        """Return the terminals of a known key, its colon, and the punctuation before it.

        One text is one terminal. With gaps, the punctuation is a terminal of its own: all keys then share its masks.

        Args:
            lead: the punctuation before the key: "{", "," or "" for none.
            name: the key's decoded text.

        Raises:
            UnicodeEncodeError: as `key`.
        """
        if not lead:
            return (self.key(name),)
        if self.gap:
            return (self.open_object if lead == "{" else self.comma, self.key(name))
        return (Literal((self._comma if lead == "," else b"{") + canonical(name) + self._colon),)


LAYOUTS = {
    "compact": Layout(",", ":"),
    "single": Layout(", ", ": "),
    "any": Layout(",", ":", _SPACE),
    "line": Layout(",", ":", _SPACE_IN_LINE),
}
