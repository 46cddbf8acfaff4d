"""The run of a prompt on a server: its answer is read in pieces, and validated.

    Server.ask -> pieces -> ServerSession.forward -> ServerText.take -> Run validates the text
    AsyncServer.aask -> pieces -> ServerSession.aforward -> …

`ServerSession` and `ServerText` have the members of a local run's session and decoder that callers use.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from structgen.compilation.constraint import Constraint
from structgen.engine.matching.matcher import Matcher
from structgen.errors import GenerationError, LimitExceededError, ModelError, TokenRejectedError, ValidationFailedError
from structgen.generation.decoder import FinishReason
from structgen.generation.logprobs import TokenLogprob
from structgen.generation.prompts import conversation
from structgen.generation.runs import Result, Run
from structgen.generation.usage import Usage
from structgen.models.asked import AnswerForm, Asked, Kind, Masks
from structgen.models.base import (
    AsyncServer,
    Prompt,
    RemoteModel,
    Request,
    Server,
    ServerLogprob,
    ServerPiece,
    ServerRequest,
    as_messages,
)
from structgen.models.servers.strict_schemas import VALUE
from structgen.output_types.grammar import Grammar
from structgen.schema.sentences import reasons

if TYPE_CHECKING:
    from structgen.generation.settings import Settings

__all__ = ["ServerRun"]

T = TypeVar("T")

_WRAPPING = re.compile(rb'\s*\{\s*"' + VALUE.encode() + rb'"\s*:\s*')
_KINDS = ("regex", "choice", "structural_tag")
_OPTIONS = ("whitespace", "numbers", "property_order", "formats", "draft", "lenient")  # that a server may take
_MAX_SHOWN = 40  # bytes of an answer before the position where it leaves the grammar
_UNKNOWN_TOKEN = -1  # servers return texts of tokens, and no ids


class ServerRun(Run[T], Generic[T]):
    """A run of a model behind a server; its session reads pieces of the answer.

    Args:
        model: the server.
        constraint: the constraint of the answer.
        prompt: a text or messages.
        settings: the settings of the run.
        streams: whether the server sends its answer in pieces.

    Raises:
        ModelError: an option that servers do not have.
    """

    def __init__(
        self, model: RemoteModel, constraint: Constraint[T], prompt: Prompt, settings: Settings, *, streams: bool
    ) -> None:
        if constraint.is_yaml:
            raise ModelError("servers write JSON, not YAML", hint="local models write YAML; see docs/yaml.md")
        if settings.raw:
            raise ModelError("servers read chat messages, not raw prompts", hint="leave out raw=True")
        if settings.reasoning not in (None, False, True):
            raise ModelError(
                "servers decide how their models reason", hint="use reasoning=True, or the server's own extra_body"
            )
        if constraint.grammar.has_temperatures:
            raise ModelError(
                "servers are not told the temperatures of rules",
                hint="leave them out of the grammar; temperature=… is that of the whole answer",
            )
        self.session: ServerSession
        self.decoder: ServerText
        self._model = model
        self._streams = streams
        chosen = {name: value for name, value in constraint.options.items() if model.reading.get(name) != value}
        self._asked = replace(_asked(constraint), options={name: chosen[name] for name in _OPTIONS if name in chosen})
        super().__init__(constraint, prompt, settings)

    @property
    def reasoning(self) -> str:
        """The model's reasoning so far, in this attempt."""
        return self.decoder.reasoning.strip()

    @property
    def masks(self) -> Masks:
        """The program that masks the answer; see `Result.masks`."""
        return self.decoder.masks

    def take(self, given: Any) -> None:
        """Accept a piece of the answer."""
        self.decoder.take(given)

    async def astep(self) -> bool:
        """Await the next piece of the answer; return False when there is a result."""
        request = self.request()
        if request is None:
            return False
        self.take(await self.session.aforward())
        return True

    async def ato_end(self) -> Result[T]:
        """Await the result. If the awaiting task is cancelled, so is the request."""
        try:
            while await self.astep():
                pass
        finally:
            await self.aclose()
        return cast(Result[T], self.result)

    def close(self) -> None:
        """End the answer under way."""
        self.session.close()

    async def aclose(self) -> None:
        """End the answer under way, of an `AsyncServer`."""
        await self.session.aclose()

    def _begin(self, prompt: Prompt, settings: Settings) -> Prompt:
        asked = conversation(prompt, self.constraint, settings, describe=settings.describe_schema)
        messages = as_messages(asked)
        own = self.settings
        request = ServerRequest(
            max_new_tokens=own.max_new_tokens,
            temperature=own.temperature,
            top_p=own.top_p,
            seed=own.seed,
            stop=own.stop_texts(),
            template=own.template,
            frequency_penalty=own.frequency_penalty,
            presence_penalty=own.presence_penalty,
            logit_bias=own.logit_bias or {},
            top_k=own.top_k,
            min_p=own.min_p,
            repetition_penalty=own.repetition_penalty,
            logprobs=own.logprobs,
        )
        pieces: Pieces
        if isinstance(self._model, AsyncServer):
            pieces = self._model.aask(messages, request, self._asked, streams=self._streams)
        else:
            pieces = cast(Server, self._model).ask(messages, request, self._asked, streams=self._streams)
        self.session = ServerSession(pieces)
        self.decoder = ServerText(self.constraint)
        return messages

    def _request(self) -> Request | None:
        return None if self.decoder.finish_reason else Request([], 1)

    def _cost(self) -> Usage:
        return self.decoder.usage

    def _logprobs(self) -> tuple[TokenLogprob, ...]:
        return self.decoder.logprobs() if self.settings.logprobs else ()

    def _validated(self, text: str) -> T:
        if self.constraint.source is None and isinstance(self.constraint.given, Grammar):
            _check_grammar(self.constraint, text)
        return super()._validated(text)

    def _refusal(self, error: Exception) -> ValidationFailedError:
        count = len(self.attempts)
        what = "the answer is not valid" if count == 1 else f"{count} answers are not valid; the last one"
        hint = "" if self.settings.max_retries else "max_retries=… sends the errors back to the model"
        return ValidationFailedError(f"{what}: {error}", attempts=self.attempts, hint=hint, reasons=reasons(error))


