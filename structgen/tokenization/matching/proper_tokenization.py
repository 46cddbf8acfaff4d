"""The tokens that may follow some tokens so that the tokenizer would split the text in the same way.

This is independent of any grammar. A sequence of tokens is *proper* if the tokenizer makes it from its own text:

    text `winter`, Llama 3     `winter` (84028)            proper
                               `win` `ter`                 not proper: the merges join the two
    text `island`              `is` `land` (285, 1974)     proper: no merge joins them
    text `is land`             `is` ` land` (285, 4363)    proper: the pre-tokenizer cuts before the space

So after the token `win`, ` ter` may follow as the first token of another pre-token; `ter` may not. Three things decide
whether a token may follow:

    cuts        whether the pre-tokenizer cuts between the two (`Scanner`); often that depends on later characters, so
                all guesses that are still possible are followed together
    merges      within a pre-token, whether a merge crosses the border between the two (`MergeTable`)
    the rest    added tokens, normalizers, and words that are one token against the merges

The method, with proofs and sources: docs/proper-tokenization.md.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.engine.fork_safety import forkable_lock
from structgen.engine.garbage_collection import without_collector
from structgen.engine.vocabulary.marks import Ranges
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import VocabularyError
from structgen.tokenization.configuration.added_tokens import AddedTokens
from structgen.tokenization.configuration.symbols import Symbols, check_spellings
from structgen.tokenization.configuration.tokenizer_parts import read_tokenizer
from structgen.tokenization.matching.blank_tokens import BLANK_BYTES, BLANKS, BlankTokens
from structgen.tokenization.matching.completions import Completions, unfinished
from structgen.tokenization.matching.conflicts import ConflictTable, mask_of
from structgen.tokenization.matching.cutting_texts import AFTER_BORDERS, CUTS, CutterFinder
from structgen.tokenization.matching.known_ways import KnownWays
from structgen.tokenization.matching.last_texts import LastTexts
from structgen.tokenization.matching.next_tokens import NextTokens
from structgen.tokenization.matching.normal_texts import NormalTexts
from structgen.tokenization.matching.token_sets import has, ids
from structgen.tokenization.matching.token_texts import TokenTexts
from structgen.tokenization.matching.tokenizer_copy import TokenizerCopy, only_tokenizer
from structgen.tokenization.matching.tokenizer_state import Branch, TokenizerState
from structgen.tokenization.matching.whole_words import OTHER, WholeWords
from structgen.tokenization.merges.borders import Borders
from structgen.tokenization.merges.merge_table import MergeTable
from structgen.tokenization.pre_tokens.scanner import Scanner
from structgen.tokenization.unspellable.checks import Spelling

__all__ = ["ProperTokenization"]

# Short texts that often stand between a token and a cut; the words follow a backslash, in spite of its escapes.
BRIDGES = frozenset({b"\n", b" ", b"n", b'"', b",", b"}", b":", b"-", b"0", b"1", b"to", b"re", b"be", b"for", b"not"})
MAX_CLOSING = 256  # tokens that a search tries first
MIN_CUT_SHARE = 0.5  # of the tokens: a tokenizer that cuts off fewer is treated as one that never cuts
MAX_ADDED_ROWS = 256  # masks of added tokens that are kept
MAX_SPELLED = 65_536  # texts whose tokens are kept, none of them long; and tokens that end within a character


class ProperTokenization:
    """A tokenizer's own way to split texts. All grammars of a vocabulary share it.

    Args:
        tokenizer: of transformers (fast) or `tokenizers`; a byte-pair encoding.
        vocabulary: its tokens.

    Attributes:
        vocabulary: its tokens.
        merges: its merges.
        conflicts: the tokens that cannot follow a token within a pre-token.
        added: its added tokens.
        words: pre-tokens that are one token against the merges.
        scanner: its pre-tokenizer.
        borders: the bytes that no merge joins to a token; None if cuts are common enough.
        completions: the ways to complete an unfinished character.
        cut_vocabularies: the tokens extended by their cutting texts, in two orders of preference.
        unquoting: for each of these orders uint32[words], the tokens whose cutting texts have no quote.
        begun: by token, the added tokens that its text is in the middle of; None where one occurs in it.
        texts: the bytes of its tokens.
        known_ways: next tokens that searches have found, and those that they try first.
        spelling: the checks for texts that cannot be spelled.
        start: the state at the beginning of a text.
        blanks: its tokens of white space.
        next_tokens: the tokens that may follow a state of its pre-tokenizer.
        word_count: the number of words of a mask.
        max_single_checks: up to so many tokens are checked one by one: that takes as long as making a mask.

    Raises:
        VocabularyError: the tokenizer splits texts in a way that is not supported; named.
    """

    max_single_checks = 40

    def __init__(self, tokenizer: Any, vocabulary: Vocabulary) -> None:
        parts = read_tokenizer(tokenizer)
        check_spellings(parts, vocabulary)
        self.vocabulary = vocabulary
        self.word_count = (vocabulary.size + 31) // 32
        self._parts = parts
        self._copy = TokenizerCopy(vocabulary)
        self._symbols = Symbols(parts, vocabulary)
        self._normal = NormalTexts(parts.is_normal, vocabulary)
        self._make_tables()
        self._make_token_lists()
        if parts.never_cuts or not self._is_cut_up():
            self._cut_by_borders()
        self.spelling = Spelling(parts, vocabulary, self.added)
        self.spelling.check_inserted()
        self._make_start_states()
        self.blanks = _blanks_of(self, self._never)
        self._cuts: dict[int, list[int]] = {}
        self._states_after: dict[tuple[frozenset[int], int], TokenizerState | None] = {}
        self._added_after: dict[frozenset[int], tuple[NDArray[np.uint32], list[int]]] = {}
        never = self._never | self._row_of(list(self._find_unfinishable()))
        self.next_tokens = NextTokens(
            *(vocabulary, self.scanner, self._cutters, self.words, self.conflicts, self.added, never),
            is_piece=self._is_piece if parts.is_piece else None,
        )
        self.next_tokens.prepare()
        # So that no mask does it: make the index of the tokens' texts, and find the added tokens that may follow.
        vocabulary.trie.in_order(np.zeros(0, dtype=np.intc))
        self.added_after(frozenset())

    def _make_tables(self) -> None:
        """Make the merges, the added tokens and the whole words."""
        parts, vocabulary = self._parts, self.vocabulary
        self.merges = MergeTable(parts.size, parts.merges, parts.lengths)
        self.conflicts = ConflictTable(self.merges, self.word_count)
        self.added = AddedTokens(
            {token: content.encode() for token, content in parts.added.items()},
            {token for token, text in parts.added.items() if vocabulary.token_bytes(token) == text.encode()},
        )
        self.begun = self.added.begun_by(vocabulary.spellings)
        self.words = WholeWords({})
        if parts.ignore_merges:
            self.words = WholeWords.of(parts, self.merges, vocabulary, self._symbols)

    def _make_token_lists(self) -> None:
        """Make the masks and lists of tokens with something in common."""
        spellings = self.vocabulary.spellings
        never = set(self._find_never())
        self._never = self._row_of(list(never))
        special = [token for token in self._parts.added if self._is_special(token)]  # may be token terminals
        self._added_row = self._row_of([*self.added.spelled, *special])
        usual = [token for token, begun in enumerate(self.begun) if begun == frozenset() and spellings[token].isascii()]
        usual = [token for token in usual if token not in never]
        short = [token for token in usual if spellings[token] in BRIDGES]
        closers = [token for token, text in enumerate(spellings) if _closing(text)]
        closers.sort(key=lambda token: (len(spellings[token]), token))
        closing = array("i", closers[:MAX_CLOSING])
        self.known_ways = KnownWays(short, frozenset(usual) - self.words.tokens, closing)
        free = [t for t, begun in enumerate(self.begun) if begun is not None and not begun]
        self.texts = TokenTexts(spellings, self._row_of([t for t in free if self.words.begun_by(t) == OTHER]))
        self._spelled: dict[bytes, tuple[int, ...] | None] = {}

    def _make_start_states(self) -> None:
        """Make the states at the beginning of a text, and after the added tokens that have an opening."""
        self.start = TokenizerState((Branch(self.scanner.start, 0),))
        self._opened = {
            pattern: TokenizerState((Branch(scanner_state, 0),))
            for pattern, scanner_state in zip(self._parts.opened, self.scanner.opened, strict=True)
        }

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> ProperTokenization:
        """Return the tokenization of the tokenizer that a vocabulary was read from; made once a vocabulary.

        Raises:
            VocabularyError: the vocabulary was made of bytes; its tokenizer is gone; it was read out of tokenizers that
                split texts differently; or the tokenizer is not supported.
        """
        with _making:
            if vocabulary.proper is None:
                with without_collector():
                    vocabulary.proper = cls(only_tokenizer(vocabulary), vocabulary)
            if not isinstance(vocabulary.proper, cls):
                raise TypeError(f"{vocabulary!r} holds something else")
            return vocabulary.proper

    def _is_cut_up(self) -> bool:
        """Return whether a fair share of the tokens can be cut off by a cut of the pre-tokenizer after them."""
        parts, added = self._parts, self.added
        scanner = Scanner(
            *(parts.splits, parts.memberships, CUTS, added.free_bytes),
            byte_splits=parts.byte_splits,
            ending_bytes=added.ending_bytes,
        )
        self._use(scanner, None)
        return len(self.cut_vocabularies[0].trie.tokens) > MIN_CUT_SHARE * len(self.vocabulary.trie.tokens)

    def _cut_by_borders(self) -> None:
        """Let tokens be cut off by what no merge joins to them."""
        parts, added = self._parts, self.added
        scanner = Scanner(
            *(parts.splits, parts.memberships, AFTER_BORDERS, added.free_bytes),
            has_borders=True,
            leads=parts.leads if parts.never_cuts else 0,
            byte_splits=parts.byte_splits,
            ending_bytes=added.ending_bytes,
        )
        self._use(scanner, Borders(self.merges, self.vocabulary.spellings))

    def _use(self, scanner: Scanner, borders: Borders | None) -> None:
        """Set the scanner and the borders, and what depends on them."""
        vocabulary, parts = self.vocabulary, self._parts
        self.scanner, self.borders = scanner, borders
        self.completions = Completions(
            vocabulary,
            self.merges,
            self._is_piece if parts.is_piece else None,
            scanner.kind_of,
            scanner.kind_of_all,
            may_compose=parts.is_normal is None,
        )
        finder = CutterFinder(scanner, vocabulary, self.completions, borders, self.words, self.added, self.begun)
        self._cutters, self.cut_vocabularies = finder.find()
        unquoting = [b'"' not in text for text in scanner.cuts]
        self.unquoting = [self._row_of(cutters.with_cuts(unquoting)) for cutters in self._cutters]

    # -- tokens -----------------------------------------------------------------------------------------------------

    def _row_of(self, tokens: Iterable[int]) -> NDArray[np.uint32]:
        return mask_of(tokens, self.word_count)

    def _find_never(self) -> Iterator[int]:
        """Yield the tokens that no proper sequence holds, whatever stands beside them; and the added ones."""
        parts, spellings = self._parts, self.vocabulary.spellings
        made = np.zeros(max(len(spellings), parts.size), dtype=np.bool_)
        made[: parts.size] = self.merges.is_proper
        made[list(self.words.tokens)] = True
        for token, (text, begun, is_made) in enumerate(zip(spellings, self.begun, made.tolist(), strict=False)):
            is_usual = is_made and begun is not None and self._normal.holds(text)
            is_needless = token in parts.fallback and self._is_piece(text)
            if text and (not is_usual or is_needless or token in self.added.spelled):
                yield token

    def _find_unfinishable(self) -> Iterator[int]:
        """Yield the tokens that leave a character unfinished which no proper token may complete."""
        if not self.scanner.cuts_characters:
            for token, text in enumerate(self.vocabulary.spellings):
                if text and text[-1] >= 0x80 and unfinished(text) and not self.completions.of(token).exists:
                    yield token

    def _is_piece(self, text: bytes) -> bool:
        """Return whether a text is a character that is a token by itself."""
        character = text.decode(errors="ignore")
        return self._parts.is_piece is not None and len(character) == 1 and self._parts.is_piece(character)

    def cuts_of(self, scanner_state: int) -> list[int]:
        """Return the scanner's cuts that surely make a cut after a state, and begin no added token."""
        known = self._cuts.get(scanner_state)
        if known is None:
            known = [
                cut
                for cut, text in enumerate(self.scanner.cuts)
                if self.scanner.surely_cuts(scanner_state, cut) and self.added.after(frozenset(), text) == frozenset()
            ]
            self._cuts[scanner_state] = known
        return known

    def spell(self, text: bytes) -> tuple[int, ...] | None:
        """Return the tokens that the merges make of the end of a pre-token, as if it stood alone.

        Returns:
            None if that depends on the text before, or is not known: the text may not be normal, or it holds an added
            token or the beginning of one.
        """
        if text not in self._spelled:
            if len(self._spelled) >= MAX_SPELLED:
                self._spelled.clear()
            self._spelled[text] = self._spell(text)
        return self._spelled[text]

    def _spell(self, text: bytes) -> tuple[int, ...] | None:
        if self.added.after(frozenset(), text) != frozenset() or not (text.isascii() or self._normal.are_all):
            return None
        symbols = self._symbols.of(text)
        return tuple(self.merges.merged(symbols)) if symbols or not text else None

    def can_be_completed(self, scanner_state: int, partial: int, token: int) -> bool:
        """Return whether some token may complete the character that a token leaves unfinished; True if it is not known.

        That is decided by the token alone, or by what `can_continue` found for the same arguments.
        """
        if self.next_tokens.is_stuck(scanner_state, partial, token):
            return False
        if self.scanner.cuts_characters or not unfinished(self.vocabulary.spellings[token]):
            return True
        return bool(self.completions.of(token).exists)

    def written(self, texts: Sequence[bytes]) -> tuple[bytes, ...]:
        """Return how the tokenizer splits the text of some tokens; see `TokenizerCopy.written`."""
        return self._copy.written(texts)

    # -- what may follow --------------------------------------------------------------------------------------------

    def clashes(self, state: TokenizerState, words: NDArray[np.uint32]) -> list[int]:
        """Return tokens that cannot follow for reasons other than cuts and merges.

        Together with the text before, they would spell an added token, or be composed to another character.

        Args:
            state: the state before them.
            words: uint32[words], the tokens that may follow otherwise.
        """
        found: list[int] = []
        if state.added:
            found += self.added.completing(state.added, self.vocabulary.trie)
        if not self._normal.are_all and state.partial:  # few tokens continue a character
            found += [token for token in ids(words) if not self._fits(state, self.vocabulary.spellings[token])]
        elif not self._normal.are_all and state.tail:
            found += self._normal.clashing(state.tail)
        return found

    def continuing_added(self, added: frozenset[int]) -> list[int]:
        """Return the tokens that only continue added tokens that a text is in the middle of."""
        return self.added.within(added, self.vocabulary.trie)

    def may_end(self, state: TokenizerState) -> bool:
        """Return whether the text may end here, or an added token may follow."""
        return not state.partial and any(
            self.scanner.may_end(branch.scanner_state) and not self.words.is_whole(branch.word)
            for branch in state.branches
        )

    def is_cut_off(self, state: TokenizerState, words: NDArray[np.uint32]) -> bool:
        """Return whether some tokens must begin a pre-token here, as if nothing stood before them.

        Args:
            state: the state before them.
            words: uint32[words], the tokens.
        """
        if state.partial or self._continues_added(state.added, words):
            return False
        if self.scanner.is_start(state.branches[0].scanner_state):
            return True
        begun = np.zeros_like(words)
        for branch in state.branches:
            rows = self.next_tokens.rows(branch.scanner_state, 0)
            if (np.asarray(rows.joins) & words).any():
                if not self._leaves_alone(state.token, branch, words):
                    return False
                begun |= np.asarray(rows.joins)
            elif not self.words.is_whole(branch.word):
                begun |= np.asarray(rows.begins)
        fresh = np.asarray(self.next_tokens.rows(self.scanner.start, 0).joins)
        return not (fresh & words & ~begun).any()

    def _continues_added(self, added: frozenset[int], words: NDArray[np.uint32]) -> bool:
        """Return whether one of some tokens may continue an added token that a text is in the middle of."""
        trie = self.vocabulary.trie
        tokens = [*self.added.completing(added, trie), *self.added.within(added, trie)] if added else []
        return bool((self._row_of(tokens) & words).any())

    def _leaves_alone(self, token: int, branch: Branch, words: NDArray[np.uint32]) -> bool:
        """Return whether there is a sure border between a token and any text that begins like one of some tokens."""
        if self.borders is None or branch.word != OTHER:
            return False
        tokens = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()
        first_bytes = {byte for following in tokens for byte in (self.vocabulary.token_bytes(following) or b"")[:1]}
        return all(self.borders.is_border(token, byte) for byte in first_bytes)

    def added_row(self) -> NDArray[np.uint32]:
        """Return the added tokens that stand for their text or for none: uint32[words]."""
        return self._added_row

    def added_after(self, added: frozenset[int]) -> tuple[NDArray[np.uint32], list[int]]:
        """Return the added tokens that may follow where a text is in the middle of some.

        Returns:
            uint32[words], those after which it is in the middle of none and any text may begin; and the others.
        """
        known = self._added_after.get(added)
        if known is None:
            if len(self._added_after) >= MAX_ADDED_ROWS:
                self._added_after.clear()
            tokens, row, others = ids(self._added_row), self._row_of([]), list[int]()
            if added:  # only few tokens differ from those at the beginning of a text, of which there may be thousands
                base, usual = self.added_after(frozenset())
                differing = set(self.added.continuing(added))
                tokens = [token for token in differing if has(self._added_row, token)]
                row = base & ~self._row_of(tokens)
                others = [token for token in usual if token not in differing]
            after = {token: self.added.after_added(added, token) for token in tokens}
            possible = [token for token, within in after.items() if within is not None]
            sure = [token for token in possible if not after[token] and token not in self._parts.openings]
            others += set(possible).difference(sure)
            known = self._added_after[added] = (row | self._row_of(sure), others)
        return known

    def added_blanks(self, added: frozenset[int]) -> dict[int, int]:
        """Return added tokens of white space after which white space may come that belongs to no added token.

        Args:
            added: the added tokens that the text is in the middle of before them.

        Returns:
            Their numbers of characters, by token.
        """
        known = self.blanks.added.get(added)
        if known is None:
            if len(self.blanks.added) >= MAX_ADDED_ROWS:
                self.blanks.added.clear()
            known = self.blanks.added[added] = {}
            for token in self.added_after(added)[1]:
                text = self.vocabulary.token_bytes(token)
                after = self.after_added(replace(self.start, added=added), token)
                if not text or text.strip(BLANKS) or after is None or after.branches != self.start.branches:
                    continue
                if self.added.leaving(after.added) & BLANK_BYTES:
                    known[token] = len(text)
        return known

    # -- moving -----------------------------------------------------------------------------------------------------

    def advance(self, state: TokenizerState, token: int) -> TokenizerState | None:
        """Return the state after one more token; None if that is not proper."""
        if token in self.added.spelled or self._is_special(token):
            return self.after_added(state, token) if self.may_end(state) else None
        text = self.vocabulary.token_bytes(token)
        if not text or self._never[token >> 5] >> np.uint32(token & 31) & np.uint32(1):
            return None
        added = self.added.after(state.added, text)
        if added is None or not self._fits(state, text):
            return None
        found = list(self._branches(state, token, text))
        if not found:
            return None
        partial = found[0][1]
        return TokenizerState(
            self._merged([branch for branch, _ in found]), partial, token, added, self.tail(state, text)
        )

    def after_added(self, state: TokenizerState, token: int) -> TokenizerState | None:
        """Return the state after an added token, from a state where one may follow; None if the token is not proper."""
        key = (state.added, token)
        if key not in self._states_after:
            if len(self._states_after) >= MAX_SPELLED:
                self._states_after.clear()
            after = self.added.after_added(state.added, token)
            opening = self._parts.openings.get(token)
            start = self._opened[opening.in_text] if opening else self.start
            self._states_after[key] = None if after is None else replace(start, added=after)
        return self._states_after[key]

    def _is_special(self, token: int) -> bool:
        """Return whether a token is an added one without text. Under a grammar, these come as token terminals only."""
        return token in self._parts.added and token < self.vocabulary.size and not self.vocabulary.token_bytes(token)

    def check_token_terminals(self, marks: Ranges) -> None:
        """Check that before each token terminal of a grammar any text may end, and after it any text may begin.

        Raises:
            VocabularyError: one is not an added token, or the tokenizer treats the text beside it in another way.
        """
        for first, last in marks:
            for token in range(first, last + 1):
                what = self._unfit_for_terminals(token)
                if what:
                    name = self.vocabulary.shown(token).decode(errors="replace")
                    raise VocabularyError(
                        f"tokenization='proper' does not know the token terminal {name} ({token}): it {what}",
                        hint="compile the grammar with tokenization='any'",
                    )

    def _unfit_for_terminals(self, token: int) -> str:
        """Return why a token cannot be a token terminal: how it treats the text beside it; "" if it can."""
        if token not in self.added.spelled and not self._is_special(token):
            return "is no added token of the tokenizer"
        if token in self._parts.openings or self.added.after_added(frozenset(), token):
            return "changes the text after it"
        return "has lstrip=True or single_word=True" if token in self._parts.looking_beside else ""

    def _branches(self, state: TokenizerState, token: int, text: bytes) -> Iterator[tuple[Branch, int]]:
        """Yield the branches after a token, each with its unfinished character: joined first, then with a cut."""
        scanner, words = self.scanner, self.words
        conflicts = state.token >= 0 and self._conflict(state.token, token)
        for branch in state.branches:
            is_first = scanner.is_start(branch.scanner_state) and not state.partial
            if is_first or not (conflicts or words.is_alone(branch.word) or token in words.tokens):
                following, partial = scanner.follow(branch.scanner_state, state.partial, text)
                if following:
                    word = words.begun_by(token) if is_first else words.after(branch.word, token)
                    yield Branch(following, word), partial
            if not is_first and self.may_cut(state.partial) and not words.is_whole(branch.word):
                following, partial = scanner.follow(scanner.cut(branch.scanner_state), state.partial, text)
                if following:
                    yield Branch(following, words.begun_by(token)), partial

    def may_cut(self, partial: int) -> bool:
        """Return whether a cut may come after the beginning of a character, or there is no such beginning."""
        return not partial or self.scanner.cuts_characters

    def _conflict(self, left: int, right: int) -> bool:
        proper = self.merges.is_proper
        return not (proper[left] and proper[right]) or self.merges.crosses(left, right)

    def _merged(self, branches: Sequence[Branch]) -> tuple[Branch, ...]:
        """Return branches with one for each word."""
        if len(branches) == 1:
            return (branches[0],)
        states: dict[int, int] = {}
        for branch in branches:
            states[branch.word] = self.scanner.union(states.get(branch.word, 0), branch.scanner_state)
        return tuple(Branch(scanner_state, word) for word, scanner_state in sorted(states.items()))

    def _fits(self, state: TokenizerState, text: bytes) -> bool:
        """Return whether a token's characters stay as they are here, and need byte tokens if these spell them."""
        if not state.partial:
            return self._normal.fits(state.tail, text)
        text = self.scanner.text_of(state.partial) + text
        return not self._is_piece(text) and self._normal.fits_completed(state.tail, text)

    def tail(self, state: TokenizerState, text: bytes) -> str:
        """Return the last characters after some more bytes, as far as they may yet be composed with others."""
        return self._normal.tail(state.tail, self.scanner.text_of(state.partial) + text)

    # -- prompts ----------------------------------------------------------------------------------------------------

    def inserted_after(self, prompt_ids: Sequence[int]) -> bytes:
        """Return the bytes that the tokenizer inserts between a prompt and any text after it."""
        opening = self._parts.openings.get(prompt_ids[-1]) if prompt_ids else None
        return opening.inserted if opening else b""

    def after_prompt(self, token_ids: Sequence[int]) -> TokenizerState:
        """Return the state after a prompt. Tokens of the prompt itself need not be proper."""
        spelled, first = self.added.spelled, len(token_ids)
        while first and token_ids[first - 1] not in spelled and self.vocabulary.token_bytes(token_ids[first - 1]):
            first -= 1
        state = self._after_added(token_ids[first - 1]) if first else self.start
        for token in token_ids[first:]:  # one that is not proper is taken as the beginning of a text
            state = self.advance(state, token) or self.advance(self.start, token) or self.start
        return state

    def _after_added(self, token: int) -> TokenizerState:
        """Return the state after the last added token of a prompt."""
        if token not in self._parts.added:
            return self.start
        opening = self._parts.openings.get(token)
        start = self._opened[opening.after_prompt] if opening else self.start
        return replace(start, added=self.added.after_added(frozenset(), token) or frozenset())


def _blanks_of(tokenization: ProperTokenization, never: NDArray[np.uint32]) -> BlankTokens:
    """Return the tokens of white space that may stand anywhere in a pre-token.

    Args:
        tokenization: the tokenizer.
        never: uint32[words], the tokens that no proper sequence holds.
    """
    spellings, words, scanner = tokenization.vocabulary.spellings, tokenization.words, tokenization.scanner
    blank = [token for token, text in enumerate(spellings) if text and not text.strip(BLANKS)]
    free = [token for token in blank if tokenization.begun[token] == frozenset() and words.begun_by(token) == OTHER]
    tokens = [token for token in free if not has(never, token)]
    last_texts = LastTexts(scanner, words, tokens, spellings, tokenization.cuts_of)
    return BlankTokens(tokens, spellings, scanner, tokenization.merges, last_texts)


_making = forkable_lock()
_closing = re.compile(rb'["}\]]').search
