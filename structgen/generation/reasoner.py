r"""Free text before the answer: the model reasons up to an end mark, and then answers under the grammar.

    prompt  <think>\n  free text …  </think>  \n\n  answer
            start                   end       after

`structgen.generation.reasoning_marks` has the marks of other families of models.

Free text is masked too: only tokens of text, those of the end mark, and end tokens are allowed. Where the model ends
its turn or the budget is used up, the end mark is written for it.
"""

from __future__ import annotations

import itertools
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

__all__ = ["Reasoner", "is_begun"]


class Reasoner:
    """A sequence in free text, up to the end mark.

    Args:
        model: tokenizes the marks.
        prompt_ids: the tokens of the prompt.
        reasoning: the marks and the budget.
        sampler: picks the tokens.
        writes_answer_mark: whether to write the mark that begins the answer, in families of models that have one.

    Attributes:
        prompt_ids: all tokens so far: the prompt, and the reasoning with its marks.
        seen_tokens: how many of them the model has read.
        token_count: the number of tokens of the reasoning, without the marks.
        model_calls: the number of passes of the model so far.
    """

    def __init__(
        self,
        model: Model,
        prompt_ids: Sequence[int],
        reasoning: Reasoning,
        sampler: Sampler,
        *,
        writes_answer_mark: bool = True,
    ) -> None:
        self.prompt_ids = list(prompt_ids)
        self.seen_tokens = 0
        self.token_count = 0
        self.model_calls = 0
        self._model = model
        self._sampler = sampler
        self._ends = frozenset(model.vocabulary.eos_token_ids)
        marks = reasoning.marks(model.chat_template)
        self._after = marks.after + (marks.answer if writes_answer_mark else "")
        self._end_ids = [model.encode_text(end) for end in marks.end]
        self._end_bytes = [end.encode() for end in marks.end]
        if not is_begun(model, self.prompt_ids, marks.start):
            self.prompt_ids += model.encode_text(marks.start[0]) if marks.start and marks.start[0] else []
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
        after = self._model.encode_text(self._after) if self._after else []
        room = left - max(map(len, self._end_ids)) - len(after) - 1
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
        mark, at = self._end_in_text(before)
        count = self._end_tokens()
        if count:
            # The mark may be special tokens, which spell no text.
            self.token_count -= count
            self._end_at(at if at >= 0 else len(self._text))
        elif at >= 0:
            self._cut(before, at + len(mark))
            self._end_at(at)
        elif self.token_count >= self._max_tokens:
            self._close()

    def _end_tokens(self) -> int:
        """Return the number of tokens of the end mark that the tokens end with; 0 where they end with none."""
        tokens = self.prompt_ids[self._begin :]
        return next((len(ids) for ids in self._end_ids if tokens[-len(ids) :] == ids), 0)

    def _end_in_text(self, before: int) -> tuple[bytes, int]:
        """Return the first end mark of the text, and its position; -1 where there is none.

        Args:
            before: the length of the text before the last token, in bytes.
        """
        found = [(self._text.find(mark, max(0, before - len(mark) + 1)), mark) for mark in self._end_bytes]
        at, mark = min(((at, mark) for at, mark in found if at >= 0), default=(-1, b""))
        return mark, at

    def _free_tokens(self) -> NDArray[np.uint32]:
        """Return uint32[ceil(V/32)]: the tokens of text, those of the end mark, and the end tokens."""
        vocabulary = self._model.vocabulary
        mask: NDArray[np.uint32] = np.zeros((vocabulary.size + 31) // 32, np.uint32)
        trie = vocabulary.trie
        others = np.array([*itertools.chain(*self._end_ids), *self._ends], np.int64)
        tokens = np.concatenate([np.asarray(trie.tokens, np.int64), others])
        np.bitwise_or.at(mask, tokens >> 5, np.uint32(1) << (tokens & 31).astype(np.uint32))
        return mask

    def _cut(self, before: int, end: int) -> None:
        """Cut the last token after the end mark that it completes.

        Args:
            before: the length of the text before the last token, in bytes.
            end: the position after the end mark in the text.
        """
        if end < len(self._text):
            # The model has not read the token yet, so other tokens can replace it.
            del self.prompt_ids[-1]
            self.prompt_ids += self._model.encode_text(self._text[before:end].decode(errors="ignore"))

    def _close(self) -> None:
        """Write the end mark for the model."""
        self.prompt_ids += self._end_ids[0]
        self._end_at(len(self._text))

    def _end_at(self, at: int) -> None:
        del self._text[at:]
        if self._after:
            self.prompt_ids += self._model.encode_text(self._after)
        self._is_done = True


def is_begun(model: Model, prompt_ids: Sequence[int], starts: Sequence[str]) -> bool:
    """Return whether a prompt ends with a start mark; white space may follow it.

    Args:
        model: tokenizes the marks.
        prompt_ids: the tokens of the prompt.
        starts: the marks; an empty one is at the end of each prompt.
    """
    return any(_ends_with(model, list(prompt_ids), model.encode_text(start.strip())) for start in starts)


def _ends_with(model: Model, tokens: list[int], mark: list[int]) -> bool:
    if not mark:
        return True
    for end in range(len(tokens), max(len(mark), len(tokens) - 4) - 1, -1):
        if tokens[end - len(mark) : end] == mark:
            return True
        if (model.vocabulary.token_bytes(tokens[end - 1]) or b"x").strip():
            return False
    return False
