"""A server in this process, without a network."""

import pytest


@pytest.fixture(scope="session")
def client(tiny_model):
    testclient = pytest.importorskip("starlette.testclient")
    from structgen.serving.app import ServerOptions, make_app

    with testclient.TestClient(make_app(tiny_model, ServerOptions(name="tiny", max_tokens=40))) as made:
        yield made
