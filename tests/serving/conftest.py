"""A server in this process, without a network."""

import pytest

import structgen


def serving(model):
    """A client of a server with a model; a context manager."""
    testclient = pytest.importorskip("starlette.testclient", reason="the test group has it")
    from structgen.serving.app import ServerOptions, make_app

    return testclient.TestClient(make_app(model, ServerOptions(name="tiny", max_tokens=40)))


@pytest.fixture(scope="session")
def client(tiny_model):
    with serving(tiny_model) as made:
        yield made


@pytest.fixture
def own_client(tiny_hf_model, own_tokenizer):
    """A client whose model has a tokenizer of the test's own, for proper tokenization."""
    with serving(structgen.from_transformers(tiny_hf_model, own_tokenizer)) as made:
        yield made
