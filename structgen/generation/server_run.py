"""A run of a model behind a server: its answer is read in pieces, and validated."""

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
    """A run of a model behind a server; the session reads pieces of its answer."""

    def __init__(
        self, model: Server, constraint: Constraint[T], prompt: Prompt, settings: Settings, *, streams: bool
    ) -> None:
        if constraint.source is None:
            raise ModelError(
                "servers take JSON Schemas, and no grammars", hint="a local model takes grammars; see docs/models.md"
            )
        for name in ("top_k", "raw"):
            if getattr(settings, name):
                raise ModelError(f"servers with OpenAI's interface know no {name}")
        if settings.reasoning not in (None, False, True):
            raise ModelError(
                "servers decide how their models reason", hint="reasoning=True, or an extra_body of theirs"
            )
        self.session: ServerSession
        self.decoder: ServerText
        self._model = model
        self._streams = streams
        self._format, self._is_wrapped = response_format(constraint.source, name="answer")
        super().__init__(constraint, prompt, settings)

    @property
    def reasoning(self) -> str:
        """See `Run.reasoning`."""
        return self.decoder.reasoning.strip()

    def take(self, given: Any) -> None:
        """See `Run.take`."""
        self.decoder.take(given)

    def close(self) -> None:
        """See `Run.close`."""
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
        )
        self.session = ServerSession(self._model.ask(messages, request, self._format, streams=self._streams))
        self.decoder = ServerText(self.constraint, is_wrapped=self._is_wrapped)
        return messages

    def _request(self) -> Request | None:
        return None if self.decoder.finish_reason else Request([], 1)

    def _cost(self) -> Usage:
        return self.decoder.usage


class ServerSession:
    """One answer on its way."""

    can_crop = False

    def __init__(self, pieces: Generator[ServerPiece]) -> None:
        self._pieces = pieces

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> ServerPiece | None:
        """The next piece of the answer; None when there is no more."""
        return next(self._pieces, None)

    def close(self) -> None:
        """Ends the answer where it is, and its connection."""
        self._pieces.close()


class ServerText:
    """The text of an answer that comes in pieces: what a `Decoder` is for a local model.

    Attributes:
        finish_reason: None while it goes on.
        reasoning: what the server says the model has thought.
        usage: as the server counts.
        token_ids: none are known.
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
        # A brace at the end may be the wrapping's.
        return inner.removesuffix(b"}").rstrip() if inner.endswith(b"}") else inner

    @property
    def is_complete(self) -> bool:
        """Whether the text is JSON, even where the server says that its budget ended."""
        try:
            json.loads(self.text_bytes)
        except ValueError:
            return False
        return True

    def take(self, piece: ServerPiece | None) -> None:
        """Read a piece; None when there are no more.

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
    """A matcher behind an answer that nothing holds to the grammar; where it has left it, anything may come."""

    def __init__(self, constraint: Constraint[Any]) -> None:
        self._matcher: Matcher | None = Matcher(constraint.grammar)
        self._read = 0

    def follow(self, text: bytes) -> None:
        """Goes on to the end of the text."""
        new, self._read = text[self._read :], max(self._read, len(text))
        try:
            if self._matcher is not None:
                self._matcher.accept_bytes(new)
        except (TokenRejectedError, LimitExceededError):
            self._matcher = None

    def allows_bytes(self, data: bytes) -> bool:
        """See `Matcher.allows_bytes`."""
        return self._matcher is None or self._matcher.allows_bytes(data)
