"""One sequence of tokens inside a server's engine. It raises nothing: a fault ends this sequence, not the server.

Engines ask for masks in the thread that makes the tokens of all requests, where an exception would end all of them. So
where a mask cannot be computed within the limits, only end tokens are allowed, and the token that follows is refused:
the engine then ends the request with an error. Text is never left without a constraint.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from structgen.compilation.repetition import spelled
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.bitmask import as_words
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import LimitExceededError, TokenRejectedError
from structgen.reporting.telemetry import logger

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from structgen.compilation.budget import Budget
    from structgen.compilation.repetition import RepetitionGuard
    from structgen.engine.vocabulary.bitmask import Bitmask

__all__ = ["ServedSequence"]


SLOW_SECONDS = 0.02  # of a mask, in the time of its thread; usual ones take a thousandth of it


class ServedSequence:
    """The state of one sequence: masks, accepted tokens, and whether an end token was read.

    Attributes:
        error: why a mask or a token failed last, other than by the grammar; None if nothing failed.

    Args:
        matcher: at the start of the text.
        vocabulary: of the matcher, with all end tokens of the request.
        slow_masks_seconds: the time that all slow masks together may take.
        budget: the budget of tokens, without the end token, within which the text is to end; None where it may be cut
            off.
        guard: keeps the text from repeating itself without end; None for no such guard.
    """

    def __init__(
        self,
        matcher: Matcher,
        vocabulary: Vocabulary,
        *,
        slow_masks_seconds: float = math.inf,
        budget: Budget | None = None,
        guard: RepetitionGuard | None = None,
    ) -> None:
        self._matcher = matcher
        self._budget = budget
        self._guard = guard
        self._slow_seconds_left = slow_masks_seconds
        self._vocabulary = vocabulary
        self._ends = frozenset(vocabulary.eos_token_ids)
        self._token_ids: list[int] = []  # accepted
        self._ended_at: int | None = None  # the count after the end token
        self._failed_at: int | None = None  # the count at which no mask could be made
        self.error: Exception | None = None

    def accept(self, token_id: int) -> bool:
        """Accept one token. Return whether the grammar allows it; the state is unchanged if not."""
        if self._failed_at == len(self._token_ids):
            return False
        try:
            self._matcher.accept_token(token_id)
            # A grammar may name an end token inside a text, as between two turns of a conversation.
            ends = token_id in self._ends and self._matcher.is_terminated
        except TokenRejectedError:
            return False
        except Exception as error:  # any fault: the engine must go on for the other requests
            self._fail("a token", error)
            return False
        self._token_ids.append(token_id)
        if ends and self._ended_at is None:
            self._ended_at = len(self._token_ids)
        return True

    def begin(self, text: bytes) -> bool:
        """Accept the beginning of the text, which a token before it has written. Return whether the grammar allows it.

        Only `reset` removes it again.
        """
        try:
            self._matcher.accept_bytes(text)
        except TokenRejectedError:
            return False
        except Exception as error:  # any fault, as below
            self._fail("a text", error)
            return False
        return True

    def accept_all(self, token_ids: Sequence[int]) -> bool:
        """Accept tokens. Return whether all were allowed; what follows an end token is ignored."""
        for token_id in token_ids:
            if self._ended_at is not None:
                break
            if not self.accept(token_id):
                return False
        return True

    def accepted_prefix(self, token_ids: Sequence[int]) -> list[int]:
        """Return the tokens, up to the first that is not allowed or the end token. The state stays as it is."""
        before = len(self._token_ids)
        for token_id in token_ids:
            if self._ended_at is not None or not self.accept(token_id):
                break
        count = len(self._token_ids) - before
        self.rollback(count)
        return list(token_ids[:count])

    def rollback(self, count: int) -> None:
        """Roll back the last `count` accepted tokens.

        Raises:
            ValueError: fewer tokens were accepted.
        """
        if not count:
            return
        self._matcher.rollback(count)
        del self._token_ids[-count:]
        if self._ended_at is not None and self._ended_at > len(self._token_ids):
            self._ended_at = None

    def fill(self, mask: Bitmask, row: int) -> None:
        """Write which tokens may come next into one row of a mask; only end tokens if that cannot be computed.

        Args:
            mask: see `Matcher.fill_next_token_bitmask`.
            row: the row to write.
        """
        begun = time.thread_time()
        try:
            self._matcher.fill_next_token_bitmask(mask, row)
            if self._guard is not None or self._budget is not None:
                self._narrow(as_words(mask, self._vocabulary.size)[row])
            self._count_slow(time.thread_time() - begun)
        except Exception as error:  # any fault, as above
            self._fail("a mask", error)
            self.fill_ends(mask, row)
        else:
            if self._failed_at == len(self._token_ids):
                self._failed_at = None

    def _narrow(self, words: NDArray[np.uint32]) -> None:
        if self._guard is not None:
            self._guard.narrow(self._matcher, words, spelled(self._vocabulary, self._token_ids))
        if self._budget is not None:
            self._budget.limit(self._matcher, words, len(self._token_ids))

    def _count_slow(self, seconds: float) -> None:
        if seconds > SLOW_SECONDS:
            self._slow_seconds_left -= seconds
        if self._slow_seconds_left < 0:
            hint = "STRUCTGEN_SLOW_MASKS_SECONDS sets this bound"
            raise LimitExceededError("mask_seconds", seconds, message="too many slow masks", hint=hint)

    def fill_ends(self, mask: Bitmask, row: int) -> None:
        """Write a row that allows end tokens only."""
        words: Any = as_words(mask, self._vocabulary.size)[row]
        words[:] = 0
        for token_id in self._ends:
            words[token_id >> 5] |= 1 << (token_id & 31)

    @property
    def vocab_size(self) -> int:
        """The number of tokens of the vocabulary."""
        return self._vocabulary.size

    @property
    def has_ended(self) -> bool:
        """True once an end token was read. Before, a text may be whole, but the model has not ended it."""
        return self._ended_at is not None

    def reset(self) -> None:
        """Go back to the start of the text."""
        self._matcher.reset()
        self._token_ids, self._ended_at, self._failed_at = [], None, None

    def fork(self) -> ServedSequence:
        """Return an independent copy in the same state."""
        left = self._slow_seconds_left
        twin = ServedSequence(
            self._matcher.fork(),
            self._vocabulary,
            slow_masks_seconds=left,
            budget=self._budget,
            guard=self._guard,
        )
        twin._token_ids = self._token_ids.copy()
        twin._ended_at, twin._failed_at = self._ended_at, self._failed_at
        twin.error = self.error
        return twin

    def _fail(self, what: str, error: Exception) -> None:
        self._failed_at = len(self._token_ids)
        self.error = error
        logger.error(
            "structgen: %s after %d tokens failed; the request ends with an error: %s",
            what,
            len(self._token_ids),
            error,
        )
