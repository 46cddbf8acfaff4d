"""GGUF models of llama.cpp, through llama-cpp-python.

`LlamaCppModel` reads the vocabulary and tokenizes with llama.cpp's C functions. Its sessions share one context, in
which each session is a numbered sequence; `structgen.models.sequences` decides which sessions are in it.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

import jinja2
import llama_cpp.llama_cpp as lib
import numpy as np
from llama_cpp._internals import LlamaContext
from llama_cpp.llama_chat_format import Jinja2ChatFormatter
from numpy.typing import NDArray

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import ModelError
from structgen.models.base import Prompt, as_messages
from structgen.models.names import by_name
from structgen.models.sequences import Entry, SequencePool, SequenceSession
from structgen.models.tokenized import cached_tokenize

__all__ = ["LlamaCppModel"]

# Attributes of tokens that never spell text, whatever their piece is.
NO_TEXT = lib.LLAMA_TOKEN_ATTR_UNKNOWN | lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_UNUSED
# Attributes of tokens that a grammar can name.
SPECIAL = lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_USER_DEFINED


class LlamaCppModel:
    """A `structgen.models.base.Model` over llama-cpp-python; see `structgen.from_llama_cpp`.

    Attributes:
        llama: the `llama_cpp.Llama` that was given.
        vocabulary: the tokens of the file; llama.cpp's end-of-generation tokens are its end tokens.
        context_tokens: the number of tokens that prompt and answer may have together.
        chat_template: the template's text; None without one.
        tool_template: the text of the template for prompts with tools. Some files have one of its own.
    """

    def __init__(self, llama: Any, *, context_tokens: int | None, sequences: int, chat_template: str | None) -> None:
        self.llama = llama
        self._vocab = lib.llama_model_get_vocab(llama.model)
        self.vocabulary = _read_vocabulary(self._vocab)
        cells = llama.n_ctx() if context_tokens is None else context_tokens
        self.context_tokens: int | None = cells
        self._pool = _LlamaCache(llama, cells, min(sequences, lib.llama_max_parallel_sequences())).pool()
        of_file: dict[str, str] = {} if chat_template else llama.metadata
        self.chat_template = chat_template or of_file.get("tokenizer.chat_template")
        self.tool_template = of_file.get("tokenizer.chat_template.tool_use") or self.chat_template
        self._formatters: dict[str, Any] = {}
        self._tokens_of = cached_tokenize(self._tokenize)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle stores; see `structgen.models.names.by_name`."""
        return by_name(self)

    def __repr__(self) -> str:
        return f"LlamaCppModel({self.llama.model_path!r}, {self.vocabulary.size} tokens)"

    def encode_prompt(self, prompt: Prompt, *, raw: bool = False, **template: Any) -> list[int]:
        """Return the token ids of a prompt; see `structgen.models.base.Model.encode_prompt`.

        The token that begins a text (BOS) comes first where the file says so, and only once: templates often write it
        too.

        Args:
            prompt: chat messages, or a text.
            raw: read the text as it is.
            template: variables for the chat template.

        Raises:
            ModelError: chat messages for a file without a chat template, or messages that the template refuses.
        """
        if isinstance(prompt, str) and (raw or self.chat_template is None):
            return self._with_bos(self._encode(prompt))
        try:
            formatter = self._formatter(self.tool_template if template.get("tools") else self.chat_template)
            text = formatter(messages=as_messages(prompt), **template).prompt
        except (ValueError, TypeError, jinja2.TemplateError) as error:  # templates raise ValueError on purpose
            raise ModelError(f"the chat template refuses the messages: {error}") from error
        return self._with_bos(self._encode(text))

    def encode_text(self, text: str) -> list[int]:
        """Return the token ids of a piece of an answer; see `structgen.models.base.Model.encode_text`."""
        return self._tokens_of(text)

    def session(self) -> SequenceSession:
        """Return a new, empty sequence."""
        return self._pool.session()

    def session_batch(self) -> SequencePool:
        """Return the pool of all sessions: it reads several in one pass."""
        return self._pool

    def _formatter(self, template: str | None) -> Any:
        """Return the formatter of a chat template.

        Raises:
            ModelError: there is no template.
        """
        if template is None:
            raise ModelError(
                "the file has no chat template for messages",
                hint="pass the prompt as one string, or a chat_template to from_llama_cpp",
            )
        if template not in self._formatters:
            bos, eos = lib.llama_vocab_bos(self._vocab), lib.llama_vocab_eos(self._vocab)
            self._formatters[template] = Jinja2ChatFormatter(
                template, eos_token=self._piece(eos), bos_token=self._piece(bos)
            )
        return self._formatters[template]

    def _piece(self, token_id: int) -> str:
        text: bytes = lib.llama_vocab_get_text(self._vocab, token_id) if token_id >= 0 else b""
        return text.decode(errors="replace")

    def _encode(self, text: str) -> list[int]:
        """Tokenize without BOS. Special tokens in the text are read as such, as in llama.cpp's own prompts."""
        data = text.encode()
        tokens = (lib.llama_token * (len(data) + 1))()  # one for each byte, and one for a space before them
        # Where the room is too small, the result is the number of tokens needed, negative.
        while (count := lib.llama_tokenize(self._vocab, data, len(data), tokens, len(tokens), False, True)) < 0:
            tokens = (lib.llama_token * -count)()
        return list(tokens[:count])

    def _with_bos(self, token_ids: list[int]) -> list[int]:
        bos = lib.llama_vocab_bos(self._vocab)
        # An empty prompt gets BOS too: the model has to read at least one token.
        is_wanted = lib.llama_vocab_get_add_bos(self._vocab) or not token_ids
        return [bos, *token_ids] if is_wanted and bos >= 0 and token_ids[:1] != [bos] else token_ids

    def _tokenize(self, text: str) -> list[int]:
        token_ids = self._encode(text)
        if self._spelled(token_ids) == b" " + text.encode():
            # SentencePiece puts a space before a text, but none after a newline.
            before, both = self._encode("\n"), self._encode("\n" + text)
            if both[: len(before)] == before:
                token_ids = both[len(before) :]
        return token_ids

    def _spelled(self, token_ids: list[int]) -> bytes:
        return b"".join(self.vocabulary.token_bytes(token_id) or b"" for token_id in token_ids)


