"""Sessions that share one key-value cache of fixed size, such as a context of llama.cpp.

The cache has a number of cells (one for each token) and of numbered sequences. Every session remembers its own tokens.
It gets a sequence when it first reads. When others need the room, the session that was unused for longest loses its
sequence, and reads all its tokens again at its next pass. So any number of sessions may be alive, and each one returns
the logits of its own tokens, whatever the cache holds.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structgen.engine.fork_safety import forkable_lock
from structgen.errors import ModelError

__all__ = ["Entry", "SequenceCache", "SequencePool", "SequenceSession"]

Entry: TypeAlias = tuple[int, int, int, bool]
"""A token to read: its id, its position in its sequence, the sequence, and whether the logits after it are needed."""

Request: TypeAlias = tuple[Any, Sequence[int], int]  # of `structgen.models.base.SessionBatch.forward`


class SequenceCache(Protocol):
    """A key-value cache and the model that fills it."""

    def decode(self, entries: Sequence[Entry]) -> NDArray[np.float32]:
        """Read tokens in one pass; they follow the cached tokens of their sequences.

        Args:
            entries: the tokens.

        Returns:
            float32[n, V]: the logits after the entries that need them, in their order.
        """

    def remove(self, sequence: int, begin: int) -> bool:
        """Remove the tokens of a sequence from a position on. From 0 this is always possible.

        Args:
            sequence: the number of the sequence.
            begin: the position of the first token to remove.

        Returns:
            False where it is not possible; nothing has changed then.
        """

    def copy(self, origin: int, sequence: int) -> None:
        """Let a free sequence begin with all tokens of another one."""


class SequenceSession:
    """A sequence of a pool; a `structgen.models.base.Session`.

    Attributes:
        token_ids: the tokens that it has read, without those that were cropped.
        sequence: its number in the cache; -1 while it has none.
        cached: the number of its first tokens that are in the cache: all of them, or 0.
    """

    __slots__ = ("__weakref__", "_pool", "cached", "sequence", "token_ids")

    def __init__(self, pool: SequencePool) -> None:
        self.token_ids: list[int] = []
        self.sequence = -1
        self.cached = 0
        self._pool = pool

    @property
    def can_crop(self) -> bool:
        """True if the cache can remove single tokens."""
        return self._pool.can_crop

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> NDArray[np.float32]:
        """Read more tokens; see `structgen.models.base.Session.forward`."""
        logits = self._pool.forward([(self, token_ids, keep)])[0]
        if isinstance(logits, Exception):
            raise logits
        return logits

    def crop(self, count: int) -> None:
        """Remove the last tokens."""
        self._pool.crop(self, count)


class SequencePool:
    """The sessions of one cache; a `structgen.models.base.SessionBatch`. Safe to use from several threads.

    Args:
        cache: the cache.
        sequences: the number of sequences that the cache can tell apart.
        cells: the number of tokens that it holds, all sequences together.
        batch_tokens: the number of tokens that one pass may read.
        can_crop: whether it can remove single tokens.
    """

    keeps_unnamed = True

    def __init__(self, cache: SequenceCache, *, sequences: int, cells: int, batch_tokens: int, can_crop: bool) -> None:
        self.can_crop = can_crop
        self._cache = cache
        self._cells = cells
        self._batch_tokens = batch_tokens
        self._sequences = sequences
        self._free = list(range(sequences))
        # The session of each sequence, the longest unused first. Weak: a collected session frees its sequence.
        self._holders: dict[int, weakref.ref[SequenceSession]] = {}
        self._lock = forkable_lock()

    def session(self) -> SequenceSession:
        """Return a new, empty sequence."""
        return SequenceSession(self)

    def forward(self, requests: Sequence[Request]) -> list[NDArray[np.float32] | ModelError]:
        """Read more tokens of several sessions, in one pass where the cache and the pass have room for all.

        Args:
            requests: see `structgen.models.base.SessionBatch.forward`.

        Raises:
            ModelError: the cache could not be filled.
        """
        errors = [self._too_long(request) for request in requests]
        found: list[NDArray[np.float32]] = []
        with self._lock:
            for group in self._groups([request for request, error in zip(requests, errors) if error is None]):
                found += self._read(group)
        logits = iter(found)
        return [error or next(logits) for error in errors]

    def fork(self, sessions: Sequence[SequenceSession]) -> list[SequenceSession]:
        """Return new sessions that have read what these have read; see `structgen.models.base.SessionBatch`.

        Where a sequence is free, the cache shares the cells of both. Other sessions read their tokens in their next
        pass.
        """
        with self._lock:
            return [self._fork(session) for session in sessions]

    def _fork(self, session: SequenceSession) -> SequenceSession:
        twin = self.session()
        twin.token_ids = list(session.token_ids)
        if self._free and session.cached:
            twin.sequence, twin.cached = self._free.pop(), session.cached
            self._cache.copy(session.sequence, twin.sequence)
            self._holders[twin.sequence] = weakref.ref(twin)
        return twin

    def crop(self, session: SequenceSession, count: int) -> None:
        """Remove the last `count` tokens of a session."""
        if not count:
            return
        with self._lock:
            del session.token_ids[-count:]
            length = len(session.token_ids)
            if session.cached <= length:
                return
            if length and self.can_crop and self._cache.remove(session.sequence, length):
                session.cached = length
            else:
                self._evict(session)

    def _too_long(self, request: Request) -> ModelError | None:
        session, token_ids, _ = request
        length = len(session.token_ids) + len(token_ids)
        if length <= self._cells:
            return None
        return ModelError(
            f"{length} tokens do not fit a context of {self._cells}",
            hint="shorten the prompt, or give the model more context_tokens",
        )

    def _groups(self, requests: Sequence[Request]) -> list[list[Request]]:
        """Return the requests in groups that the cache can hold at once."""
        groups: list[list[Request]] = []
        cells = 0
        for session, token_ids, keep in requests:
            length = len(session.token_ids) + len(token_ids)
            if not groups or len(groups[-1]) == self._sequences or cells + length > self._cells:
                groups.append([])
                cells = 0
            groups[-1].append((session, token_ids, keep))
            cells += length
        return groups

    def _read(self, group: list[Request]) -> list[NDArray[np.float32]]:
        """Run the passes over a group of sessions that fit in the cache together."""
        self._make_room(group)
        before = [len(session.token_ids) for session, _, _ in group]
        try:
            entries = [entry for session, token_ids, keep in group for entry in self._entries(session, token_ids, keep)]
            size = self._batch_tokens
            passes = [self._cache.decode(entries[start : start + size]) for start in range(0, len(entries), size)]
        except BaseException:  # the state of the cache is unknown now
            for (session, _, _), length in zip(group, before):
                del session.token_ids[length:]
                self._evict(session)
            raise
        logits = passes[0] if len(passes) == 1 else np.concatenate(passes)
        found = []
        for session, _, keep in group:
            session.cached = len(session.token_ids)
            found.append(logits[:keep])
            logits = logits[keep:]
        return found

    def _entries(self, session: SequenceSession, token_ids: Sequence[int], keep: int) -> Iterator[Entry]:
        """Yield the tokens to read for a session: the new ones, and all of them if the session is not in the cache."""
        if session.sequence < 0:
            session.sequence = self._free.pop()
        self._holders.pop(session.sequence, None)
        self._holders[session.sequence] = weakref.ref(session)
        session.token_ids += token_ids
        length = len(session.token_ids)
        for position in range(session.cached, length):
            yield session.token_ids[position], position, session.sequence, position >= length - keep

    def _make_room(self, group: list[Request]) -> None:
        """Free the sequences of collected sessions, then as many as needed of those unused for longest."""
        members = {id(session) for session, _, _ in group}
        needed = sum(session.sequence < 0 for session, _, _ in group)
        cells = sum(len(session.token_ids) + len(token_ids) for session, token_ids, _ in group)
        others: list[SequenceSession] = []
        for sequence, holder in list(self._holders.items()):
            session = holder()
            if session is None:
                self._release(sequence)
            elif id(session) not in members:
                others.append(session)
                cells += session.cached
        for session in others:
            if len(self._free) >= needed and cells <= self._cells:
                return
            cells -= session.cached
            self._evict(session)

    def _evict(self, session: SequenceSession) -> None:
        if session.sequence >= 0:
            self._release(session.sequence)
        session.sequence, session.cached = -1, 0

    def _release(self, sequence: int) -> None:
        self._cache.remove(sequence, 0)
        self._holders.pop(sequence, None)
        self._free.append(sequence)
