r"""The terminals of a Lark grammar: their texts, and the characters that must not follow them.

A terminal of the Python toolkit is a regex of Python's `re`, and a look-ahead at its end sees the text after it. Such a
terminal is kept as alternatives, each with a set of characters that must not come next:

    A: "0" /(?![1-9])/ | "1"        texts "0", if none of [1-9] is next; text "1"

A look-ahead inside a terminal, and a look-behind that sees only the terminal itself, become part of its texts (see
`engine.regex_syntax.open_ends`). What looks further is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.edges import is_nullable
from structgen.engine.regex_syntax.open_ends import LooksOutside
from structgen.engine.regex_syntax.parser import Dialect, parse_part
from structgen.kbnf import ast
from structgen.limits import Limits

__all__ = ["Ending", "LookingOut", "Terminal", "first_look", "regex_terminal"]

_PART = re.compile(
    r"(?P<anchor>[\^$]|\\[AZzbB<>])|(?P<look>\(\?<?[=!])|(?P<lazy>[*+?}]\?)|(?P<greedy>[*+?}])"
    r"|\(\?[a-zA-Z-]*:|\\.|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|.",
    re.DOTALL,
)
_LOOKING_BEHIND = frozenset({"^", r"\A", r"\b", r"\B", "(?<=", "(?<!"})
_LOOKING_AHEAD = frozenset({"$", r"\Z", r"\z", r"\b", r"\B", "(?=", "(?!"})


class LookingOut(Exception):
    """Raised where a regex looks outside of its terminal in a way that is not supported.

    Attributes:
        offset: the characters before the construct.
        what: the construct.
    """

    def __init__(self, offset: int, what: str) -> None:
        super().__init__(what)
        self.offset = offset
        self.what = what


class Ending(NamedTuple):
    """An alternative of a terminal.

    Attributes:
        regex: its texts.
        refused: the characters that must not come next; `NOTHING` for no condition.
    """

    regex: rx.Regex
    refused: rx.Regex = rx.NOTHING


@dataclass(frozen=True)
class Terminal:
    """The texts of a terminal.

    Attributes:
        endings: the alternatives.
        text: the text of a string terminal, else None.
        is_lazy: whether a match ends at the first chance, as one of `.*?"` does.
        priority: as written in the grammar; the lexer tries terminals of higher priority first.
    """

    endings: tuple[Ending, ...]
    text: bytes | None = None
    is_lazy: bool = False
    priority: int = 0

    @classmethod
    def of(cls, regex: rx.Regex) -> Terminal:
        """Return the terminal of a regex without conditions."""
        return cls((Ending(regex),), regex.data if isinstance(regex, rx.Literal) else None)

    @property
    def regex(self) -> rx.Regex:
        """All texts, whatever comes next."""
        return rx.choice(*[ending.regex for ending in self.ended()])

    @property
    def is_plain(self) -> bool:
        """Whether no condition is on the next character."""
        return all(ending.refused is rx.NOTHING for ending in self.endings)

    def ended(self) -> tuple[Ending, ...]:
        """Return the alternatives as a lexer matches them: those of a lazy terminal end at the first chance."""
        if not self.is_lazy:
            return self.endings
        every = rx.Early(rx.choice(*[ending.regex for ending in self.endings]))
        return tuple([Ending(rx.intersection(every, regex), refused) for regex, refused in self.endings])

    def then(self, other: Terminal) -> Terminal:
        """Return this terminal followed by another one."""
        endings: dict[rx.Regex, list[rx.Regex]] = {}
        for regex, refused in self.endings:
            for rest, later in other.endings:
                if refused is rx.NOTHING:
                    endings.setdefault(later, []).append(rx.sequence(regex, rest))
                    continue
                if is_nullable(rest):
                    endings.setdefault(_both(refused, later), []).append(regex)
                allowed = rx.difference(rest, rx.choice(rx.EMPTY, rx.sequence(refused, rx.ANY_BYTES)))
                endings.setdefault(later, []).append(rx.sequence(regex, allowed))
        text = None if self.text is None or other.text is None else self.text + other.text
        return Terminal(_merged(endings), text, self.is_lazy or other.is_lazy)

    @staticmethod
    def any_of(parts: Iterable[Terminal]) -> Terminal:
        """Return the alternatives of several terminals."""
        parts = list(parts)
        endings: dict[rx.Regex, list[rx.Regex]] = {}
        for part in parts:
            for regex, refused in part.endings:
                endings.setdefault(refused, []).append(regex)
        text = parts[0].text if len(parts) == 1 else None
        return Terminal(_merged(endings), text, any(part.is_lazy for part in parts))

    @staticmethod
    def sequence(parts: Iterable[Terminal]) -> Terminal:
        """Return terminals one after the other."""
        return reduce(Terminal.then, parts, Terminal.of(rx.EMPTY))

    def mapped(self, change: Callable[[rx.Regex], rx.Regex]) -> Terminal:
        """Return a terminal without conditions whose regex is changed."""
        return Terminal((Ending(change(self.endings[0].regex)),), None, self.is_lazy)

    def expression(self) -> ast.Expression:
        """Return the terminal as an expression of a rule."""
        ended = self.ended()
        if len(ended) == 1 and ended[0].refused is rx.NOTHING:
            return ast.RegexTerminal(ended[0].regex)
        parts = [_followed(regex, refused) for regex, refused in ended]
        return parts[0] if len(parts) == 1 else ast.Choice(tuple(parts))


def _followed(regex: rx.Regex, refused: rx.Regex) -> ast.Expression:
    text = ast.RegexTerminal(regex)
    return text if refused is rx.NOTHING else ast.Sequence((text, ast.NotFollowedBy(ast.RegexTerminal(refused))))


def _both(first: rx.Regex, second: rx.Regex) -> rx.Regex:
    return first if second is rx.NOTHING else rx.choice(first, second)


def _merged(endings: dict[rx.Regex, list[rx.Regex]]) -> tuple[Ending, ...]:
    return tuple([Ending(rx.choice(*regexes), refused) for refused, regexes in endings.items()])


def regex_terminal(pattern: str, flags: str, dialect: Dialect, limits: Limits) -> Terminal:
    r"""Return the terminal of a regex.

    Args:
        pattern: the regex.
        flags: letters of `imsx`.
        dialect: the syntax of the regex.
        limits: bounds on its size.

    Raises:
        LookingOut: the regex has an anchor, or looks further than one character beyond its end.
        GrammarError: the regex does not parse.
        LimitExceededError: the regex is too large.

    Example:
        >>> len(regex_terminal("a(?!b)|c", "", "python", Limits()).endings)  # `a` where no `b` follows; `c`
        2
    """
    is_lazy = _is_lazy(pattern)
    whole = pattern
    if flags:
        whole = f"(?{flags}:{pattern}{chr(10) if 'x' in flags else ''})"
    try:
        ends = parse_part(whole, dialect, is_lazy=is_lazy, limits=limits)
    except LooksOutside as error:
        raise _looking_out(pattern, is_behind=error.is_behind) from error
    return Terminal(
        tuple([Ending(end.regex, rx.Chars(end.refused) if end.refused else rx.NOTHING) for end in ends]), None, is_lazy
    )


def first_look(pattern: str) -> LookingOut | None:
    """Return the first look-around of a regex, as the error that names it; None if it has none."""
    found = next((part for part in _PART.finditer(pattern) if part["look"]), None)
    return None if found is None else LookingOut(found.start(), found[0])


def _is_lazy(pattern: str) -> bool:
    """Return whether a match ends at the first chance: no part after the first lazy one is greedy."""
    has_lazy = has_greedy_after = False
    for found in _PART.finditer(pattern):
        has_greedy_after |= has_lazy and found["greedy"] is not None
        has_lazy |= found["lazy"] is not None
    return has_lazy and not has_greedy_after


def _looking_out(pattern: str, *, is_behind: bool) -> LookingOut:
    """Return the error that names the first construct of a pattern that looks before it, or after it."""
    kinds = _LOOKING_BEHIND if is_behind else _LOOKING_AHEAD
    found = [part for part in _PART.finditer(pattern) if part["look"] or part["anchor"]]
    named = next((part for part in found if part[0] in kinds), found[0])
    return LookingOut(named.start(), named[0])
