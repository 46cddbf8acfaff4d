r"""Guesses about the cuts of a pre-tokenizer, followed from left to right without knowing what comes.

A pre-tokenizer cuts where its regexes match, and a regex may look ahead: whether `\s+(?!\S)` ends here is known one
character later, or many. So a border between two tokens is *guessed* to be a cut or none, together with the conditions
that must come true for the guess to be right:

- no cut, inside a match: one of the ways to match that are preferred to ending here has to succeed;
- a cut, after a match: all of those have to fail;
- a cut, or none, before text that no match covers: no match may begin there.

With GPT-2's pattern (`… ?\p{L}+|… |\s+(?!\S)|\s+`), after two spaces:

    cut after the first space        then ` ?\p{L}+` (or another alternative) has to match from the second space on
    no cut between the two           the run of spaces continues: `\s+(?!\S)` succeeds later

Exactly one of all guesses about a text comes true. A sequence of tokens is proper if it fits that one. Guesses that the
text does not fit are dropped on the way; if none is left, the sequence is not proper.

Several splits in a row, each of the pieces of the one before, are followed at the same time: a cut of one of them is
the end of the text for all that come after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from structgen.tokenization.pre_tokens.split_patterns import Program, Threads

__all__ = ["FRESH", "Guess", "Split", "is_settled", "may_end", "opened", "options"]


@dataclass(frozen=True, slots=True)
class Split:
    """A split of a pre-tokenizer: by the matches of a pattern.

    Attributes:
        program: the pattern.
        first_leaf: the index of its first class among the classes of all splits.
        behavior: a behaviour of `tokenizers`: "isolated", "merged_with_previous", "merged_with_next", "contiguous"; or
            "removed": a text must not have a match, as that would be lost. And three of our own: "gaps_removed": a text
            must have nothing between matches. "opening": it does not cut, and a text that is begun by it (`opened`)
            must not have a match at its beginning. "kept": it does not cut, and a text must not have a match other than
            one certain character.
        rewrites: the number of rewrites of characters that are done before it; None if all of them.
        kept: the class of its program that holds only this character.
    """

    program: Program
    first_leaf: int
    behavior: str
    rewrites: int | None = None
    kept: int = 0

    def members(self, members: Sequence[bool] | None) -> Sequence[bool] | None:
        """Return the part of a character's memberships that belongs to this split."""
        return members if members is None else members[self.first_leaf :]


_State: TypeAlias = tuple[Threads | int | None, tuple[int, ...]]
"""The state of one split: the threads of a match that has begun, or, between matches, what counts about the character
before (see `Program.between`); and the threads that have to fail."""

FRESH: _State = ((), ())
"""The state at the beginning of a piece, where nothing is known yet."""

NEVER: Threads = ()
"""The threads of a match that does not begin."""

# Behaviours that do not cut before a match, between two of them, and after one.
_CONTINUED_BEFORE = ("merged_with_previous", "kept")
_CONTINUED_WITHIN = ("contiguous", "kept")
_CONTINUED_AFTER = ("merged_with_next", "kept")

Guess: TypeAlias = tuple[_State, ...]
"""A guess about a text: a state for each split, with all that still has to come true."""


def opened(splits: Sequence[Split], opening: Split | None = None) -> Guess:
    """Return the guess at the beginning of a piece, after an added token with an opening or elsewhere."""
    return tuple((None, split.program.start) if split is opening else FRESH for split in splits)


def options(
    splits: Sequence[Split], guess: Guess, members: Sequence[bool], is_cut: bool = False
) -> Iterator[tuple[bool, Guess]]:
    """Yield the guesses about the border before a character, and the guesses after the character.

    Args:
        splits: the splits of the pre-tokenizer, or its last ones.
        guess: the guess before.
        members: whether the character is of a class, for all classes of all splits.
        is_cut: whether a split before these cuts there.

    Yields:
        Whether there is a cut, and the guess from then on.
    """
    if not splits:
        yield is_cut, ()
        return
    split, state = splits[0], guess[0]
    if is_cut and state != FRESH:
        if not _may_end(split, state):
            return
        state = FRESH
    for cuts, after in _steps(split, state, split.members(members)):
        threads, doomed = after
        if split.program.matches_here(doomed):
            continue  # a thread that has to fail succeeds, whatever follows
        if isinstance(threads, tuple) and threads and set(threads) <= set(doomed):
            continue  # the same threads have to succeed and to fail
        for cuts_below, below in options(splits[1:], guess[1:], members, is_cut or cuts):
            yield cuts_below, (after, *below)


def may_end(splits: Sequence[Split], guess: Guess) -> bool:
    """Return whether a guess comes true if the text, or the piece of it between added tokens, ends here."""
    return all(_may_end(split, state) for split, state in zip(splits, guess, strict=True))


def _may_end(split: Split, state: _State) -> bool:
    if state == FRESH:
        return True
    threads, doomed = state
    if split.program.advance(doomed, None)[1]:
        return False
    return not isinstance(threads, tuple) or split.program.advance(threads, None)[1]


def is_settled(splits: Sequence[Split], guess: Guess) -> bool:
    """Return whether a guess has come true, whatever follows."""
    return all(
        not doomed
        and (not isinstance(threads, tuple) or (split.behavior != "kept" and split.program.matches_here(threads)))
        for split, (threads, doomed) in zip(splits, guess, strict=True)
    )


def _steps(split: Split, state: _State, members: Sequence[bool] | None) -> Iterator[tuple[bool, _State]]:
    """Yield the guesses of one split: whether it cuts before the character, and its state after it."""
    program, behavior = split.program, split.behavior
    begun = NEVER if behavior == "opening" else program.advance(program.start_after(state[0]), members)[0]
    may_begin = bool(begun) and behavior != "removed" and (behavior != "kept" or _is_kept(split, members))
    may_pause = behavior != "gaps_removed"
    between = program.between(members)
    if state == FRESH:
        if may_begin:
            yield False, (begun, ())
        if may_pause:
            yield False, (between, _doomed(begun))
        return
    threads, doomed = state
    doomed, is_wrong = program.advance(doomed, members)
    if is_wrong:
        return
    if not isinstance(threads, tuple):
        if may_pause:
            yield False, (between, _doomed(doomed, begun))
        if may_begin:
            yield behavior not in _CONTINUED_BEFORE, (begun, _doomed(doomed))
        return
    preferred, ends = program.advance(threads, members)
    if preferred and behavior != "kept":
        yield False, (preferred, _doomed(doomed))
    if ends:
        if may_begin:
            yield behavior not in _CONTINUED_WITHIN, (begun, _doomed(doomed, preferred))
        if may_pause:
            yield behavior not in _CONTINUED_AFTER, (between, _doomed(doomed, preferred, begun))


def _is_kept(split: Split, members: Sequence[bool] | None) -> bool:
    return members is not None and members[split.kept]


def _doomed(*threads: Threads) -> tuple[int, ...]:
    """Return all these threads, which have to fail; their order makes no difference."""
    return tuple(sorted({position for some in threads for position in some}))