class _LlamaCache:
    """A `structgen.models.sequences.SequenceCache`: a context of its own for a `llama_cpp.Llama`."""

    def __init__(self, llama: Any, cells: int, sequences: int) -> None:
        model = llama.model
        if lib.llama_model_has_encoder(model) or not lib.llama_model_has_decoder(model):
            raise ModelError(f"{llama.model_path} is not a model that continues a text")
        if llama.lora_path:
            raise ModelError("LoRA adapters are not supported here", hint="merge the adapter into the model's file")
        params = type(llama.context_params).from_buffer_copy(llama.context_params)
        params.n_ctx = cells
        params.n_seq_max = sequences
        params.kv_unified = True  # all sequences share the cells
        params.embeddings = False
        if params.flash_attn_type == lib.LLAMA_FLASH_ATTN_TYPE_DISABLED:
            # Disabled is a Llama's default, not llama.cpp's. Without flash attention, sums run over the cells of other
            # sequences too, so that the rounding depends on which others are in the cache.
            params.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_AUTO
        self._llama = llama  # kept alive: a Llama closes its model when it is collected
        self._context = _new_context(llama, params)
        weakref.finalize(self, self._context.close)
        self._width = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))
        self._limits = {
            "sequences": sequences,
            "cells": lib.llama_n_ctx(self._context.ctx),
            "batch_tokens": lib.llama_n_batch(self._context.ctx),
        }
        is_recurrent = lib.llama_model_is_recurrent(model) or lib.llama_model_is_hybrid(model)
        forgets = lib.llama_model_n_swa(model) > 0 and not params.swa_full
        self._can_crop = not is_recurrent and not forgets
        size = self._limits["batch_tokens"]
        self._columns = np.zeros((4, size), np.int32)  # tokens, positions, number of sequences (one), sequences
        self._columns[2] = 1
        self._wanted = np.zeros(size, np.int8)
        # int32**: the addresses of the tokens' sequences in the last column.
        self._addresses = self._columns[3].ctypes.data + np.arange(size, dtype=np.uintp) * self._columns.itemsize

    def pool(self) -> SequencePool:
        """Return the pool of sessions that this cache serves."""
        return SequencePool(self, can_crop=self._can_crop, **self._limits)

    def decode(self, entries: Sequence[Entry]) -> NDArray[np.float32]:
        """Read tokens in one pass; see `structgen.models.sequences.SequenceCache.decode`."""
        count = len(entries)
        table = np.array(entries, np.int32).T
        self._columns[[0, 1, 3], :count] = table[:3]
        self._wanted[:count] = table[3]
        code = lib.llama_decode(self._open(), self._batch(count))
        if code:
            hint = "give the model more context_tokens" if code == 1 else ""
            raise ModelError(f"llama_decode returned {code} for {count} tokens", hint=hint)
        rows = np.flatnonzero(table[3])
        logits: NDArray[np.float32] = np.empty((len(rows), self._width), np.float32)
        for row, index in zip(logits, rows.tolist()):
            ctypes.memmove(row.ctypes.data, lib.llama_get_logits_ith(self._open(), index), row.nbytes)
        return logits

    def remove(self, sequence: int, begin: int) -> bool:
        """Remove the end of a sequence; see `structgen.models.sequences.SequenceCache.remove`."""
        return bool(lib.llama_memory_seq_rm(lib.llama_get_memory(self._open()), sequence, begin, -1))

    def copy(self, origin: int, sequence: int) -> None:
        """Copy a sequence; see `structgen.models.sequences.SequenceCache.copy`. The cells are shared."""
        lib.llama_memory_seq_cp(lib.llama_get_memory(self._open()), origin, sequence, -1, -1)

    def _batch(self, count: int) -> Any:
        """Return the first entries of the columns as a `llama_batch`."""
        tokens, positions, counts, _ = self._columns
        return lib.llama_batch(
            n_tokens=count,
            token=tokens.ctypes.data_as(ctypes.POINTER(lib.llama_token)),
            pos=positions.ctypes.data_as(ctypes.POINTER(lib.llama_pos)),
            n_seq_id=counts.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
            seq_id=self._addresses.ctypes.data_as(ctypes.POINTER(ctypes.POINTER(lib.llama_seq_id))),
            logits=self._wanted.ctypes.data_as(ctypes.POINTER(ctypes.c_int8)),
        )

    def _open(self) -> Any:
        if self._context.ctx is None:
            raise ModelError("the model is closed", hint="keep the llama_cpp.Llama open as long as it is used")
        return self._context.ctx


