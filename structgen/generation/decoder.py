"""The decoding loop: mask, sample, accept; and what the grammar forces is not asked of the model.

Where the grammar leaves one continuation only (`{"name": "` at the start of an object), its bytes are tokenized as
the tokenizer would, and the model reads these tokens in the same pass as the token before them. One question stays:
which tokens? The model might have written `{` and `"` where the tokenizer has `{"`, or joined the last one with what
follows, as `"` and `$` to `"$`; what it says later depends on that. So the tokens are *held*: the pass gives logits
before each of them too, the model's choice there is sampled like any other, and where it is another token than the held
one, that one and those after it are taken back from matcher and cache. That is speculative decoding with the grammar as
the draft model: exact, the answer is the one that was given token by token, and it costs no pass of its own.

The loop is turned inside out: `request` says what the model has to read next, `take` brings its logits. So one loop
drives one sequence, another a batch of them, each of them at its own place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from structgen.compilation.constraint import Constraint
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import GenerationError
from structgen.generation.sampling import Sampler
from structgen.models.base import Request

if TYPE_CHECKING:
    from structgen.models.base import Model, Session

__all__ = ["Decoder", "FinishReason", "Observer"]

FinishReason = Literal["stop", "length"]

MAX_HELD = 32  # tokens of forced text that are held; in a longer text those before them are taken as they are


class Observer(Protocol):
    """Is told of each step of a run, in the order of the text: for traces. The arrays are reused: copy what is kept."""

    def accepted(
        self,
        token_id: int,
        logits: NDArray[np.float32] | None,
        mask: NDArray[np.uint32] | None,
        *,
        forced: bool,
    ) -> None:
        """A token was taken for good.

        Args:
            token_id: the token; an end token too.
            logits: float32[V] before it; None where the model was not asked.
            mask: uint32[ceil(V/32)] before it; None where it was not needed.
            forced: the grammar left no choice about its text.
        """

    def rolled_back(self, token_ids: Sequence[int]) -> None:
        """Held tokens, of which the first stands where the model's choice comes next, were taken back."""


