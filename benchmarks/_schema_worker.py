"""One engine in a process of its own, as it may take long on a schema, or die of it. Run by `_schema_process`.

    python benchmarks/_schema_worker.py ENGINE TOKENIZER_FOLDER [REMOTES_FOLDER]

Speaks JSON, one message a line. First it says `{"version": …, "settings": …}`; then it answers questions
`{"schema": …, "texts": […], "options": {…}}` with one of

- `{"outcome": "refused", "error": …, "why": …}`;
- `{"outcome": "empty"}`: the engine says that no value satisfies the schema;
- `{"outcome": "compiled", "allows": […]}`: for each text, whether the masks let all of its tokens through and then the
  end, or the error that this gave.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any, Protocol

__all__ = ["ENGINES", "EmptyError"]


class EmptyError(Exception):
    """An engine says that nothing satisfies the schema."""


class Engine(Protocol):
    """What is asked of an engine."""

    settings: str

    def compile(self, schema: Any, options: dict[str, Any]) -> None:
        """Prepares a schema; any error means that it is refused."""

    def allows(self, token_ids: list[int]) -> bool:
        """Whether the masks of the schema let these tokens through, one after another, and then the end."""


def is_allowed(row: Any, token_id: int) -> bool:
    """Whether a mask of 32-bit words allows a token."""
    return bool(int(row[token_id // 32]) >> (token_id % 32) & 1)


class Structgen:
    """structgen itself."""

    settings = 'property_order="any", the rest as it is by default; formats="annotate" for the suite\'s file `format`'

    def __init__(self, tokenizer: Any, remotes: str) -> None:
        import structgen

        self._structgen = structgen
        self._vocabulary = structgen.Vocabulary.from_huggingface(tokenizer)
        self._mask = structgen.allocate_token_bitmask(1, self._vocabulary.size)
        self._end = tokenizer.eos_token_id
        self._registry = registry_of(Path(remotes)) if remotes else None

    def compile(self, schema: Any, options: dict[str, Any]) -> None:
        try:
            self._constraint = self._structgen.compile(schema, self._vocabulary, registry=self._registry, **options)
        except self._structgen.UnsatisfiableSchemaError as error:
            raise EmptyError from error

    def allows(self, token_ids: list[int]) -> bool:
        matcher = self._constraint.matcher()
        for token_id in [*token_ids, self._end]:
            matcher.fill_next_token_bitmask(self._mask, 0)
            if not is_allowed(self._mask[0], token_id):
                return False
            matcher.accept_token(token_id)
        return True


class Llguidance:
    """llguidance, by its matcher."""

    settings = "as it is by default"

    def __init__(self, tokenizer: Any, remotes: str) -> None:
        import llguidance
        import llguidance.hf
        import llguidance.numpy

        self._matcher = llguidance.LLMatcher
        self._fill = llguidance.numpy.fill_next_token_bitmask
        self._tokenizer = llguidance.hf.from_tokenizer(tokenizer)
        self._mask = llguidance.numpy.allocate_token_bitmask(1, self._tokenizer.vocab_size)
        self._end = tokenizer.eos_token_id

    def compile(self, schema: Any, options: dict[str, Any]) -> None:
        self._first = self._matcher(self._tokenizer, json.dumps({"grammars": [{"json_schema": schema}]}))
        if self._first.is_error():
            message = self._first.get_error()
            raise EmptyError if "nsatisfiable schema" in message else ValueError(message)

    def allows(self, token_ids: list[int]) -> bool:
        matcher = self._first.deep_copy()
        for token_id in [*token_ids, self._end]:
            if matcher.is_stopped():  # it stops by itself where nothing can follow
                return bool(token_id == self._end)
            self._fill(matcher, self._mask, 0)
            if matcher.is_error():
                raise ValueError(matcher.get_error())
            if not is_allowed(self._mask[0], token_id):
                return False
            matcher.consume_token(token_id)
        return True


class Xgrammar:
    """xgrammar, by its compiler and matcher."""

    settings = "any_whitespace=True, strict_mode=False"

    def __init__(self, tokenizer: Any, remotes: str) -> None:
        import torch
        import xgrammar

        torch.set_num_threads(1)
        self._xgrammar = xgrammar
        size = max(len(tokenizer), max(tokenizer.get_vocab().values()) + 1)
        info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=size)
        self._mask = xgrammar.allocate_token_bitmask(1, info.vocab_size)
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1)
        self._end = tokenizer.eos_token_id

    def compile(self, schema: Any, options: dict[str, Any]) -> None:
        text = json.dumps(schema)
        try:
            self._grammar = self._compiler.compile_json_schema(text, any_whitespace=True, strict_mode=False)
        except Exception as error:
            raise EmptyError if "nsatisfiable" in str(error) else error from error

    def allows(self, token_ids: list[int]) -> bool:
        matcher = self._xgrammar.GrammarMatcher(self._grammar)
        for token_id in [*token_ids, self._end]:
            if matcher.is_terminated():
                return bool(token_id == self._end)
            matcher.fill_next_token_bitmask(self._mask)
            if not is_allowed(self._mask[0], token_id) or not matcher.accept_token(token_id):
                return False
        return True


ENGINES = {"structgen": Structgen, "llguidance": Llguidance, "xgrammar": Xgrammar}


def registry_of(folder: Path) -> Any:
    """The suite's remote schemas, each where the suite expects it."""
    import referencing
    from referencing.jsonschema import DRAFT202012

    registry: Any = referencing.Registry()
    for file in folder.rglob("*.json"):
        contents = json.loads(file.read_text())
        resource = referencing.Resource.from_contents(contents, default_specification=DRAFT202012)
        registry = registry.with_resource(f"http://localhost:1234/{file.relative_to(folder).as_posix()}", resource)
    return registry


def load_tokenizer(folder: str) -> Any:
    """The tokenizer of a folder; that of the embedded model, where there is only the model's file."""
    from transformers import AutoTokenizer

    models = list(Path(folder).glob("*.gguf"))
    options = {"gguf_file": models[0].name} if models else {}
    return AutoTokenizer.from_pretrained(folder, local_files_only=True, **options)


def answer(engine: Engine, tokenizer: Any, question: dict[str, Any]) -> dict[str, Any]:
    try:
        engine.compile(question["schema"], question["options"])
    except EmptyError:
        return {"outcome": "empty"}
    except BaseException as error:  # a panic of Rust is none of the usual
        # structgen's errors name the keyword, or the limit that was passed
        why = getattr(error, "keyword", "") or getattr(error, "limit", "")
        return {"outcome": "refused", "error": f"{type(error).__name__}: {error}"[:300], "why": why}
    allows: list[bool | str] = []
    for text in question["texts"]:
        try:
            allows.append(engine.allows(tokenizer.encode(text, add_special_tokens=False)))
        except BaseException as error:
            allows.append(f"{type(error).__name__}: {error}"[:300])
    return {"outcome": "compiled", "allows": allows}


def main(name: str, folder: str, remotes: str = "") -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    answers = os.fdopen(os.dup(1), "w")  # whatever else writes to stdout, writes to stderr
    os.dup2(2, 1)
    tokenizer = load_tokenizer(folder)
    engine = ENGINES[name](tokenizer, remotes)
    print(
        json.dumps({"version": importlib.metadata.version(name), "settings": engine.settings}), file=answers, flush=True
    )
    for line in sys.stdin:
        print(json.dumps(answer(engine, tokenizer, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
