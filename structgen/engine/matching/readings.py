r"""Readings of tokens in grammars with token terminals: as text, as a mark, and as the end of the text.

A token that a grammar names may also be text (`<tool_call>` in some vocabularies), or an end token. All readings that
fit stay possible, and the item set after the token is the union of theirs. What a `Matcher` keeps of an accepted token
says which readings fitted, so that the set can be found again:

    kept                           the token was read as
    text                           text
    mark                           a token terminal
    mark, text                     both
    MAY_HAVE_ENDED, mark           a token terminal, and the end of the text
    nothing                        the end of the text
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.vocabulary.marks import MARK_BYTE, MARK_LENGTH, pieces_of, token_of
from structgen.errors import LimitExceededError

__all__ = ["after_token", "follow", "is_marked", "may_have_ended", "read", "written"]

MAY_HAVE_ENDED = bytes([MARK_BYTE]) * (MARK_LENGTH + 1)  # no mark, and no text after a mark, begins like it
MARK = bytes([MARK_BYTE])


def read(
    compiled: CompiledGrammar, set_id: int, token_id: int, readings: tuple[bytes, bytes], may_end: bool
) -> tuple[bytes, int]:
    """Read a token with several readings.

    Args:
        compiled: the grammar; its lock is held.
        set_id: the set before the token.
        token_id: the token.
        readings: its text, which may be empty, and its mark.
        may_end: whether the text may end before the token.

    Returns:
        What is kept of the token, and the set after it. Nothing and 0 where neither text nor mark fits.

    Raises:
        LimitExceededError: see `ItemSetStore.goto`.
    """
    sets = compiled.sets
    text, mark = readings
    reached = sets.goto_either(set_id, token_id, text, mark)
    if not reached:
        return b"", 0
    reached = sets.after_token(reached)
    if not text:
        ends = may_end and token_id in compiled.vocabulary.eos_token_ids
        return (MAY_HAVE_ENDED + mark if ends else mark), reached
    if not sets.goto_all(set_id, text):
        return mark, reached
    return (mark + text if sets.goto_all(set_id, mark) else text), reached


def is_marked(kept: bytes) -> bool:
    """Return whether a token was read as a mark, at least; given what is kept of it."""
    return kept.startswith(MARK)


def may_have_ended(texts: Sequence[bytes]) -> bool:
    """Return whether the last token may have been the end of the text, given what is kept of the tokens."""
    return bool(texts) and texts[-1].startswith(MAY_HAVE_ENDED)


def follow(compiled: CompiledGrammar, set_id: int, kept: bytes) -> int:
    """Return the set after a token that was read as a mark, given what is kept of it."""
    kept = kept.removeprefix(MAY_HAVE_ENDED)
    mark, text = kept[:MARK_LENGTH], kept[MARK_LENGTH:]
    return compiled.sets.goto_either(set_id, token_of(mark), text, mark)


def after_token(compiled: CompiledGrammar, set_id: int) -> int:
    """Return the set after a token has ended; see `ItemSetStore.after_token`. The sets may be begun anew for it."""
    try:
        return compiled.sets.after_token(set_id)
    except LimitExceededError as error:
        if error.limit != "item_sets":
            raise
        dropped = compiled.sets
        compiled.renew_sets()
        return compiled.sets.after_token(compiled.sets.adopt(dropped, set_id))


def written(compiled: CompiledGrammar, texts: Iterable[bytes]) -> bytes:
    """Return the text of some tokens, given what is kept of them; token terminals as people write them."""
    if not compiled.has_marks:
        return b"".join(texts)
    kept = [text.removeprefix(MAY_HAVE_ENDED) for text in texts]
    return shown(compiled, b"".join(text[:MARK_LENGTH] if is_marked(text) else text for text in kept))


def shown(compiled: CompiledGrammar, text: bytes) -> bytes:
    """Return a text with marks as people write it; see `Vocabulary.shown`."""
    show = compiled.vocabulary.shown
    return b"".join(piece if isinstance(piece, bytes) else show(piece) for piece in pieces_of(text))
