"""Causal language models of Hugging Face transformers."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache

from structgen.engine.vocabulary import Vocabulary
from structgen.errors import ModelError
from structgen.models.base import Prompt

__all__ = ["TransformersModel", "TransformersSession", "from_transformers"]


KEPT_TEXTS = 1024  # forced texts whose tokens are kept
KEPT_CHARACTERS = 256  # of each at most


def from_transformers(hf_model: Any, tokenizer: Any) -> TransformersModel:
    """Makes a transformers model usable with `generate`, `Generator` and `@fn`.

    Args:
        hf_model: a causal language model (`AutoModelForCausalLM`), on any device; it is not changed.
        tokenizer: its tokenizer.

    Raises:
        ModelError: not a decoder with a key-value cache.
        VocabularyError: a tokenizer whose tokens' bytes are unknown.

    Example:
        >>> model = structgen.from_transformers(hf_model, tokenizer)                          # doctest: +SKIP
        >>> structgen.generate(model, "Alice is 34 years old.", Person)                       # doctest: +SKIP
        Person(name='Alice', age=34)
    """
    return TransformersModel(hf_model, tokenizer)


class TransformersModel:
    """A `structgen.models.base.Model` over transformers; see `from_transformers`.

    Attributes:
        hf_model, tokenizer: what it was made of.
        vocabulary: the tokens; as many as the logits are wide, and every end token that the tokenizer or the
            model's generation config names.
        context_tokens: how many tokens prompt and answer may have together, by the model's config.
    """

    def __init__(self, hf_model: Any, tokenizer: Any) -> None:
        parameters = inspect.signature(hf_model.forward).parameters
        if "past_key_values" not in parameters or getattr(hf_model.config, "is_encoder_decoder", False):
            raise ModelError(
                f"{type(hf_model).__name__} is not a causal language model with a key-value cache",
                hint="load it with transformers.AutoModelForCausalLM",
            )
        self.hf_model = hf_model
        self.tokenizer = tokenizer
        # The tokenizer knows one end token; the generation config of a chat model often has more.
        ends = getattr(getattr(hf_model, "generation_config", None), "eos_token_id", None)
        self.vocabulary = Vocabulary.from_huggingface(tokenizer, vocab_size=_logits_width(hf_model), eos_token_ids=ends)
        text_config = hf_model.config.get_text_config(decoder=True)
        self.context_tokens: int | None = getattr(text_config, "max_position_embeddings", None)
        self._keeps_logits = "logits_to_keep" in parameters
        # Fast tokenizers are not safe to call from several threads at once ("Already borrowed").
        self._tokenizer_lock = threading.Lock()
        # What a grammar forces is the same text run after run, and tokenizing it costs ten times a mask.
        self._tokens_of = functools.lru_cache(maxsize=KEPT_TEXTS)(self._tokenize)

    def __repr__(self) -> str:
        return f"TransformersModel({type(self.hf_model).__name__}, {self.vocabulary.size} tokens)"

    def encode_prompt(self, prompt: Prompt, *, raw: bool = False) -> list[int]:
        """See `structgen.models.base.Model.encode_prompt`.

        Raises:
            ModelError: chat messages for a tokenizer without a chat template.
        """
        has_template = bool(getattr(self.tokenizer, "chat_template", None))
        if isinstance(prompt, str) and (raw or not has_template):
            with self._tokenizer_lock:
                return list(self.tokenizer.encode(prompt))
        if not has_template:
            raise ModelError("the tokenizer has no chat template for messages", hint="give the prompt as one string")
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [dict(m) for m in prompt]
        with self._tokenizer_lock:
            # Asking for the dict makes every release since 4.40 answer alike.
            encoded = self.tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=True
            )
        return list(encoded["input_ids"])

    def encode_text(self, text: str) -> list[int]:
        """See `structgen.models.base.Model.encode_text`."""
        return list((self._tokens_of if len(text) <= KEPT_CHARACTERS else self._tokenize)(text))

    def _tokenize(self, text: str) -> tuple[int, ...]:
        with self._tokenizer_lock:
            return tuple(self.tokenizer.encode(text, add_special_tokens=False))

    def session(self) -> TransformersSession:
        """See `structgen.models.base.Model.session`."""
        return TransformersSession(self.hf_model, keeps_logits=self._keeps_logits)


class TransformersSession:
    """One sequence on a `DynamicCache`."""

    __slots__ = ("_cache", "_hf_model", "_keeps_logits")

    def __init__(self, hf_model: Any, *, keeps_logits: bool) -> None:
        self._hf_model = hf_model
        self._cache: Any = DynamicCache(config=hf_model.config)
        self._keeps_logits = keeps_logits

    @property
    def can_crop(self) -> bool:
        """Whether every layer of the cache keeps all its tokens."""
        # Sliding layers call themselves croppable, and raise once their window is full.
        return bool(getattr(self._cache, "is_croppable", True)) and not any(self._cache.is_sliding)

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> NDArray[np.float32]:
        """See `structgen.models.base.Session.forward`."""
        options: dict[str, Any] = {"logits_to_keep": keep} if self._keeps_logits else {}
        with torch.inference_mode():
            input_ids = torch.tensor([token_ids], dtype=torch.long, device=self._hf_model.device)
            output = self._hf_model(input_ids=input_ids, past_key_values=self._cache, use_cache=True, **options)
            logits: NDArray[np.float32] = output.logits[0, -keep:].float().cpu().numpy()
        return logits

    def crop(self, count: int) -> None:
        """See `structgen.models.base.Session.crop`."""
        if count:
            self._cache.crop(-count)


def _logits_width(hf_model: Any) -> int:
    """How many logits the model gives: often more than the tokenizer has tokens, for rounder matrices."""
    head = hf_model.get_output_embeddings()
    if head is not None and getattr(head, "weight", None) is not None:
        return int(head.weight.shape[0])
    return int(hf_model.config.get_text_config(decoder=True).vocab_size)