class Decoder:
    """One sequence under a constraint.

    Args:
        model: encodes what is forced.
        constraint: what the text has to be.
        prompt_ids: the tokens before the text.
        session: what the model has read of them; tokens may be taken back from it.
        seen_tokens: how many of them that are.
        sampler: picks among the allowed tokens.
        max_new_tokens: budget, forced tokens included.
        stop: texts after which it ends, where the grammar allows an end there.
        observer: is told of every token that is taken.

    Attributes:
        token_ids: the answer so far, without an end token.
        forced_tokens: how many of them were forced, and cost no pass of their own.
        matcher: the state of the text. Between `request` and `take` it is behind the held tokens, too.
        model_calls: passes of the model so far.
        finish_reason: "stop" where the text ended, "length" where the budget did; None while it goes on.
    """

    def __init__(
        self,
        model: Model,
        constraint: Constraint[Any],
        prompt_ids: Sequence[int],
        *,
        session: Session,
        seen_tokens: int = 0,
        sampler: Sampler,
        max_new_tokens: int,
        stop: Sequence[str] = (),
        observer: Observer | None = None,
    ) -> None:
        self.token_ids: list[int] = []
        self.forced_tokens = 0
        self.model_calls = 0
        self.finish_reason: FinishReason | None = None
        self._model = model
        self._vocabulary = constraint.vocabulary
        self._ends = frozenset(self._vocabulary.eos_token_ids)
        kept_ids, prefix, self.matcher = constraint.healed(prompt_ids)
        if len(kept_ids) <= seen_tokens:
            if session.can_crop:  # back to before the last of those that stay: its logits are wanted
                session.crop(seen_tokens - len(kept_ids) + 1)
                seen_tokens = len(kept_ids) - 1
            else:
                kept_ids, prefix, self.matcher = list(prompt_ids), b"", constraint.matcher(prompt_ids)
        self._prefix_bytes = len(prefix)  # of the prompt, written again
        self._is_proper = constraint.tokenization == "proper"
        self._session = session
        self._sampler = sampler
        self._max_new_tokens = max_new_tokens + len(prompt_ids) - len(kept_ids)
        self._stop = [text.encode() for text in stop]
        self._unseen = kept_ids[seen_tokens:]  # tokens that the model has not read yet
        self._held: list[int] = []
        self._observer = observer
        # Row i: what may come before held token i; the row after the last held one: what may come then.
        self._mask = allocate_token_bitmask(MAX_HELD + 1, self._vocabulary.size)
        self._text = bytearray()

    @property
    def text_bytes(self) -> bytes:
        """The answer so far, in UTF-8; a character may be incomplete at the end."""
        return bytes(self._text[self._prefix_bytes :])

    @property
    def is_complete(self) -> bool:
        """Whether the text so far is a whole text of the grammar."""
        return self.matcher.is_accepting

    def request(self) -> Request | None:
        """Takes what is forced, and says what the model has to read before the next choice.

        Returns:
            None when the text has ended; `finish_reason` says how.

        Raises:
            GenerationError: no token of the vocabulary can continue the text.
        """
        while self.finish_reason is None:
            self._held = self._append_forced()
            if self.matcher.is_terminated or self._ends_with_stop():
                self._end("stop")
            elif len(self.token_ids) >= self._max_new_tokens:
                self._end("length")
            else:
                row = self._mask[len(self._held)]
                only = _only_token(row) if not self._held else None
                if only is not None:
                    self.forced_tokens += only not in self._ends
                    self._tell(only, None, row, forced=True)
                    self._accept(only)
                elif row.any():
                    return Request(self._unseen, len(self._held) + 1)
                elif self.matcher.is_accepting:
                    self._end("stop")  # complete, and the vocabulary has no token to say so
                else:
                    raise GenerationError(f"no token of the vocabulary can continue the text {self._shown()}")
        return None

    def take(self, logits: NDArray[np.float32]) -> None:
        """Checks the held tokens, and samples the next one.

        Args:
            logits: float32[keep, V], what the request asked for.
        """
        self.model_calls += 1
        self._unseen = []
        held, self._held = self._held, []
        for index, expected in enumerate(held):
            token_id = self._sampler.sample(logits[index], self._mask[index])
            if token_id != expected:
                self._take_back(held[index:])
                self._tell(token_id, logits[index], self._mask[index], forced=False)
                self._accept(token_id)
                return
            self.forced_tokens += 1
            self._tell(token_id, logits[index], self._mask[index], forced=True)
        token_id = self._sampler.sample(logits[len(held)], self._mask[len(held)])
        self._tell(token_id, logits[len(held)], self._mask[len(held)], forced=False)
        self._accept(token_id)

    def _end(self, reason: FinishReason) -> None:
        self._tell_held(self._held)
        self.finish_reason = reason

    def _tell_held(self, held: list[int]) -> None:
        """Held tokens stay as they are, for the model is not asked any more."""
        for index, token_id in enumerate(held):
            self._tell(token_id, None, self._mask[index], forced=True)

    def _tell(self, token_id: int, logits: Any, mask: Any, *, forced: bool) -> None:
        if self._observer is not None:
            self._observer.accepted(token_id, logits, mask, forced=forced)

    def _append_forced(self) -> list[int]:
        """Appends the tokens that the grammar forces; fills the mask's rows.

        Returns:
            Those that the model is asked about, where another token of it can be taken instead: they are appended as
            well, and row i of the mask is for the place before the i-th of them, the next row for the place after them
            all.
        """
        matcher, mask = self.matcher, self._mask
        if self._is_proper:  # where a token is forced, it is the only one in the mask: others are not proper there
            if not matcher.is_terminated:
                matcher.fill_next_token_bitmask(mask, 0)
            return []
        tokens = self._tokenize(matcher.forced_bytes())[: self._max_new_tokens - len(self.token_ids)]
        held: list[int] = []
        for index, token_id in enumerate(tokens):
            if index >= len(tokens) - MAX_HELD:
                matcher.fill_next_token_bitmask(mask, len(held))
                if self._session.can_crop:
                    held.append(token_id)
                elif _may_merge(self._vocabulary, tokens[index:], mask[0]):
                    return []  # asked as any other token; row 0 is filled
            matcher.accept_token(token_id)
            self._append(token_id)
            self.forced_tokens += not held
            if not held:
                self._tell(token_id, None, None, forced=True)
        if matcher.is_terminated:
            self.forced_tokens += len(held)
            self._tell_held(held)
            return []  # nothing follows that could depend on the tokens
        matcher.fill_next_token_bitmask(mask, len(held))
        return held

    def _accept(self, token_id: int) -> None:
        if token_id in self._ends:
            self.finish_reason = "stop"
            return
        before = len(self._text)
        self.matcher.accept_token(token_id)
        self._append(token_id)
        cut = self._stop_within(before)
        if cut is not None:
            del self._text[cut:]
            self.finish_reason = "stop"

    def _append(self, token_id: int) -> None:
        self.token_ids.append(token_id)
        self._unseen.append(token_id)
        self._text += self._vocabulary.token_bytes(token_id) or b""

    def _take_back(self, token_ids: list[int]) -> None:
        if self._observer is not None:
            self._observer.rolled_back(token_ids)
        count = len(token_ids)
        self._session.crop(count)
        self.matcher.rollback(count)
        del self.token_ids[-count:]
        del self._text[-sum(len(self._vocabulary.token_bytes(token) or b"") for token in token_ids) :]

    def _stop_within(self, before: int) -> int | None:
        """Where the text ends if a stop text ends within its last token, and the grammar allows an end there."""
        if self._is_proper:
            return None  # the token would not be the tokenizer's any more: only a text's last token ends it
        cuts = set()
        for stop in self._stop:
            at = self._text.find(stop, max(0, before - len(stop) + 1))
            while at >= 0:
                cuts.add(at + len(stop))
                at = self._text.find(stop, at + 1)
        for cut in sorted(cuts):
            matcher = self.matcher.fork()
            matcher.rollback(1)
            matcher.accept_bytes(bytes(self._text[before:cut]))
            if matcher.is_accepting:
                return cut
        return None

    def _ends_with_stop(self) -> bool:
        return any(self.text_bytes.endswith(stop) for stop in self._stop) and self.matcher.is_accepting

    def _tokenize(self, forced: bytes) -> list[int]:
        """The tokens of forced text, or none where the tokenizer cannot say: then the model chooses the split."""
        text = _whole_characters(forced)
        if not text:
            return []
        tokens = self._model.encode_text(text)
        # Some tokenizers normalize, or put a space before a text: then their tokens spell something else.
        spelled = b"".join(self._vocabulary.token_bytes(token) or b"\xff" for token in tokens)
        return tokens if spelled == text.encode() else []

    def _shown(self) -> str:
        return repr(bytes(self._text[-80:]).decode(errors="replace"))


