"""The plugin of vLLM: which releases get the backend, and that other backends are left alone."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import typing

import pydantic
import pytest
from support.vllm_interface import Interface, ModelConfig, Request, SamplingParams, StructuredOutputsParams, VllmConfig

from structgen.integrations.vllm import plugin

pytest.importorskip("torch")


def test_the_entry_point_names_it():
    points = importlib.metadata.entry_points(group="vllm.general_plugins")
    values = {point.name: point.value for point in points}
    module, _, name = values.get("structgen", "structgen.integrations.vllm.plugin:register").partition(":")
    assert module == plugin.__name__
    assert getattr(plugin, name) is plugin.register


def test_a_second_call_does_nothing(monkeypatch):
    interface = Interface(monkeypatch)
    plugin.register()
    names, check = interface.config.StructuredOutputsBackend, interface.sampling_params._validate_structured_outputs
    assert typing.get_args(names) == ("auto", "xgrammar", "guidance", "outlines", "lm-format-enforcer", "structgen")
    plugin.register()
    assert interface.config.StructuredOutputsBackend is names
    assert interface.sampling_params._validate_structured_outputs is check


@pytest.mark.parametrize("version", ["0.32.0", "0.32.0+cpu", "0.33.1"])
def test_supported_releases_take_the_name(monkeypatch, version):
    interface = Interface(monkeypatch, version)
    plugin.register()
    assert interface.config.StructuredOutputsConfig(backend="structgen").backend == "structgen"
    with pytest.raises(pydantic.ValidationError):
        interface.config.StructuredOutputsConfig(backend="other")


@pytest.mark.parametrize("version", ["0.31.0", "0.34.0", "1.0.0", "dev"])
def test_other_releases_say_which_are_supported(monkeypatch, version):
    interface = Interface(monkeypatch, version)
    plugin.register()
    made = interface.config.StructuredOutputsConfig(backend="xgrammar")
    assert made.backend == "xgrammar"
    with pytest.raises(pydantic.ValidationError, match=r"supports vLLM 0\.32\.x and 0\.33\.x; this is " + version):
        interface.config.StructuredOutputsConfig(backend="structgen")
    params = SamplingParams(None, StructuredOutputsParams(regex="a"))
    interface.sampling_params._validate_structured_outputs(params, None, made, None)
    assert params.checked_by_vllm


def test_another_vllm_is_left_alone(monkeypatch):
    interface = Interface(monkeypatch)
    del interface.config.StructuredOutputsBackend
    plugin.register()
    assert not hasattr(interface.sampling_params._validate_structured_outputs, "__wrapped__")


def test_requests_of_other_backends_go_through(monkeypatch):
    interface = Interface(monkeypatch)
    plugin.register()
    made = interface.config.StructuredOutputsConfig(backend="xgrammar")
    params = SamplingParams(None, StructuredOutputsParams(regex="("))
    interface.sampling_params._validate_structured_outputs(params, None, made, None)
    assert params.checked_by_vllm
    params = SamplingParams(None, None)
    ours = interface.config.StructuredOutputsConfig(backend="structgen")
    interface.sampling_params._validate_structured_outputs(params, None, ours, None)
    assert params.checked_by_vllm
    manager = interface.manager(VllmConfig(ModelConfig(None, 10), made))
    manager.grammar_init(Request(interface, params))
    params.structured_outputs = StructuredOutputsParams(regex="(")
    params.structured_outputs._backend = "xgrammar"
    with pytest.raises(ValueError, match="Unsupported structured output backend: xgrammar"):
        manager.grammar_init(Request(interface, params))


def test_the_plugin_imports_almost_nothing():
    """vLLM loads it in every process, also where structgen is not used."""
    code = (
        "import sys; import structgen.integrations.vllm.plugin as plugin; plugin.register();"
        "print(sorted(name for name in sys.modules if name.startswith(('structgen', 'numpy', 'torch', 'pydantic'))))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    modules = set(eval(found))
    assert modules <= {
        "structgen",
        "structgen.errors",
        "structgen.limits",
        "structgen.integrations",
        "structgen.integrations.vllm",
        "structgen.integrations.vllm.beams",
        "structgen.integrations.vllm.plugin",
        "structgen.integrations.vllm.releases",
    }
