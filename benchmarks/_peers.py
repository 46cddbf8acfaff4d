"""Adapters of the engines that benchmarks compare, all with the same few methods.

A benchmark follows a text token by token: it calls `compile`, then `reset` for each text, then `fill_mask` and `commit`
for each token. An engine's package is imported when its adapter is made, so a benchmark also runs without it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from pathlib import Path
from typing import Any, Protocol

__all__ = [
    "ENGINES",
    "MASK_ENGINES",
    "Engine",
    "Glrmask",
    "Llguidance",
    "Structgen",
    "Xgrammar",
    "installed",
    "load_tokenizer",
    "logits_width",
    "make_engine",
    "version",
]


class Engine(Protocol):
    """An engine, as benchmarks use it.

    Attributes:
        name: the name of the engine and of its package.
        settings: the settings that differ from the engine's defaults, or that matter for the comparison.
        row: uint32 or int32[ceil(V / 32)], the mask that `fill_mask` fills.
    """

    name: str
    settings: str

    @property
    def row(self) -> Any: ...

    def forget(self) -> None:
        """Drop the last schema, outside of any measured time. Tables of the vocabulary stay."""

    def compile(self, schema: Any) -> None:
        """Compile a schema. Any error means that it is refused."""

    def reset(self) -> None:
        """Begin a text."""

    def fill_mask(self) -> None:
        """Write the mask of the next token into `row`."""

    def is_stopped(self) -> bool:
        """Return whether the engine has ended the text itself, as nothing can follow. It then gives no more masks."""

    def commit(self, token: int) -> bool:
        """Accept a token and return True; return False if the mask refuses it."""


def is_allowed(row: Any, token: int) -> bool:
    """Return whether a mask of 32-bit words allows a token."""
    return bool(int(row[token // 32]) >> (token % 32) & 1)


class Structgen:
    """structgen itself.

    Args:
        tokenizer: a tokenizer of transformers.
        width: the width of the logits.
        options: keyword arguments of `structgen.compile`.

    Attributes:
        options: the same; may be changed before a schema is compiled.
    """

    name = "structgen"

    def __init__(self, tokenizer: Any, width: int, options: dict[str, Any] | None = None) -> None:
        import structgen

        self._structgen = structgen
        self.options = options or {}
        self.settings = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        self.vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, vocab_size=width)
        self.mask = structgen.allocate_token_bitmask(1, width)
        self.row = self.mask[0]
        self.compiled: Any = None
        self.matcher: Any = None

    def forget(self) -> None:
        self.compiled = self.matcher = None
        self._structgen.clear_cache()

    def compile(self, schema: Any) -> None:
        self.compiled = self._structgen.compile(schema, self.vocabulary, **self.options)

    def reset(self) -> None:
        self.matcher = self.compiled.matcher()

    def fill_mask(self) -> None:
        self.matcher.fill_next_token_bitmask(self.mask, 0)

    def is_stopped(self) -> bool:
        return False

    def commit(self, token: int) -> bool:
        if not is_allowed(self.row, token):
            return False
        self.matcher.accept_token(token)
        return True


class Llguidance:
    """llguidance, through its matcher."""

    name = "llguidance"
    settings = ""

    def __init__(self, tokenizer: Any, width: int) -> None:
        import llguidance.hf
        import llguidance.numpy

        self._matcher = llguidance.LLMatcher
        self._fill = llguidance.numpy.fill_next_token_bitmask
        self.tokenizer = llguidance.hf.from_tokenizer(tokenizer)
        self.mask = llguidance.numpy.allocate_token_bitmask(1, self.tokenizer.vocab_size)
        self.row = self.mask[0]
        self.compiled: Any = None
        self.matcher: Any = None

    def forget(self) -> None:
        self.compiled = self.matcher = None

    def compile(self, schema: Any) -> None:
        self.compiled = self._matcher(self.tokenizer, json.dumps({"grammars": [{"json_schema": schema}]}))
        if self.compiled.is_error():
            raise ValueError(self.compiled.get_error())

    def reset(self) -> None:
        self.matcher = self.compiled.deep_copy()

    def fill_mask(self) -> None:
        self._fill(self.matcher, self.mask, 0)

    def is_stopped(self) -> bool:
        return bool(self.matcher.is_stopped())

    def commit(self, token: int) -> bool:
        if is_allowed(self.row, token):
            self.matcher.consume_token(token)
            return True
        if self.matcher.is_error():
            raise ValueError(self.matcher.get_error())
        return False


class Xgrammar:
    """xgrammar, through its compiler and matcher.

    Its cache stays on, as by default: the second compile of a schema is a look-up, unless `compiler.clear_cache` is
    called.
    """

    name = "xgrammar"
    settings = "any_whitespace=True, strict_mode=False, max_threads=1"

    def __init__(self, tokenizer: Any, width: int) -> None:
        import torch
        import xgrammar

        torch.set_num_threads(1)
        self._xgrammar = xgrammar
        info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=width)
        self.mask = xgrammar.allocate_token_bitmask(1, info.vocab_size)
        self.row = self.mask[0].numpy()
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1)
        self.compiled: Any = None
        self.matcher: Any = None

    def forget(self) -> None:
        self.compiled = self.matcher = None

    def compile(self, schema: Any) -> None:
        self.compiled = self.compiler.compile_json_schema(json.dumps(schema), any_whitespace=True, strict_mode=False)

    def reset(self) -> None:
        self.matcher = self._xgrammar.GrammarMatcher(self.compiled)

    def fill_mask(self) -> None:
        self.matcher.fill_next_token_bitmask(self.mask)

    def is_stopped(self) -> bool:
        return bool(self.matcher.is_terminated())

    def commit(self, token: int) -> bool:
        return bool(self.matcher.accept_token(token))


class Glrmask:
    """glrmask, which builds automata of masks when it compiles, unless it is told to compile fast.

    Args:
        tokenizer: a tokenizer of transformers.
        width: the width of the logits.
        strategy: the name of one of its strategies.
    """

    def __init__(self, tokenizer: Any, width: int, strategy: str) -> None:
        import glrmask
        import numpy as np

        import structgen

        vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, vocab_size=width)
        spellings = {token: vocabulary.token_bytes(token) for token in range(width)}
        self.name = strategy
        self.settings = f"MaskStrategy.{strategy}"
        self._grammar = glrmask.Grammar
        self._strategy = getattr(glrmask.MaskStrategy, strategy)
        self._vocabulary = glrmask.Vocab.from_id_to_bytes({at: text for at, text in spellings.items() if text})
        self.row = np.zeros((width + 31) // 32, dtype=np.int32)
        self.compiled: Any = None
        self.matcher: Any = None

    def forget(self) -> None:
        self.compiled = self.matcher = None

    def compile(self, schema: Any) -> None:
        grammar = self._grammar.from_json_schema(json.dumps(schema))
        self.compiled = grammar.compile(self._vocabulary, mask_strategy=self._strategy)

    def reset(self) -> None:
        self.matcher = self.compiled.start()

    def fill_mask(self) -> None:
        self.matcher.fill_mask(self.row)

    def is_stopped(self) -> bool:
        return False

    def commit(self, token: int) -> bool:
        return is_allowed(self.row, token) and bool(self.matcher.commit_token(token))


ENGINES = ("structgen", "llguidance", "xgrammar")
GLRMASK = {"glrmask": "AUTO", "glrmask-fast": "FAST_COMPILE"}
"""The strategies of glrmask that benchmarks compare, by the names that they have there."""
MASK_ENGINES = (*ENGINES, *GLRMASK)
"""Engines that `masks.py` compares; the others of these benchmarks need engines that can do more than JSON Schemas."""


def installed(names: tuple[str, ...] | list[str] = ENGINES) -> list[str]:
    """Return the packages that are installed; a run leaves out the others."""
    return [name for name in names if importlib.util.find_spec(package_of(name)) is not None]


def package_of(name: str) -> str:
    """Return the package to import for an engine."""
    return "glrmask" if name in GLRMASK else name


def version(name: str) -> str:
    """Return the installed version of an engine, or ""."""
    try:
        return importlib.metadata.version("structgen-llm" if name == "structgen" else package_of(name))
    except importlib.metadata.PackageNotFoundError:
        return ""


def make_engine(name: str, tokenizer: Any, options: dict[str, Any] | None = None) -> Engine:
    """Make an engine by its name; `options` are keyword arguments of `structgen.compile`."""
    width = logits_width(tokenizer)
    if name == "structgen":
        return Structgen(tokenizer, width, options)
    if name == "llguidance":
        return Llguidance(tokenizer, width)
    if name in GLRMASK:
        return Glrmask(tokenizer, width, GLRMASK[name])
    return Xgrammar(tokenizer, width)


def logits_width(tokenizer: Any) -> int:
    """Return the number of token ids of a tokenizer."""
    return max(len(tokenizer), 1 + max(int(token) for token in tokenizer.get_vocab().values()))


def load_tokenizer(folder: str = "") -> Any:
    """Load the tokenizer of a folder, which may hold only a GGUF file; for "", that of the embedded SmolLM2."""
    from transformers import AutoTokenizer

    if not folder:
        from structgen.models.smollm2 import smollm2_folder

        folder = str(smollm2_folder())
    models = list(Path(folder).glob("*.gguf"))
    options = {"gguf_file": models[0].name} if models else {}
    return AutoTokenizer.from_pretrained(folder, local_files_only=True, **options)
