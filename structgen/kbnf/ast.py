"""The syntax tree of a KBNF grammar. Trees are immutable by convention, and compare by value."""

from __future__ import annotations

from dataclasses import dataclass

from structgen.engine.regex.tree import Regex

__all__ = [
    "AnyText",
    "Bounded",
    "Choice",
    "Difference",
    "Except",
    "Expression",
    "Grammar",
    "Indented",
    "Literal",
    "Margin",
    "NotFollowedBy",
    "OneOrMore",
    "Option",
    "Reference",
    "RegexTerminal",
    "Rule",
    "Sequence",
    "SubstringsTerminal",
    "ZeroOrMore",
]


@dataclass(slots=True, unsafe_hash=True)
class Literal:
    """`'…'`: exactly these bytes."""

    data: bytes


@dataclass(slots=True, unsafe_hash=True)
class RegexTerminal:
    """`#'…'` and its kin.

    Attributes:
        regex: what it matches, as a whole: for `#e` already wrapped in `Early`, for `#ex` already complemented.
        source: the pattern as written in the grammar (Rust's syntax), or None when the tree was built by a program;
            the printer then writes the language of `regex` in KBNF by other means.
        kind: "" for `#'…'`, "e" for `#e'…'`, "ex" for `#ex'…'`.
    """

    regex: Regex
    source: str | None = None
    kind: str = ""


@dataclass(slots=True, unsafe_hash=True)
class SubstringsTerminal:
    """`#substrs'…'`: a substring of the text, the empty one too."""

    text: str


@dataclass(slots=True, unsafe_hash=True)
class AnyText:
    """`any!` of older releases: text without end or bound."""


@dataclass(slots=True, unsafe_hash=True)
class Except:
    """`except!(…)` of older releases: text up to, not into, the first occurrence of an excluded string.

    Attributes:
        excluded: a literal, or a reference to a nonterminal that is an alternation of literals.
        limit: how many bytes at most, or None.
    """

    excluded: Literal | Reference
    limit: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Reference:
    """A nonterminal, by name."""

    name: str


@dataclass(slots=True, unsafe_hash=True)
class Sequence:
    """One after the other. `Sequence(())` is the empty text; otherwise at least two parts."""

    parts: tuple[Expression, ...]


@dataclass(slots=True, unsafe_hash=True)
class Choice:
    """Any one of at least two."""

    parts: tuple[Expression, ...]


@dataclass(slots=True, unsafe_hash=True)
class Option:
    """`[x]`, `x?`."""

    body: Expression


@dataclass(slots=True, unsafe_hash=True)
class ZeroOrMore:
    """`{x}`, `x*`."""

    body: Expression


@dataclass(slots=True, unsafe_hash=True)
class OneOrMore:
    """`x+`."""

    body: Expression


@dataclass(slots=True, unsafe_hash=True)
class Bounded:
    """Between `min` and `max` times (None: no bound). Not in KBNF's syntax: the printer and the normal form write it
    as rules whose number grows with the logarithm of the bounds.
    """

    body: Expression
    min: int
    max: int | None


@dataclass(slots=True, unsafe_hash=True)
class Difference:
    """`x - y`: a text of `x` that is none of `y`; both regular. Not in the published package."""

    left: Expression
    right: Expression


@dataclass(slots=True, unsafe_hash=True)
class NotFollowedBy:
    """`!x`: no text, at a place where none of some characters comes next. Not in the published package."""

    body: Expression


@dataclass(slots=True, unsafe_hash=True)
class Margin:
    """`margin!`: the white space that the lines of this block begin with, none outside of `indented!`. Not in the
    published package.
    """


@dataclass(slots=True, unsafe_hash=True)
class Indented:
    """`indented!(x)`: `x`, with a margin wider by one to eight spaces or a tab. Not in the published package."""

    body: Expression


Expression = (
    Literal
    | RegexTerminal
    | SubstringsTerminal
    | AnyText
    | Except
    | Reference
    | Sequence
    | Choice
    | Option
    | ZeroOrMore
    | OneOrMore
    | Bounded
    | Difference
    | NotFollowedBy
    | Margin
    | Indented
)


@dataclass(slots=True, unsafe_hash=True)
class Rule:
    """`name ::= body;`. A name defined by several rules has all their bodies as alternatives."""

    name: str
    body: Expression


@dataclass(slots=True, unsafe_hash=True)
class Grammar:
    """A whole grammar.

    Attributes:
        rules: in the order of the text.
        start: name of the start nonterminal.
    """

    rules: tuple[Rule, ...]
    start: str = "start"

    @classmethod
    def of_regex(cls, regex: Regex) -> Grammar:
        """The grammar whose texts are those of a regex."""
        return cls((Rule("start", RegexTerminal(regex)),))
