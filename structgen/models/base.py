"""What generation asks of a local model. Any object with these members will do; nothing has to be inherited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structgen.engine.vocabulary import Vocabulary

__all__ = ["Model", "Prompt", "Session"]

Prompt: TypeAlias = str | Sequence[Mapping[str, Any]]
"""A text, or chat messages: `[{"role": "user", "content": "…"}]`."""


class Session(Protocol):
    """One sequence under way: the tokens that the model has seen, in the form of its key-value cache."""

    @property
    def can_crop(self) -> bool:
        """Whether tokens can be taken back (not with recurrent states or sliding windows)."""

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> NDArray[np.float32]:
        """Runs the model over more tokens, in one pass.

        Args:
            token_ids: at least one; they follow those of earlier calls.
            keep: for how many of the last tokens logits are wanted, at most len(token_ids).

        Returns:
            float32[keep, V]: row i holds the logits of what follows token `token_ids[-keep + i]`.
        """

    def crop(self, count: int) -> None:
        """Takes back the last `count` tokens. Only where `can_crop`."""


class Model(Protocol):
    """A local model and its tokenizer. One may be used by many threads; a session belongs to one."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens, as bytes; its size is the logits' width, its end tokens are those that end the model's turn."""

    @property
    def context_tokens(self) -> int | None:
        """How many tokens prompt and answer may have together; None when unknown."""

    def encode_prompt(self, prompt: Prompt, *, raw: bool = False) -> list[int]:
        """Token ids of a prompt, up to where the answer begins.

        Args:
            prompt: chat messages, or a text, which becomes one user message where the model has a chat template.
            raw: give the text to the model as it is, without a chat template.
        """

    def encode_text(self, text: str) -> list[int]:
        """Token ids of a piece of an answer, as the tokenizer splits it; no special tokens are added."""

    def session(self) -> Session:
        """A new, empty sequence."""
