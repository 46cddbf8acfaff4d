"""What generation asks of a model. Any object with these members will do; nothing has to be inherited."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.schema.options import SchemaArguments

__all__ = [
    "AnyModel",
    "Model",
    "Prompt",
    "Request",
    "Server",
    "ServerPiece",
    "ServerRequest",
    "ServerUsage",
    "Session",
    "SessionBatch",
    "as_messages",
    "check_model",
]

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


class SessionBatch(Protocol):
    """Several sequences that the model reads together. A model that can do that has a method `session_batch`, which
    gives one of these, or None where this model cannot.
    """

    def session(self) -> Session:
        """A new, empty sequence; only the batch reads for it."""

    def forward(self, requests: Sequence[tuple[Any, Sequence[int], int]]) -> Sequence[NDArray[np.float32] | Exception]:
        """Reads more tokens of several sequences, in one pass.

        Args:
            requests: for each sequence that goes on: it, its tokens, and for how many of the last ones logits are
                wanted; as of `Session.forward`. The others have ended.

        Returns:
            For each request float32[keep, V], or the error that it alone ends in.
        """


class Model(Protocol):
    """A local model and its tokenizer. One may be used by many threads; a session belongs to one."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens, as bytes; its size is the logits' width, its end tokens are those that end the model's turn."""

    @property
    def context_tokens(self) -> int | None:
        """How many tokens prompt and answer may have together; None when unknown."""

    @property
    def chat_template(self) -> str | None:
        """The text of the chat template; None when the model has none."""

    def encode_prompt(self, prompt: Prompt, *, raw: bool = False, **template: Any) -> list[int]:
        """Token ids of a prompt, up to where the answer begins.

        Args:
            prompt: chat messages, or a text, which becomes one user message where the model has a chat template.
            raw: give the text to the model as it is, without a chat template.
            template: variables for the chat template.
        """

    def encode_text(self, text: str) -> list[int]:
        """Token ids of a piece of an answer, as the tokenizer splits it; no special tokens are added."""

    def session(self) -> Session:
        """A new, empty sequence."""


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """How a server samples one answer.

    Attributes:
        max_new_tokens: the answer's budget, in tokens.
        temperature: 0 takes the most probable token.
        top_p: sample among the most probable tokens up to this probability; None for all of them.
        seed: makes sampling repeatable, where the server supports it.
        stop: texts that end the answer.
    """

    max_new_tokens: int
    temperature: float
    top_p: float | None = None
    seed: int | None = None
    stop: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ServerUsage:
    """Token counts of one answer, as the server reports them.

    Attributes:
        prompt_tokens: tokens of the prompt.
        completion_tokens: tokens of the answer.
        reasoning_tokens: tokens of the reasoning.
    """

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int


@dataclass(frozen=True, slots=True)
class ServerPiece:
    """A piece of a server's answer; a whole answer is one piece.

    Attributes:
        text: more of the answer.
        reasoning: more of the reasoning, where the server sends it.
        refusal: the model's words where it refuses to answer.
        finish_reason: why the answer ended ("stop", "length", "content_filter"), in the piece that says so.
        usage: token counts, in the piece that has them.
    """

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish_reason: str | None = None
    usage: ServerUsage | None = None


@runtime_checkable
class Server(Protocol):
    """A model that returns texts and no logits: its answers are validated, not masked."""

    @property
    def vocabulary(self) -> Vocabulary:
        """What texts are followed by: bytes."""

    @property
    def reading(self) -> SchemaArguments:
        """How schemas are read where nothing else is asked for."""

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        request: ServerRequest,
        response_format: Mapping[str, Any],
        *,
        streams: bool,
    ) -> Generator[ServerPiece]:
        """Send one request, when the first piece is asked for. Closing the generator ends the answer.

        Args:
            messages: chat messages.
            request: how the server samples.
            response_format: the schema, in the form of OpenAI's interface.
            streams: whether the answer comes in pieces, or as one.
        """


AnyModel: TypeAlias = Model | Server
"""What `generate` takes."""


def as_messages(prompt: Prompt) -> list[dict[str, Any]]:
    """A prompt as messages of its own; a text is one of the user's."""
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [dict(message) for message in prompt]


def check_model(model: Any) -> None:
    """Raises a TypeError for what is no model: most often its name, or one of transformers as it is."""
    if not isinstance(getattr(model, "vocabulary", None), Vocabulary):
        how = f"structgen.load({model!r})" if isinstance(model, str) else "structgen.load, structgen.from_transformers"
        raise TypeError(f"a model is what {how} and the like give, not {type(model).__name__}")


@dataclass(frozen=True, slots=True)
class Request:
    """What a sequence asks of the model.

    Attributes:
        token_ids: the tokens to read, at least one.
        keep: for how many of the last of them logits are wanted; see `structgen.models.base.Session.forward`.
    """

    token_ids: list[int]
    keep: int
