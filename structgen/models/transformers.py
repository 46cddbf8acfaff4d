"""Causal language models of Hugging Face transformers: `from_transformers`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache, StaticCache

from structgen.errors import ModelError
from structgen.models.tokenized import TokenizedModel
from structgen.models.transformers_batch import TransformersBatch
from structgen.models.transformers_forward import TransformersForward

__all__ = ["TransformersModel", "TransformersSession", "from_transformers"]


def from_transformers(hf_model: Any, tokenizer: Any, *, cache_tokens: int | None = None) -> TransformersModel:
    """Make a transformers model usable with `generate`, `stream`, `batch`, `Generator` and `@fn`.

    Args:
        hf_model: a causal language model (`AutoModelForCausalLM`), on any device; it is not changed.
        tokenizer: its tokenizer.
        cache_tokens: read into a static cache of this many tokens, as `torch.compile` needs it. By default the cache
            grows; the cache of a batch always grows.

    Raises:
        ModelError: the model is not a decoder with a key-value cache.
        VocabularyError: the bytes of the tokenizer's tokens are unknown.
        TypeError: the arguments are not a model and a tokenizer, in this order.

    Example:
        >>> model = structgen.from_transformers(hf_model, tokenizer)                          # doctest: +SKIP
        >>> structgen.generate(model, "Alice is 34 years old.", Person)                       # doctest: +SKIP
        Person(name='Alice', age=34)
    """
    return TransformersModel(hf_model, tokenizer, cache_tokens=cache_tokens)


class TransformersModel(TokenizedModel):
    """A `structgen.models.base.Model` over transformers; see `from_transformers`.

    Attributes:
        hf_model, tokenizer: the model and tokenizer that were given.
        vocabulary: the tokens, as many as the logits are wide. Every end token of the tokenizer or of the model's
            generation config is an end token.
        context_tokens: the number of tokens that prompt and answer may have together, by the model's config.
    """

    def __init__(self, hf_model: Any, tokenizer: Any, *, cache_tokens: int | None = None) -> None:
        if not hasattr(hf_model, "forward") or not hasattr(tokenizer, "convert_ids_to_tokens"):
            given = f"{type(hf_model).__name__} and {type(tokenizer).__name__}"
            hint = f"; structgen.load({hf_model!r}) loads both" if isinstance(hf_model, str) else ""
            raise TypeError(f"from_transformers takes a model of transformers and its tokenizer, not {given}{hint}")
        self._forward = TransformersForward(hf_model)
        if not self._forward.has_cache or getattr(hf_model.config, "is_encoder_decoder", False):
            raise ModelError(
                f"{type(hf_model).__name__} is not a causal language model with a key-value cache",
                hint="load it with transformers.AutoModelForCausalLM",
            )
        # A tokenizer has one end token; the generation config of a chat model often has more.
        ends = getattr(getattr(hf_model, "generation_config", None), "eos_token_id", None)
        super().__init__(tokenizer, vocab_size=_logits_width(hf_model), eos_token_ids=ends)
        self.hf_model = hf_model
        text_config = hf_model.config.get_text_config(decoder=True)
        self.context_tokens: int | None = getattr(text_config, "max_position_embeddings", None)
        self._cache_tokens = cache_tokens
        if cache_tokens is not None:
            self.context_tokens = min(cache_tokens, self.context_tokens or cache_tokens)

    def __repr__(self) -> str:
        # The name that it was loaded by, without its folder; a model made in memory has none.
        name = PurePath(getattr(self.hf_model, "name_or_path", "")).name or type(self.hf_model).__name__
        return f"TransformersModel({name}, {self.vocabulary.size} tokens)"

    def session(self) -> TransformersSession:
        """Return a new, empty sequence."""
        return TransformersSession(self._forward, self._new_cache())

    def session_batch(self) -> TransformersBatch | None:
        """Return a batch of sequences; None for models that do not see all earlier tokens."""
        cache = DynamicCache(config=self.hf_model.config)
        if not _is_croppable(cache):
            return None
        return TransformersBatch(self._forward)

    def _new_cache(self) -> Any:
        if self._cache_tokens is None:
            return DynamicCache(config=self.hf_model.config)
        return StaticCache(config=self.hf_model.config, max_cache_len=self._cache_tokens)


class TransformersSession:
    """A sequence in a cache of its own; a `structgen.models.base.Session`."""

    __slots__ = ("_cache", "_forward")

    def __init__(self, forward: TransformersForward, cache: Any) -> None:
        self._forward = forward
        self._cache = cache

    @property
    def can_crop(self) -> bool:
        """True if every layer of the cache keeps all its tokens."""
        return _is_croppable(self._cache)

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> NDArray[np.float32]:
        """Read more tokens; see `structgen.models.base.Session.forward`."""
        with torch.inference_mode():
            input_ids = torch.tensor([token_ids], dtype=torch.long, device=self._forward.hf_model.device)
            found = self._forward.logits(self._cache, keep, input_ids=input_ids)
            logits: NDArray[np.float32] = found[0, -keep:].float().cpu().numpy()
        return logits

    def crop(self, count: int) -> None:
        """Remove the last tokens."""
        if not count:
            return
        if isinstance(self._cache, StaticCache):
            layers: list[Any] = self._cache.layers
            for layer in layers:
                layer.cumulative_length.sub_(count)  # later tokens overwrite the removed ones
        else:
            self._cache.crop(-count)


def _is_croppable(cache: Any) -> bool:
    # transformers calls sliding layers croppable, but they raise once their window is full; it calls static ones not
    # croppable, but they are.
    is_able = isinstance(cache, StaticCache) or getattr(cache, "is_croppable", True)
    return bool(is_able) and not any(cache.is_sliding)


def _logits_width(hf_model: Any) -> int:
    """Return the width of the logits: often more than the tokenizer has tokens, to round up the matrices."""
    head = hf_model.get_output_embeddings()
    if head is not None and getattr(head, "weight", None) is not None:
        return int(head.weight.shape[0])
    return int(hf_model.config.get_text_config(decoder=True).vocab_size)
