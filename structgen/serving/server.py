"""The process of `structgen serve`: uvicorn, and its end: SIGTERM closes the door, and lets requests finish."""

from __future__ import annotations

from typing import Any

from structgen.errors import StructgenError
from structgen.models.base import RemoteModel

__all__ = ["serve"]


def serve(model: Any, *, host: str, port: int, **options: Any) -> None:
    """Serve a model until the process is asked to stop.

    Args:
        model: a local model.
        host: the address to listen at.
        port: the port to listen at.
        options: see `structgen.serving.app.ServerOptions`.

    Raises:
        StructgenError: a package is missing, or the model is behind a server itself.
    """
    try:
        import uvicorn

        from structgen.serving.app import ServerOptions, make_app
    except ImportError as error:
        raise StructgenError(f"serving needs {error.name}", hint="pip install 'structgen-llm[serve]'") from error
    if isinstance(model, RemoteModel):
        raise StructgenError("the model is behind a server already", hint="serve a local model")
    settings = ServerOptions(**options)
    # Requests under way get their time; those that wait for it longer are cancelled.
    seconds = max(1, round(settings.drain_seconds))
    uvicorn.run(make_app(model, settings), host=host, port=port, log_level="info", timeout_graceful_shutdown=seconds)