def _whole_characters(data: bytes) -> str:
    """The text of the bytes, as far as they are whole characters."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        # In the middle of a character the tokenizer has nothing to say; before one that is cut off it has.
        return data[: error.start].decode()


def _only_token(row: NDArray[np.uint32]) -> int | None:
    """The token, if the mask allows exactly one."""
    words = np.flatnonzero(row)
    if words.shape[0] != 1:
        return None
    word = int(row[words[0]])
    return None if word & (word - 1) else int(words[0]) * 32 + word.bit_length() - 1


def _may_merge(vocabulary: Vocabulary, tokens: list[int], row: NDArray[np.uint32]) -> bool:
    """Whether an allowed token begins with all these tokens' bytes and goes on: then the last word is not spoken.

    Cost: a walk of the trie down the bytes, and a look at the tokens below.
    """
    trie = vocabulary.trie
    node, end = -1, trie.node_count
    for byte in b"".join(vocabulary.token_bytes(token) or b"" for token in tokens):
        if node < 0:
            node = trie.first_node[byte]
            if node < 0:
                return False
        else:
            child = node + 1
            while child < end and trie.node_byte[child] != byte:
                child = trie.node_end[child]
            if child >= end:
                return False
            node = child
        end = trie.node_end[node]
    if node < 0:
        return False
    longer = np.asarray(trie.tokens[trie.token_start[node + 1] : trie.token_start[end]])
    return bool((row[longer >> 5] >> (longer & 31).astype(np.uint32) & np.uint32(1)).any())
