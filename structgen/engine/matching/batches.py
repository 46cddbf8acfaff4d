"""The masks of the sequences of a batch, each with a matcher of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.bitmask import as_rows, as_words
from structgen.errors import VocabularyError

if TYPE_CHECKING:
    from structgen.engine.vocabulary.bitmask import Bitmask

__all__ = ["fill_next_token_bitmask"]

# Declared as a C integer in the .pxd, so not importable from here.
FULL = 0xFFFFFFFF


def fill_next_token_bitmask(matchers: Sequence[Matcher | None], mask: Bitmask) -> None:
    """Write which tokens may come next in every sequence of a batch.

    Args:
        matchers: one for each row. Their grammars may differ; their vocabulary is the same. None stands for a sequence
            without a grammar: its row allows every token. A text that has ended allows only end tokens.
        mask: uint32 or int32 [rows, ceil(V / 32)], numpy or torch on the CPU. See `structgen.allocate_token_bitmask`.

    Raises:
        VocabularyError: the mask has another shape or type.
        LimitExceededError: a bound of `Limits` was passed; the rows before it are written.

    Example:
        >>> vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"b", 2: b"</s>"}, eos_token_ids=[2])
        >>> grammars = [structgen.Grammar.regex(pattern) for pattern in ("a|b", "b?")]
        >>> matchers = [structgen.compile(grammar, vocabulary).matcher() for grammar in grammars]
        >>> mask = structgen.allocate_token_bitmask(len(matchers), vocabulary.size)
        >>> structgen.fill_next_token_bitmask(matchers, mask)
        >>> [f"{word:03b}" for word in mask[:, 0]]
        ['011', '110']
    """
    words = as_rows(mask)
    if len(matchers) != words.shape[0]:
        raise VocabularyError(f"got {len(matchers)} matchers for {words.shape[0]} rows of the mask")
    for row in range(len(matchers)):
        matcher = matchers[row]
        if matcher is None:
            words[row, :] = FULL
            continue
        if matcher._compiled.masks.empty.shape[0] != words.shape[1]:
            as_words(mask, matcher._compiled.vocabulary.size)  # raises the error that names the right shape
        matcher._fill(words[row])