def _asked(constraint: Constraint[Any]) -> Asked:
    """Return the constraint in the form that adapters of servers read."""
    given = constraint.given
    if constraint.source is not None:
        return Asked("schema", constraint.source, None, constraint.written)
    if not isinstance(given, Grammar) or given.kind not in _KINDS:
        return Asked("grammar", None, None, constraint.written)
    content = given.source if given.kind == "regex" else json.loads(given.source)
    return Asked(cast(Kind, given.kind), None, content, constraint.written)


def _check_grammar(constraint: Constraint[Any], text: str) -> None:
    """Check a whole text against a grammar.

    Raises:
        ValueError: the text does not fit, or ends too early.
    """
    data = text.encode()
    matcher = Matcher(constraint.grammar)
    try:
        matcher.accept_bytes(data)
    except TokenRejectedError as error:
        before = data[max(0, error.position - _MAX_SHOWN) : error.position].decode(errors="replace")
        where = f"after {before!r}" if before else "at its beginning"
        raise ValueError(f"the text does not fit the grammar {where}, at byte {error.position}") from error
    if not matcher.is_accepting:
        raise ValueError(f"the text is not complete after {text[-_MAX_SHOWN:]!r}: the grammar wants more")


Pieces = Generator[ServerPiece] | AsyncGenerator[ServerPiece]


class ServerSession:
    """An answer under way.

    Args:
        pieces: the pieces of the answer.
    """

    can_crop = False

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> ServerPiece | None:
        """Return the next piece of the answer; None when there are no more.

        Raises:
            ModelError: the client has to be awaited.
        """
        if isinstance(self._pieces, AsyncGenerator):
            raise ModelError(
                "the model has an asynchronous client",
                hint="await agenerate, astream, abatch or acall; or give from_openai an OpenAI, not an AsyncOpenAI",
            )
        return next(self._pieces, None)

    async def aforward(self) -> ServerPiece | None:
        """Await the next piece of the answer; None when there are no more."""
        return await anext(cast("AsyncGenerator[ServerPiece]", self._pieces), None)

    def close(self) -> None:
        """End the answer where it is, and its connection."""
        if not isinstance(self._pieces, AsyncGenerator):
            self._pieces.close()

    async def aclose(self) -> None:
        """End the answer where it is, and its connection, with an asynchronous client."""
        await cast("AsyncGenerator[ServerPiece]", self._pieces).aclose()


