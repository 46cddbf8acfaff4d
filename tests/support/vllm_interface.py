"""vLLM's interfaces of logits processors without vLLM: the definitions of 0.33.0, and stand-ins for the rest."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

__all__ = ["ModelConfig", "SamplingParams", "VllmConfig", "install"]

FOLDER = pathlib.Path(__file__).with_name("vllm_0_33")


@dataclass
class SamplingParams:
    """The field of vLLM's class of that name that is read here."""

    extra_args: dict[str, Any] | None = None


@dataclass
class ModelConfig:
    """What is read of a model's configuration."""

    tokenizer: Any
    vocab_size: int
    eos_token_ids: Any = None

    def get_vocab_size(self) -> int:
        return self.vocab_size

    def try_get_generation_config(self) -> dict[str, Any]:
        return {} if self.eos_token_ids is None else {"eos_token_id": self.eos_token_ids}


@dataclass
class VllmConfig:
    model_config: ModelConfig


def install(monkeypatch: Any) -> tuple[ModuleType, ModuleType]:
    """Puts the definitions where vLLM has them; gives those of V1 and of V2."""
    _module(monkeypatch, "vllm", SamplingParams=SamplingParams)
    _module(monkeypatch, "vllm.tokenizers", cached_tokenizer_from_config=lambda config: config.tokenizer)
    for name in ("vllm.v1", "vllm.v1.sample", "vllm.v1.worker", "vllm.v1.worker.gpu", "vllm.v1.worker.gpu.sample"):
        _module(monkeypatch, name)
    first = _definitions(monkeypatch, "vllm.v1.sample.logits_processor", "v1_interface.py")
    second = _definitions(monkeypatch, "vllm.v1.worker.gpu.sample.logits_processor", "v2_interface.py")
    return first, second


def _module(monkeypatch: Any, name: str, **values: Any) -> None:
    module = ModuleType(name)
    vars(module).update(values)
    monkeypatch.setitem(sys.modules, name, module)


def _definitions(monkeypatch: Any, name: str, file: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module
