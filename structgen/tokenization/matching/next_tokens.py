"""The tokens that may follow a state of the pre-tokenizer, whatever the grammar: made when first asked for, and kept.

They come as masks, for a token that joins the last pre-token and for one that begins another. For white space and
single bytes there is a shorter answer, too: the bytes with which the next token may begin. After the token of a space
and a guessed cut before it, Llama 3's tokenizer lets no `"` follow: it would join the two. So no way leads on from this
token where the grammar allows nothing but a quote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.tokenization.configuration.added_tokens import AddedTokens
from structgen.tokenization.matching.blank_tokens import BLANKS
from structgen.tokenization.matching.conflicts import ConflictTable, mask_of
from structgen.tokenization.matching.token_sets import first_bytes
from structgen.tokenization.matching.tokenizer_state import NO_TOKEN
from structgen.tokenization.matching.whole_words import WholeWords
from structgen.tokenization.pre_tokens.scanner import Cutters, Scanner, TokenRows

__all__ = ["NextTokens"]

BETWEEN = (b" ", b"  ", b"\t", b"\n")  # white space after which the rows are made ahead
# Declared as C integers in the .pxd, so not importable from here.
MAX_ROWS = 256  # states whose rows are kept, 100 kB each
MAX_PARTIAL_ROWS = 4096  # the same within characters, 16 kB each
MAX_ENDS = 65_536  # tokens that end within a character
MAX_KEPT = 4096  # answers of each other kind

ALL_BYTES = (1 << 256) - 1
ALL_BITS = 0xFFFFFFFF  # of a word


class NextTokens:
    """The tokens that may follow each state of a tokenizer's scanner.

    Args:
        vocabulary: the tokens.
        scanner: the pre-tokenizer.
        cutters: the cutting texts of the tokens.
        words: pre-tokens that are one token against the merges.
        conflicts: the tokens that cannot follow a token within a pre-token.
        added: the added tokens.
        never: uint32[words], the tokens that no proper sequence holds, those that leave a character unfinished which
            nothing completes, and the added ones.
        is_piece: whether a text is a character that is a token by itself, so that byte tokens must not spell it; None
            if they may.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        scanner: Scanner,
        cutters: Sequence[Cutters],
        words: WholeWords,
        conflicts: ConflictTable,
        added: AddedTokens,
        never: NDArray[np.uint32],
        is_piece: Callable[[bytes], bool] | None,
    ) -> None:
        self._vocabulary = vocabulary
        self._spellings = vocabulary.spellings
        self._scanner = scanner
        self._cutters = cutters
        self._words = words
        self._conflicts = conflicts
        self._never = never
        self._is_piece = is_piece
        self._word_count = len(never)
        self._only_whole = mask_of(list(words.tokens), self._word_count)
        self._spelled = mask_of(list(added.spelled), self._word_count)
        self._no_rows = TokenRows(self._word_count)
        self._rows: dict[tuple[int, int], TokenRows] = {}
        self._dropped: dict[tuple[int, int, bool], set[int]] = {}
        self._dropped_count = 0
        self._can_continue: dict[tuple[int, int, int], bool] = {}
        self._first_bytes: dict[tuple[int, int, int], int] = {}

    def rows(self, scanner_state: int, partial: int) -> TokenRows:
        """Return the tokens that may follow a state of the scanner, up to conflicts with the token before."""
        rows = self._rows.get((scanner_state, partial))
        if rows is None:
            if len(self._rows) >= (MAX_PARTIAL_ROWS if partial else MAX_ROWS):
                self._rows.clear()
            rows = self._rows[scanner_state, partial] = self._make_rows(scanner_state, partial)
        return rows

    def prepare(self) -> None:
        """Make the rows of the states that most texts lead to, so that masks do not wait for them.

        These are the states after one token, 20 or 30, and 5 or 10 others after white space between two tokens, where a
        cut may come or not. The first one asks the tokenizer for the classes of all characters, which takes a while.
        """
        scanner = self._scanner
        self.rows(scanner.start, 0)
        ends = scanner.ends(self._vocabulary.trie, self._vocabulary.size)
        first = sorted({state for state, partial in ends if state and not partial})[: MAX_ROWS // 2]
        begun = [before for state in first for before in (state, scanner.cut(state))]
        later = {scanner.follow(state, 0, text)[0] for state in begun for text in BETWEEN}
        for state in [*first, *sorted(later.difference(first, [0]))[: MAX_ROWS // 4]]:
            self.rows(state, 0)

    def _make_rows(self, scanner_state: int, partial: int) -> TokenRows:
        rows = TokenRows(self._word_count)
        scanner, trie, cutters = self._scanner, self._vocabulary.trie, self._cutters
        scanner.mark(scanner_state, partial, trie, cutters, rows.joins, rows.sure_joins)
        if not partial or scanner.cuts_characters:
            scanner.mark(scanner.cut(scanner_state), partial, trie, cutters, rows.begins, rows.sure_begins)
        if partial:  # there are thousands of these, with few tokens each, which are checked one by one
            rows.share(self._no_rows, scanner.cuts_characters)
            self._drop_pieces(rows.joins, scanner.text_of(partial))
        joins, begins = np.asarray(rows.joins), np.asarray(rows.begins)
        joins &= ~self._never
        if not partial or scanner.cuts_characters:
            begins &= ~self._never
        if partial or not scanner.is_start(scanner_state):  # at a start, the token that follows begins a pre-token, too
            joins &= ~self._only_whole
        for joined in (True, False):
            for token in self._dropped.get((scanner_state, partial, joined), ()):
                _drop(rows, joined, token)
        return rows

    def drop(self, scanner_state: int, partial: int, joined: bool, token: int) -> None:
        """Drop a token from the rows of a state: whatever the grammar, nothing completes its last character.

        It is dropped for good. The tokens that a mask checks are chosen among those of the rows, and are kept; so rows
        that are made again must not have others.

        Args:
            scanner_state: the state of the scanner before the token.
            partial: the scanner's number of the unfinished character there.
            joined: whether the token stands in the same pre-token as the one before.
            token: the token.
        """
        dropped = self._dropped.setdefault((scanner_state, partial, joined), set())
        if token not in dropped and self._dropped_count < MAX_ENDS:
            self._dropped_count += 1
            dropped.add(token)
            _drop(self.rows(scanner_state, partial), joined, token)

    def _drop_pieces(self, row: NDArray[np.uint32], partial: bytes) -> None:
        """Remove the tokens that complete a character to one that is a token itself."""
        if self._is_piece is not None:
            bits = np.unpackbits(np.asarray(row).view(np.uint8), bitorder="little")
            for token in np.flatnonzero(bits).tolist():
                if self._is_piece(partial + self._spellings[token]):
                    row[token >> 5] &= ~(np.uint32(1) << np.uint32(token & 31))

    def can_continue(self, scanner_state: int, partial: int, token: int) -> bool:
        """Return whether any token may follow one that ends within a character.

        Args:
            scanner_state: the state of the scanner after it.
            partial: the scanner's number of the unfinished character.
            token: the token.
        """
        key = (scanner_state, partial, token)
        known = self._can_continue.get(key)
        if known is None:
            if len(self._can_continue) >= MAX_ENDS:
                self._can_continue.clear()
            rows = self.rows(scanner_state, partial)
            row = np.array(rows.joins)
            row &= ~self._conflicts.of(token).mask(self._word_count)
            row |= rows.begins
            known = self._can_continue[key] = bool(row.any())
        return known

    def is_stuck(self, scanner_state: int, partial: int, token: int) -> bool:
        """Return whether `can_continue` has found that no token may follow; see there for the arguments."""
        return self._can_continue.get((scanner_state, partial, token)) is False

    def first_bytes_after(self, scanner_state: int, word: int, token: int) -> int:
        """Return bytes with which each token with a text begins that may follow another one, as bits of a number.

        All bytes if it is not worth finding out: most tokens may be followed by any byte. Not so white space, which the
        pre-tokenizer leaves to what comes next, nor single bytes, which the merges join with nearly all tokens.

        Args:
            scanner_state: the state of the scanner after the token, which ends with a character.
            word: the node of the current pre-token in `WholeWords`.
            token: the token.
        """
        text = self._spellings[token]
        if len(text) > 1:
            if text.strip(BLANKS):
                return ALL_BYTES
            token = NO_TOKEN  # few conflict with a run of white space
        key = (scanner_state, word, token)
        known = self._first_bytes.get(key)
        if known is None:
            if len(self._first_bytes) >= MAX_KEPT:
                self._first_bytes.clear()
            known = self._first_bytes[key] = self._find_first_bytes(scanner_state, word, token)
        return known

    def _find_first_bytes(self, scanner_state: int, word: int, token: int) -> int:
        rows = self.rows(scanner_state, 0)
        row = np.zeros(self._word_count, dtype=np.uint32)
        if not self._words.is_alone(word):
            row |= rows.joins
            self._conflicts.remove(token, row)
        if not self._words.is_whole(word):
            row |= rows.begins
        if self._scanner.may_end(scanner_state):
            row |= self._spelled
        return first_bytes(row, self._vocabulary.trie)


def _drop(rows: TokenRows, joined: bool, token: int) -> None:
    row = rows.joins if joined else rows.begins
    row[token >> 5] &= ALL_BITS ^ (1 << (token & 31))
