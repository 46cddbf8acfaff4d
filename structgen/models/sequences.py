"""Sessions that share one key-value cache of fixed size, as llama.cpp's contexts have it: so many cells for so many
numbered sequences.

Every session remembers its tokens, so the cache is no more than that: a cache. A session gets a sequence when it first
reads, and loses it when others need the room and it was longest unused; then it reads its tokens again. So any number
of sessions may be alive, whatever the cache holds, and each gives the logits of its own tokens.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structgen.errors import ModelError

__all__ = ["Entry", "SequenceCache", "SequencePool", "SequenceSession"]

Entry: TypeAlias = tuple[int, int, int, bool]
"""A token to read: its id, its position in its sequence, the sequence, and whether logits are wanted behind it."""

Request: TypeAlias = tuple[Any, Sequence[int], int]  # of `structgen.models.base.SessionBatch.forward`


class SequenceCache(Protocol):
    """A key-value cache and the model that fills it."""

    def decode(self, entries: Sequence[Entry]) -> NDArray[np.float32]:
        """Reads tokens in one pass; those of a sequence continue what is in the cache of it.

        Returns:
            float32[n, V]: in the order of the entries, those where logits are wanted.
        """

    def remove(self, sequence: int, begin: int) -> bool:
        """Removes the tokens of a sequence from a position on; from 0 it always can.

        Returns:
            False where it cannot, and nothing changed.
        """


class SequenceSession:
    """One sequence; a `structgen.models.base.Session`.

    Attributes:
        token_ids: what it has read, without what was cropped.
        sequence: its number in the cache; -1 without one.
        cached: how many of its first tokens are in the cache: all of them, or none.
    """

    __slots__ = ("__weakref__", "_pool", "cached", "sequence", "token_ids")

    def __init__(self, pool: SequencePool) -> None:
        self.token_ids: list[int] = []
        self.sequence = -1
        self.cached = 0
        self._pool = pool

    @property
    def can_crop(self) -> bool:
        """See `structgen.models.base.Session.can_crop`."""
        return self._pool.can_crop

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> NDArray[np.float32]:
        """See `structgen.models.base.Session.forward`."""
        logits = self._pool.forward([(self, token_ids, keep)])[0]
        if isinstance(logits, Exception):
            raise logits
        return logits

    def crop(self, count: int) -> None:
        """See `structgen.models.base.Session.crop`."""
        self._pool.crop(self, count)


class SequencePool:
    """The sessions of one cache; a `structgen.models.base.SessionBatch`. Safe to use from several threads.

    Args:
        cache: where they are read.
        sequences: how many it can tell apart.
        cells: how many tokens it holds, all sequences together.
        batch_tokens: how many tokens a pass may read.
        can_crop: whether it can take back single tokens.
    """

    def __init__(self, cache: SequenceCache, *, sequences: int, cells: int, batch_tokens: int, can_crop: bool) -> None:
        self.can_crop = can_crop
        self._cache = cache
        self._cells = cells
        self._batch_tokens = batch_tokens
        self._sequences = sequences
        self._free = list(range(sequences))
        # By sequence, the longest unused first. Weak: a session that nobody has any more gives its sequence back.
        self._holders: dict[int, weakref.ref[SequenceSession]] = {}
        self._lock = threading.Lock()

    def session(self) -> SequenceSession:
        """A new, empty sequence."""
        return SequenceSession(self)

    def forward(self, requests: Sequence[Request]) -> list[NDArray[np.float32] | ModelError]:
        """See `structgen.models.base.SessionBatch.forward`. One pass where the cache and the pass have room for all.

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

    def crop(self, session: SequenceSession, count: int) -> None:
        """Takes back the last `count` tokens of a session."""
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
        """The requests, as many at a time as the cache holds."""
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
        """Passes over sessions that have room in the cache together."""
        self._make_room(group)
        before = [len(session.token_ids) for session, _, _ in group]
        try:
            entries = [entry for session, token_ids, keep in group for entry in self._entries(session, token_ids, keep)]
            size = self._batch_tokens
            passes = [self._cache.decode(entries[start : start + size]) for start in range(0, len(entries), size)]
        except BaseException:  # what the cache holds now is not known
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
        """What is to be read of a session: new tokens, and all of them if it is not in the cache."""
        if session.sequence < 0:
            session.sequence = self._free.pop()
        self._holders.pop(session.sequence, None)
        self._holders[session.sequence] = weakref.ref(session)
        session.token_ids += token_ids
        length = len(session.token_ids)
        for position in range(session.cached, length):
            yield session.token_ids[position], position, session.sequence, position >= length - keep

    def _make_room(self, group: list[Request]) -> None:
        """Takes sequences from those who are gone, and as far as needed from those who did not read for longest."""
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
