"""Pre-tokens that are one token although the merges do not make it (`ignore_merges`).

Suppose that ` Williamson` is a token, and the merges make ` William` and `son` of its text. With `ignore_merges`:

    pre-token ` Williamson`      the token ` Williamson`; never ` William`, `son`
    pre-token ` Williamsons`     ` William`, `sons`: such a token stands only for a whole pre-token
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.tokenization.configuration.symbols import Symbols
from structgen.tokenization.configuration.tokenizer_parts import Parts
from structgen.tokenization.merges.merge_table import MergeTable

__all__ = ["WholeWords"]

OTHER = 0  # the node of tokens with which no such word begins
ALONE = -1  # the node of a pre-token that is one of these tokens: it must end here
ROOT = 1


class WholeWords:
    """The tokens of such words, and a trie over the tokens that the merges make of them; its nodes are numbers.

    Args:
        spelled: by token, the tokens that the merges make of its text.
        never: other sequences of tokens that are no whole pre-tokens.

    Attributes:
        tokens: the tokens that stand for whole words only.
    """

    def __init__(self, spelled: Mapping[int, Sequence[int]], never: Iterable[Sequence[int]] = ()) -> None:
        self.tokens = frozenset(spelled)
        self._children: dict[tuple[int, int], int] = {}
        self._begun: dict[int, int] = dict.fromkeys(self.tokens, ALONE)
        self._ends: set[int] = set()
        self._following: dict[int, list[int]] = {}
        for tokens in (*spelled.values(), *never):
            node = ROOT
            for token in tokens:
                known = self._children.get((node, token))
                if known is None:
                    self._following.setdefault(node, []).append(token)
                    known = self._children[node, token] = len(self._children) + ROOT + 1
                node = known
            self._ends.add(node)
        for token in self._following.get(ROOT, ()):
            self._begun.setdefault(token, self._children[ROOT, token])

    @classmethod
    def of(cls, parts: Parts, merges: MergeTable, vocabulary: Vocabulary, symbols: Symbols) -> WholeWords:
        """Return the whole words of a tokenizer.

        Args:
            parts: the tokenizer.
            merges: its merges.
            vocabulary: its tokens.
            symbols: the symbols that merges begin with.
        """
        proper = merges.is_proper
        spelled = {}
        for token, text in enumerate(vocabulary.spellings[: parts.size]):
            if text and parts.lengths[token] and not proper[token] and token not in parts.added:
                spelled[token] = merges.merged(symbols.of(text))
        # A pre-token `<0x41>` would be the token that is decoded to "A".
        named = [
            merges.merged(symbols.of(piece.encode())) for piece in parts.pieces if parts.pieces[piece] in parts.fallback
        ]
        return cls(spelled, named)

    def begun_by(self, token: int) -> int:
        """Return the node of a pre-token after its first token."""
        return self._begun.get(token, OTHER)

    def after(self, word: int, token: int) -> int:
        """Return the node after one more token."""
        return OTHER if word == OTHER else self._children.get((word, token), OTHER)

    def following(self, word: int) -> list[int]:
        """Return the tokens that continue one of the words."""
        return self._following.get(word, []) if word > ROOT else []

    def is_whole(self, word: int) -> bool:
        """Return whether a pre-token must not end here, as its text is one token."""
        return word != OTHER and word in self._ends

    def is_alone(self, word: int) -> bool:
        """Return whether a pre-token must end here."""
        return word == ALONE
