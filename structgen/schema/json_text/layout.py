"""White space: the punctuation of JSON text, with the gaps that a mode allows folded into it.

Modes: "compact", none; "single", as `json.dumps` writes it; "any", up to `GAP` characters at every gap inside of the
value; "line", the same without line breaks. Before and after the top-level value there is none in any mode: it would
cost tokens and say nothing.
"""

from __future__ import annotations

from structgen.engine.regex.tree import ByteSet, Literal, Regex, Repeat, Sequence
from structgen.schema.json_text.strings import canonical

__all__ = ["GAP", "LAYOUTS", "Layout"]

GAP = 64

_SPACE = Repeat(ByteSet(1 << 0x20 | 1 << 0x09 | 1 << 0x0A | 1 << 0x0D), 0, GAP)
_SPACE_IN_LINE = Repeat(ByteSet(1 << 0x20 | 1 << 0x09), 0, GAP)


class Layout:
    """The punctuation of one mode, as shared terminals.

    Attributes:
        open_object, open_array: an opening bracket, and the gap after it.
        end_object, end_array: a closing bracket right after an opening one.
        close_object, close_array: the gap before a closing bracket, and the bracket.
        comma, colon: with the gaps on both sides.
    """

    def __init__(self, comma: str, colon: str, gap: Regex | None = None) -> None:
        self._gap = gap
        self._comma = comma.encode()
        self._colon = colon.encode()
        self.open_object = self._after(b"{")
        self.open_array = self._after(b"[")
        self.end_object: Regex = Literal(b"}")
        self.end_array: Regex = Literal(b"]")
        self.close_object = self._before(b"}")
        self.close_array = self._before(b"]")
        self.comma = self._around(self._comma)
        self.colon = self._around(self._colon)

    def _after(self, sign: bytes) -> Regex:
        return Sequence((Literal(sign), self._gap)) if self._gap else Literal(sign)

    def _before(self, sign: bytes) -> Regex:
        return Sequence((self._gap, Literal(sign))) if self._gap else Literal(sign)

    def _around(self, sign: bytes) -> Regex:
        return Sequence((self._gap, Literal(sign), self._gap)) if self._gap else Literal(sign)

    def key(self, name: str) -> Regex:
        """A known key and its colon as one terminal.

        Raises:
            UnicodeEncodeError: the name holds a lone surrogate.
        """
        text = canonical(name)
        return Sequence((Literal(text), self.colon)) if self._gap else Literal(text + self._colon)

    def key_after(self, lead: str, name: str) -> tuple[Regex, ...]:
        """The same after `lead`: "" nothing, "{" or ",". One text is one terminal; with gaps, the lead is a terminal of
        its own, for which everything is known once it was used before any key.

        Raises:
            UnicodeEncodeError: as `key`.
        """
        if not lead:
            return (self.key(name),)
        if self._gap:
            return (self.open_object if lead == "{" else self.comma, self.key(name))
        return (Literal((self._comma if lead == "," else b"{") + canonical(name) + self._colon),)


LAYOUTS = {
    "compact": Layout(",", ":"),
    "single": Layout(", ", ": "),
    "any": Layout(",", ":", _SPACE),
    "line": Layout(",", ":", _SPACE_IN_LINE),
}
