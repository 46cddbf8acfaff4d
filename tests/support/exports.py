"""Exported texts read back, and the first difference of their masks from those of what was exported."""

from __future__ import annotations

import random
from typing import Any

from support.vocabularies import BYTES

import structgen
from structgen import Grammar

__all__ = ["differences", "read_back"]


def read_back(text: str, dialect: str) -> Grammar:
    """Return the grammar of an exported text; the model decides where a text ends."""
    if dialect == "kbnf":
        return Grammar.kbnf(text, eager=False)
    return {"gbnf": Grammar.gbnf, "lark": Grammar.lark}[dialect](text)


def differences(
    one: Any, other: Any, seed: int, *, left_out: frozenset[int] | set[int] = frozenset(), longest: int = 250
) -> tuple[bytes, set[int]] | None:
    """Return where the masks of two constraints, schemas or grammars differ on a random walk, apart from some tokens.

    Returns:
        The text, and the tokens that only one of them allows after it. None: no difference.
    """
    rng = random.Random(seed)
    constraints = [
        given if isinstance(given, structgen.Constraint) else structgen.compile(given, BYTES, numbers="plain")
        for given in (one, other)
    ]
    matchers = [constraint.matcher() for constraint in constraints]
    text = bytearray()
    while len(text) < longest:
        allowed, there = (set(matcher.allowed_token_ids()) - left_out for matcher in matchers)
        if allowed != there:
            return bytes(text), allowed ^ there
        token = rng.choice(sorted(allowed))
        if token == 256:
            break
        for matcher in matchers:
            matcher.accept_token(token)
        text.append(token)
    return None
