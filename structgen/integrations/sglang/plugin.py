"""Plugin of SGLang: makes "structgen" a name of `--grammar-backend`.

SGLang calls `register` in each of its processes, by the entry point `sglang.srt.plugins`, before it reads its command
line. It has a registry of grammar backends; a registered one gets no wrapper for reasoning, so `make_backend` adds it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["make_backend", "register"]

BACKEND = "structgen"


def register() -> None:
    """Add the backend to SGLang. A second call does nothing."""
    from sglang.srt.constrained.base_grammar_backend import GRAMMAR_BACKEND_REGISTRY, register_grammar_backend
    from sglang.srt.server_args import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices

    if BACKEND in GRAMMAR_BACKEND_REGISTRY:
        return
    register_grammar_backend(BACKEND, make_backend)
    if BACKEND not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([BACKEND])


def make_backend(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any) -> Any:
    """Return the backend of one engine, wrapped for a model that reasons first.

    Args:
        server_args: SGLang's.
        tokenizer: of the model.
        vocab_size: the width of the model's logits.
        eos_token_ids: the model's end tokens: a set, a list, one id or None.
    """
    from sglang.srt.runtime_context import get_serving

    from structgen.integrations.sglang.backend import StructgenGrammarBackend

    backend = StructgenGrammarBackend(tokenizer, vocab_size, eos_token_ids)
    serving = get_serving()
    if not serving.reasoning_parser:
        return backend
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    parser = ReasoningParser(model_type=serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer)
    return ReasonerGrammarBackend(backend, parser, tokenizer, enable_strict_thinking=serving.enable_strict_thinking)
