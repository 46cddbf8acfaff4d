"""Which texts the masks let through, byte by byte and by brute force."""

from __future__ import annotations

from typing import Any

import pydantic
from support.vocabularies import BYTES

import structgen
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher

END = 256


def constraint_of(schema: Any, vocabulary: structgen.Vocabulary = BYTES, **options: Any) -> structgen.Constraint[Any]:
    """A schema, compiled for bytes."""
    return structgen.compile(schema, vocabulary, **options)


def is_read(what: structgen.Constraint[Any] | CompiledGrammar, text: str | bytes) -> bool:
    """Whether a text is one of a constraint or grammar, to its end."""
    matcher = Matcher(what) if isinstance(what, CompiledGrammar) else what.matcher()
    try:
        matcher.accept_bytes(text if isinstance(text, bytes) else text.encode())
    except structgen.TokenRejectedError:
        return False
    return bool(matcher.is_accepting)


def is_valid_for(kind: Any, text: str) -> bool:
    """Whether Pydantic reads a text as a type."""
    try:
        pydantic.TypeAdapter(kind).validate_json(text)
    except pydantic.ValidationError:
        return False
    return True


def lets_through(schema: Any, text: str, **options: Any) -> bool:
    """Whether each byte of a text is in the mask before it, and the end in the one behind it."""
    constraint = schema if isinstance(schema, structgen.Constraint) else constraint_of(schema, **options)
    matcher = constraint.matcher()
    for byte in text.encode():
        if byte not in matcher.allowed_token_ids():
            return False
        matcher.accept_token(byte)
    return END in matcher.allowed_token_ids()


def language(schema: Any, alphabet: str, longest: int, **options: Any) -> set[str]:
    """All texts that the masks let through, as far as they are of some characters and not too long."""
    matcher = constraint_of(schema, **options).matcher()
    found: set[str] = set()
    texts = [""]
    while texts:
        text = texts.pop()
        matcher.reset()
        matcher.accept_bytes(text.encode())
        allowed = set(matcher.allowed_token_ids())
        if END in allowed:
            found.add(text)
        for character in alphabet if len(text) < longest else "":
            first = character.encode()[0]
            if first in allowed and _goes_on(matcher, character):
                texts.append(text + character)
    return found


def _goes_on(matcher: structgen.Matcher, character: str) -> bool:
    try:
        matcher.accept_bytes(character.encode())
    except structgen.TokenRejectedError:
        return False
    matcher.rollback(1)
    return True


def allowed_by(texts: set[str], written: str, tokens: dict[int, bytes], ends: list[int]) -> list[int]:
    """Which tokens a mask must allow after some text, where the language is a few texts."""
    allowed = [
        token
        for token, data in tokens.items()
        if data and any(text.encode().startswith(written.encode() + data) for text in texts)
    ]
    return sorted(allowed + (ends if written in texts else []))
