"""The part of a model that its Hugging Face tokenizer provides: the vocabulary, and the tokens of texts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from structgen.engine.fork_safety import forkable_lock
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import ModelError
from structgen.models.base import Prompt, as_messages
from structgen.models.names import by_name

__all__ = ["TokenizedModel", "cached_tokenize"]

MAX_CACHED_TEXTS = 1024
MAX_CACHED_CHARACTERS = 256  # of one text


class TokenizedModel:
    """The half of a `structgen.models.base.Model` that uses its tokenizer.

    Args:
        tokenizer: a tokenizer of transformers.
        vocab_size: the width of the logits.
        eos_token_ids: end tokens besides the tokenizer's own.

    Attributes:
        tokenizer: the tokenizer.
        vocabulary: its tokens.
    """

    def __init__(
        self, tokenizer: Any, *, vocab_size: int | None = None, eos_token_ids: int | Iterable[int] | None = None
    ) -> None:
        self.tokenizer = tokenizer
        self.vocabulary = Vocabulary.from_huggingface(tokenizer, vocab_size=vocab_size, eos_token_ids=eos_token_ids)
        # Fast tokenizers are not safe to call from several threads at once ("Already borrowed").
        self._tokenizer_lock = forkable_lock()
        self._tokens_of = cached_tokenize(self._tokenize)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle stores; see `structgen.models.names.by_name`."""
        return by_name(self)

    @property
    def chat_template(self) -> str | None:
        """The text of the chat template; of several templates the one called "default"."""
        template = getattr(self.tokenizer, "chat_template", None)
        return template.get("default") if isinstance(template, dict) else template or None

    @property
    def tool_template(self) -> str | None:
        """The text of the chat template for prompts with tools; some tokenizers have one of its own."""
        template = getattr(self.tokenizer, "chat_template", None)
        return template.get("tool_use", self.chat_template) if isinstance(template, dict) else self.chat_template

    @property
    def response_template(self) -> Mapping[str, Any] | None:
        """The tokenizer's description of the model's replies, as transformers 5 has it; None without one."""
        found = getattr(self.tokenizer, "response_template", None)
        return found if isinstance(found, Mapping) else None

    def encode_prompt(self, prompt: Prompt, *, raw: bool = False, **template: Any) -> list[int]:
        """Return the token ids of a prompt; see `structgen.models.base.Model.encode_prompt`.

        Args:
            prompt: chat messages, or a text.
            raw: read the text as it is.
            template: variables for the chat template.

        Raises:
            ModelError: chat messages for a tokenizer without a chat template, or messages that the template refuses.
        """
        has_template = self.chat_template is not None
        if isinstance(prompt, str) and (raw or not has_template):
            with self._tokenizer_lock:
                return list(self.tokenizer.encode(prompt))
        if not has_template:
            raise ModelError("the tokenizer has no chat template for messages", hint="pass the prompt as one string")
        try:
            with self._tokenizer_lock:
                # With return_dict, every release since 4.40 returns the same type.
                encoded = self.tokenizer.apply_chat_template(
                    as_messages(prompt), add_generation_prompt=True, tokenize=True, return_dict=True, **template
                )
        except Exception as error:
            if not isinstance(error, ValueError | TypeError) and not type(error).__module__.startswith("jinja2"):
                raise
            raise ModelError(f"the chat template refuses the messages: {error}") from error
        return list(encoded["input_ids"])

    def encode_text(self, text: str) -> list[int]:
        """Return the token ids of a piece of an answer; see `structgen.models.base.Model.encode_text`."""
        return self._tokens_of(text)

    def _tokenize(self, text: str) -> list[int]:
        with self._tokenizer_lock:
            return list(self.tokenizer.encode(text, add_special_tokens=False))


def cached_tokenize(tokenize: Callable[[str], Sequence[int]]) -> Callable[[str], list[int]]:
    """Return a function that tokenizes, and caches the tokens of short texts.

    A grammar forces the same texts run after run, and tokenizing one costs ten times a mask.

    Args:
        tokenize: returns the token ids of a text.
    """
    cached = functools.lru_cache(maxsize=MAX_CACHED_TEXTS)(tokenize)
    return lambda text: list(cached(text) if len(text) <= MAX_CACHED_CHARACTERS else tokenize(text))
