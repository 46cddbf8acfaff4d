"""mlx-lm: a logits processor for `generate`, `stream_generate` and the batched calls.

    constraint = structgen.compile(Person, vocabulary)
    text = mlx_lm.generate(model, tokenizer, prompt, logits_processors=[logits_processor(constraint)])

mlx-lm calls a processor with the tokens so far, an array of one dimension, and with logits of shape [1, V]. The first
call has tokens of the prompt only, and often not all of them. MLX is imported when a processor is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from structgen.compilation.constraint import Constraint

__all__ = ["logits_processor"]


def logits_processor(constraint: Constraint[Any]) -> Callable[[Any, Any], Any]:
    """Return a logits processor for one sequence of mlx-lm.

    Args:
        constraint: what the text must be. Make its vocabulary with the tokenizer inside mlx-lm's wrapper, and with the
            width of the logits: `Vocabulary.from_huggingface(tokenizer._tokenizer, vocab_size=…)`.

    Returns:
        A function of tokens and logits, for `logits_processors=[…]`. Sequences of a batch need one each.

    Example:
        >>> vocabulary = structgen.Vocabulary.from_bytes({0: b"yes", 1: b"no", 2: b""}, eos_token_ids=[2])
        >>> processor = logits_processor(structgen.compile(structgen.Grammar.choice(["yes", "no"]), vocabulary))
        >>> callable(processor)
        True
    """
    of_numpy = constraint.logits_processor()

    def process(tokens: Any, logits: Any) -> Any:
        import mlx.core as mx

        scores = np.array(logits.astype(mx.float32))
        masked = of_numpy(np.array(tokens), scores.reshape(-1))
        return mx.array(masked.reshape(scores.shape)).astype(logits.dtype)

    return process
