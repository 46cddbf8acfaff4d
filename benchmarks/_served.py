"""Requests to the application of `structgen serve`, in this process and without a network."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any


async def post(app: Any, body: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """Send a request to `/v1/chat/completions`; return the answer, and its seconds."""
    sent: list[dict[str, Any]] = []
    waiting = [{"type": "http.request", "body": json.dumps(body).encode()}]

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    path = "/v1/chat/completions"
    scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b"", "http_version": "1.1"}
    began = time.perf_counter()
    await app({**scope, "scheme": "http", "server": ("x", 80), "raw_path": path.encode()}, receive, send)
    seconds = time.perf_counter() - began
    return json.loads(b"".join(message.get("body", b"") for message in sent)), seconds
