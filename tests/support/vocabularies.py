"""Vocabularies for tests of the engine, and masks by brute force."""

from __future__ import annotations

import random

import numpy as np

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex.tree import Regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.limits import Limits

_WORDS = 'a b c ab ba aa abc bab cc é aé aaaa abab " ", "a \\ . 1'
LETTERS = tuple(_WORDS.split())
EOS = (40, 41)
SPECIAL = 42  # stands for no text
DUPLICATE = 43  # the bytes of token 3
SIZE = 70  # wider than the tokens: the logits are padded

# Texts at 0..; halves of a character; two end tokens, a special one, one twice, nothing from 44 on.
_TOKENS = dict(enumerate(text.encode() for text in LETTERS)) | {38: "é".encode()[:1], 39: "é".encode()[1:], 43: b"ab"}
SMALL = Vocabulary.from_bytes(_TOKENS, eos_token_ids=EOS, size=SIZE)
BYTES = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)} | {256: b"</s>"}, eos_token_ids=[256])


def compiled_from(
    text: str, vocabulary: Vocabulary = SMALL, *, eager: bool = False, limits: Limits | None = None
) -> CompiledGrammar:
    """A compiled grammar, from KBNF text."""
    limits = limits or Limits()
    tables = normalize(parse(text, limits=limits), keep_endless=eager, limits=limits)
    return CompiledGrammar(tables, vocabulary, eager=eager, limits=limits)


def accepts(matcher: Matcher, token: int) -> bool:
    """Whether a token is accepted; the matcher stays where it is."""
    try:
        matcher.accept_token(token)
    except TokenRejectedError:
        return False
    matcher.rollback(1)
    return True


def accepted_tokens(matcher: Matcher, size: int) -> list[int]:
    """What `allowed_token_ids` should say: every token is tried."""
    return [token for token in range(size) if accepts(matcher, token)]


def check_along(matcher: Matcher, tokens: int, size: int, rng: random.Random, steps: int) -> None:
    """Compare the masks along a random text with what the matcher accepts.

    Args:
        matcher: it stays at the end of the text.
        tokens: the tokens below this number have a text.
        size: the size of the vocabulary.
        rng: chooses the tokens.
        steps: the number of masks.
    """
    for _ in range(steps):
        allowed = matcher.allowed_token_ids()
        assert allowed == accepted_tokens(matcher, size)
        going_on = [token for token in allowed if token < tokens]
        if not going_on:
            return
        matcher.accept_token(rng.choice(going_on))


def token_ids(row: np.ndarray) -> list[int]:
    """The tokens of one row of a mask."""
    return [int(token) for token in np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))]


def nodes_along(regex: Regex, vocabulary: Vocabulary, letter: bytes, times: int) -> int:
    """The nodes that walks for terminals visit along a letter again and again, from the third one on.

    Each mask is compared with brute force.
    """
    body = ast.RegexTerminal(regex)
    compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", body),))), vocabulary)
    matcher = Matcher(compiled)
    matcher.accept_bytes(2 * letter)
    matcher.allowed_token_ids()
    before = compiled.shared.terminals.nodes_visited
    for _ in range(times):
        matcher.accept_bytes(letter)
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, vocabulary.size)
    return compiled.shared.terminals.nodes_visited - before
