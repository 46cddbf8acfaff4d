"""The grammar backend of SGLang: its interface, filled by `structgen.integrations.serving`.

It is imported inside SGLang only, by `plugin.py`. The interface is that of
`sglang.srt.constrained.base_grammar_backend`. SGLang compiles in threads of its own, keeps one grammar for each text,
and copies it for each request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    InvalidGrammarObject,
)

from structgen.engine.vocabulary.bitmask import apply_token_bitmask
from structgen.errors import StructgenError
from structgen.integrations.serving.compiling import RequestCompiler
from structgen.integrations.serving.requests import Kind
from structgen.integrations.serving.sequence import ServedSequence
from structgen.integrations.serving.settings import server_settings
from structgen.reporting.telemetry import logger

__all__ = ["StructgenGrammar", "StructgenGrammarBackend"]


WORD_BITS = 32
ALL_TOKENS = -1  # a word of 32 allowed tokens
MAX_KEPT = 256  # grammars by text; SGLang's own dictionary grows without end


class StructgenGrammar(BaseGrammarObject):  # type: ignore[misc]
    """The state of one request.

    Args:
        sequence: at the start of the text, or where a copy was made.
    """

    def __init__(self, sequence: ServedSequence) -> None:
        super().__init__()
        self._sequence = sequence

    def accept_token(self, token: int) -> None:
        """Accept one token. What follows an end token is ignored.

        Raises:
            ValueError: the grammar does not allow it, or no mask could be made; SGLang ends the request with an error.
        """
        if not self._sequence.accept_all([token]):
            error = self._sequence.error
            raise ValueError(str(error) if error is not None else f"the grammar does not allow token {token} here")
        self.current_token = token

    def rollback(self, k: int) -> None:
        """Roll back the last k tokens."""
        self._sequence.rollback(k)

    def is_terminated(self) -> bool:
        """Return whether an end token was read."""
        return self._sequence.has_ended

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """Return a mask on the CPU that allows everything: int32[batch_size, ceil(V / 32)]."""
        return _allocate(self._sequence.vocab_size, batch_size)

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write which tokens may come next into one row."""
        self._sequence.fill(vocab_mask, idx)

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        """Allow everything."""
        vocab_mask.fill_(ALL_TOKENS)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        """Return the mask on the device of the logits."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        """Set the logits of refused tokens to minus infinity, in place."""
        apply_token_bitmask(logits, vocab_mask)

    def copy(self) -> StructgenGrammar:
        """Return an independent copy."""
        return StructgenGrammar(self._sequence.fork())

    def try_jump_forward(self, tokenizer: Any) -> None:
        """Return None: forced text is left to the model, which writes it in its own tokens."""

    def jump_forward_str_state(self, helper: Any) -> tuple[str, int]:
        """Return an empty text; never called, as `try_jump_forward` returns None."""
        return "", -1

    def jump_and_retokenize(self, old_output_ids: list[int], new_output_ids: list[int], next_state: int) -> None:
        """Do nothing; see `jump_forward_str_state`."""


class StructgenGrammarBackend(BaseGrammarBackend):  # type: ignore[misc]
    """Compiles the requests of one engine.

    Args:
        tokenizer: of the model.
        vocab_size: the width of the model's logits.
        eos_token_ids: the model's end tokens: a set, a list, one id or None.
    """

    def __init__(self, tokenizer: Any, vocab_size: int, eos_token_ids: Any) -> None:
        super().__init__()
        ends = [eos_token_ids] if isinstance(eos_token_ids, int) else sorted(eos_token_ids or ())
        self._compiler = RequestCompiler(tokenizer, vocab_size, ends, server_settings())

    def dispatch_json(self, key_string: str) -> Any:
        """Compile a JSON Schema. SGLang writes "$$ANY$$" for any JSON object."""
        return self._compiled("json_object" if key_string == "$$ANY$$" else "json", key_string)

    def dispatch_regex(self, key_string: str) -> Any:
        """Compile a regex."""
        return self._compiled("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> Any:
        """Compile a grammar, in any notation."""
        return self._compiled("grammar", key_string)

    def dispatch_structural_tag(self, key_string: str) -> Any:
        """Compile a structural tag."""
        return self._compiled("structural_tag", key_string)

    def set_cache(self, key: tuple[str, str], value: Any) -> None:
        """Keep a grammar. Errors are not kept: a deadline may have passed because the machine was busy."""
        if isinstance(value, InvalidGrammarObject):
            return
        while len(self.cache) >= MAX_KEPT:
            self.cache.pop(next(iter(self.cache)), None)
        super().set_cache(key, value)

    @property
    def is_support_token_filter(self) -> bool:
        """True: SGLang may forbid tokens while the model reasons."""
        return True

    @staticmethod
    def set_token_filter(
        vocab_mask: torch.Tensor,
        token_ids: Sequence[int],
        batch_idx: int,
        is_allowed: bool = True,
        reset_vocab_mask: bool = True,
    ) -> None:
        """Allow or forbid some tokens in one row.

        Args:
            vocab_mask: the mask.
            token_ids: the tokens.
            batch_idx: the row.
            is_allowed: True to allow the tokens, False to forbid them.
            reset_vocab_mask: write the opposite for all others first.
        """
        words = vocab_mask[batch_idx].numpy().view("uint32")
        if reset_vocab_mask:
            words[:] = 0 if is_allowed else 0xFFFFFFFF
        for token_id in token_ids:
            bit = 1 << token_id % WORD_BITS
            if is_allowed:
                words[token_id // WORD_BITS] |= bit
            else:
                words[token_id // WORD_BITS] &= 0xFFFFFFFF ^ bit

    # SGLang's wrapper for reasoning asks the backend for these, where a request has no grammar.

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """See `StructgenGrammar.allocate_vocab_mask`."""
        return _allocate(vocab_size, batch_size)

    move_vocab_mask = staticmethod(StructgenGrammar.move_vocab_mask)
    apply_vocab_mask = staticmethod(StructgenGrammar.apply_vocab_mask)

    def _compiled(self, kind: Kind, given: str) -> Any:
        """Return the grammar, or SGLang's object for an error: the answer to this request."""
        try:
            return StructgenGrammar(self._compiler.sequence(kind, given))
        except (StructgenError, ValueError, TypeError, MemoryError) as error:
            logger.error("structgen: a request is refused: %s", error)
            return InvalidGrammarObject(str(error))


def _allocate(vocab_size: int, batch_size: int) -> torch.Tensor:
    return torch.full((batch_size, -(-vocab_size // WORD_BITS)), ALL_TOKENS, dtype=torch.int32)
