r"""The attributes of an llguidance rule, and the regexes of rules that end at the first chance.

    name[capture, suffix="</b>", temperature=0.7]: /.*/

    lazy           the shortest texts of the body: /[0-9]+/ is one digit
    suffix="x"     the body and the suffix, together the shortest texts; a capture has the part before the suffix
    stop="x"       the texts of the body in which `x` does not begin; the rules after it write `x`, or do not
    max_tokens=9   the texts of the body; after nine tokens they end, so each must be a text wherever it ends

In llguidance, the model writes the text of a `stop`, which is then hidden from it. Here it is not written: the rule
ends where it would begin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite
from typing import NoReturn

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import spend
from structgen.engine.regex import tree as rx
from structgen.kbnf.reading.kbnf_lexer import fail
from structgen.kbnf.reading.lark_lexer import LarkToken, text_of

__all__ = ["Attributes", "before_stop", "ends_anywhere", "read_attributes"]

_FLAGS = frozenset({"lazy", "capture"})
_TEXTS = frozenset({"capture", "stop_capture"})
_TERMINALS = frozenset({"stop", "suffix"})
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_MAX_DIGITS = 9  # of max_tokens
_MAX_STOPS = 1000  # texts of a `stop`


@dataclass(slots=True)
class Attributes:
    """The attributes of a rule.

    Attributes:
        capture: the name of the capture of its text; None for none.
        stop_capture: the name of the capture of its suffix; None for none.
        is_lazy: whether it has the attribute `lazy`.
        stop, suffix: the tokens of their values; empty for none.
        temperature: of sampling; None to leave it as it is.
        max_tokens: the number of tokens after which its text ends; 0 for no bound.
        at: the token of each attribute's name, by name.
    """

    capture: str | None = None
    stop_capture: str | None = None
    is_lazy: bool = False
    stop: list[LarkToken] = field(default_factory=list)
    suffix: list[LarkToken] = field(default_factory=list)
    temperature: float | None = None
    max_tokens: int = 0
    at: dict[str, LarkToken] = field(default_factory=dict)

    @property
    def needs_terminal(self) -> bool:
        """Whether the body must be a terminal: it is if the rule ends at the first chance."""
        return self.is_lazy or bool(self.stop or self.suffix or self.max_tokens)


def read_attributes(text: str, rule: LarkToken, tokens: list[LarkToken]) -> Attributes:
    """Return the attributes of a rule.

    Args:
        text: the grammar.
        rule: the token of the rule's name.
        tokens: those between `[` and `]`.

    Raises:
        GrammarError: an attribute is unknown, not supported, or has a wrong value; with line and column.
    """
    found = Attributes()
    parts: list[list[LarkToken]] = [[]]
    for token in tokens:
        if token.text == ",":
            parts.append([])
        elif token.kind != "newline":
            parts[-1].append(token)
    for part in parts:
        if part:
            _add(found, text, rule, part)
    if found.is_lazy and (found.stop or found.suffix):
        found.is_lazy = False  # they are lazy anyway
    if found.stop_capture is not None and not found.suffix:
        fail(text, found.at["stop_capture"].offset, "'stop_capture' needs a suffix", hint='as in x[suffix="</b>"]')
    return found


def _add(found: Attributes, text: str, rule: LarkToken, part: list[LarkToken]) -> None:
    """Add one attribute, such as `lazy` or `suffix="x"`."""
    name, value = part[0], part[2:]
    if name.text not in _FLAGS | _TEXTS | _TERMINALS | {"temperature", "max_tokens"}:
        _fail(text, name, f"the attribute {name.text!r} is not supported")
    if name.text in found.at or (name.text in _TERMINALS and found.at.keys() & _TERMINALS):
        which = "stop or suffix" if name.text in _TERMINALS else repr(name.text)
        _fail(text, name, f"a rule has one {which}")
    found.at[name.text] = name
    if len(part) == 1 and name.text in _FLAGS:
        if name.text == "lazy":
            found.is_lazy = True
        else:
            found.capture = rule.text
        return
    if len(part) < 3 or part[1].text != "=" or name.text == "lazy":
        _fail(text, name, f"expected {_form(name.text)}")
    if name.text in _TERMINALS:
        is_range = [token.text for token in value[1:2]] == [".."] and len(value) == 3
        if not (len(value) == 1 or is_range):
            _fail(text, value[0], f"the value of {name.text!r} is one string, regex or terminal")
        setattr(found, name.text, value)
    elif name.text in _TEXTS:
        if len(value) != 1 or value[0].kind != "string":
            _fail(text, value[0], f"expected {_form(name.text)}")
        setattr(found, name.text, text_of(text, value[0])[0])
    elif name.text == "max_tokens":
        digits = value[0].text if len(value) == 1 else ""
        if not (digits.isdecimal() and len(digits) <= _MAX_DIGITS and int(digits)):
            _fail(text, value[0], f"max_tokens is a number from 1 up, of at most {_MAX_DIGITS} digits")
        found.max_tokens = int(digits)
    else:
        written = text[value[0].offset : value[-1].offset + len(value[-1].text)]
        if not _NUMBER.fullmatch(written) or not isfinite(float(written)):
            _fail(text, value[0], f"a temperature is a number from 0 up, not {written}")
        found.temperature = float(written)


def _form(name: str) -> str:
    """Return how an attribute is written."""
    if name == "lazy":
        return "'lazy' without a value"
    if name == "temperature":
        return "a number, as in temperature=0.7"
    if name == "max_tokens":
        return "a number, as in max_tokens=100"
    return f'{name}="…"'


def _fail(text: str, token: LarkToken, message: str, *, hint: str = "") -> NoReturn:
    fail(text, token.offset, message, hint=hint)


def before_stop(body: rx.Regex, stop: rx.Regex) -> rx.Regex | None:
    """Return the texts of a body up to the first stop text, without it.

    A text is one of them if some stop text can follow it, and no stop text ends before that one does.

    Args:
        body: the texts of the rule.
        stop: a set of single characters, or of some texts.

    Returns:
        None if the stop texts are neither, or if one of them is within another one.

    Example:
        >>> before_stop(rx.star(rx.ANY_CHAR), rx.Literal(b"aa")) is not None  # "ba" is not one: "aa" would begin in it
        True
    """
    whole = [rx.sequence(body, stop, rx.ANY_BYTES)]
    if isinstance(stop, rx.Chars):
        return rx.difference(body, rx.choice(*whole))
    texts = _texts_of(stop)
    if texts is None or any(_holds_one(text[1:-1], texts) for text in texts):
        return None
    found = []
    for text in texts:
        spend(sum(map(len, texts)))
        # A stop text that ends before this one does: it begins in the rule's text, and this one goes on with it.
        begun = {
            other[:size]
            for other in texts
            for size in range(len(other))
            if len(other) < size + len(text) and (other[:size] + text).startswith(other)
        }
        refused = [*whole, *([rx.sequence(body, rx.literal_set(begun))] if begun else [])]
        found.append(rx.difference(body, rx.choice(*refused)))
    return rx.choice(*found)


def _holds_one(text: bytes, texts: list[bytes]) -> bool:
    """Return whether one of some texts is within a text."""
    spend(len(texts))
    return any(other in text for other in texts)


def ends_anywhere(regex: rx.Regex) -> bool:
    """Return whether a text may end after each of its characters: what it begins with is a text, too.

    >>> ends_anywhere(rx.star(rx.Literal(b"a"))), ends_anywhere(rx.star(rx.Literal(b"ab")))
    (True, False)
    """
    begun = rx.intersection(rx.plus(rx.ANY_CHAR), rx.Complement(regex))
    return AutomatonStore().is_empty(rx.intersection(regex, rx.sequence(begun, rx.ANY_BYTES)))


def _texts_of(regex: rx.Regex) -> list[bytes] | None:
    """Return the texts of a literal or of a choice of literals; None for any other regex, and if one is empty."""
    parts = regex.parts if isinstance(regex, rx.Choice) else (regex,)
    texts: list[bytes] = []
    for part in parts:
        if isinstance(part, rx.LiteralSet):
            texts += part.texts
        elif isinstance(part, rx.Literal):
            texts.append(part.data)
        else:
            return None
    return texts if all(texts) and len(texts) <= _MAX_STOPS else None
