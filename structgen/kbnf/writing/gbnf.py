r"""The writer of GBNF for llama.cpp, and of xgrammar's EBNF: rules over texts and classes of characters.

Both read the same notation: `name ::= "text" [a-z0-9]{1,3} (other | "") rest*`; `_Dialect` holds the differences.
Characters beyond printable ASCII are written as `\uHHHH` and `\UHHHHHHHH`, of fixed width in both.

Read in llama.cpp's source and tried (llama-cpp-python 0.3.36): llama.cpp refuses left recursion, and so the repetition
of nullable expressions; names are made of letters, digits and `-`; a repetition of more than 2,000 is an error or, as
an upper bound, silently read as no bound at all. So larger repetitions are made of blocks here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from structgen.engine.deadlines import spend
from structgen.engine.regex import tree as rx
from structgen.kbnf import ast
from structgen.kbnf.rewriting import rewrite, sequence
from structgen.kbnf.validation import validate
from structgen.kbnf.writing.character_rules import CharacterRules
from structgen.kbnf.writing.infix import comment_lines, infix
from structgen.kbnf.writing.left_recursion import refuse_left_recursion
from structgen.kbnf.writing.naming import FreshNames, errors_in, without_extensions, written_names
from structgen.kbnf.writing.productive import without_unproductive
from structgen.kbnf.writing.tokens import gbnf_token, xgrammar_token
from structgen.limits import Limits

__all__ = ["print_gbnf", "print_xgrammar"]


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The differences between the two readers.

    Attributes:
        name: the name of the notation, for messages.
        max_count: the largest count of a repetition that is written as one.
        reserved: names with another meaning.
        is_recursive_descent: the reader refuses left recursion.
        token: returns the text of a token terminal.
    """

    name: str
    max_count: int
    reserved: frozenset[str]
    is_recursive_descent: bool
    token: Callable[[ast.Token], str]


_LLAMA_CPP = _Dialect("GBNF", 1000, frozenset(), True, gbnf_token)
_XGRAMMAR = _Dialect(
    "xgrammar's EBNF",
    1_000_000_000,
    frozenset({"true", "false", "Regex", "TagDispatch", "Token", "ExcludeToken", "TokenTagDispatch"}),
    False,
    xgrammar_token,
)


def print_gbnf(grammar: ast.Grammar, *, limits: Limits | None = None) -> str:
    r"""Return the grammar in GBNF, as llama.cpp reads it; it begins at `root`.

    Args:
        grammar: the tree.
        limits: `automaton_states` and `grammar_symbols` bound the result.

    Raises:
        GrammarError: the grammar is not valid, or GBNF cannot express it: bytes that are not UTF-8, left recursion.
        LimitExceededError: the grammar is too large.

    Example:
        >>> print(print_gbnf(parse('start ::= #"[a-z]{2,3}" "é";')), end="")
        root ::= [a-z]{2,3} "\u00e9"
    """
    return _print(grammar, _LLAMA_CPP, limits or Limits())


def print_xgrammar(grammar: ast.Grammar, *, limits: Limits | None = None) -> str:
    """Return the grammar in xgrammar's EBNF; it begins at `root`.

    Args:
        grammar: the tree.
        limits: `automaton_states` and `grammar_symbols` bound the result.

    Raises:
        GrammarError: the grammar is not valid, or has bytes that are not UTF-8.
        LimitExceededError: the grammar is too large.
    """
    return _print(grammar, _XGRAMMAR, limits or Limits())


def _print(grammar: ast.Grammar, dialect: _Dialect, limits: Limits) -> str:
    validate(grammar)
    grammar = without_extensions(grammar, dialect.name, has_tokens=True)
    names = written_names(grammar, start="root", clean=_clean, reserved=dialect.reserved, separator="-")
    renamed = [
        replace(rule, name=names[rule.name], body=rewrite(rule.body, lambda node: _renamed(node, names)))
        for rule in grammar.rules
    ]
    fresh = FreshNames((*names.values(), *dialect.reserved), "-")
    characters = CharacterRules(ast.Grammar(tuple(renamed), "root"), fresh, limits)
    rules: list[ast.Rule] = []
    for rule in renamed:
        with errors_in(rule):
            rules.append(replace(rule, body=characters.body(rule.body, rule.name)))
    lowered = without_unproductive(ast.Grammar((*rules, *characters.rules), "root"), _is_empty_class)
    if dialect.is_recursive_descent:
        refuse_left_recursion(lowered, "llama.cpp")
    counts = _Counts(fresh, dialect.max_count)
    written = [replace(rule, body=counts.body(rule.body, rule.name)) for rule in lowered.rules]

    def atom(node: ast.Expression) -> str:
        return dialect.token(node) if isinstance(node, ast.Token) else _atom(node)

    return "".join(
        f"{comment_lines(rule, '#')}{rule.name} ::= {infix(rule.body, atom=atom, count=_count, limits=limits)}\n"
        for rule in (*written, *counts.rules)
    )


