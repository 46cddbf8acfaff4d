"""The tokens that other engines allow, beside those of our matcher."""

from __future__ import annotations

import importlib.util
from typing import Any

from support.engine_process import EngineProcess
from support.walks import Walk

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher

__all__ = ["DIALECTS", "first_difference", "is_installed"]

DIALECTS = {"llguidance": "lark", "xgrammar": "xgrammar", "llama.cpp": "gbnf"}
"""By engine, what `structgen.export` writes for it."""

_MODULES = {"llguidance": "llguidance", "xgrammar": "xgrammar", "llama.cpp": "llama_cpp"}


def is_installed(engine: str) -> bool:
    return importlib.util.find_spec(_MODULES[engine]) is not None


def first_difference(
    engine: str,
    process: EngineProcess,
    text: str,
    compiled: CompiledGrammar,
    walks: list[Walk],
    *,
    whole_characters: bool = False,
) -> str:
    """Where an engine, given a grammar as text, first allows other tokens than our matcher; "" for nowhere.

    Args:
        engine: its name.
        process: runs it, on the vocabulary of `compiled`.
        text: the grammar.
        compiled: what it should be.
        walks: texts to follow, each by the longest tokens that are allowed.
        whole_characters: look at tokens only that are text, without U+0000: of a class that excludes characters,
            llama.cpp refuses a byte that may begin one of these, and takes bytes that begin none; and U+0000 ends a
            text there.
    """
    tokens = [_tokens(compiled, walk.text) for walk in walks]
    answer = process.ask(text, tokens)
    if "walks" not in answer:
        return str(answer["error"])
    for walk, steps in zip(tokens, answer["walks"]):
        found = _difference(engine, compiled, walk, steps, whole_characters)
        if found:
            return found
    return ""


def _tokens(compiled: CompiledGrammar, text: bytes) -> list[int]:
    """A text as tokens: the longest first."""
    vocabulary = compiled.vocabulary
    by_text: dict[bytes, int] = {}
    for token in range(vocabulary.size):
        data = vocabulary.token_bytes(token)
        if data and token not in vocabulary.eos_token_ids:
            by_text.setdefault(data, token)
    longest = max(map(len, by_text))
    tokens, at = [], 0
    while at < len(text):
        end = next(end for end in range(min(len(text), at + longest), at, -1) if text[at:end] in by_text)
        tokens.append(by_text[text[at:end]])
        at = end
    return tokens


def _difference(engine: str, compiled: CompiledGrammar, walk: list[int], steps: list[str], only_text: bool) -> str:
    matcher, written = Matcher(compiled), b""
    for at in range(len(walk) + 1):
        if at >= len(steps):
            if only_text and not _is_plain(compiled, walk[at - 1]):
                return ""
            return f"refused {walk[at - 1]} after {written!r}"
        # Within a character llama.cpp lets overlong forms through, which are no UTF-8.
        if engine != "llama.cpp" or _is_text(written):
            found = _compared(matcher.allowed_token_ids(), steps[at], compiled, only_text)
            if found:
                return f"after {written!r}: {found}"
        if at < len(walk):
            matcher.accept_token(walk[at])
            written += compiled.vocabulary.token_bytes(walk[at]) or b""
    return ""


def _compared(allowed: list[int], hexadecimal: str, compiled: CompiledGrammar, only_text: bool) -> str:
    bits = bytes.fromhex(hexadecimal)
    theirs = {token for token in range(compiled.vocabulary.size) if bits[token >> 3] >> (token & 7) & 1}
    ours = set(allowed)
    differing = {token for token in theirs ^ ours if not only_text or _is_plain(compiled, token)}
    if not differing:
        return ""
    more, less = sorted(differing & theirs), sorted(differing & ours)

    def spelled(tokens: list[int]) -> list[Any]:
        return [compiled.vocabulary.token_bytes(token) or token for token in tokens[:5]]

    return f"{len(more)} more {spelled(more)}, {len(less)} less {spelled(less)}"


def _is_plain(compiled: CompiledGrammar, token: int) -> bool:
    data = compiled.vocabulary.token_bytes(token)
    return data is None or (_is_text(data) and b"\0" not in data)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
