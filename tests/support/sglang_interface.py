"""SGLang's interface of grammar backends without SGLang.

The classes here have the form of release 0.5.23. With STRUCTGEN_SGLANG=FOLDER, a folder with the unpacked wheel, its
own definitions take their place: `make test-sglang`.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from types import ModuleType, SimpleNamespace
from typing import Any

import structgen.integrations.sglang

__all__ = ["FOLDER", "Detector", "Interface"]

FOLDER = os.environ.get("STRUCTGEN_SGLANG")


class BaseGrammarObject:
    def __init__(self) -> None:
        self._finished = False
        self.grammar_stats = None
        self.current_token = None

    def maybe_init_reasoning(self, reasoning: bool) -> None:
        pass

    def accept_token(self, token: int) -> None:
        raise NotImplementedError

    def rollback(self, k: int) -> None:
        raise NotImplementedError

    def is_terminated(self) -> bool:
        return False

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        raise NotImplementedError

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        raise NotImplementedError

    @staticmethod
    def fill_vocab_mask_batched(entries: Any, vocab_mask: Any) -> None:
        for entry in entries:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        raise NotImplementedError

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        raise NotImplementedError

    def copy(self) -> BaseGrammarObject:
        return self

    def try_jump_forward(self, tokenizer: Any) -> Any:
        raise NotImplementedError

    def jump_forward_str_state(self, helper: Any) -> Any:
        raise NotImplementedError

    def jump_and_retokenize(self, old_output_ids: Any, new_output_ids: Any, next_state: int) -> None:
        raise NotImplementedError


class InvalidGrammarObject(BaseGrammarObject):
    def __init__(self, error_message: str = "Unknown grammar error") -> None:
        super().__init__()
        self.error_message = error_message


class BaseGrammarBackend:
    def __init__(self) -> None:
        self.executor = ThreadPoolExecutor()
        self.cache: dict[tuple[str, str], Any] = {}

    @property
    def is_support_token_filter(self) -> bool:
        return False

    def set_token_filter(
        self, vocab_mask: Any, token_ids: Any, batch_idx: int, is_allowed: bool = True, reset_vocab_mask: bool = True
    ) -> None:
        pass

    def dispatch_json(self, key_string: str) -> Any:
        raise NotImplementedError

    def dispatch_regex(self, key_string: str) -> Any:
        raise NotImplementedError

    def dispatch_ebnf(self, key_string: str) -> Any:
        raise NotImplementedError

    def dispatch_structural_tag(self, key_string: str) -> Any:
        raise NotImplementedError

    def _init_value_dispatch(self, key: tuple[str, str], require_reasoning: bool) -> Any:
        kind = {"full_assistant_ebnf": "ebnf"}.get(key[0], key[0])
        return getattr(self, f"dispatch_{kind}")(key[1])

    def get_cached_or_future_value(self, key: tuple[str, str], require_reasoning: bool) -> tuple[Any, bool]:
        value = self.cache.get(key)
        if value:
            copied = value.copy()
            copied.maybe_init_reasoning(require_reasoning)
            return copied, True
        return self.executor.submit(self._init_value_dispatch, key, require_reasoning), False

    def set_cache(self, key: tuple[str, str], value: Any) -> None:
        self.cache[key] = value

    def reset(self) -> None:
        self.cache.clear()


class ReasonerGrammarBackend:
    def __init__(
        self, grammar_backend: Any, reasoning_parser: Any, tokenizer: Any, enable_strict_thinking: bool = False
    ) -> None:
        self.grammar_backend = grammar_backend
        self.reasoning_parser = reasoning_parser


class Detector:
    """What the wrapper for reasoning reads of a detector of SGLang: "}}" ends the reasoning."""

    think_excluded_tokens: tuple[str, ...] = ()
    think_end_token = "}}"

    def get_think_end_token_ids(self, tokenizer: Any) -> list[int]:
        return [tokenizer.token_to_id("}")] * 2

    def get_answer_frame(self) -> None:
        return None


class Interface:
    """The modules of SGLang that are read here, put where SGLang has them, for one test.

    Attributes:
        base, reasoner: the modules of grammar backends.
        serving: the settings that SGLang's `get_serving` returns.
        choices: the names of `--grammar-backend`.
    """

    def __init__(self, monkeypatch: Any) -> None:
        self._monkeypatch = monkeypatch
        for name in ("backend",):
            monkeypatch.delitem(sys.modules, f"structgen.integrations.sglang.{name}", raising=False)
            monkeypatch.delitem(vars(structgen.integrations.sglang), name, raising=False)
        self.serving = SimpleNamespace(reasoning_parser=None, enable_strict_thinking=False)
        self.choices = ["xgrammar", "none"]
        for name in ("", ".srt", ".srt.parser", ".srt.utils", ".srt.constrained"):
            self._add(f"sglang{name}", __path__=[])
        parser = type(
            "ReasoningParser", (), {"__init__": lambda self, **options: setattr(self, "detector", Detector())}
        )
        self._add("sglang.srt.parser.reasoning_parser", ReasoningParser=parser)
        self._add("sglang.srt.parser.response_template", ResponseTemplateReasoningDetector=type("Other", (), {}))
        self._add("sglang.srt.environ", envs=SimpleNamespace(SGLANG_MAX_THINK_TOKENS=SimpleNamespace(get=lambda: -1)))
        self._add(
            "sglang.srt.runtime_context",
            get_serving=lambda: self.serving,
            get_exec=None,
            get_context=None,
            get_resources=None,
        )
        self._add(
            "sglang.srt.server_args",
            ServerArgs=None,
            GRAMMAR_BACKEND_CHOICES=self.choices,
            add_grammar_backend_choices=self.choices.extend,
        )
        folder = "sglang.srt.constrained"
        if FOLDER is None:
            registry: dict[str, Any] = {}
            self.base = self._add(
                f"{folder}.base_grammar_backend",
                BaseGrammarBackend=BaseGrammarBackend,
                BaseGrammarObject=BaseGrammarObject,
                InvalidGrammarObject=InvalidGrammarObject,
                GRAMMAR_BACKEND_REGISTRY=registry,
                register_grammar_backend=registry.__setitem__,
            )
            self.reasoner = self._add(
                f"{folder}.reasoner_grammar_backend", ReasonerGrammarBackend=ReasonerGrammarBackend
            )
        else:
            self._load("sglang.srt.utils.token_sequence_matcher")
            self.base = self._load(f"{folder}.base_grammar_backend")
            self.reasoner = self._load(f"{folder}.reasoner_grammar_backend")

    def compiled(self, backend: Any, kind: str, text: str, *, reasons: bool = False) -> Any:
        """Return the grammar of a request, as SGLang's manager gets it."""
        value, is_cached = backend.get_cached_or_future_value((kind, text), reasons)
        if is_cached:
            return value
        assert isinstance(value, Future)
        grammar = value.result()
        backend.set_cache((kind, text), grammar.copy())
        return grammar

    def _add(self, name: str, **values: Any) -> ModuleType:
        module = ModuleType(name)
        vars(module).update(values)
        self._put(name, module)
        return module

    def _put(self, name: str, module: ModuleType) -> None:
        self._monkeypatch.setitem(sys.modules, name, module)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)

    def _load(self, name: str) -> ModuleType:
        path = pathlib.Path(FOLDER, *name.split(".")).with_suffix(".py")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        self._put(name, module)
        spec.loader.exec_module(module)
        return module
