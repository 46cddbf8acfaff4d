"""Which sequences of tokens a tokenizer makes itself: what may follow the tokens so far, whatever the grammar."""

from __future__ import annotations

import json
import re
import threading
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.engine.arrays import zeros
from structgen.engine.garbage_collection import without_collector
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import VocabularyError
from structgen.tokenization.configuration.added_tokens import AddedTokens
from structgen.tokenization.configuration.symbols import Symbols, check_spellings
from structgen.tokenization.configuration.tokenizer_parts import read_tokenizer
from structgen.tokenization.matching.completions import Completions
from structgen.tokenization.matching.cutting_texts import BEHIND_BORDERS, CUTS, CutterFinder
from structgen.tokenization.matching.token_sets import ids
from structgen.tokenization.matching.whole_words import OTHER, WholeWords
from structgen.tokenization.merges.borders import Borders
from structgen.tokenization.merges.merge_table import MergeTable
from structgen.tokenization.pre_tokens.character_classes import composes
from structgen.tokenization.pre_tokens.scanner import Scanner, TokenRows
from structgen.tokenization.unspellable.checks import Spelling

__all__ = ["Branch", "ProperTokenization", "TokenizerState"]

# Texts that may stand between a token and what cuts; the words stand behind a backslash in spite of its escapes.
BRIDGES = frozenset({b"\n", b" ", b"n", b'"', b",", b"}", b":", b"-", b"0", b"1", b"to", b"re", b"be", b"for", b"not"})
CLOSING = 256  # tokens with which a search begins
SOME = 0.5
KEPT_ROWS = 256  # of 100 kB each,
KEPT_PARTIAL_ROWS = 4096  # or of 16
KEPT_CONFLICTS = 4096
LISTED_CONFLICTS = 1024  # so few are kept as a list, not as a mask
NO_TOKEN = -1


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Tokens that cannot follow another one.

    Attributes:
        listed: int32[tokens], if they are few.
        row: uint32[words], if they are many; else None.
    """

    listed: array[int]
    row: NDArray[np.uint32] | None


NO_CONFLICTS = Conflicts(zeros(0), None)


@dataclass(frozen=True, slots=True)
class Branch:
    """A way to see the cuts so far.

    Attributes:
        state: the scanner's state.
        word: where in `WholeWords` the tokens of the pre-token are that is not ended yet.
    """

    state: int
    word: int


@dataclass(frozen=True, slots=True)
class TokenizerState:
    """What the tokens so far mean for those to come.

    Attributes:
        branches: the ways to see the cuts that fit the tokens; at least one.
        partial: the scanner's partial character, 0 for none.
        token: the last token; NO_TOKEN at the beginning of a text, and behind an added token.
        added: the added tokens that the text is in the middle of.
        tail: the last characters, as far as they may yet be composed with others; only where a normalizer does.
    """

    branches: tuple[Branch, ...]
    partial: int = 0
    token: int = NO_TOKEN
    added: frozenset[int] = frozenset()
    tail: str = ""


class ProperTokenization:
    """A tokenizer's own way to split texts. Shared by all grammars of a vocabulary.

    Args:
        tokenizer: of transformers (fast) or `tokenizers`, a byte-pair encoding.
        vocabulary: its tokens.

    Attributes:
        begun: by token, which added ones its text is in the middle of; None where one occurs in it.
        spelling: which texts can be spelled at all.
        few: so many tokens are looked at one by one, in about the time in which a mask is made.

    Raises:
        VocabularyError: the tokenizer splits texts in a way that is not supported; named.
    """

    few = 40

    def __init__(self, tokenizer: Any, vocabulary: Vocabulary) -> None:
        parts = read_tokenizer(tokenizer)
        self.vocabulary = vocabulary
        self._parts = parts
        check_spellings(parts, vocabulary)
        self.merges = MergeTable(parts.size, parts.merges, parts.lengths)
        self.added = AddedTokens(
            {token: content.encode() for token, content in parts.added.items()},
            {token for token, text in parts.added.items() if vocabulary.token_bytes(token) == text.encode()},
        )
        self._symbols = Symbols(parts, vocabulary)
        self.words = (
            WholeWords.of(parts, self.merges, vocabulary, self._symbols) if parts.ignore_merges else WholeWords({})
        )
        self.word_count = (vocabulary.size + 31) // 32
        self.begun = self.added.begun_by(vocabulary.spellings)
        never = set(self._find_never())
        self._never = self._row_of(list(never))
        self._only_whole = self._row_of(list(self.words.tokens))
        self._added_row = self._row_of(list(self.added.spelled))
        self._composing = [t for t in self._texts() if self._may_compose(t)] if parts.is_normal else []
        self._cuts: dict[int, list[int]] = {}
        self.bridges = [
            token
            for token, text in enumerate(vocabulary.spellings[: parts.size])
            if text in BRIDGES and token not in never
        ]
        if parts.never_cuts or not self._is_cut_up():
            self._cut_by_borders()
        self._added_behind: dict[frozenset[int], tuple[NDArray[np.uint32], list[int]]] = {}
        self._no_rows = TokenRows(self.word_count)
        self._rows: dict[tuple[int, int], TokenRows] = {}
        self._conflicts: dict[int, Conflicts] = {}
        self._clashes: dict[str, list[int]] = {}
        self._going_on: dict[tuple[int, int, int], bool] = {}
        self._copy: Any = None  # of the tokenizer, once it was asked for
        # What ends a value of JSON, the shorter the sooner: where a search had better begin.
        closers = [token for token, text in enumerate(vocabulary.spellings) if _closing(text)]
        closers.sort(key=lambda token: (len(vocabulary.spellings[token]), token))
        self.closing = np.array(closers[:CLOSING], dtype=np.intp)
        self.start = TokenizerState((Branch(self.scanner.start, 0),))
        self.spelling = Spelling(parts, vocabulary, self.added)
        self._opened = {
            pattern: TokenizerState((Branch(state, 0),))
            for pattern, state in zip(parts.opened, self.scanner.opened, strict=True)
        }

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> ProperTokenization:
        """That of the tokenizer which a vocabulary was read out of; made once a vocabulary.

        Raises:
            VocabularyError: the vocabulary was made of bytes; its tokenizer is gone; it was read out of tokenizers that
                differ in how they split texts; or one is not supported.
        """
        with _making:
            if vocabulary.proper is None:
                with without_collector():
                    vocabulary.proper = cls(_only_tokenizer(vocabulary), vocabulary)
            if not isinstance(vocabulary.proper, cls):
                raise TypeError(f"{vocabulary!r} holds something else")
            return vocabulary.proper

    def _is_cut_up(self) -> bool:
        """Whether a fair part of the tokens can be cut off by a pre-tokenizer's cut behind them."""
        parts = self._parts
        scanner = Scanner(parts.splits, parts.memberships, CUTS, self.added.free_bytes, behind=parts.behind)
        self._use(scanner, None)
        return len(self.cut_vocabularies[0].trie.tokens) > SOME * len(self.vocabulary.trie.tokens)

    def _cut_by_borders(self) -> None:
        """Tokens are cut off by what no merge joins to them."""
        parts = self._parts
        leads = parts.leads if parts.never_cuts else 0
        free_bytes = self.added.free_bytes
        scanner = Scanner(parts.splits, parts.memberships, BEHIND_BORDERS, free_bytes, True, leads, parts.behind)
        self._use(scanner, Borders(self.merges, self.vocabulary.spellings))

    def _use(self, scanner: Scanner, borders: Borders | None) -> None:
        vocabulary, parts = self.vocabulary, self._parts
        self.scanner, self.borders = scanner, borders
        self.completions = Completions(
            vocabulary,
            self.merges,
            self._is_piece if parts.is_piece else None,
            scanner.kind_of,
            may_compose=parts.is_normal is None,
        )
        finder = CutterFinder(scanner, vocabulary, self.completions, borders, self.added, self.begun)
        self._cutters, self.cut_vocabularies = finder.find()

    # -- tokens -----------------------------------------------------------------------------------------------------

    def _texts(self) -> Iterator[int]:
        """The tokens that stand for text."""
        return (token for token, text in enumerate(self.vocabulary.spellings) if text)

    def _row_of(self, tokens: Any) -> NDArray[np.uint32]:
        bits = np.zeros(32 * self.word_count, dtype=np.bool_)
        bits[np.asarray(tokens, dtype=np.intp)] = True
        return np.packbits(bits, bitorder="little").view(np.uint32)

    def _find_never(self) -> Iterator[int]:
        """The tokens that no proper sequence holds, whatever stands beside them; and the added ones."""
        parts, spellings = self._parts, self.vocabulary.spellings
        made = np.zeros(max(len(spellings), parts.size), dtype=np.bool_)
        made[: parts.size] = self.merges.is_proper
        made[list(self.words.tokens)] = True
        for token, (text, begun, is_made) in enumerate(zip(spellings, self.begun, made.tolist(), strict=False)):
            is_usual = is_made and begun is not None and (parts.is_normal is None or self._is_normal(text))
            is_needless = token in parts.fallback and self._is_piece(text)
            if text and (not is_usual or is_needless or token in self.added.spelled):
                yield token

    def _is_piece(self, text: bytes) -> bool:
        """Whether a text is a character, and a token by itself."""
        character = text.decode(errors="ignore")
        return self._parts.is_piece is not None and len(character) == 1 and self._parts.is_piece(character)

    def _is_normal(self, text: bytes) -> bool:
        is_normal = self._parts.is_normal
        return is_normal is None or text.isascii() or is_normal(text.decode(errors="ignore"))

    def _may_compose(self, token: int) -> bool:
        """Whether a token's first character may be composed with one before it."""
        text = self.vocabulary.spellings[token]
        return not text[:1].isascii() and composes(text.decode(errors="ignore")[:1])

    def cuts_of(self, state: int) -> list[int]:
        """Which of the scanner's cuts surely make a cut behind a state, and begin no added token."""
        known = self._cuts.get(state)
        if known is None:
            known = [
                cut
                for cut, text in enumerate(self.scanner.cuts)
                if self.scanner.surely_cuts(state, cut) and self.added.behind(frozenset(), text) == frozenset()
            ]
            self._cuts[state] = known
        return known

    def can_go_on(self, state: int, partial: int, token: int) -> bool:
        """Whether any token at all may follow one in the middle of a character.

        Args:
            state: the scanner's state,
            partial: and the beginning of the character.
            token: the one.
        """
        key = (state, partial, token)
        known = self._going_on.get(key)
        if known is None:
            if len(self._going_on) >= KEPT_CONFLICTS:
                self._going_on.clear()
            rows = self.rows(state, partial)
            row = np.array(rows.joins)
            conflicts = self.conflicts(token)
            row &= ~(self._row_of(conflicts.listed) if conflicts.row is None else conflicts.row)
            row |= rows.begins
            known = self._going_on[key] = bool(row.any())
        return known

    def spell(self, text: bytes) -> tuple[int, ...] | None:
        """The tokens of the end of a pre-token, by the merges, as if it stood alone.

        Returns:
            None if that depends on the text before, or cannot be told: the text may not be normal, or holds an added
            token or the beginning of one.
        """
        if self.added.behind(frozenset(), text) != frozenset() or not (text.isascii() or self._parts.is_normal is None):
            return None
        symbols = self._symbols.of(text)
        return tuple(self.merges.merged(symbols)) if symbols or not text else None

    def written(self, texts: Sequence[bytes]) -> tuple[bytes, ...]:
        """How the tokenizer writes the text of some tokens, from where it does otherwise; for messages.

        Args:
            texts: what the tokens spell.

        Returns:
            What its tokens spell; nothing where it would write the same, cannot be asked, or changes the text.
        """
        try:
            text = b"".join(texts).decode()
        except UnicodeDecodeError:
            return ()
        if self._copy is None:  # other threads may use the tokenizer itself, which is not safe
            original = _only_tokenizer(self.vocabulary)
            self._copy = type(original).from_str(original.to_str()) if hasattr(original, "to_str") else None
        if self._copy is None:
            return ()
        tokens = self._copy.encode(text, add_special_tokens=False).ids
        spelled = [self.vocabulary.token_bytes(token) or b"" for token in tokens]
        same = 0
        while same < min(len(spelled), len(texts)) and spelled[same] == texts[same]:
            same += 1
        return tuple(spelled[same:]) if b"".join(spelled) == text.encode() else ()

    # -- what may follow --------------------------------------------------------------------------------------------

    def rows(self, state: int, partial: int) -> TokenRows:
        """What may follow a state of the scanner, up to conflicts with the token before."""
        rows = self._rows.get((state, partial))
        if rows is None:
            if len(self._rows) >= (KEPT_PARTIAL_ROWS if partial else KEPT_ROWS):
                self._rows.clear()
            rows = self._rows[state, partial] = self._make_rows(state, partial)
        return rows

    def _make_rows(self, state: int, partial: int) -> TokenRows:
        rows = TokenRows(self.word_count)
        scanner, trie, cutters = self.scanner, self.vocabulary.trie, self._cutters
        scanner.mark(state, partial, trie, cutters, rows.joins, rows.sure_joins)
        if not partial or scanner.cuts_characters:
            scanner.mark(scanner.cut(state), partial, trie, cutters, rows.begins, rows.sure_begins)
        if partial:  # there are thousands of these, with few tokens each, that are looked at one by one
            rows.share(self._no_rows, scanner.cuts_characters)
            self._drop_pieces(rows.joins, scanner.text_of(partial))
        joins, begins = np.asarray(rows.joins), np.asarray(rows.begins)
        joins &= ~self._never
        if not partial or scanner.cuts_characters:
            begins &= ~self._never
        if partial or not scanner.is_start(state):  # there, a token that follows begins a pre-token, too
            joins &= ~self._only_whole
        return rows

    def _drop_pieces(self, row: Any, partial: bytes) -> None:
        """Takes away the tokens that complete a character to one that is a token itself."""
        if self._parts.is_piece is not None:
            bits = np.unpackbits(np.asarray(row).view(np.uint8), bitorder="little")
            for token in np.flatnonzero(bits).tolist():
                if self._is_piece(partial + self.vocabulary.spellings[token]):
                    row[token >> 5] &= ~(np.uint32(1) << np.uint32(token & 31))

    def conflicts(self, token: int) -> Conflicts:
        """The tokens that cannot follow a token in the same pre-token."""
        known = self._conflicts.get(token)
        if known is None:
            if len(self._conflicts) >= KEPT_CONFLICTS:
                self._conflicts.clear()
            known = self._conflicts[token] = self._find_conflicts(token) if token >= 0 else NO_CONFLICTS
        return known

    def _find_conflicts(self, token: int) -> Conflicts:
        found = self.merges.conflicts(token)
        if len(found) < LISTED_CONFLICTS:
            return Conflicts(found, None)
        return Conflicts(zeros(0), self._row_of(found))

    def clashes(self, place: TokenizerState, words: Any) -> list[int]:
        """Tokens that cannot follow for other reasons: with what stands before they would spell an added token, or be
        composed to another character.

        Args:
            place: what stands before.
            words: uint32[words], the tokens that might follow otherwise.
        """
        found: list[int] = []
        if place.added:
            found += self.added.completing(place.added, self.vocabulary.trie)
        if self._parts.is_normal is not None and place.partial:  # few tokens go on with a character
            found += [token for token in ids(words) if not self._fits(place, self.vocabulary.spellings[token])]
        elif self._parts.is_normal is not None and place.tail:
            known = self._clashes.get(place.tail)
            if known is None:
                if len(self._clashes) >= KEPT_CONFLICTS:
                    self._clashes.clear()
                known = self._clashes[place.tail] = [
                    token
                    for token in self._composing
                    if not self._fits_tail(place.tail, self.vocabulary.spellings[token])
                ]
            found += known
        return found

    def _fits_tail(self, tail: str, text: bytes) -> bool:
        is_normal = self._parts.is_normal
        return is_normal is None or is_normal(tail + text.decode(errors="ignore"))

    def going_on(self, added: frozenset[int]) -> NDArray[np.uint32]:
        """uint32[words]: tokens that only go on with added tokens that a text is in the middle of."""
        return self._row_of(self.added.within(added, self.vocabulary.trie) if added else [])

    def may_end(self, place: TokenizerState) -> bool:
        """Whether the text may end here, or an added token follow."""
        return not place.partial and any(
            self.scanner.may_end(branch.state) and not self.words.is_whole(branch.word) for branch in place.branches
        )

    def is_cut_off(self, place: TokenizerState, words: NDArray[np.uint32]) -> bool:
        """Whether some tokens begin a pre-token here, as if nothing stood before them, and cannot do otherwise.

        Args:
            place: where.
            words: uint32[words], the tokens.
        """
        if place.partial or self._goes_on_with_added(place.added, words):
            return False
        if self.scanner.is_start(place.branches[0].state):
            return True
        begun = np.zeros_like(words)
        for branch in place.branches:
            rows = self.rows(branch.state, 0)
            if (np.asarray(rows.joins) & words).any():
                if not self._leaves_alone(place.token, branch, words):
                    return False
                begun |= np.asarray(rows.joins)
            elif not self.words.is_whole(branch.word):
                begun |= np.asarray(rows.begins)
        fresh = np.asarray(self.rows(self.scanner.start, 0).joins)
        return not (fresh & words & ~begun).any()

    def _goes_on_with_added(self, added: frozenset[int], words: NDArray[np.uint32]) -> bool:
        """Whether one of some tokens may go on with an added token that a text is in the middle of."""
        trie = self.vocabulary.trie
        tokens = [*self.added.completing(added, trie), *self.added.within(added, trie)] if added else []
        return bool((self._row_of(tokens) & words).any())

    def _leaves_alone(self, token: int, branch: Branch, words: NDArray[np.uint32]) -> bool:
        """Whether there is a sure border between a token and whatever begins as one of some tokens do."""
        if self.borders is None or branch.word != OTHER:
            return False
        tokens = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()
        first_bytes = {byte for following in tokens for byte in (self.vocabulary.token_bytes(following) or b"")[:1]}
        return all(self.borders.leaves(token, byte) for byte in first_bytes)

    def added_row(self) -> NDArray[np.uint32]:
        """uint32[words]: the added tokens that stand for text."""
        return self._added_row

    def added_behind(self, added: frozenset[int]) -> tuple[NDArray[np.uint32], list[int]]:
        """The added tokens that may follow where a text is in the middle of some.

        Returns:
            uint32[words], those behind which it is in the middle of none, and any text may begin; and the others.
        """
        known = self._added_behind.get(added)
        if known is None:
            if len(self._added_behind) >= KEPT_ROWS:
                self._added_behind.clear()
            behind = {token: self.added.behind_added(added, token) for token in self.added.spelled}
            possible = [token for token, within in behind.items() if within is not None]
            sure = {token for token in possible if not behind[token] and token not in self._parts.openings}
            others = [token for token in possible if token not in sure]
            known = self._added_behind[added] = (self._row_of(list(sure)), others)
        return known

    # -- moving -----------------------------------------------------------------------------------------------------

    def advance(self, place: TokenizerState, token: int) -> TokenizerState | None:
        """The place behind one more token; None if that is not proper."""
        if token in self.added.spelled:
            after = self.added.behind_added(place.added, token) if self.may_end(place) else None
            opening = self._parts.openings.get(token)
            start = self._opened[opening.in_text] if opening else self.start
            return None if after is None else replace(start, added=after)
        text = self.vocabulary.token_bytes(token)
        if not text or self._never[token >> 5] >> np.uint32(token & 31) & np.uint32(1):
            return None
        added = self.added.behind(place.added, text)
        if added is None or not self._fits(place, text):
            return None
        found = list(self._branches(place, token, text))
        if not found:
            return None
        partial = found[0][1]
        return TokenizerState(
            self._merged([branch for branch, _ in found]), partial, token, added, self.tail(place, text)
        )

    def _branches(self, place: TokenizerState, token: int, text: bytes) -> Iterator[tuple[Branch, int]]:
        scanner, words = self.scanner, self.words
        conflicts = place.token >= 0 and self._conflict(place.token, token)
        for branch in place.branches:
            is_first = scanner.is_start(branch.state) and not place.partial
            if is_first or not (conflicts or words.is_alone(branch.word) or token in words.tokens):
                state, partial = scanner.follow(branch.state, place.partial, text)
                if state:
                    yield (
                        Branch(state, words.begun_by(token) if is_first else words.behind(branch.word, token)),
                        partial,
                    )
            if not is_first and self.may_cut(place.partial) and not words.is_whole(branch.word):
                state, partial = scanner.follow(scanner.cut(branch.state), place.partial, text)
                if state:
                    yield Branch(state, words.begun_by(token)), partial

    def may_cut(self, partial: int) -> bool:
        """Whether a cut may come behind the beginning of a character, if there is any."""
        return not partial or self.scanner.cuts_characters

    def _conflict(self, left: int, right: int) -> bool:
        proper = self.merges.is_proper
        return not (proper[left] and proper[right]) or self.merges.crosses(left, right)

    def _merged(self, branches: Sequence[Branch]) -> tuple[Branch, ...]:
        if len(branches) == 1:
            return (branches[0],)
        states: dict[int, int] = {}
        for branch in branches:
            states[branch.word] = self.scanner.union(states.get(branch.word, 0), branch.state)
        return tuple(Branch(state, word) for word, state in sorted(states.items()))

    def _fits(self, place: TokenizerState, text: bytes) -> bool:
        """Whether some characters may stand here: they stay what they are, and are spelled by bytes if need be."""
        parts = self._parts
        if not place.partial:
            return parts.is_normal is None or text[:1].isascii() or self._fits_tail(place.tail, text)
        text = self.scanner.text_of(place.partial) + text
        if self._is_piece(text):
            return False
        whole = text.decode(errors="ignore")
        return parts.is_normal is None or not whole or parts.is_normal(place.tail + whole)

    def tail(self, place: TokenizerState, text: bytes) -> str:
        """The last characters behind some more bytes, as far as they may yet be composed with others."""
        if self._parts.is_normal is None:
            return ""
        text = self.scanner.text_of(place.partial) + text
        whole = place.tail + text.decode(errors="ignore")
        first = len(whole) - 1
        while first > 0 and composes(whole[first]):
            first -= 1
        return whole[max(first, 0) :]

    def put_behind(self, prompt_ids: Sequence[int]) -> bytes:
        """What the tokenizer puts between a prompt and any text behind it."""
        opening = self._parts.openings.get(prompt_ids[-1]) if prompt_ids else None
        return opening.put if opening else b""

    def behind_prompt(self, token_ids: Sequence[int]) -> TokenizerState:
        """The place behind a prompt. What is not proper in the prompt itself is taken as it is."""
        spelled, first = self.added.spelled, len(token_ids)
        while first and token_ids[first - 1] not in spelled and self.vocabulary.token_bytes(token_ids[first - 1]):
            first -= 1
        place = self._behind_added(token_ids[first - 1]) if first else self.start
        for token in token_ids[first:]:  # as if a text began with one that is not proper there
            place = self.advance(place, token) or self.advance(self.start, token) or self.start
        return place

    def _behind_added(self, token: int) -> TokenizerState:
        """The place behind the last added token of a prompt."""
        if token not in self._parts.added:
            return self.start
        opening = self._parts.openings.get(token)
        start = self._opened[opening.behind_prompt] if opening else self.start
        return replace(start, added=self.added.behind_added(frozenset(), token) or frozenset())


_making = threading.Lock()
_closing = re.compile(rb'["}\]]').search


def _only_tokenizer(vocabulary: Vocabulary) -> Any:
    tokenizers = vocabulary.tokenizers
    if not tokenizers:
        raise VocabularyError(
            "proper tokenization needs the tokenizer, and the vocabulary does not know it",
            hint="make the vocabulary with Vocabulary.from_huggingface, and keep the tokenizer",
        )
    # To write tokenizers down, which tells whether they are the same, takes a tenth of a second each.
    if len(tokenizers) > 1 and len({_written(tokenizer) for tokenizer in tokenizers}) > 1:
        raise VocabularyError(
            "proper tokenization needs one tokenizer, and the vocabulary was read out of several that split texts "
            "differently"
        )
    return tokenizers[-1]


def _written(tokenizer: Any) -> Any:
    """What a tokenizer does to texts; without what it does to batches, which calls change."""
    if not hasattr(tokenizer, "to_str"):
        return id(tokenizer)
    config = json.loads(tokenizer.to_str())
    return json.dumps({key: part for key, part in config.items() if key not in ("padding", "truncation")})
