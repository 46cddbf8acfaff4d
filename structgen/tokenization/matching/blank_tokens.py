r"""Tokens of white space, by what the pre-tokenizer makes of them.

Vocabularies have hundreds of them: Llama 3's have 1 to 128 characters. Those that lead to the same state of the scanner
differ only in their lengths, and in the merges that join them with the next token. So what holds of one of them is
looked up for all:

    after `{`, Llama 3    state 4: two spaces, three spaces, …   the last one belongs to what follows
                          state 5: a space and `\n`, …           a cut comes before `"`, or before any letter
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structgen.tokenization.matching.last_texts import LastTexts
from structgen.tokenization.matching.token_sets import has, ints
from structgen.tokenization.merges.merge_table import MergeTable
from structgen.tokenization.pre_tokens.scanner import Scanner

__all__ = ["BLANKS", "BLANK_BYTES", "BlankClass", "BlankTokens"]

BLANKS = b" \t\n\r"
BLANK_BYTES = sum(1 << byte for byte in BLANKS)  # as bits of a number
# Declared as C integers in the .pxd, so not importable from here.
MAX_KEPT = 4096  # states of the scanner
ALL_BITS = 0xFFFFFFFF  # of a word


class BlankClass:
    """Tokens of white space that lead from one state of the scanner to another one.

    Args:
        scanner_state: the state that they lead to.
        tokens: the tokens, the shorter ones first.
        lengths: their lengths.
        merges: the merges of the tokenizer.

    Attributes:
        scanner_state: the same.
    """

    def __init__(self, scanner_state: int, tokens: list[int], lengths: list[int], merges: MergeTable) -> None:
        self.scanner_state = scanner_state
        self._merges = merges
        self._tokens = ints(tokens)
        self._lengths = ints(lengths)
        self._before: dict[int, BlankClass] = {}

    def before(self, token: int) -> BlankClass:
        """Return those of them that no merge joins with a token that comes next."""
        known = self._before.get(token)
        if known is None:
            indices = [
                index for index in range(len(self._tokens)) if not self._merges.crosses(self._tokens[index], token)
            ]
            tokens, lengths = [self._tokens[index] for index in indices], [self._lengths[index] for index in indices]
            known = self._before[token] = BlankClass(self.scanner_state, tokens, lengths, self._merges)
        return known

    def remove(self, row: Any, longest: int) -> None:
        """Remove those with at most so many characters from a mask: uint32[words]."""
        one = 1
        for index in range(len(self._tokens)):
            if self._lengths[index] > longest:
                break
            token = self._tokens[index]
            row[token >> 5] &= ALL_BITS ^ (one << (token & 31))

    def of_length(self, row: Any, length: int) -> list[int]:
        """Return those of a mask that have so many characters, and more than one."""
        found: list[int] = []
        if length < 2:
            return found
        first, last = 0, len(self._tokens)
        while first < last:
            middle = (first + last) // 2
            if self._lengths[middle] < length:
                first = middle + 1
            else:
                last = middle
        while first < len(self._tokens) and self._lengths[first] == length:
            if has(row, self._tokens[first]):
                found.append(self._tokens[first])
            first += 1
        return found


class BlankTokens:
    """The tokens of white space of a vocabulary that begin no added token and may stand anywhere in a pre-token.

    Args:
        tokens: these tokens.
        spellings: by token, its bytes.
        scanner: the pre-tokenizer.
        merges: the merges of the tokenizer.
        last_texts: texts to try after them, at the end of a terminal.

    Attributes:
        last_texts: the same.
        added: answers of `ProperTokenization.added_blanks`.
    """

    def __init__(
        self,
        tokens: list[int],
        spellings: Sequence[bytes],
        scanner: Scanner,
        merges: MergeTable,
        last_texts: LastTexts,
    ) -> None:
        self.last_texts = last_texts
        self.added: dict[frozenset[int], dict[int, int]] = {}
        self._tokens = sorted(tokens, key=lambda token: len(spellings[token]))
        self._spellings = spellings
        self._scanner = scanner
        self._merges = merges
        self._classes: dict[int, list[BlankClass]] = {}

    def classes(self, scanner_state: int) -> list[BlankClass]:
        """Return the tokens that fit a state of the scanner, by the state that they lead to."""
        known = self._classes.get(scanner_state)
        if known is None:
            if len(self._classes) >= MAX_KEPT:
                self._classes.clear()
            known = self._classes[scanner_state] = self._find_classes(scanner_state)
        return known

    def _find_classes(self, scanner_state: int) -> list[BlankClass]:
        found: dict[int, list[int]] = {}
        for token in self._tokens:
            after, _ = self._scanner.follow(scanner_state, 0, self._spellings[token])
            if after:
                found.setdefault(after, []).append(token)
        spellings = self._spellings
        return [
            BlankClass(after, tokens, [len(spellings[token]) for token in tokens], self._merges)
            for after, tokens in found.items()
        ]
