"""A stand-in for llama-cpp-python, as far as the adapter uses it: bytes, special tokens, and a model that says texts.

The real library is built from source. Where it is installed, `tests/models/test_llama_cpp.py` runs it.
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
from types import ModuleType, SimpleNamespace

import jinja2

__all__ = ["StubLlama", "stub_modules"]

UNKNOWN, NORMAL, CONTROL, USER_DEFINED = 1, 4, 8, 16
WIDTH = 300


class StubLlama:
    """A `llama_cpp.Llama` of bytes.

    Args:
        metadata: the metadata of the file.
        said: texts that the model says, one after each prompt.
        special: names of special tokens. The first one begins a text, the second one ends it.
    """

    model_path, lora_path, verbose = "stub.gguf", None, False

    def __init__(self, metadata, said, special):
        self.model = self._model = self
        self.metadata = metadata
        self.said = list(said)
        self.special = {name: 256 + number for number, name in enumerate(special)}
        self.context_params = _Params()
        self.texts = {}  # by sequence: what was read

    def n_ctx(self):
        return 4096

    def tokens(self, text):
        pieces = re.split("(" + "|".join(map(re.escape, self.special)) + ")", text)
        return [
            token for piece in pieces for token in ([self.special[piece]] if piece in self.special else piece.encode())
        ]

    def next_token(self, read):
        """Return the token after some tokens: of the text that is said after the last mark of the assistant."""
        begin = len(read) - next(n for n in range(len(read) + 1) if bytes_of(read[len(read) - n :]).startswith(b">>"))
        answer = read[begin + 2 :]
        if not answer and len(self.said) > 1 and self.texts.get("begun"):
            self.said.pop(0)
        self.texts["begun"] = True
        script = [*self.tokens(self.said[0]), 257]
        return script[min(len(answer), len(script) - 1)]


def bytes_of(tokens):
    return bytes(token if token < 256 else 0 for token in tokens)


class _Params(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int)
        for name in ("n_ctx", "n_seq_max", "kv_unified", "embeddings", "flash_attn_type", "swa_full")
    ]


class _Context:
    def __init__(self, model, params, verbose):
        self.ctx = self
        self.model, self.params = model, params
        self.cells, self.logits = {}, {}

    def close(self):
        self.ctx = None


class _Formatter:
    def __init__(self, template, eos_token, bos_token):
        self._tokens = {"eos_token": eos_token, "bos_token": bos_token}
        environment = jinja2.Environment()
        environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
        self._template = environment.from_string(template)

    def __call__(self, *, messages, tools=None, **more):
        return SimpleNamespace(prompt=self._template.render(messages=messages, tools=tools, **self._tokens, **more))


def _decode(context, batch):
    for index in range(batch.n_tokens):
        sequence = batch.seq_id[index][0]
        cells = context.cells.setdefault(sequence, [])
        del cells[batch.pos[index] :]
        cells.append(batch.token[index])
        if batch.logits[index]:
            row = (ctypes.c_float * WIDTH)()
            row[context.model.next_token(cells)] = 9
            context.logits[index] = row
    return 0


def _to_piece(llama, token_id, buffer, size, _lstrip, _special):
    if token_id >= 256:
        return 0
    ctypes.memmove(buffer, bytes([token_id]), 1)
    return 1


def _tokenize(llama, data, _length, tokens, room, _add, parse_special):
    found = llama.tokens(data.decode()) if parse_special else list(data)
    if len(found) > room:
        return -len(found)
    tokens[: len(found)] = found
    return len(found)


class _Batch:
    def __init__(self, **fields):
        self.__dict__.update(fields)


def _remove(context, sequence, begin, _end):
    del context.cells.get(sequence, [])[begin:]
    return True


def _name_of(llama, token):
    return next((name for name, one in llama.special.items() if one == token), "").encode()


def _library():
    lib = ModuleType("llama_cpp.llama_cpp")
    functions = {
        "llama_model_get_vocab": lambda model: model,
        "llama_vocab_n_tokens": lambda llama: WIDTH,
        "llama_vocab_is_eog": lambda llama, token: token == 257,
        "llama_vocab_get_attr": lambda llama, token: (
            NORMAL if token < 256 else CONTROL if token < 256 + len(llama.special) else UNKNOWN
        ),
        "llama_vocab_get_text": _name_of,
        "llama_vocab_bos": lambda llama: 256,
        "llama_vocab_eos": lambda llama: 257,
        "llama_vocab_get_add_bos": lambda llama: True,
        "llama_token_to_piece": _to_piece,
        "llama_tokenize": _tokenize,
        "llama_max_parallel_sequences": lambda: 64,
        "llama_model_has_encoder": lambda model: False,
        "llama_model_has_decoder": lambda model: True,
        "llama_model_is_recurrent": lambda model: False,
        "llama_model_is_hybrid": lambda model: False,
        "llama_model_n_swa": lambda model: 0,
        "llama_n_ctx": lambda context: context.params.n_ctx,
        "llama_n_batch": lambda context: 64,
        "llama_decode": _decode,
        "llama_get_logits_ith": lambda context, index: context.logits[index],
        "llama_get_memory": lambda context: context,
        "llama_memory_seq_rm": _remove,
        "llama_memory_seq_cp": lambda context, origin, to, _begin, _end: context.cells.update(
            {to: list(context.cells[origin])}
        ),
        "llama_batch": _Batch,
    }
    numbers = {
        "LLAMA_TOKEN_ATTR_UNKNOWN": UNKNOWN,
        "LLAMA_TOKEN_ATTR_UNUSED": 2,
        "LLAMA_TOKEN_ATTR_CONTROL": CONTROL,
        "LLAMA_TOKEN_ATTR_USER_DEFINED": USER_DEFINED,
        "LLAMA_FLASH_ATTN_TYPE_DISABLED": 0,
        "LLAMA_FLASH_ATTN_TYPE_AUTO": -1,
    }
    types = dict.fromkeys(("llama_token", "llama_pos", "llama_seq_id"), ctypes.c_int32)
    lib.__dict__.update({**functions, **numbers, **types})
    return lib


def stub_modules(monkeypatch):
    """Put the stand-in in place of llama-cpp-python, and import the adapter anew, until the test ends."""
    package = ModuleType("llama_cpp")
    lib, internals, formats = _library(), ModuleType("llama_cpp._internals"), ModuleType("llama_cpp.llama_chat_format")
    internals.LlamaContext = _Context
    formats.Jinja2ChatFormatter = _Formatter
    package.llama_cpp, package._internals, package.llama_chat_format = lib, internals, formats
    for module in (package, lib, internals, formats):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, "structgen.models.llama_cpp", raising=False)
