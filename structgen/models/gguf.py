"""GGUF models, by path or as llama-cpp-python has loaded them. That is imported when one is wanted."""

from __future__ import annotations

import importlib.util
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from structgen.errors import ModelError

if TYPE_CHECKING:
    from structgen.models.llama_cpp import LlamaCppModel

__all__ = ["from_llama_cpp", "load_gguf"]

SEQUENCES = 32  # twice the rows of a batch; for models that attend to all tokens a sequence costs nothing by itself
MAX_CONTEXT_TOKENS = 8192  # a longer context takes gigabytes: who wants it says so


def from_llama_cpp(
    llama: Any, *, context_tokens: int | None = None, sequences: int = SEQUENCES, chat_template: str | None = None
) -> LlamaCppModel:
    """Makes a model of llama-cpp-python usable with `generate`, `stream`, `batch`, `Generator` and `@fn`.

    It reads in a context of its own, with the settings of `llama`'s, and flash attention where the device has it: so
    `llama`'s own calls go on beside it, and the memory for keys and values is needed twice.

    Args:
        llama: a `llama_cpp.Llama`; it is not changed. Its file's own tokenizer is used, whatever its `tokenizer` is.
        context_tokens: how many tokens its context holds, those of all sessions that read at the same time together;
            by default as many as `llama`'s. When it is full, sessions that waited longest read again later.
        sequences: how many sessions it holds at most; more are possible, and take turns. For recurrent models (Mamba,
            RWKV) each takes memory of its own.
        chat_template: a Jinja template instead of the file's own.

    Raises:
        ModelError: a model that does not go on with texts (an encoder, embeddings), or a context that llama.cpp cannot
            make.
        ValueError: less than one sequence or token.
        TypeError: no `llama_cpp.Llama`.

    Example:
        >>> llama = llama_cpp.Llama("model.gguf", n_ctx=4096, n_gpu_layers=-1)                # doctest: +SKIP
        >>> model = structgen.from_llama_cpp(llama)                                           # doctest: +SKIP
        >>> structgen.generate(model, "Alice is 34 years old.", Person)                       # doctest: +SKIP
        Person(name='Alice', age=34)
    """
    if not hasattr(llama, "n_ctx"):
        hint = f"; structgen.load({str(llama)!r}) loads a file" if isinstance(llama, (str, PurePath)) else ""
        raise TypeError(f"from_llama_cpp takes a llama_cpp.Llama, not {type(llama).__name__}{hint}")
    if sequences < 1 or (context_tokens is not None and context_tokens < 1):
        raise ValueError(f"at least one sequence and token: sequences={sequences}, context_tokens={context_tokens}")
    from structgen.models.llama_cpp import LlamaCppModel

    return LlamaCppModel(llama, context_tokens=context_tokens, sequences=sequences, chat_template=chat_template)


def load_gguf(path: str) -> LlamaCppModel:
    """Loads a GGUF file, on the CPU, with the context that it was trained for, or 8192 tokens if that is longer.

    For everything else (layers on a GPU, a longer context) there is `from_llama_cpp`.

    Raises:
        ModelError: llama-cpp-python is not installed, or the file is not there or no model.
    """
    if importlib.util.find_spec("llama_cpp") is None:
        raise ModelError(
            f"loading {path!r} needs a package that is not installed: llama-cpp-python",
            hint="pip install 'structgen[llama-cpp]'",
        )
    if not Path(path).is_file():
        raise ModelError(f"there is no file {path!r}")
    import llama_cpp

    try:
        # Its own context stays small: structgen reads in another.
        llama = llama_cpp.Llama(path, n_ctx=512, verbose=False)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"llama.cpp cannot load {path!r}: {error}") from error
    trained = llama_cpp.llama_model_n_ctx_train(llama.model)
    return from_llama_cpp(llama, context_tokens=min(trained, MAX_CONTEXT_TOKENS))
