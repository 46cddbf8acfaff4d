"""vLLM's interfaces without vLLM: definitions of 0.33.0, verbatim, and stand-ins of the same form for the rest.

`make test-vllm` compares the stand-ins with the real vLLM.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pydantic

import structgen.integrations.vllm

__all__ = ["Interface", "Manager", "ModelConfig", "Request", "SamplingParams", "StructuredOutputsParams", "VllmConfig"]

FOLDER = pathlib.Path(__file__).with_name("vllm_0_33")
LOADED_WITH_VLLM = ("backend", "processors")  # our modules that import it


class ValidationError(Exception):
    """Stands for `vllm.exceptions.VLLMValidationError`."""


@dataclass
class StructuredOutputsParams:
    """The fields of vLLM's class of that name."""

    json: str | dict[str, Any] | None = None
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    json_object: bool | None = None
    disable_any_whitespace: bool = False
    disable_additional_properties: bool = False
    whitespace_pattern: str | None = None
    structural_tag: str | None = None
    _backend: str | None = field(default=None, init=False)
    _backend_was_auto: bool = field(default=False, init=False)

    def all_constraints_none(self) -> bool:
        names = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")
        return all(getattr(self, name) is None for name in names)


@dataclass
class SamplingParams:
    """The fields of vLLM's class of that name that are read here."""

    extra_args: dict[str, Any] | None = None
    structured_outputs: StructuredOutputsParams | None = None
    all_stop_token_ids: set[int] = field(default_factory=set)
    ignore_eos: bool = False
    max_tokens: int | None = 100
    checked_by_vllm: bool = False

    def _validate_structured_outputs(self, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> None:
        self.checked_by_vllm = True


@dataclass
class ModelConfig:
    """What is read of a model's configuration."""

    tokenizer: Any
    vocab_size: int
    eos_token_ids: Any = None
    is_diffusion: bool = False

    def get_vocab_size(self) -> int:
        return self.vocab_size

    def try_get_generation_config(self) -> dict[str, Any]:
        return {} if self.eos_token_ids is None else {"eos_token_id": self.eos_token_ids}


@dataclass
class VllmConfig:
    model_config: ModelConfig
    structured_outputs_config: Any = None


class Request:
    """The parts of vLLM's class of that name that a backend may read."""

    def __init__(self, interface: Interface, params: SamplingParams, prompt: list[int] | None = None) -> None:
        self.request_id = "request-1"
        self.sampling_params = params
        self.prompt_token_ids = prompt
        self.max_tokens = params.max_tokens
        made = interface.structured_output_request.StructuredOutputRequest
        self.structured_output_request = made.from_sampling_params(params)


class Manager:
    """Stands for `StructuredOutputManager`: its attributes, and two of its methods without other backends."""

    def __init__(self, vllm_config: VllmConfig) -> None:
        self.backend: Any = None
        self.backend_name: str | None = None
        self.reasoner_cls: Any = None
        self.vllm_config = vllm_config
        self.tokenizer = vllm_config.model_config.tokenizer
        self.executor = ThreadPoolExecutor(max_workers=1)

    def grammar_init(self, request: Request) -> None:
        if request.structured_output_request is None:
            return
        backend = request.sampling_params.structured_outputs._backend
        if self.backend_name is not None and backend != self.backend_name:
            raise ValidationError("Structured output processing only supports one backend per engine.")
        if self.backend is None:
            raise ValueError(f"Unsupported structured output backend: {backend}")
        request.structured_output_request.grammar = self.executor.submit(self._create_grammar, request)

    def _create_grammar(self, request: Request) -> Any:
        kind, grammar = request.structured_output_request.structured_output_key
        stop_token_ids = request.sampling_params.all_stop_token_ids
        return self.backend.compile_grammar(kind, grammar, stop_token_ids=stop_token_ids)

    def clear_backend(self) -> None:
        self.executor.shutdown(wait=True, cancel_futures=True)
        if self.backend is not None:
            self.backend.destroy()

    def compiled(self, request: Request) -> Any:
        """Return the grammar of a request, or raise the error of its compile."""
        self.grammar_init(request)
        future = request.structured_output_request._grammar
        assert isinstance(future, Future)
        return future.result()


class Interface:
    """The modules of vLLM that are read here, put where vLLM has them, for one test.

    Attributes:
        first, second: the interfaces of logits processors, of V1 and of V2.
        backend_types, structured_output_request, config: the modules of structured outputs.
        manager: the class `Manager`, a copy for this test.
        sampling_params: the class `SamplingParams`, a copy for this test.
    """

    def __init__(self, monkeypatch: Any, version: str = "0.33.0") -> None:
        self._monkeypatch = monkeypatch
        for name in LOADED_WITH_VLLM:
            monkeypatch.delitem(sys.modules, f"structgen.integrations.vllm.{name}", raising=False)
            monkeypatch.delitem(vars(structgen.integrations.vllm), name, raising=False)
        self.sampling_params = type("SamplingParams", (SamplingParams,), {})
        self.manager = type("StructuredOutputManager", (Manager,), {})
        self._add("vllm", __version__=version, SamplingParams=self.sampling_params)
        self._add("vllm.exceptions", VLLMValidationError=ValidationError)
        self._add("vllm.logger", init_logger=lambda name: None)
        self._add("vllm.tokenizers", cached_tokenizer_from_config=lambda config: config.tokenizer)
        self._add(
            "vllm.sampling_params",
            SamplingParams=self.sampling_params,
            StructuredOutputsParams=StructuredOutputsParams,
        )
        for name in ("utils", "config", "v1", "v1.sample", "v1.worker", "v1.worker.gpu", "v1.worker.gpu.sample"):
            self._add(f"vllm.{name}")
        self._add("vllm.utils.hashing", safe_hash=None)
        self._add("vllm.config.utils", config=pydantic.dataclasses.dataclass(config={"extra": "forbid"}))
        self._add("vllm.v1.structured_output", StructuredOutputManager=self.manager)
        self.config = self._load("vllm.config.structured_outputs", "structured_outputs_config.py")
        self.backend_types = self._load("vllm.v1.structured_output.backend_types", "backend_types.py")
        name = "vllm.v1.structured_output.request"
        self.structured_output_request = self._load(name, "structured_output_request.py")
        self.first = self._load("vllm.v1.sample.logits_processor", "v1_interface.py")
        self.second = self._load("vllm.v1.worker.gpu.sample.logits_processor", "v2_interface.py")

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

    def _load(self, name: str, file: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, FOLDER / file)
        module = importlib.util.module_from_spec(spec)
        self._put(name, module)
        spec.loader.exec_module(module)
        return module
