"""The interface between generation and a model: protocols that an adapter fulfils.

Any object with these members will do; nothing has to be inherited. A local model (`Model`) returns logits, and its
answers are masked. A model behind a server (`Server`) returns texts, and its answers are validated.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.models.asked import Asked, Form
from structgen.schema.options import SchemaArguments

__all__ = [
    "AnyModel",
    "AsyncServer",
    "Model",
    "Prompt",
    "RemoteModel",
    "Request",
    "Server",
    "ServerLogprob",
    "ServerPiece",
    "ServerRequest",
    "ServerUsage",
    "Session",
    "SessionBatch",
    "as_messages",
    "check_model",
]

Prompt: TypeAlias = str | Sequence[Mapping[str, Any]]
"""A text, or a list of chat messages such as `[{"role": "user", "content": "…"}]`."""


class Session(Protocol):
    """A sequence of tokens that the model has read, in the form of its key-value cache."""

    @property
    def can_crop(self) -> bool:
        """True if tokens can be removed again; models with recurrent states or sliding windows cannot do that."""

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> NDArray[np.float32]:
        """Run the model over more tokens, in one pass.

        Args:
            token_ids: at least one token id; they follow the tokens of earlier calls.
            keep: the number of last tokens whose logits are returned, at most len(token_ids).

        Returns:
            float32[keep, V]: row i holds the logits of the token after `token_ids[-keep + i]`.
        """

    def crop(self, count: int) -> None:
        """Remove the last `count` tokens; only where `can_crop`."""


class SessionBatch(Protocol):
    """Several sequences that the model reads together.

    A model that can read several sequences in one pass has a method `session_batch`. It returns a `SessionBatch`, or
    None where this model cannot.

    A batch that can copy sequences has a method `fork(sessions)`. It returns a new session for each of them, with what
    that one has read; the next call of `forward` reads both. `structgen.sample` uses it where answers begin alike.
    """

    def session(self) -> Session:
        """Return a new, empty sequence, which only the batch reads."""

    def forward(self, requests: Sequence[tuple[Any, Sequence[int], int]]) -> Sequence[NDArray[np.float32] | Exception]:
        """Read more tokens of several sequences, in one pass.

        Args:
            requests: for each sequence that continues: the session, its new tokens, and the number of last tokens whose
                logits are returned; see `Session.forward`. Sequences that are not named have ended, unless the batch
                has an attribute `keeps_unnamed` that is true. A sequence with no new tokens and 0 logits waits: it
                keeps its place.

        Returns:
            For each request float32[keep, V], or the error of this sequence.
        """


class Model(Protocol):
    """A local model and its tokenizer. Many threads may share a model; a session belongs to one thread."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens as bytes. Its size is the width of the logits; its end tokens end the model's turn."""

    @property
    def context_tokens(self) -> int | None:
        """The number of tokens that prompt and answer may have together; None when unknown."""

    @property
    def chat_template(self) -> str | None:
        """The text of the chat template; None when the model has none."""

    def encode_prompt(self, prompt: Prompt, *, raw: bool = False, **template: Any) -> list[int]:
        """Return the token ids of a prompt, up to where the answer begins.

        Args:
            prompt: chat messages, or a text. Where the model has a chat template, a text becomes one user message.
            raw: read the text as it is, without a chat template.
            template: variables for the chat template.
        """

    def encode_text(self, text: str) -> list[int]:
        """Return the token ids of a piece of an answer, as the tokenizer splits it, without special tokens."""

    def session(self) -> Session:
        """Return a new, empty sequence."""


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """Sampling options of a server's answer, and the variables of its chat template.

    An adapter refuses the options that its server does not have; see `refuse_options`.
    """

    max_new_tokens: int
    temperature: float
    top_p: float | None = None
    seed: int | None = None
    stop: Sequence[str] = ()
    template: Mapping[str, Any] = field(default_factory=dict)
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0
    logprobs: bool = False


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
class ServerLogprob:
    """A token of an answer, as the server reports it.

    Attributes:
        text: its bytes.
        logprob: its log-probability.
    """

    text: bytes
    logprob: float


@dataclass(frozen=True, slots=True)
class ServerPiece:
    """A piece of a server's answer; a whole answer is one piece, after the one with its form.

    Attributes:
        form: in the first piece, the form in which the constraint was sent.
        text: more of the answer.
        reasoning: more of the reasoning, where the server sends it.
        refusal: the model's words where it refuses to answer.
        finish_reason: why the answer ended ("stop", "length", "content_filter"), in the piece that says so.
        usage: token counts, in the piece that has them.
        logprobs: the tokens of the text, where they were asked for.
    """

    form: Form | None = None
    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish_reason: str | None = None
    usage: ServerUsage | None = None
    logprobs: Sequence[ServerLogprob] = ()


@runtime_checkable
class RemoteModel(Protocol):
    """A model that returns texts and no logits: a `Server` or an `AsyncServer`. Its answers are validated here."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary to follow answers with: bytes."""

    @property
    def reading(self) -> SchemaArguments:
        """The default options for reading schemas."""


@runtime_checkable
class Server(RemoteModel, Protocol):
    """A model behind a server. Many threads may share it."""

    def ask(
        self, messages: Sequence[Mapping[str, Any]], request: ServerRequest, asked: Asked, *, streams: bool
    ) -> Generator[ServerPiece]:
        """Send one request, when the first piece is asked for. Closing the generator ends the answer.

        Args:
            messages: chat messages.
            request: how the server samples.
            asked: the constraint of the answer.
            streams: whether the answer comes in pieces, or as one.

        Yields:
            A piece with the form in which the constraint was sent, and the pieces of the answer.

        Raises:
            ModelError: the server has no such option, or takes no such constraint.
            ServerError: the server refused the request, or did not answer.
        """


@runtime_checkable
class AsyncServer(RemoteModel, Protocol):
    """A model behind a server that is awaited, without threads."""

    def aask(
        self, messages: Sequence[Mapping[str, Any]], request: ServerRequest, asked: Asked, *, streams: bool
    ) -> AsyncGenerator[ServerPiece]:
        """Send one request, when the first piece is awaited; see `Server.ask`."""


AnyModel: TypeAlias = Model | RemoteModel
"""Any model that `generate` accepts."""


def as_messages(prompt: Prompt) -> list[dict[str, Any]]:
    """Return a prompt as a new list of messages; a text becomes one user message."""
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [dict(message) for message in prompt]


def check_model(model: Any) -> None:
    """Check that an object is a model, and not a name or a model of another library.

    Args:
        model: the object.

    Raises:
        TypeError: the object is not a model.
    """
    if not isinstance(getattr(model, "vocabulary", None), Vocabulary):
        how = f"structgen.load({model!r})" if isinstance(model, str) else "structgen.load, structgen.from_transformers"
        raise TypeError(f"expected a model, as from {how} or the like, not {type(model).__name__}")


@dataclass(frozen=True, slots=True)
class Request:
    """Tokens that one sequence asks the model to read.

    Attributes:
        token_ids: the tokens to read, at least one.
        keep: the number of last tokens whose logits are returned; see `structgen.models.base.Session.forward`.
    """

    token_ids: list[int]
    keep: int
