r"""The syntax tree of a KBNF grammar, one class for each construct of the notation.

    notation                 node                                 example, and texts that it matches
    -----------------------  -----------------------------------  ------------------------------------------
    'text'  "text"           Literal(data)                        'ab'                     ab
    #'regex'                 RegexTerminal(regex)                 #'[0-9]+'                0, 42, 007
    #e'regex'                RegexTerminal(…, kind="e")           #e'.*;'                  a;  (its first match)
    #ex'regex'               RegexTerminal(…, kind="ex")          #ex'\n'                  a line of text
    #substrs'text'           SubstringsTerminal(text)             #substrs'cat'            c, at, cat, and ''
    name                     Reference(name)                      digit                    the texts of the rule
    x y   x, y               Sequence(parts)                      'a' 'b'                  ab
    x | y                    Choice(parts)                        'a' | 'b'                a, b
    x?   [x]                 Option(body)                         'a'?                     a, and ''
    x*   {x}                 ZeroOrMore(body)                     'a'*                     '', a, aa
    x+                       OneOrMore(body)                      'a'+                     a, aa
    (x)                      the node of x                        ('a' | 'b') 'c'          ac, bc
    (none)                   Bounded(body, min, max)              'a' two or three times   aa, aaa
    name ::= x;              Rule(name, body)                     digit ::= #'[0-9]';

Not in the published package (`kbnf`), but read and matched here:

    x - y                    Difference(left, right)              #'[a-z]+' - 'if'         a, iff, but not if
    !x                       NotFollowedBy(body)                  'a' !#'[0-9]'            a, where no digit is next
    margin!                  Margin()                             margin! 'x'              x after the block's indent
    indented!(x)             Indented(body)                       indented!(line+)         lines indented further
    name (bound)             Hole(name, content)                  answer                   the JSON texts of a schema
    #json {…}                Hole("json", (text, line))           #json {"type": "null"}   null
    #token'name'             Token(names)                         #token'<|im_end|>'       that token, and no text
    #token[ids]              Token(ids=…)                         #token[7,10-12]          one of these tokens
    #token[^ids]             Token(…, is_negated=True)            #token[^7]               any other token

Of older releases of `kbnf`:

    any!                     AnyText()                            any!                     any text
    except!('x')             Except(excluded, limit)              except!('"') '"'         text up to a quote

Trees are immutable by convention, and compare by value. A node does not know its position in the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from structgen.engine.regex.tree import Regex

__all__ = [
    "AnyText",
    "Bounded",
    "Capturing",
    "Choice",
    "Difference",
    "Except",
    "Expression",
    "Grammar",
    "Hole",
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
    "Token",
    "ZeroOrMore",
]


@dataclass(slots=True, unsafe_hash=True)
class Literal:
    """A literal `'…'`: exactly these bytes."""

    data: bytes


@dataclass(slots=True, unsafe_hash=True)
class RegexTerminal:
    """A regex `#'…'`, `#e'…'` (ends at its first match) or `#ex'…'` (text in which the regex matches nowhere).

    Attributes:
        regex: the texts of the terminal: for `#e` already wrapped in `Early`, for `#ex` already complemented.
        source: the pattern as written in the grammar (Rust's syntax), or None for a tree that a program built; the
            printer then writes the language of `regex` in KBNF by other means.
        kind: "" for `#'…'`, "e" for `#e'…'`, "ex" for `#ex'…'`.
    """

    regex: Regex
    source: str | None = None
    kind: str = ""


@dataclass(slots=True, unsafe_hash=True)
class SubstringsTerminal:
    """A terminal `#substrs'…'`: any substring of the text, the empty one included."""

    text: str


@dataclass(slots=True, unsafe_hash=True)
class AnyText:
    """`any!` of older releases: any text."""


@dataclass(slots=True, unsafe_hash=True)
class Except:
    """`except!(…)` of older releases: text before the first occurrence of an excluded string.

    Attributes:
        excluded: a literal, or a reference to a nonterminal that is made of literals, alternations and concatenations.
        limit: the largest number of bytes, or None.
    """

    excluded: Literal | Reference
    limit: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Reference:
    """A use of a nonterminal, by name."""

    name: str


@dataclass(slots=True, unsafe_hash=True)
class Sequence:
    """Parts one after the other: at least two, or none for the empty text."""

    parts: tuple[Expression, ...]


@dataclass(slots=True, unsafe_hash=True)
class Choice:
    """Alternatives, at least two."""

    parts: tuple[Expression, ...]


@dataclass(slots=True, unsafe_hash=True)
class Option:
    """An optional part, `[x]` or `x?`."""

    body: Expression


@dataclass(slots=True, unsafe_hash=True)
class ZeroOrMore:
    """A repetition `{x}` or `x*`."""

    body: Expression


@dataclass(slots=True, unsafe_hash=True)
class OneOrMore:
    """A repetition `x+`."""

    body: Expression


@dataclass(slots=True, unsafe_hash=True)
class Bounded:
    """A repetition between `min` and `max` times (None: no bound).

    KBNF has no syntax for it: the printer and the normal form write it as rules, whose number grows with the logarithm
    of the bounds.
    """

    body: Expression
    min: int
    max: int | None


@dataclass(slots=True, unsafe_hash=True)
class Difference:
    """A difference `x - y`: a text of `x` that is not one of `y`; both are regular."""

    left: Expression
    right: Expression


@dataclass(slots=True, unsafe_hash=True)
class NotFollowedBy:
    """A look-ahead `!x`: the empty text, where the next character is none of `x`."""

    body: Expression


@dataclass(slots=True, unsafe_hash=True)
class Margin:
    """`margin!`: the white space that the lines of the current block begin with; empty outside of `indented!`."""


@dataclass(slots=True, unsafe_hash=True)
class Indented:
    """A block `indented!(x)`: `x` with a margin that is wider by one to eight spaces or a tab."""

    body: Expression


@dataclass(slots=True, unsafe_hash=True)
class Hole:
    """A text of something that has no rules in this tree, such as a schema: "a bound nonterminal".

    Attributes:
        name: for messages, and for the rules that an export writes in its place.
        content: what its texts are. KBNF does not look into it; `normalize` is given its tables. Readers leave a schema
            as its JSON text and its line, the name of a grammar as this name, and a grammar within a grammar as a tree.
        temperature: of sampling, within these texts; None to leave it as it is.
        max_tokens: the number of tokens after which such a text ends; 0 for no bound.
    """

    name: str
    content: object
    temperature: float | None = None
    max_tokens: int = 0


@dataclass(slots=True, unsafe_hash=True)
class Token:
    """A token terminal `#token"…"` or `#token[…]`: one token of a set, and no text, whatever the token's text is.

    The names and ids are looked up in the vocabulary when the grammar is compiled.

    Attributes:
        names: names of tokens, such as `<|im_end|>`.
        ids: inclusive ranges of token ids.
        is_negated: whether the terminal is any token *but* these, and but the end tokens.
        source, offset: the grammar's text and the terminal's position in it, for messages.
    """

    names: tuple[str, ...] = ()
    ids: tuple[tuple[int, int], ...] = ()
    is_negated: bool = False
    source: str = field(default="", compare=False, repr=False)
    offset: int = field(default=0, compare=False, repr=False)


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
    | Hole
    | Token
)


@dataclass(frozen=True, slots=True)
class Capturing:
    """The captures of a rule: names for parts of its text. They do not change the texts.

    Attributes:
        name: the name of its text; None for none. A suffix and ignored texts at its end are left out.
        suffix_name: the name of its suffix; None for none.
        text, suffix: where the rule has a suffix, the texts before it and those of the suffix; else None.
        ignored: the ignored texts that may follow; None for none.
    """

    name: str | None = None
    suffix_name: str | None = None
    text: Regex | None = None
    suffix: Regex | None = None
    ignored: Regex | None = None


@dataclass(slots=True, unsafe_hash=True)
class Rule:
    """A rule `name ::= body;`. A name that several rules define has all their bodies as alternatives.

    Attributes:
        name: the nonterminal.
        body: its texts.
        comment: lines for people, written above the rule. Readers drop comments.
        origin: the part of a schema that the rule comes from, for messages: `/properties/age`; "" where there is none.
        capturing: its captures; None for none.
    """

    name: str
    body: Expression
    comment: str = field(default="", compare=False)
    origin: str = field(default="", compare=False)
    capturing: Capturing | None = field(default=None, compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Grammar:
    """A whole grammar.

    Attributes:
        rules: in the order of the text.
        start: the name of the start nonterminal.
    """

    rules: tuple[Rule, ...]
    start: str = "start"

    @classmethod
    def of_regex(cls, regex: Regex) -> Grammar:
        """Return the grammar whose texts are those of a regex."""
        return cls((Rule("start", RegexTerminal(regex)),))
