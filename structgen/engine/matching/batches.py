"""The masks of the sequences of a batch, each with a matcher of its own.

Where masks are applied to logits as well, several threads overlap the two: the calling thread fills rows under the
interpreter lock, and the others apply them without it. Applying a mask of 128,256 tokens takes some 20 µs, and filling
one that is known less than 1 µs.

    calling thread          another thread
    fill row 0              -
    fill row 1              apply row 0
    fill row 2              apply row 1
    apply row 2             -
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.bitmask import apply_token_bitmask, as_rows, as_words, masked_logits
from structgen.engine.vocabulary.bitmask_kernel import LogitsQueue, MaskedLogits
from structgen.engine.worker_threads import thread_count
from structgen.errors import StructgenError, VocabularyError

if TYPE_CHECKING:
    from structgen.engine.vocabulary.bitmask import Bitmask, Logits

__all__ = ["fill_next_token_bitmask"]

# Declared as a C integer in the .pxd, so not importable from here.
FULL = 0xFFFFFFFF


def fill_next_token_bitmask(
    matchers: Sequence[Matcher | None], mask: Bitmask, *, logits: Logits | None = None, threads: int = 1
) -> None:
    """Write which tokens may come next in every sequence of a batch.

    Args:
        matchers: one for each row. Their grammars may differ; their vocabulary is the same. None stands for a sequence
            without a grammar: its row allows every token. A text that has ended allows only end tokens.
        mask: uint32 or int32 [rows, ceil(V / 32)], numpy or torch on the CPU. See `structgen.allocate_token_bitmask`.
        logits: float [rows, V], to which the mask is applied as well, as by `structgen.apply_token_bitmask`.
        threads: the number of threads. This one fills the rows; the others apply those that are filled to logits on the
            CPU, meanwhile and without the interpreter lock. So it has an effect only with logits.

    Raises:
        VocabularyError: the mask or the logits have another shape or type.
        LimitExceededError: a bound of `Limits` was passed; a note names the row. The rows before it are written, and
            may be applied to their logits. The logits of the other rows stay as they are.
        ValueError: `threads` is not positive.
        TypeError: it is no integer.

    Example:
        >>> vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"b", 2: b"</s>"}, eos_token_ids=[2])
        >>> grammars = [structgen.Grammar.regex(pattern) for pattern in ("a|b", "b?")]
        >>> matchers = [structgen.compile(grammar, vocabulary).matcher() for grammar in grammars]
        >>> mask = structgen.allocate_token_bitmask(len(matchers), vocabulary.size)
        >>> structgen.fill_next_token_bitmask(matchers, mask)
        >>> [f"{word:03b}" for word in mask[:, 0]]
        ['011', '110']
    """
    threads = thread_count(threads)
    words = as_rows(mask)
    if len(matchers) != words.shape[0]:
        raise VocabularyError(f"got {len(matchers)} matchers for {words.shape[0]} rows of the mask")
    masked = None if logits is None else masked_logits(logits, words)
    if masked is not None:
        _fill_and_apply(matchers, mask, words, masked, threads)
        return
    _fill(matchers, mask, words, None)
    if logits is not None:
        apply_token_bitmask(logits, mask)


def _fill_and_apply(
    matchers: Sequence[Matcher | None], mask: Bitmask, words: Any, masked: MaskedLogits, threads: int
) -> None:
    """Fill all rows, and apply those that are filled, even if one fails."""
    queue = LogitsQueue(masked)
    try:
        queue.begin(threads, masked.rows)
        _fill(matchers, mask, words, queue)
    finally:
        queue.finish()


def _fill(matchers: Sequence[Matcher | None], mask: Bitmask, words: Any, queue: LogitsQueue | None) -> None:
    """Fill all rows; add each to the queue, if there is one."""
    for row in range(len(matchers)):
        _fill_row(matchers[row], mask, words, row)
        if queue is not None:
            queue.add(1)


def _fill_row(matcher: Matcher | None, mask: Bitmask, words: Any, row: int) -> None:
    """Fill one row; a note names it if a bound was passed."""
    if matcher is None:
        words[row, :] = FULL
        return
    if matcher._compiled.masks.empty.shape[0] != words.shape[1]:
        as_words(mask, matcher._compiled.vocabulary.size)  # raises the error that names the right shape
    try:
        matcher._fill(words[row])
    except StructgenError as error:
        error.add_note(f"in row {row} of the batch")
        raise