def _clean(name: str) -> str:
    name = re.sub(r"[^A-Za-z0-9-]", "-", name)
    return name if name[:1].isalpha() else f"r{name}"


def _renamed(node: ast.Expression, names: dict[str, str]) -> ast.Expression:
    if isinstance(node, ast.Reference):
        return ast.Reference(names[node.name])
    if isinstance(node, ast.Except) and isinstance(node.excluded, ast.Reference):
        return ast.Except(ast.Reference(names[node.excluded.name]), node.limit)
    return node


def _is_empty_class(regex: rx.Regex) -> bool:
    return isinstance(regex, (rx.Chars, rx.ByteSet)) and regex in (rx.Chars(()), rx.NOTHING)


class _Counts:
    """Repetitions in the form that the dialect accepts: of names and terminals only, with counts within its bound.

    Attributes:
        rules: the new rules.
    """

    def __init__(self, fresh: FreshNames, largest: int) -> None:
        self.rules: list[ast.Rule] = []
        self._fresh = fresh
        self._largest = largest
        self._owner = ""

    def body(self, body: ast.Expression, owner: str) -> ast.Expression:
        """Return a rule's body; new rules are named after `owner`."""
        self._owner = owner
        return rewrite(body, self._node)

    def _node(self, node: ast.Expression) -> ast.Expression:
        if not isinstance(node, ast.Bounded):
            return node
        if node.max == 0:
            return ast.Literal(b"")
        body = node.body if isinstance(node.body, (ast.Reference, ast.RegexTerminal)) else self._rule(node.body)
        if max(node.min, node.max or 0) <= self._largest:
            return ast.Bounded(body, node.min, node.max)
        if node.max is None:
            return sequence((*self._exactly(body, node.min), ast.ZeroOrMore(body)))
        return sequence((*self._exactly(body, node.min), *self._up_to(body, node.max - node.min)))

    def _rule(self, body: ast.Expression) -> ast.Reference:
        name = self._fresh.name(self._owner)
        self.rules.append(ast.Rule(name, body))
        return ast.Reference(name)

    def _exactly(self, body: ast.Expression, count: int) -> list[ast.Expression]:
        """Return `count` copies: blocks of the largest count, and the rest."""
        if count <= self._largest:
            return [ast.Bounded(body, count, count)] if count else []
        blocks, rest = divmod(count, self._largest)
        block = self._rule(ast.Bounded(body, self._largest, self._largest))
        return self._exactly(block, blocks) + self._exactly(body, rest)

    def _up_to(self, body: ast.Expression, count: int) -> list[ast.Expression]:
        """Return at most `count` copies, each number of copies in one way.

        These are fewer than all blocks of n and less than n copies, or all blocks and at most the rest.
        """
        if count <= self._largest:
            return [ast.Bounded(body, 0, count)] if count else []
        blocks, rest = divmod(count, self._largest)
        block = self._rule(ast.Bounded(body, self._largest, self._largest))
        fewer = sequence((*self._up_to(block, blocks - 1), *self._up_to(body, self._largest - 1)))
        return [ast.Choice((fewer, sequence((*self._exactly(block, blocks), *self._up_to(body, rest)))))]


# -- text ---------------------------------------------------------------------------------------------------------


def _count(least: int, most: int | None) -> str:
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


def _atom(node: ast.Expression) -> str:
    if isinstance(node, ast.Reference):
        return node.name
    if isinstance(node, ast.RegexTerminal) and isinstance(node.regex, rx.Chars):
        return f"[{''.join(_range(first, last) for first, last in node.regex.ranges)}]"
    if isinstance(node, ast.Literal):
        spend(len(node.data))
        return f'"{"".join(_in_text(character) for character in node.data.decode())}"'
    return '""'


def _range(first: int, last: int) -> str:
    return _in_class(first) if first == last else f"{_in_class(first)}-{_in_class(last)}"


def _in_class(point: int) -> str:
    character = chr(point)
    return character if character.isascii() and (character.isalnum() or character in " _.,:;/") else _escape(point)


def _in_text(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isascii() and character.isprintable() else _escape(ord(character))


def _escape(point: int) -> str:
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"
