"""Cutting texts: for each token, a text that always ends it.

If the cutting text comes next, the token stays as it is: there is a cut of the pre-tokenizer between the two, or a
border that no merge crosses. With Llama 3's tokenizer:

    token            cutting text    reason
    `winter`         ` `             a cut comes before each space after a letter
    `12`             `"`             a cut comes between digits and punctuation; not `0`, which would join the token

A mask over the extended tokens (`winter `, `12"`) shows for all tokens at once which of them lead on.
"""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.arrays import zeros
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.tokenization.configuration.added_tokens import AddedTokens
from structgen.tokenization.matching.completions import Completions
from structgen.tokenization.matching.whole_words import OTHER, WholeWords
from structgen.tokenization.merges.borders import Borders
from structgen.tokenization.pre_tokens.scanner import Cutters, Scanner

__all__ = ["AFTER_BORDERS", "CUTS", "CutterFinder"]

# Texts that may make a cut before them. Two orders of preference follow: inside strings of JSON, and between values.
CUTS = (
    *(b'"', b"0", b"n", b",", b"}", b" ", b"\n"),
    *(b' "', b" ,", b" }", b" :", b" ]", b" {", b" [", b" n", b" t", b" f", b" -", b" 0"),
)
PREFERRED = (
    (b" ", b",", b"}", b"0", b" ,", b' "', b"\n"),  # most of these do not end a string of JSON
    (b"0", b'"', b"n", b' "', b" n", b"\n"),
)
# Texts that may come after a border. Letters that begin few words are joined to few tokens.
AFTER_BORDERS = tuple(bytes([byte]) for byte in [*range(0x20, 0x7F), 0x0A])
_LETTERS = b"qzjxkvwyfbhgpmuclnrtsdoiea"
PREFERRED_BORDERS = tuple(
    tuple(bytes([byte]) for byte in some)
    for some in (
        b" 0,}]:-_./" + _LETTERS + b'ETA"\n',
        b'"' + _LETTERS + _LETTERS.upper() + b"0 -_/.:\n",
    )
)
LETTERS_FIRST = 1  # number of the order in which unfinished characters are preferably completed to letters
ESCAPES = (b"n", b'"', b"\\", b"/", b"t", b"r", b"b", b"f", b"u")


class CutterFinder:
    """Finds the cutting texts of a tokenizer's tokens.

    Args:
        scanner: its pre-tokenizer; the texts are among its `cuts`.
        vocabulary: its tokens.
        completions: the completions of their unfinished characters.
        borders: the borders that no merge crosses; None if only cuts count.
        words: pre-tokens that are one token against the merges.
        added: the added tokens, which a cutting text must not continue.
        begun: by token, the added tokens that its text is in the middle of; None where one occurs in it.
    """

    def __init__(
        self,
        scanner: Scanner,
        vocabulary: Vocabulary,
        completions: Completions,
        borders: Borders | None,
        words: WholeWords,
        added: AddedTokens,
        begun: Sequence[frozenset[int] | None],
    ) -> None:
        self.scanner = scanner
        self.vocabulary = vocabulary
        self.completions = completions
        self.borders = borders
        self.words = words
        self.added = added
        self.begun = begun

    def find(self) -> tuple[list[Cutters], list[Vocabulary]]:
        """Return two cutting texts for each token, and the two vocabularies of tokens with their cutting texts."""
        preferred = PREFERRED if self.borders is None else PREFERRED_BORDERS
        preferred = tuple(tuple(filter(self._is_free, texts)) for texts in preferred)
        ends = self.scanner.ends(self.vocabulary.trie, self.vocabulary.size)
        made = [self._find(ends, texts, order == LETTERS_FIRST) for order, texts in enumerate(preferred)]
        return [cutters for cutters, _ in made], [vocabulary for _, vocabulary in made]

    def _find(
        self, ends: Sequence[tuple[int, int]], preferred: tuple[bytes, ...], to_letter: bool
    ) -> tuple[Cutters, Vocabulary]:
        """Return a cutting text for each token, and the vocabulary of both together.

        Args:
            ends: the state and the unfinished character after each token, see `Scanner.ends`.
            preferred: texts that may cut, the best ones first.
            to_letter: whether unfinished characters are preferably completed to letters.
        """
        vocabulary, scanner = self.vocabulary, self.scanner
        cuts = scanner.cuts
        cut_of = zeros(vocabulary.size, -1)
        completions: dict[int, bytes] = {}
        spelled = {}
        order = [cuts.index(text) for text in preferred]
        escapes = [cuts.index(text) for text in (ESCAPES[:1] if self.borders is None else ESCAPES)]
        usual: dict[int, list[int]] = {}
        has_borders = self.borders is not None
        tokens = list(vocabulary.trie.tokens)  # in the order of their texts: the extended ones are nearly in order, too
        facts = (map(each.__getitem__, tokens) for each in (vocabulary.spellings, ends, self.begun))
        for token, text, (state, partial), begun in zip(tokens, *facts, strict=True):
            last = token
            if partial:
                state, completion, last = self._completed(token, state, partial, to_letter)
            if not state or (has_borders and self.words.begun_by(token) != OTHER):  # a word continues after a border
                continue
            sure = usual.get(state)
            if sure is None:
                sure = usual[state] = [cut for cut in order if scanner.surely_cuts(state, cut)]
            if text.endswith(b"\\"):  # mostly the beginning of an escape, so few characters can follow
                sure = [*(cut for cut in escapes if scanner.surely_cuts(state, cut)), *sure]
            if begun:
                ending = completion if partial else b""
                sure = [cut for cut in sure if self.added.after(begun, ending + cuts[cut]) == frozenset()]
            cut = self._first_cut(sure, last) if has_borders else sure[0] if sure else -1
            if cut >= 0:
                cut_of[token] = cut
                if partial:
                    completions[token] = completion
                    text += completion
                spelled[token] = text + cuts[cut]
        # If nothing cuts, it is a vocabulary of one token that occurs in no text.
        return Cutters(cut_of, completions), vocabulary.with_spellings(spelled or {0: b"\xff"})

    def _is_free(self, cut: bytes) -> bool:
        """Return whether no added token may begin in a text of several bytes, after its first one or with it."""
        return len(cut) == 1 or self.added.after(frozenset(), cut) == frozenset()

    def _completed(self, token: int, state: int, partial: int, to_letter: bool) -> tuple[int, bytes, int]:
        """Return the state after a token with its last character completed, the completion, and the last token of both.

        The state is 0 if there is no completion.
        """
        completion = self.completions.of(token)
        if not completion.texts:
            return 0, b"", token
        at = 0 if to_letter else len(completion.texts) - 1
        state, partial = self.scanner.follow(state, partial, completion.texts[at])
        return 0 if partial else state, completion.texts[at], completion.last_tokens[at]

    def _first_cut(self, cuts: list[int], token: int) -> int:
        """Return the first of some cuts that has a sure border with a token; -1 for none."""
        for cut in cuts:
            if self.borders is None or self.borders.is_border(token, self.scanner.cuts[cut][0]):
                return cut
        return -1
