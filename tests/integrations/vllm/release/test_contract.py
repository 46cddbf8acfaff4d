"""The stand-ins of the other tests, compared with the real vLLM."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import typing

import pytest
from support import vllm_interface

from structgen.integrations.vllm import plugin, releases

pytest.importorskip("vllm", reason="make test-vllm", exc_type=ImportError)


def parameters(function):
    return [(one.name, one.kind) for one in inspect.signature(function).parameters.values()]


def test_the_wrapped_functions_have_their_form():
    from vllm.sampling_params import SamplingParams
    from vllm.v1.structured_output import StructuredOutputManager

    for real, copy, names in (
        (SamplingParams, vllm_interface.SamplingParams, ["_validate_structured_outputs"]),
        (StructuredOutputManager, vllm_interface.Manager, ["__init__", "grammar_init", "_create_grammar"]),
    ):
        for name in names:
            assert parameters(getattr(real, name)) == parameters(getattr(copy, name)), name


def test_the_stand_ins_have_no_field_that_is_not_there():
    from vllm.config import ModelConfig
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    fields = {one.name: one.default for one in dataclasses.fields(StructuredOutputsParams)}
    copies = {one.name: one.default for one in dataclasses.fields(vllm_interface.StructuredOutputsParams)}
    assert copies == fields
    for name in ("extra_args", "structured_outputs", "all_stop_token_ids", "ignore_eos"):
        assert hasattr(SamplingParams(), name)
    for name in ("get_vocab_size", "try_get_generation_config", "is_diffusion"):
        assert hasattr(ModelConfig, name)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("vllm.v1.structured_output.backend_types", ["StructuredOutputBackend", "StructuredOutputGrammar"]),
        ("vllm.v1.sample.logits_processor", ["LogitsProcessor", "BatchUpdate"]),
        ("vllm.v1.worker.gpu.sample.logits_processor", ["LogitsProcessor", "LogitsContext", "LogitsProcRequestState"]),
    ],
)
def test_the_copied_definitions_are_those_of_the_release(monkeypatch, module, names):
    real = importlib.import_module(module)
    members = {name: vars(getattr(real, name)).copy() for name in names}
    interface = vllm_interface.Interface(monkeypatch)
    files = {"backend_types": interface.backend_types, "sample": interface.first, "gpu": interface.second}
    copy = next(found for part, found in reversed(files.items()) if f".{part}" in module)
    for name in names:
        for member, value in members[name].items():
            if inspect.isfunction(value):
                assert parameters(value) == parameters(vars(getattr(copy, name))[member]), (name, member)
        assert getattr(getattr(real, name), "__abstractmethods__", None) == getattr(
            getattr(copy, name), "__abstractmethods__", None
        )


def test_the_name_is_added():
    import vllm
    from vllm.config.structured_outputs import StructuredOutputsBackend, StructuredOutputsConfig

    assert ".".join(vllm.__version__.split(".")[:2]) in releases.SUPPORTED
    assert typing.get_args(StructuredOutputsBackend)
    plugin.register()
    assert StructuredOutputsConfig(backend="structgen").backend == "structgen"
