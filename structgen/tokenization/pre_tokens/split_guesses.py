r"""How a tokenizer cuts a text into pre-tokens, followed from left to right without knowing what comes.

A pre-tokenizer cuts where its regexes match, and a regex may look ahead: whether `\s+(?!\S)` ends here shows a
character later, or many. So a border between two tokens is *guessed* to be a cut or none, and what has to come true
for the guess to be right is carried along:

- no cut, inside a match: one of the ways to match that are preferred to ending here has to succeed;
- a cut, behind a match: all of those have to fail;
- a cut, or none, before what no match covers: no match may begin there.

Of all guesses about a text exactly one comes true. A sequence of tokens is proper if it fits that one, so those that do
not fit are dropped on the way, and where none is left the sequence is not proper.

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
    """One split of a pre-tokenizer: by the matches of a pattern.

    Attributes:
        program: the pattern.
        first_leaf: where the classes of its program begin among those of all splits.
        behavior: what `tokenizers` calls so: "isolated", "merged_with_previous", "merged_with_next", "contiguous",
            "removed": no proper text has a match. Besides, "gaps_removed": nor has it anything between matches; and
            "opening": it does not cut, but a text that is begun by it (`opened`) has no match at its beginning; and
            "kept": it does not cut, and no proper text has a match but by one certain character alone.
        rewrites: how many of the rewrites of characters are done before it; None if all of them.
        kept: the class of its program that only holds this character.
    """

    program: Program
    first_leaf: int
    behavior: str
    rewrites: int | None = None
    kept: int = 0

    def members(self, members: Sequence[bool] | None) -> Sequence[bool] | None:
        """The part of a character's memberships that belongs to this split."""
        return members if members is None else members[self.first_leaf :]


_State: TypeAlias = tuple[Threads | int | None, tuple[int, ...]]
"""Of one split: the threads of the match that was begun, or, between matches, what counts of the character before (see
`Program.between`); and threads that have to fail."""

FRESH: _State = ((), ())
"""At the beginning of a piece, where nothing is known yet."""

NEVER: Threads = ()
"""Of a match that does not begin."""

# Behaviors that do not cut before a match, between two of them, and behind one.
_CONTINUED_BEFORE = ("merged_with_previous", "kept")
_CONTINUED_WITHIN = ("contiguous", "kept")
_CONTINUED_BEHIND = ("merged_with_next", "kept")

Guess: TypeAlias = tuple[_State, ...]
"""What is guessed about a text: a state for each split. It carries all that still has to come true."""


def opened(splits: Sequence[Split], opening: Split | None = None) -> Guess:
    """What is known at the beginning of a piece, where an opening counts or none."""
    return tuple((None, split.program.start) if split is opening else FRESH for split in splits)


def options(
    splits: Sequence[Split], guess: Guess, members: Sequence[bool], is_cut: bool = False
) -> Iterator[tuple[bool, Guess]]:
    """What can be guessed about the border before a character, and where that leads behind the character.

    Args:
        splits: the pre-tokenizer, or its last ones.
        guess: what was guessed before.
        members: whether the character is of a class, for all classes of all splits.
        is_cut: whether a split before these cuts there.

    Yields:
        Whether there is a cut, and what is guessed from then on.
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
            continue  # what has to fail succeeds, whatever follows
        if isinstance(threads, tuple) and threads and set(threads) <= set(doomed):
            continue  # it is what has to succeed
        for cuts_below, below in options(splits[1:], guess[1:], members, is_cut or cuts):
            yield cuts_below, (after, *below)


def may_end(splits: Sequence[Split], guess: Guess) -> bool:
    """Whether what was guessed comes true if the text, or the piece of it between added tokens, ends here."""
    return all(_may_end(split, state) for split, state in zip(splits, guess, strict=True))


def _may_end(split: Split, state: _State) -> bool:
    if state == FRESH:
        return True
    threads, doomed = state
    if split.program.advance(doomed, None)[1]:
        return False
    return not isinstance(threads, tuple) or split.program.advance(threads, None)[1]


def is_settled(splits: Sequence[Split], guess: Guess) -> bool:
    """Whether all that was guessed has come true, whatever follows."""
    return all(
        not doomed
        and (not isinstance(threads, tuple) or (split.behavior != "kept" and split.program.matches_here(threads)))
        for split, (threads, doomed) in zip(splits, guess, strict=True)
    )


def _steps(split: Split, state: _State, members: Sequence[bool] | None) -> Iterator[tuple[bool, _State]]:
    """The same for one split."""
    program, behavior = split.program, split.behavior
    begun = NEVER if behavior == "opening" else program.advance(program.start_behind(state[0]), members)[0]
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
            yield behavior not in _CONTINUED_BEHIND, (between, _doomed(doomed, preferred, begun))


def _is_kept(split: Split, members: Sequence[bool] | None) -> bool:
    return members is not None and members[split.kept]


def _doomed(*threads: Threads) -> tuple[int, ...]:
    """All these threads; which of them is preferred makes no difference, as none may match."""
    return tuple(sorted({place for some in threads for place in some}))
