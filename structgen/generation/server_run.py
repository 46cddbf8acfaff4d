"""The run of a prompt on a server: its answer is read in pieces, and validated.

    Server.ask -> pieces -> ServerSession.forward -> ServerText.take -> Run validates the text

`ServerSession` and `ServerText` have the members of a local run's session and decoder that callers use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from structgen.compilation.constraint import Constraint
from structgen.engine.matching.matcher import Matcher
from structgen.errors import GenerationError, LimitExceededError, ModelError, TokenRejectedError
from structgen.generation.decoder import FinishReason
from structgen.generation.prompts import conversation
from structgen.generation.runs import Run, Usage
from structgen.models.base import Prompt, Request, Server, ServerPiece, ServerRequest, as_messages
from structgen.models.response_format import VALUE, response_format

if TYPE_CHECKING:
    from structgen.generation.settings import Settings

__all__ = ["ServerRun"]

T = TypeVar("T")

_WRAPPING = re.compile(rb'\s*\{\s*"' + VALUE.encode() + rb'"\s*:\s*')


class ServerRun(Run[T], Generic[T]):
    """A run of a model behind a server; its session reads pieces of the answer.

    Args:
        model: the server.
        constraint: the constraint of the answer.
        prompt: a text or messages.
        settings: the settings of the run.
        streams: whether the server sends its answer in pieces.

    Raises:
        ModelError: a grammar, or an option that servers do not have.
    """

    def __init__(
        self, model: Server, constraint: Constraint[T], prompt: Prompt, settings: Settings, *, streams: bool
    ) -> None:
        if constraint.source is None:
            raise ModelError(
                "servers accept JSON Schemas, not grammars", hint="local models accept grammars; see docs/models.md"
            )
        if constraint.is_yaml:
            raise ModelError("servers write JSON, not YAML", hint="local models write YAML; see docs/yaml.md")
        for name in ("top_k", "min_p", "raw", "logprobs"):
            if getattr(settings, name):
                raise ModelError(f"servers with OpenAI's interface do not support {name}")
        if settings.repetition_penalty != 1:
            raise ModelError(
                "OpenAI's interface has no repetition_penalty",
                hint="from_openai(…, extra_body={'repetition_penalty': 1.1}) sends it to servers that know it",
            )
        if settings.reasoning not in (None, False, True):
            raise ModelError(
                "servers decide how their models reason", hint="use reasoning=True, or the server's own extra_body"
            )
        self.session: ServerSession
        self.decoder: ServerText
        self._model = model
        self._streams = streams
        self._format, self._is_wrapped = response_format(constraint.source, name="answer")
        super().__init__(constraint, prompt, settings)

    @property
    def reasoning(self) -> str:
        """The model's reasoning so far, in this attempt."""
        return self.decoder.reasoning.strip()

    def take(self, given: Any) -> None:
        """Accept a piece of the answer."""
        self.decoder.take(given)

    def close(self) -> None:
        """End the answer under way."""
        self.session.close()

    def _begin(self, prompt: Prompt, settings: Settings) -> Prompt:
        asked = conversation(prompt, self.constraint, settings, describe=settings.describe_schema)
        messages = as_messages(asked)
        request = ServerRequest(
            self.settings.max_new_tokens,
            self.settings.temperature,
            self.settings.top_p,
            self.settings.seed,
            self.settings.stop_texts(),
            self.settings.template,
            self.settings.frequency_penalty,
            self.settings.presence_penalty,
            self.settings.logit_bias or {},
        )
        self.session = ServerSession(self._model.ask(messages, request, self._format, streams=self._streams))
        self.decoder = ServerText(self.constraint, is_wrapped=self._is_wrapped)
        return messages

    def _request(self) -> Request | None:
        return None if self.decoder.finish_reason else Request([], 1)

    def _cost(self) -> Usage:
        return self.decoder.usage


class ServerSession:
    """An answer under way."""

    can_crop = False

    def __init__(self, pieces: Generator[ServerPiece]) -> None:
        self._pieces = pieces

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> ServerPiece | None:
        """Return the next piece of the answer; None when there are no more."""
        return next(self._pieces, None)

    def close(self) -> None:
        """End the answer where it is, and its connection."""
        self._pieces.close()


class ServerText:
    """The text of an answer that comes in pieces, with the members of a `Decoder` that callers use.

    Attributes:
        finish_reason: why the answer ended; None while it continues.
        reasoning: the reasoning that the server reports.
        usage: the cost, as the server counts it.
        matcher: follows the text, to know which values are complete.
        token_ids: empty: servers do not return them.
    """

    token_ids: Sequence[int] = ()

    def __init__(self, constraint: Constraint[Any], *, is_wrapped: bool) -> None:
        self.finish_reason: FinishReason | None = None
        self.reasoning = ""
        self.usage = Usage(0, 0, 0, 0, 1, 0.0)
        self.matcher = _Follower(constraint)
        self._ending: FinishReason = "stop"
        self._is_wrapped = is_wrapped
        self._text = bytearray()

    @property
    def text_bytes(self) -> bytes:
        """The answer so far, without the object that it is wrapped in."""
        if not self._is_wrapped:
            return bytes(self._text)
        found = _WRAPPING.match(self._text)
        if found is None:
            return b""
        inner = bytes(self._text[found.end() :]).rstrip()
        # A brace at the end may be the wrapping object's.
        return inner.removesuffix(b"}").rstrip() if inner.endswith(b"}") else inner

    @property
    def is_complete(self) -> bool:
        """True if the text is JSON, even where the server reports that its budget ended."""
        try:
            json.loads(self.text_bytes)
        except ValueError:
            return False
        return True

    def take(self, piece: ServerPiece | None) -> None:
        """Read a piece of the answer.

        Args:
            piece: the piece; None when there are no more.

        Raises:
            GenerationError: the model refused to answer, or the server filtered the answer.
        """
        if piece is None:
            self.finish_reason = self._ending
            return
        if piece.usage is not None:
            usage = piece.usage
            self.usage = Usage(usage.prompt_tokens, usage.completion_tokens, 0, usage.reasoning_tokens, 1, 0.0)
        if piece.refusal:
            raise GenerationError(f"the model refused to answer: {piece.refusal}")
        self.reasoning += piece.reasoning
        self._text += piece.text.encode()
        if piece.finish_reason == "length":
            self._ending = "length"
        elif piece.finish_reason == "content_filter":
            raise GenerationError("the server's content filter ended the answer")
        self.matcher.follow(self.text_bytes)


class _Follower:
    """A matcher that follows an answer which nothing holds to the grammar; after an error it allows everything."""

    def __init__(self, constraint: Constraint[Any]) -> None:
        self._matcher: Matcher | None = Matcher(constraint.grammar)
        self._read = 0

    def follow(self, text: bytes) -> None:
        """Read on to the end of the text."""
        new, self._read = text[self._read :], max(self._read, len(text))
        try:
            if self._matcher is not None:
                self._matcher.accept_bytes(new)
        except (TokenRejectedError, LimitExceededError):
            self._matcher = None

    def allows_bytes(self, data: bytes) -> bool:
        """Return whether these bytes may follow; True after an error."""
        return self._matcher is None or self._matcher.allows_bytes(data)