def _new_context(llama: Any, params: Any) -> Any:
    try:
        context = LlamaContext(model=llama._model, params=params, verbose=llama.verbose)
    except ValueError as error:
        raise ModelError(
            f"llama.cpp cannot make a context of {params.n_ctx} tokens: {error}", hint="ask for fewer context_tokens"
        ) from error
    if lib.llama_get_memory(context.ctx) is None:
        context.close()
        raise ModelError(f"{llama.model_path} is not a model that continues a text")
    return context


def _read_vocabulary(vocab: Any) -> Vocabulary:
    """Return the vocabulary of a file: each token's bytes, as llama.cpp writes them."""
    size = lib.llama_vocab_n_tokens(vocab)
    spellings: dict[int, bytes] = {}
    names: dict[str, int] = {}
    ends: list[int] = []
    buffer = ctypes.create_string_buffer(64)
    for token_id in range(size):
        if lib.llama_vocab_is_eog(vocab, token_id):
            ends.append(token_id)
        kind = lib.llama_vocab_get_attr(vocab, token_id)
        if kind & SPECIAL:
            names.setdefault(lib.llama_vocab_get_text(vocab, token_id).decode(errors="replace"), token_id)
        if kind & NO_TEXT:
            continue
        length = lib.llama_token_to_piece(vocab, token_id, buffer, len(buffer), 0, False)
        if length < 0:  # the number of bytes needed, negative
            buffer = ctypes.create_string_buffer(-length)
            length = lib.llama_token_to_piece(vocab, token_id, buffer, len(buffer), 0, False)
        if length:
            spellings[token_id] = buffer.raw[:length]
    return Vocabulary.from_bytes(spellings, ends, size, special_tokens=names)
