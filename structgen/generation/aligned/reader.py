"""Logits after many beginnings of answers to one prompt, in shared passes of the model.

Beginnings that are asked for in one call are read in one pass, where the model can. A session that has read a part of a
beginning goes on from there. Where two beginnings go on from one session, it is forked; where the model cannot fork, a
session that is not needed any more is cut back to what both share, or a new one reads the prompt again:

    prompt {"          read once
    prompt {"a         goes on
    prompt {"b         a fork of `prompt {"`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from structgen.generation.sampling import checked_logits
from structgen.models.session_batches import read_together, session_batch_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from structgen.models.base import Model

__all__ = ["Cancelled", "PrefixReader"]

Path: TypeAlias = tuple[int, ...]


class Cancelled(Exception):
    """Raised between two passes of the model, when the call is cancelled."""


@dataclass(slots=True)
class _Reading:
    """A session and the tokens that it reads in the next pass.

    Attributes:
        session: the session.
        new_ids: the tokens.
    """

    session: Any
    new_ids: Sequence[int]


class PrefixReader:
    """A model that has read a prompt, and reads beginnings of answers after it.

    Args:
        model: a local model.
        prompt_ids: the tokens before the answers.
        is_cancelled: asked before each pass; if it returns true, the pass is left out.

    Attributes:
        passes: the number of passes so far.
        token_count: the number of tokens that were read after the prompt.
    """

    def __init__(
        self, model: Model, prompt_ids: Sequence[int], *, is_cancelled: Callable[[], bool] = lambda: False
    ) -> None:
        self._is_cancelled = is_cancelled
        self.passes = 0
        self.token_count = 0
        self._batch: Any = session_batch_of(model)
        self._can_fork = hasattr(self._batch, "fork")
        self._prompt_ids = list(prompt_ids)
        self._vocab_size = model.vocabulary.size
        self._sessions: dict[Path, Any] = {}  # by the tokens that they have read after the prompt

    def logits(self, paths: Sequence[Path]) -> list[NDArray[np.float32]]:
        """Return the logits after some beginnings, float32[V] each.

        Args:
            paths: the tokens of each beginning after the prompt; all of them differ.

        Raises:
            ModelError: the model cannot read them.
            Cancelled: the call is cancelled.
        """
        if self._is_cancelled():
            raise Cancelled
        readings = self._plan(paths)
        self._sessions = {path: readings[path].session for path in paths}
        given = read_together(self._batch, [(readings[path].session, readings[path].new_ids, 1) for path in paths])
        self.passes += 1
        # A session that begins anew, or is cut back, may read the prompt again.
        self.token_count += sum(min(len(reading.new_ids), len(path)) for path, reading in readings.items())
        found = []
        for logits in given:
            if isinstance(logits, Exception):
                raise logits
            found.append(checked_logits(logits, 1, self._vocab_size)[0])
        return found

    def _plan(self, paths: Sequence[Path]) -> dict[Path, _Reading]:
        """Return for each beginning a session, and the tokens that it still has to read.

        A session that has read a part of the beginning is used again, forked, or cut back; else a new one is made.
        """
        spare = dict(self._sessions)
        origins = {path: self._origin(path) for path in paths}
        found: dict[Path, _Reading] = {}
        forks: list[tuple[Path, Path]] = []
        for path, origin in origins.items():
            if origin is not None and origin in spare:
                found[path] = _Reading(spare.pop(origin), path[len(origin) :])
            elif origin is not None and self._can_fork:
                forks.append((path, origin))
        if forks:
            sessions = self._batch.fork([self._sessions[origin] for _, origin in forks])
            for (path, origin), session in zip(forks, sessions):
                found[path] = _Reading(session, path[len(origin) :])
        for path in paths:
            if path not in found:
                found[path] = self._cut_back(path, spare) or _Reading(self._batch.session(), [*self._prompt_ids, *path])
        return found

    def _origin(self, path: Path) -> Path | None:
        """Return the longest part of a beginning that a session has read; None if there is none."""
        for length in range(len(path) - 1, -1, -1):
            if path[:length] in self._sessions:
                return path[:length]
        return None

    def _cut_back(self, path: Path, spare: dict[Path, Any]) -> _Reading | None:
        """Return a reading of a spare session, cut back to what it shares with a beginning; None if there is none."""
        known = next((known for known, session in spare.items() if session.can_crop), None)
        if known is None:
            return None
        session = spare.pop(known)
        shared = 0
        while shared < min(len(path), len(known)) and path[shared] == known[shared]:
            shared += 1
        kept = min(len(self._prompt_ids) + shared, len(self._prompt_ids) + len(path) - 1)  # one token is read, at least
        session.crop(len(self._prompt_ids) + len(known) - kept)
        return _Reading(session, [*self._prompt_ids, *path][kept:])
