"""The name of the backend, and the releases of vLLM that it supports. It imports nothing."""

from __future__ import annotations

__all__ = ["BACKEND", "SUPPORTED"]

BACKEND = "structgen"
SUPPORTED = ("0.32", "0.33")
