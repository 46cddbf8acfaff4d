r"""The terminals of a Lark grammar: their texts, and the characters that must not follow them.

A terminal of the Python toolkit is a regex of Python's `re`, and a look-ahead at its end sees the text after it. Such a
terminal is kept as alternatives, each with a set of characters that must not come next:

    A: "0" /(?![1-9])/ | "1"        texts "0", if none of [1-9] is next; text "1"

A look-ahead inside a terminal, and a look-behind that sees only the terminal itself, become part of its texts (see
`engine.regex_syntax.assertions`). What looks further is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.edges import is_nullable
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.kbnf import ast
from structgen.limits import Limits

__all__ = ["Ending", "LookingOut", "Terminal", "python_terminal"]

_PART = re.compile(
    r"(?P<anchor>[\^$]|\\[AZzbB])|(?P<look>\(\?<?[=!])|(?P<lazy>[*+?}]\?)|(?P<greedy>[*+?}])"
    r"|\(\?[a-zA-Z-]*:|\\.|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|.",
    re.DOTALL,
)
_ATOM = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|[^\\()\[\]{}*+?|^$.]", re.DOTALL)
_BODY = re.compile(rf"((?:{_ATOM.pattern})+)\)", re.DOTALL)


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


def python_terminal(pattern: str, flags: str, limits: Limits) -> Terminal:
    r"""Return the terminal of a regex in Python's syntax.

    Args:
        pattern: the regex.
        flags: letters of `imsx`.
        limits: bounds on its size.

    Raises:
        LookingOut: the regex has an anchor, or looks further than one character beyond its end.
        GrammarError: the regex does not parse.
        LimitExceededError: the regex is too large.

    Example:
        >>> len(python_terminal("a(?!b)|c", "", Limits()).endings)  # `a` where no `b` follows; `c`
        2
    """
    aheads, behinds, is_lazy = _looks(pattern)

    def parse(source: str) -> rx.Regex:
        if flags:
            source = f"(?{flags}:{source}{chr(10) if 'x' in flags else ''})"
        return parse_regex(source, "python", limits=limits)

    regex = parse(pattern)
    if behinds or aheads:
        _check_behinds(pattern, behinds, parse, regex)
    endings = [Ending(regex)]
    for begin, end in aheads:
        endings = _split(pattern, begin, end, parse, endings)
    return Terminal(tuple(endings), None, is_lazy)


def _looks(pattern: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]], bool]:
    """Return the negative look-aheads and the look-behinds (begin and end of each), and whether a match is lazy."""
    aheads: list[tuple[int, int]] = []
    behinds: list[tuple[int, int]] = []
    has_lazy = has_greedy_after = False
    for found in _PART.finditer(pattern):
        has_greedy_after |= has_lazy and found["greedy"] is not None
        has_lazy |= found["lazy"] is not None
        if found["anchor"]:
            raise LookingOut(found.start(), found["anchor"])
        if found["look"]:
            body = _BODY.match(pattern, found.end())
            if body is None or found["look"] == "(?=":
                raise LookingOut(found.start(), found["look"])
            (behinds if "<" in found["look"] else aheads).append((found.start(), body.end()))
    return aheads, behinds, has_lazy and not has_greedy_after


def _check_behinds(
    pattern: str, behinds: list[tuple[int, int]], parse: Callable[[str], rx.Regex], regex: rx.Regex
) -> None:
    """Check that no look-behind sees what comes before the terminal."""
    for begin, end in behinds:
        before = pattern[begin + len("(?<!") : end - 1]
        if not _are_equal(parse(f"(?:{before})(?:{pattern})"), rx.sequence(parse(before), regex)):
            raise LookingOut(begin, pattern[begin : begin + len("(?<!")])


def _split(pattern: str, begin: int, end: int, parse: Callable[[str], rx.Regex], endings: list[Ending]) -> list[Ending]:
    r"""Split alternatives into the texts for which a look-ahead may be decided by the next character, and the others.

    `(?!ab)` with `|a\Z` added also refuses the texts that end after the `a`. For those, `b` must not come next.
    """
    body = pattern[begin + len("(?!") : end - 1]
    atoms = _ATOM.findall(body)
    for known in range(len(atoms) - 1):
        prefix = "".join(atoms[:known])
        wider = parse(f"{pattern[: end - 1]}|{prefix}\\Z){pattern[end:]}")
        if not _are_equal(wider, parse(pattern)):
            raise LookingOut(begin, "(?!")
    decided = parse(f"{pattern[: end - 1]}|{''.join(atoms[:-1])}\\Z){pattern[end:]}")
    store = AutomatonStore()
    found: list[Ending] = []
    for regex, refused in endings:
        open_texts = rx.difference(regex, decided)
        if store.is_empty(open_texts):
            found.append(Ending(regex, refused))
            continue
        within = rx.intersection(regex, decided)
        found += [Ending(within, refused)] if not store.is_empty(within) else []
        found.append(Ending(open_texts, _both(parse(atoms[-1]), refused)))
    return found


def _are_equal(first: rx.Regex, second: rx.Regex) -> bool:
    store = AutomatonStore()
    return store.is_empty(rx.difference(first, second)) and store.is_empty(rx.difference(second, first))