class ServerText:
    """The text of an answer that comes in pieces, with the members of a `Decoder` that callers use.

    Attributes:
        finish_reason: why the answer ended; None while it continues.
        reasoning: the reasoning that the server reports.
        usage: the cost, as the server counts it.
        matcher: follows the text, to know which values are complete.
        masks: who masks the text.
        token_ids: empty: servers do not return them.
    """

    token_ids: Sequence[int] = ()

    def __init__(self, constraint: Constraint[Any]) -> None:
        self.finish_reason: FinishReason | None = None
        self.reasoning = ""
        self.usage = Usage(0, 0, 0, 0, 1, 0.0)
        self.matcher = _Follower(constraint)
        self.masks: Masks = "none"
        self._ending: FinishReason = "stop"
        self._answer: AnswerForm = "text"
        self._text = bytearray()
        self._half = ""  # of a surrogate pair, whose other half is in the next piece
        self._logprobs: list[ServerLogprob] = []

    @property
    def text_bytes(self) -> bytes:
        """The answer so far, without the object that it is wrapped in."""
        if self._answer == "text":
            return bytes(self._text)
        if self._answer == "text_value":
            return self._text_value()
        found = _WRAPPING.match(self._text)
        if found is None:
            return b""
        inner = bytes(self._text[found.end() :]).rstrip()
        # A brace at the end may be the wrapping object's.
        return inner.removesuffix(b"}").rstrip() if inner.endswith(b"}") else inner

    def _text_value(self) -> bytes:
        """Return the text in the object that it is wrapped in, when the object is complete."""
        try:
            value = json.loads(self._text)[VALUE]
        except (ValueError, LookupError, TypeError):
            return b"" if self.finish_reason is None else bytes(self._text)
        return value.encode() if isinstance(value, str) else bytes(self._text)

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
            self._add("", is_last=True)
            self.finish_reason = self._ending
            return
        if piece.form is not None:
            self.masks, self._answer = piece.form.masks, piece.form.answer
        if piece.usage is not None:
            usage = piece.usage
            self.usage = Usage(usage.prompt_tokens, usage.completion_tokens, 0, usage.reasoning_tokens, 1, 0.0)
        if piece.refusal:
            raise GenerationError(f"the model refused to answer: {piece.refusal}")
        self.reasoning += piece.reasoning
        self._add(piece.text)
        self._logprobs += piece.logprobs
        if piece.finish_reason == "length":
            self._ending = "length"
        elif piece.finish_reason == "content_filter":
            raise GenerationError("the server's content filter ended the answer")
        self.matcher.follow(self.text_bytes)

    def _add(self, text: str, *, is_last: bool = False) -> None:
        """Add text. A gateway may cut it between the halves of a surrogate pair; a half alone is replaced."""
        text, self._half = self._half + text, ""
        if not is_last and "\ud800" <= text[-1:] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        self._text += text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()

    def logprobs(self) -> tuple[TokenLogprob, ...]:
        """Return the tokens of the answer with their log-probabilities, as the server reports them.

        Tokens of the wrapping object are left out. The server has no ids for its tokens.
        """
        found = _WRAPPING.match(self._text) if self._answer == "value" else None
        begin, size = found.end() if found else 0, len(self.text_bytes)
        tokens, position = [], -begin
        for token in self._logprobs:
            start, position = position, position + len(token.text)
            if position > 0 and start < size:
                tokens.append(
                    TokenLogprob(_UNKNOWN_TOKEN, max(start, 0), min(position, size), token.logprob, token.logprob)
                )
        return tuple(tokens)


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
