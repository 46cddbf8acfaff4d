"""Grammars without texts that the tokenizer does not spell: they hold a special token's, or what it would change.

A pattern such as `<(b|i|s)>` would lead into `<s>`, which is one token of Llama 2 and stands for no text: behind `<s`
there is no way on. Without such texts it does not lead there. Only terminals that may leave no other way are changed:
a place from which every byte completes a special token needs a part of the regex that matches such bytes alone; and
one from which every character would be changed, a part that matches such characters alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_, or_

from structgen.engine.grammar.composition import with_terminals
from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.regex import tree as rx
from structgen.kbnf import ast
from structgen.kbnf.rewriting import rewrite
from structgen.limits import Limits
from structgen.output_types.grammar import Grammar
from structgen.tokenization.pre_tokens.character_classes import composes
from structgen.tokenization.unspellable.narrowed_rules import spelled, terminals_of
from structgen.tokenization.unspellable.special_texts import SpecialTexts

__all__ = ["Spellable"]

KEPT = 4096  # terminals
FEW = 256  # characters of a class; of more some stay what they are
MAX_TOGETHER = 5  # characters that are looked at together
MAX_ASKED = 5000  # texts of more than two
ALL = (1 << 256) - 1
DIGITS = sum(1 << byte for byte in b"0123456789.")
ABOVE_ASCII = ALL ^ (1 << 128) - 1


class Spellable:
    """Takes texts out of terminals.

    Args:
        unspelled: the texts of special tokens, none of them empty, which no spelled text holds.
        keeps: whether the tokenizer leaves a text as it is. Where it does not, neither does it one that holds the text.
        may_join: whether it may change a character together with one before it.
    """

    def __init__(
        self,
        unspelled: Sequence[bytes],
        keeps: Callable[[str], bool],
        may_join: Callable[[str], bool] = composes,
    ) -> None:
        self.unspelled = tuple(unspelled)
        self._keeps = keeps
        self._may_join = may_join
        self._special_texts = SpecialTexts(unspelled)
        self._needed = [(_mask(text), 1 << text[-1]) for text in unspelled]
        self._last = reduce(or_, (last for _, last in self._needed), 0)
        self._known: dict[int, tuple[rx.Regex, rx.Regex]] = {}

    def terminal(self, regex: rx.Regex) -> rx.Regex:
        """A regex without the texts, where it may lead into one and leave no other way."""
        known = self._known.get(id(regex))
        if known is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            texts = self._changed_texts([regex])
            refused = [rx.sequence(rx.ANY_BYTES, rx.literal_set(texts), rx.ANY_BYTES)] if texts else []
            if self._may_lead_into(regex):
                refused.append(self._special_texts.holding)
            changed = rx.difference(regex, rx.choice(*refused)) if refused else regex
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
        together = self._changed_texts(terminals_of(changed))
        if together:
            return spelled(changed, SpecialTexts([*self.unspelled, *together]), limits, surely=True)
        return spelled(changed, self._special_texts, limits) if self.unspelled else changed

    def _changed_texts(self, regexes: Iterable[rx.Regex]) -> set[bytes]:
        """What the tokenizer does not leave as it is: literals, characters of classes that have no others, and some
        of all these side by side.
        """
        found: set[str] = set()
        named: set[str] = set()
        for part in _parts(regexes):
            if isinstance(part, rx.Literal | rx.LiteralSet):
                texts = part.texts if isinstance(part, rx.LiteralSet) else (part.data,)
                whole = [text.decode(errors="ignore") for text in texts]
                found.update(text for text in whole if text and not self._keeps(text))
                named.update(*whole)
            elif isinstance(part, rx.Chars | rx.ByteSet):
                characters = _few_characters(part)
                if not any(map(self._keeps, characters)):
                    found.update(characters)
                named.update(characters)
        return {text.encode() for text in found | self._changed_together(named)}

    def _changed_together(self, named: set[str]) -> set[str]:
        """Characters that stay what they are but behind others: accents behind what they are composed with, and in
        another order than theirs.
        """
        joining = sorted(filter(self._may_join, named))
        changed: set[str] = set()
        texts = sorted(named)
        for size in range(2, MAX_TOGETHER + 1):
            if size > 2 and len(texts) * len(joining) > MAX_ASKED:
                break
            longer = [text + last for text in texts for last in joining]
            new = [text for text in longer if not any(text[at:] in changed for at in range(1, size))]
            texts = [text for text in new if self._keeps(text)]
            changed.update(set(new).difference(texts))
        return changed

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


def _parts(regexes: Iterable[rx.Regex]) -> Iterator[rx.Regex]:
    """Regexes, and what they are made of; nothing that is only refused."""
    waiting = list(regexes)
    seen = set(map(id, waiting))
    while waiting:
        part = waiting.pop()
        yield part
        inner: Sequence[rx.Regex] = ()
        if isinstance(part, rx.Sequence | rx.Choice | rx.Intersection):
            inner = part.parts
        elif isinstance(part, rx.Repeat | rx.Early):
            inner = (part.body,)
        new = [each for each in inner if id(each) not in seen]
        seen.update(map(id, new))
        waiting += new


def _texts_of(regex: rx.Literal | rx.LiteralSet | rx.Substrings | rx.Runs) -> bytes:
    if isinstance(regex, rx.Literal):
        return regex.data
    return b"".join(regex.texts if isinstance(regex, rx.LiteralSet) else regex.units)


def _few_characters(part: rx.Chars | rx.ByteSet) -> str:
    """The characters of a class, if these are few; else none."""
    if isinstance(part, rx.ByteSet):
        is_few = part.mask < 1 << 128 and part.mask.bit_count() <= FEW
        return "".join(chr(byte) for byte in range(128) if part.mask >> byte & 1) if is_few else ""
    if sum(last - first + 1 for first, last in part.ranges) > FEW:
        return ""
    return "".join(chr(code) for first, last in part.ranges for code in range(first, last + 1))


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
