"""GGUF models, by path or as llama-cpp-python has loaded them; that package is imported when it is first needed."""

from __future__ import annotations

import importlib.util
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from structgen.errors import ModelError

if TYPE_CHECKING:
    from structgen.models.llama_cpp import LlamaCppModel

__all__ = ["from_llama_cpp", "load_gguf"]

SEQUENCES = 32  # twice the rows of a batch; for models that attend to all tokens an unused sequence costs nothing
MAX_CONTEXT_TOKENS = 8192  # the default for models trained for more: a longer context takes gigabytes


def from_llama_cpp(
    llama: Any, *, context_tokens: int | None = None, sequences: int = SEQUENCES, chat_template: str | None = None
) -> LlamaCppModel:
    """Make a model of llama-cpp-python usable with `generate`, `stream`, `batch`, `Generator` and `@fn`.

    structgen reads in a context of its own, with the settings of `llama`'s context, and with flash attention where the
    device has it. So `llama`'s own calls still work beside it, and the memory for keys and values is needed twice.

    Args:
        llama: a `llama_cpp.Llama`; it is not changed. The tokenizer of its file is used, whatever its `tokenizer` is.
        context_tokens: the number of tokens that the context holds, for all sessions that read at the same time
            together; by default as many as `llama`'s. When the context is full, the sessions that have waited longest
            read their tokens again later.
        sequences: the number of sessions that the context holds at most; further sessions take turns. For recurrent
            models (Mamba, RWKV) each sequence takes memory of its own.
        chat_template: a Jinja template to use instead of the file's own.

    Raises:
        ModelError: the model does not continue texts (an encoder, embeddings), or llama.cpp cannot make the context.
        ValueError: `sequences` or `context_tokens` is less than 1.
        TypeError: the object is not a `llama_cpp.Llama`.

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
        raise ValueError(f"need at least one sequence and token, not {sequences} and {context_tokens}")
    from structgen.models.llama_cpp import LlamaCppModel

    return LlamaCppModel(llama, context_tokens=context_tokens, sequences=sequences, chat_template=chat_template)


def load_gguf(path: str) -> LlamaCppModel:
    """Load a GGUF file on the CPU, with the context that it was trained for, at most 8192 tokens.

    For layers on a GPU or a longer context, use `from_llama_cpp`.

    Args:
        path: the file's path.

    Raises:
        ModelError: llama-cpp-python is not installed, there is no such file, or it is not a model.
    """
    if importlib.util.find_spec("llama_cpp") is None:
        raise ModelError(
            f"loading {path!r} needs a package that is not installed: llama-cpp-python",
            hint="pip install 'structgen-llm[llama-cpp]'",
        )
    if not Path(path).is_file():
        raise ModelError(f"there is no file {path!r}")
    import llama_cpp

    try:
        # The Llama's own context stays small: structgen reads in another one.
        llama = llama_cpp.Llama(path, n_ctx=512, verbose=False)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"llama.cpp cannot load {path!r}: {error}") from error
    trained = llama_cpp.llama_model_n_ctx_train(llama.model)
    return from_llama_cpp(llama, context_tokens=min(trained, MAX_CONTEXT_TOKENS))
