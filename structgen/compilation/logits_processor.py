"""Masks for other generation loops: transformers' `generate(…, logits_processor=[…])` and llama-cpp-python's."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from structgen.compilation.repetition import spelled
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask, apply_token_bitmask, check_not_too_wide
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError, VocabularyError

if TYPE_CHECKING:
    from structgen.compilation.budget import Budget
    from structgen.compilation.repetition import RepetitionGuard

__all__ = ["GrammarLogitsProcessor", "processor_class"]


class GrammarLogitsProcessor:
    """A logits processor that forbids, in every row of scores, the tokens that the grammar does not allow next.

    transformers calls it with torch tensors, llama-cpp-python with one row of numpy. The grammar applies after the
    prompt: to the columns that were not there yet when the generation began.

    A row's state depends only on these tokens, and with `tokenization="proper"` on its prompt. So rows may be
    reordered, repeated and dropped between steps, as beam search does, and prompts may be padded on the left. A new
    call of `generate` is recognized because its input does not continue the last step's. One case looks the same: a
    prompt that is exactly the unfinished output of the last call. It is read as a continuation; call `reset` before it
    to start a new text.

    Do not share one processor between calls of `generate` that run at the same time. Make one for each call; they share
    the compiled grammar.

    Args:
        vocabulary: the tokens.
        new_matcher: returns a matcher at the start of a text, for the token ids of the prompt before it.
        depends_on_prompt: whether matchers of different prompts differ.
        temperature: that of the loop, for a grammar whose rules have temperatures; else None.
        budget: the budget of each text; None for none.
        guard: keeps a text from repeating itself without end; None for no such guard.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        new_matcher: Callable[[Sequence[int]], Matcher],
        *,
        depends_on_prompt: bool,
        temperature: float | None = None,
        budget: Budget | None = None,
        guard: RepetitionGuard | None = None,
    ) -> None:
        self._budget = budget
        self._guard = guard
        self._vocabulary = vocabulary
        self._new_matcher = new_matcher
        self._depends_on_prompt = depends_on_prompt
        self._temperature = temperature
        self._ends = set(vocabulary.eos_token_ids)
        self._mask = allocate_token_bitmask(1, vocabulary.size)
        self.reset()

    def reset(self) -> None:
        """Forget the last call: the next call begins a new generation."""
        self._prompt_width = -1
        self._rows: NDArray[np.int64] = np.empty((0, 0), np.int64)
        # The matcher after the prompt and generated tokens of a row (as bytes), or None for a row that has left the
        # grammar: a beam that was chosen with a score of -inf because there were no better ones. The prompt is b""
        # where matchers do not depend on it.
        self._matchers: dict[tuple[bytes, bytes], Matcher | None] = {}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Mask the scores of one step.

        Args:
            input_ids: int64[rows, width] in torch, or int32[width] in numpy: prompts and the tokens generated so far.
            scores: float[rows, V] in torch, or float32[V] in numpy; not changed.

        Returns:
            A copy of the scores, with -inf for every token that is not allowed.

        Raises:
            VocabularyError: the scores are narrower than the vocabulary, more than twice as wide, or of another shape.
        """
        if not isinstance(input_ids, np.ndarray):
            _check_shapes(input_ids, scores)
            return self._masked(input_ids.detach().cpu().numpy(), scores.clone())
        try:
            return self._masked(input_ids.astype(np.int64)[np.newaxis], np.array(scores, np.float32)[np.newaxis])[0]
        except BaseException:
            # llama.cpp calls from C: the error is printed there, and the loop continues with the scores as they are.
            # Allow only end tokens, so that no text is generated unmasked.
            scores[:] = float("-inf")
            scores[[token_id for token_id in self._ends if token_id < len(scores)]] = 0
            raise

    def _masked(self, rows: NDArray[np.int64], scores: Any) -> Any:
        """Mask the scores of one step in place, and return them."""
        size = self._vocabulary.size
        if scores.shape[-1] < size:
            raise VocabularyError(
                f"the model returns {scores.shape[-1]} scores a row, but the vocabulary has {size} tokens",
                hint=f"make the vocabulary with the model's own tokenizer and vocab_size={scores.shape[-1]}; "
                "if it has more tokens than the model: hf_model.resize_token_embeddings(len(tokenizer))",
            )
        check_not_too_wide(scores.shape[-1], size)
        matchers = self._advance(rows)
        if len(self._mask) < len(matchers):
            self._mask = allocate_token_bitmask(len(matchers), size)
        mask = self._mask[: len(matchers)]
        for index, matcher in enumerate(matchers):
            self._fill(matcher, mask, index, rows[index, self._prompt_width :])
        scores[:, size:] = float("-inf")
        apply_token_bitmask(scores[:, :size], mask)
        if self._temperature is not None:
            self._scale(matchers, scores, self._temperature)
        return scores

    def _scale(self, matchers: list[Matcher | None], scores: Any, temperature: float) -> None:
        """Scale rows within rules that have a temperature, so that it counts after the loop has applied its own."""
        for index, matcher in enumerate(matchers):
            own = None if matcher is None else matcher.temperature
            if own is None:
                continue
            if own > 0:
                scores[index] *= temperature / own
                continue
            best = int(scores[index].argmax())
            score = float(scores[index, best])
            scores[index] = float("-inf")
            scores[index, best] = score

    def _advance(self, rows: NDArray[np.int64]) -> list[Matcher | None]:
        """Return the matchers of all rows, after the rows' last tokens."""
        if not (self._continues(rows) or self._rewinds(rows)) or self._all_ended(rows):
            self.reset()
            self._prompt_width = rows.shape[1]
        keys = [(self._prompt(row), row[self._prompt_width :].tobytes()) for row in rows]
        self._rows, self._matchers = rows.copy(), self._read(keys)
        return [self._matchers[key] for key in keys]

    def _prompt(self, row: NDArray[np.int64]) -> bytes:
        """Return the part of a row before its matcher's text, as bytes; b"" where it does not matter."""
        return row[: self._prompt_width].tobytes() if self._depends_on_prompt else b""

    def _all_ended(self, rows: NDArray[np.int64]) -> bool:
        """Return whether every row has an end token that ends its text.

        No loop asks for scores of finished rows: a finished output became a prompt.
        """
        generated = rows[:, self._prompt_width :]
        if not np.isin(generated, list(self._ends)).any(axis=1).all():
            return False
        # An end token may also stand between two turns, where the grammar has it there.
        states = [self._replay(self._prompt(row), row[self._prompt_width :]) for row in rows]
        return all(state is None or state.is_terminated for state in states)

    def _continues(self, rows: NDArray[np.int64]) -> bool:
        """Return whether every row is a row of the last step plus one token."""
        if rows.shape[1] != self._rows.shape[1] + 1 or not len(self._rows):
            return False
        before = {row.tobytes() for row in self._rows}
        return all(row[:-1].tobytes() in before for row in rows)

    def _rewinds(self, rows: NDArray[np.int64]) -> bool:
        """Return whether the rows go back, as in assisted decoding: the same prompts, and tokens that fit."""
        if not 0 <= self._prompt_width < rows.shape[1] <= self._rows.shape[1]:
            return False
        prompts = {row[: self._prompt_width].tobytes() for row in self._rows}
        if not all(row[: self._prompt_width].tobytes() in prompts for row in rows):
            return False
        return all(self._replay(self._prompt(row), row[self._prompt_width :]) is not None for row in rows)

    def _read(self, keys: list[tuple[bytes, bytes]]) -> dict[tuple[bytes, bytes], Matcher | None]:
        """Return the matchers after these tokens, each one made from its parent of the last step where there is one."""
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
            return parent  # only an end token and padding follow
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

    def _fill(
        self, matcher: Matcher | None, mask: NDArray[np.uint32], index: int, generated: NDArray[np.int64]
    ) -> None:
        # A row of only -inf would become NaN. A row that has left the grammar has a score of -inf already.
        if matcher is None or (matcher.is_terminated and not self._ends):
            mask[index] = 0xFFFFFFFF
            return
        matcher.fill_next_token_bitmask(mask, index)
        if self._guard is not None:
            self._guard.narrow(matcher, mask[index], spelled(self._vocabulary, generated.tolist()))
        if self._budget is not None:
            self._budget.limit(matcher, mask[index], len(generated))


