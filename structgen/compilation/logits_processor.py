"""Masks for the loops of others: transformers' `hf_model.generate(…, logits_processor=[…])`, and llama-cpp-python's."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask, apply_token_bitmask
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError, VocabularyError

__all__ = ["GrammarLogitsProcessor", "processor_class"]


class GrammarLogitsProcessor:
    """Forbids, in every row of scores, the tokens that the grammar does not allow next.

    It is called with torch's tensors by transformers, and with one row of numpy's by llama-cpp-python.
    The grammar applies to what follows the prompt: to the columns that were not yet there when the generation began.
    A row's state depends on nothing but these tokens, and with `tokenization="proper"` its prompt: so rows may be
    reordered, repeated and dropped between steps, as beam search does, and prompts may be padded on the left. A new
    call of `generate` is recognized by its input not continuing the last step's. The one case that looks alike, a
    prompt that is exactly the unfinished output of the call before, is taken as what it says: the text goes on.
    `reset` says otherwise.

    Not for several calls of `generate` at the same time; make one for each, they share the compiled grammar.

    Args:
        vocabulary: the tokens.
        new_matcher: returns a matcher at the start of a text, for the token ids of the prompt before it.
        depends_on_prompt: whether matchers of different prompts differ.
    """

    def __init__(
        self, vocabulary: Vocabulary, new_matcher: Callable[[Sequence[int]], Matcher], *, depends_on_prompt: bool
    ) -> None:
        self._vocabulary = vocabulary
        self._new_matcher = new_matcher
        self._depends_on_prompt = depends_on_prompt
        self._ends = set(vocabulary.eos_token_ids)
        self._mask = allocate_token_bitmask(1, vocabulary.size)
        self.reset()

    def reset(self) -> None:
        """The next call begins a new generation."""
        self._prompt_width = -1
        self._rows: NDArray[np.int64] = np.empty((0, 0), np.int64)
        # By prompt and generated tokens of a row, as bytes: the matcher that has read them, or None for a row that has
        # left the grammar: a beam that was chosen with a score of -inf for want of better ones. The prompt counts only
        # where tokenizations have to be proper.
        self._matchers: dict[tuple[bytes, bytes], Matcher | None] = {}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Masks the scores of one step.

        Args:
            input_ids: int64[rows, width], torch, or int32[width], numpy: prompts and the tokens generated so far.
            scores: float[rows, V], torch, or float32[V], numpy; left as they are.

        Returns:
            As the scores: a copy with -inf for every token that is not allowed.

        Raises:
            VocabularyError: the scores are narrower than the vocabulary.
        """
        if not isinstance(input_ids, np.ndarray):
            return self._masked(input_ids.detach().cpu().numpy(), scores.clone())
        try:
            return self._masked(input_ids.astype(np.int64)[np.newaxis], np.array(scores, np.float32)[np.newaxis])[0]
        except BaseException:
            # llama.cpp calls from C: the error is printed there, and the loop goes on with the scores as they are.
            # Nothing but an end is left of them, so that no text comes out unmasked.
            scores[:] = float("-inf")
            scores[[token_id for token_id in self._ends if token_id < len(scores)]] = 0
            raise

    def _masked(self, rows: NDArray[np.int64], scores: Any) -> Any:
        """The scores of one step, masked in place."""
        size = self._vocabulary.size
        if scores.shape[-1] < size:
            raise VocabularyError(
                f"the model gives {scores.shape[-1]} scores a row, and the vocabulary has {size} tokens",
                hint="make the vocabulary with vocab_size=<width of the logits>",
            )
        matchers = self._advance(rows)
        if len(self._mask) < len(matchers):
            self._mask = allocate_token_bitmask(len(matchers), size)
        mask = self._mask[: len(matchers)]
        for index, matcher in enumerate(matchers):
            self._fill(matcher, mask, index)
        scores[:, size:] = float("-inf")
        apply_token_bitmask(scores[:, :size], mask)
        return scores

    def _advance(self, rows: NDArray[np.int64]) -> list[Matcher | None]:
        """The matchers of all rows, after the rows' last tokens."""
        if not (self._continues(rows) or self._rewinds(rows)) or self._all_ended(rows):
            self.reset()
            self._prompt_width = rows.shape[1]
        keys = [(self._prompt(row), row[self._prompt_width :].tobytes()) for row in rows]
        self._rows, self._matchers = rows.copy(), self._read(keys)
        return [self._matchers[key] for key in keys]

    def _prompt(self, row: NDArray[np.int64]) -> bytes:
        """The part of a row that its matcher begins behind."""
        return row[: self._prompt_width].tobytes() if self._depends_on_prompt else b""

    def _all_ended(self, rows: NDArray[np.int64]) -> bool:
        """Whether every row has an end token. Nobody asks for scores then: a finished output became a prompt."""
        return bool(np.isin(rows[:, self._prompt_width :], list(self._ends)).any(axis=1).all())

    def _continues(self, rows: NDArray[np.int64]) -> bool:
        """Whether every row is a row of the last step and one token more."""
        if rows.shape[1] != self._rows.shape[1] + 1 or not len(self._rows):
            return False
        before = {row.tobytes() for row in self._rows}
        return all(row[:-1].tobytes() in before for row in rows)

    def _rewinds(self, rows: NDArray[np.int64]) -> bool:
        """Whether the rows go back on the last step's, as assisted decoding does: same prompts, tokens that fit."""
        if not 0 <= self._prompt_width < rows.shape[1] <= self._rows.shape[1]:
            return False
        prompts = {row[: self._prompt_width].tobytes() for row in self._rows}
        if not all(row[: self._prompt_width].tobytes() in prompts for row in rows):
            return False
        return all(self._replay(self._prompt(row), row[self._prompt_width :]) is not None for row in rows)

    def _read(self, keys: list[tuple[bytes, bytes]]) -> dict[tuple[bytes, bytes], Matcher | None]:
        """The matchers after these tokens, each one made of its parent of the last step where there is one."""
        matchers: dict[tuple[bytes, bytes], Matcher | None] = {}
        for prompt, generated in keys:
            if (prompt, generated) in matchers:
                continue
            tokens = np.frombuffer(generated, np.int64)
            parent = (prompt, generated[:-8])
            if tokens.size and parent in self._matchers:
                matchers[prompt, generated] = self._child(self._matchers[parent], int(tokens[-1]))
            else:
                matchers[prompt, generated] = self._replay(prompt, tokens)
        return matchers

    def _child(self, parent: Matcher | None, token_id: int) -> Matcher | None:
        if parent is None or parent.is_terminated:
            return parent  # what follows is an end token and padding
        matcher = parent.fork()
        try:
            matcher.accept_token(token_id)
        except TokenRejectedError:
            return None
        return matcher

    def _replay(self, prompt: bytes, tokens: NDArray[np.int64]) -> Matcher | None:
        matcher: Matcher | None = self._new_matcher(np.frombuffer(prompt, np.int64).tolist())
        for token_id in tokens.tolist():
            matcher = self._child(matcher, token_id)
        return matcher

    def _fill(self, matcher: Matcher | None, mask: NDArray[np.uint32], index: int) -> None:
        # A row of nothing but -inf would end in NaN. One that has left the grammar has a score of -inf already.
        if matcher is None or (matcher.is_terminated and not self._ends):
            mask[index] = 0xFFFFFFFF
        else:
            matcher.fill_next_token_bitmask(mask, index)


def processor_class() -> type[GrammarLogitsProcessor]:
    """Return the class of processors: also a `transformers.LogitsProcessor` once transformers is imported."""
    return _transformers_class() if "transformers" in sys.modules else GrammarLogitsProcessor


@functools.cache
def _transformers_class() -> type[GrammarLogitsProcessor]:
    """Made when it is first wanted: neither structgen nor llama.cpp's loop needs transformers."""
    from transformers import LogitsProcessor

    return type(
        "GrammarLogitsProcessor", (GrammarLogitsProcessor, LogitsProcessor), {"__doc__": GrammarLogitsProcessor.__doc__}
    )
