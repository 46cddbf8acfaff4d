"""The passes of a transformers model, whose forward method has other parameters in other releases.

| parameter | where |
|---|---|
| `past_key_values` | transformers up to 5.23, and models with code of their own |
| `cache` | transformers from 5.24 on; it warns of the older name |
| `logits_to_keep` | nearly all models; without it, the logits of all tokens are computed |
"""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["TransformersForward"]

_CACHE_PARAMETERS = ("past_key_values", "cache")


class TransformersForward:
    """Runs passes of a model, by the parameters that its forward method has.

    Attributes:
        hf_model: the model.
        has_cache: whether the method takes a key-value cache. Without one, the model cannot be run.
    """

    __slots__ = ("_cache_parameter", "_keeps_logits", "hf_model")

    def __init__(self, hf_model: Any) -> None:
        parameters = inspect.signature(hf_model.forward).parameters
        self.hf_model = hf_model
        self._cache_parameter = next((name for name in _CACHE_PARAMETERS if name in parameters), None)
        self._keeps_logits = "logits_to_keep" in parameters

    @property
    def has_cache(self) -> bool:
        """See the class."""
        return self._cache_parameter is not None

    def logits(self, cache: Any, keep: int, **inputs: Any) -> Any:
        """Read new tokens into a cache.

        Args:
            cache: the key-value cache.
            keep: the number of last tokens whose logits are needed.
            inputs: `input_ids`, and other tensors of the model.

        Returns:
            A tensor of shape [rows, n, width of the logits]. n is `keep` or more; the last ones count.
        """
        options: dict[str, Any] = {"logits_to_keep": keep} if self._keeps_logits else {}
        if self._cache_parameter is not None:
            options[self._cache_parameter] = cache
        return self.hf_model(**inputs, **options, use_cache=True).logits
