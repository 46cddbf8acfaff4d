"""Fixtures of the tests with the real vLLM: `make test-vllm` builds its environment; elsewhere they are skipped."""

import importlib.util
import os
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).parents[3] / "support" / "vllm_release"


@pytest.fixture(scope="session")
def model():
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed: make test-vllm")
    folder = os.environ.get("STRUCTGEN_VLLM_MODEL")
    if not folder:
        pytest.skip("STRUCTGEN_VLLM_MODEL names no model: make test-vllm")
    return folder


@pytest.fixture(scope="session")
def release_folder():
    return FOLDER
