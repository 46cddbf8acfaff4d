"""Terminals without the texts that the tokenizer does not spell, since they hold that of a special token.

A pattern such as `<(b|i|s)>` would lead into `<s>`, which is one token of Llama 2 and stands for no text: behind `<s`
there is no way on. Without such texts it does not lead there. Only terminals that may leave no other way are changed:
a place from which every byte completes a special token needs a part of the regex that matches such bytes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_, or_

from structgen.engine import regex as rx
from structgen.engine.composition import with_terminals
from structgen.engine.grammar import GrammarTables
from structgen.grammars import Grammar
from structgen.kbnf import ast
from structgen.kbnf.rewriting import rewrite
from structgen.limits import Limits
from structgen.tokenization.special_texts import SpecialTexts
from structgen.tokenization.spelled_rules import spelled

__all__ = ["Spellable"]

KEPT = 4096  # terminals
ALL = (1 << 256) - 1
DIGITS = sum(1 << byte for byte in b"0123456789.")
ABOVE_ASCII = ALL ^ (1 << 128) - 1


class Spellable:
    """Takes texts out of terminals.

    Args:
        unspelled: the texts that no spelled text holds; not empty, and at least one.
    """

    def __init__(self, unspelled: Sequence[bytes]) -> None:
        self.unspelled = tuple(unspelled)
        self._special_texts = SpecialTexts(unspelled)
        self._needed = [(_mask(text), 1 << text[-1]) for text in unspelled]
        self._last = reduce(or_, (last for _, last in self._needed))
        self._known: dict[int, tuple[rx.Regex, rx.Regex]] = {}

    def terminal(self, regex: rx.Regex) -> rx.Regex:
        """A regex without the texts, where it may lead into one and leave no other way."""
        known = self._known.get(id(regex))
        if known is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            changed = rx.difference(regex, self._special_texts.holding) if self._may_lead_into(regex) else regex
            known = self._known[id(regex)] = (regex, changed)
        return known[1]

    def grammar(self, grammar: Grammar) -> Grammar:
        """A grammar with all its regexes so."""
        known: dict[int, ast.Expression] = {}

        def changed(node: ast.Expression) -> ast.Expression:
            return ast.RegexTerminal(self.terminal(node.regex)) if isinstance(node, ast.RegexTerminal) else node

        rules = [replace(rule, body=rewrite(rule.body, changed, known)) for rule in grammar.tree.rules]
        return replace(grammar, tree=replace(grammar.tree, rules=tuple(rules)))

    def tables(self, tables: GrammarTables, limits: Limits) -> GrammarTables:
        """A grammar without the texts: where it is that of a schema, or holds some, its terminals too are without."""
        changed = tables if tables.source is None else with_terminals(tables, self.terminal)
        return spelled(changed, self._special_texts, limits)

    def _may_lead_into(self, regex: rx.Regex) -> bool:
        used, alone = self._bytes_of(regex)
        return any(alone & last and not needed & ~used for needed, last in self._needed)

    def _bytes_of(self, regex: rx.Regex) -> tuple[int, int]:
        """The bytes of a regex's texts, and those that a part may match alone or among other last bytes; as bits of
        numbers, and rather too many than too few.
        """
        if isinstance(regex, rx.Literal | rx.LiteralSet | rx.Substrings | rx.Runs):
            used = _mask(_texts_of(regex))
            return used, used & self._last
        if isinstance(regex, rx.Chars | rx.ByteSet):
            used = regex.mask if isinstance(regex, rx.ByteSet) else _mask_of_ranges(regex.ranges)
            return used, used if not used & ~self._last else 0
        if isinstance(regex, rx.Sequence | rx.Choice):
            inner = [self._bytes_of(part) for part in regex.parts]
            return reduce(or_, (used for used, _ in inner)), reduce(or_, (alone for _, alone in inner))
        if isinstance(regex, rx.Repeat | rx.Early):
            return self._bytes_of(regex.body)
        used = ALL
        if isinstance(regex, rx.Intersection):
            used = reduce(and_, (self._bytes_of(part)[0] for part in regex.parts))
        elif isinstance(regex, rx.Multiple):
            used = DIGITS
        return used, used & self._last


def _texts_of(regex: rx.Literal | rx.LiteralSet | rx.Substrings | rx.Runs) -> bytes:
    if isinstance(regex, rx.Literal):
        return regex.data
    return b"".join(regex.texts if isinstance(regex, rx.LiteralSet) else regex.units)


def _mask(text: bytes) -> int:
    return sum(1 << byte for byte in set(text))


def _mask_of_ranges(ranges: Sequence[tuple[int, int]]) -> int:
    found = 0
    for first, last in ranges:
        if last >= 128:
            found |= ABOVE_ASCII
        if first < 128:
            found |= (2 << min(last, 127)) - (1 << first)
    return found
