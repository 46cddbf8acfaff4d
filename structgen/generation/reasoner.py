r"""Free text before the answer: the model reasons up to an end mark, and then answers under the grammar.

    prompt  <think>\n  free text …  </think>  \n\n  answer
            start                   end       after

Free text is masked too: only tokens of text, those of the end mark, and end tokens are allowed. Where the model ends
its turn or the budget is used up, the end mark is written for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from structgen.errors import GenerationError
from structgen.generation.sampling import Sampler, checked_logits
from structgen.generation.settings import Reasoning
from structgen.models.base import Request

if TYPE_CHECKING:
    from structgen.models.base import Model

__all__ = ["Reasoner"]


class Reasoner:
    """A sequence in free text, up to the end mark.

    Args:
        model: tokenizes the marks.
        prompt_ids: the tokens of the prompt.
        reasoning: the marks and the budget.
        sampler: picks the tokens.

    Attributes:
        prompt_ids: all tokens so far: the prompt, and the reasoning with its marks.
        seen_tokens: how many of them the model has read.
        token_count: the number of tokens of the reasoning, without the marks.
        model_calls: the number of passes of the model so far.
    """

    def __init__(self, model: Model, prompt_ids: Sequence[int], reasoning: Reasoning, sampler: Sampler) -> None:
        self.prompt_ids = list(prompt_ids)
        self.seen_tokens = 0
        self.token_count = 0
        self.model_calls = 0
        self._model = model
        self._reasoning = reasoning
        self._sampler = sampler
        self._ends = frozenset(model.vocabulary.eos_token_ids)
        self._end_ids = model.encode_text(reasoning.end)
        self._end_bytes = reasoning.end.encode()
        if not self._has_begun():
            self.prompt_ids += model.encode_text(reasoning.start) if reasoning.start else []
        self._begin = len(self.prompt_ids)
        self._text = bytearray()
        self._is_done = False
        self._max_tokens = reasoning.max_tokens
        self._mask = self._free_tokens()
        if not reasoning.max_tokens:
            self._close()

    @property
    def text(self) -> str:
        """The reasoning so far, without its marks and the white space around it."""
        return self._text.decode(errors="ignore").strip()

    def leave_room(self, left: int) -> None:
        """Lower the budget so that the model's context has room for an answer.

        Args:
            left: the number of tokens left in the model's context.

        Raises:
            GenerationError: there is no room for the marks.
        """
        after = self._model.encode_text(self._reasoning.after) if self._reasoning.after else []
        room = left - len(self._end_ids) - len(after) - 1
        if room < 0 and not self._is_done:
            raise GenerationError("the model's context has no room for reasoning", hint="shorten the prompt")
        self._max_tokens = min(self._max_tokens, room)
        if not self._max_tokens and not self._is_done:
            self._close()

    def request(self) -> Request | None:
        """Return the tokens that the model has to read next; None when the end mark is there."""
        return None if self._is_done else Request(self.prompt_ids[self.seen_tokens :], 1)

    def take(self, logits: NDArray[np.float32]) -> None:
        """Sample the next token.

        Args:
            logits: float32[1, V].

        Raises:
            ModelError: the logits have another shape.
        """
        logits = checked_logits(logits, 1, self._model.vocabulary.size)
        self.model_calls += 1
        self.seen_tokens = len(self.prompt_ids)
        token_id = self._sampler.sample(logits[0], self._mask)
        if token_id in self._ends:
            self._close()
            return
        self.prompt_ids.append(token_id)
        self.token_count += 1
        before = len(self._text)
        self._text += self._model.vocabulary.token_bytes(token_id) or b""
        at = self._text.find(self._end_bytes, max(0, before - len(self._end_bytes) + 1))
        if self.prompt_ids[self._begin :][-len(self._end_ids) :] == self._end_ids:
            # The mark may be special tokens, which spell no text.
            self.token_count -= len(self._end_ids)
            self._end_at(at if at >= 0 else len(self._text))
        elif at >= 0:
            self._cut(before, at)
        elif self.token_count >= self._max_tokens:
            self._close()

    def _has_begun(self) -> bool:
        """Return whether the prompt ends with the start mark; white space may follow it."""
        mark = self._model.encode_text(self._reasoning.start.strip())
        if not mark:
            return True
        tokens = self.prompt_ids
        for end in range(len(tokens), max(len(mark), len(tokens) - 4) - 1, -1):
            if tokens[end - len(mark) : end] == mark:
                return True
            if (self._model.vocabulary.token_bytes(tokens[end - 1]) or b"x").strip():
                return False
        return False

    def _free_tokens(self) -> NDArray[np.uint32]:
        """Return uint32[ceil(V/32)]: the tokens of text, those of the end mark, and the end tokens."""
        vocabulary = self._model.vocabulary
        mask: NDArray[np.uint32] = np.zeros((vocabulary.size + 31) // 32, np.uint32)
        trie = vocabulary.trie
        tokens = np.concatenate([np.asarray(trie.tokens, np.int64), np.array([*self._end_ids, *self._ends], np.int64)])
        np.bitwise_or.at(mask, tokens >> 5, np.uint32(1) << (tokens & 31).astype(np.uint32))
        return mask

    def _cut(self, before: int, at: int) -> None:
        """Cut the last token after the end mark that it completes.

        Args:
            before: the length of the text before the last token, in bytes.
            at: the position of the end mark in the text.
        """
        end = at + len(self._end_bytes)
        if end < len(self._text):
            # The model has not read the token yet, so other tokens can replace it.
            del self.prompt_ids[-1]
            self.prompt_ids += self._model.encode_text(self._text[before:end].decode(errors="ignore"))
        self._end_at(at)

    def _close(self) -> None:
        """Write the end mark for the model."""
        self.prompt_ids += self._end_ids
        self._end_at(len(self._text))

    def _end_at(self, at: int) -> None:
        del self._text[at:]
        if self._reasoning.after:
            self.prompt_ids += self._model.encode_text(self._reasoning.after)
        self._is_done = True