def processor_class() -> type[GrammarLogitsProcessor]:
    """Return the class of processors; once transformers is imported, it is also a `transformers.LogitsProcessor`."""
    return _transformers_class() if "transformers" in sys.modules else GrammarLogitsProcessor


@functools.cache
def _transformers_class() -> type[GrammarLogitsProcessor]:
    """Return the class with transformers' base, made at its first use: structgen works without transformers."""
    from transformers import LogitsProcessor

    return type(
        "GrammarLogitsProcessor", (GrammarLogitsProcessor, LogitsProcessor), {"__doc__": GrammarLogitsProcessor.__doc__}
    )


def _check_shapes(input_ids: Any, scores: Any) -> None:
    """Raise an error if these are no torch tensors of token ids and of scores, with a row for each sequence."""
    for name, given, kind in (("input_ids", input_ids, "integers"), ("scores", scores, "floats")):
        shape, dtype = getattr(given, "shape", None), getattr(given, "dtype", None)
        is_float = getattr(dtype, "is_floating_point", None)  # None: no tensor of torch
        if shape is None or len(shape) != 2 or is_float is not (kind == "floats"):
            found = type(given).__name__ if shape is None else f"{dtype}{list(shape)}"
            raise VocabularyError(f"{name} must be a tensor of {kind}, [rows, width], not {found}")
