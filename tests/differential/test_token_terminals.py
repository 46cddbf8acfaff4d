"""Masks of grammars with token terminals beside those of llguidance and xgrammar, on random walks.

Three differences are not looked at here: structgen leaves end tokens out of negated sets; it keeps both readings of a
token that is also text; and xgrammar reads a special token as the text of its name, too.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import structgen
from structgen import Grammar, Vocabulary

WORDS = [bytes([byte]) for byte in range(256)] + [b"hello", b"ab", b"abc", b" the", b"12", "é".encode()]
NAMES = ["<think>", "</think>", "<|im_start|>", "<|im_end|>", "<call>"]
SPECIAL = {name: len(WORDS) + index for index, name in enumerate(NAMES)}
END = len(WORDS) + len(NAMES)
VOCABULARY = Vocabulary.from_bytes(dict(enumerate(WORDS)), [END], END + 1, special_tokens={**SPECIAL, "</s>": END})
# `{0}` to `{4}` stand for the special tokens: by name for llguidance, by id for xgrammar.
GRAMMARS = [
    'start: "a" {0} "b"',
    "start: ({2} /[a-z ]+/ {3})+",
    'start: x*\nx: {4} "(" x* ")" | "ab" | {0}',
    "start: (/[a-z]+/ {4})* {1}",
    'start: "a" ({0} | {4} "b")? "c"',
    "start: {0}? {1}? /a*/ {4}?",
    'start: {0} "\\n" /[a-z]*/ {1} answer\nanswer: "yes" | "no" | /[0-9]+/',
]


def bits(mask: Any) -> set[int]:
    words = np.ascontiguousarray(mask).view(np.uint8)
    return set(np.flatnonzero(np.unpackbits(words, bitorder="little")[: END + 1]).tolist())


class OfLlguidance:
    def __init__(self, text: str) -> None:
        llguidance = pytest.importorskip("llguidance")

        class Tokens:
            def __init__(self) -> None:
                self.tokens = [*WORDS, *(b"\xff" + name.encode() for name in NAMES), b"\xff</s>"]
                self.eos_token_id, self.bos_token_id = END, None
                self.special_token_ids = [*SPECIAL.values(), END]

            def __call__(self, text: str | bytes) -> list[int]:
                return list(text if isinstance(text, bytes) else text.encode())

        tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()))
        self.new = lambda: llguidance.LLMatcher(tokenizer, '%llguidance {"no_forcing": true}\n' + text)

    def mask(self, matcher: Any) -> set[int]:
        import llguidance.numpy

        mask = np.zeros((1, (END + 32) // 32), dtype=np.int32)
        llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0)
        return bits(mask)

    def accept(self, matcher: Any, token: int) -> bool:
        return bool(matcher.consume_token(token))


class OfXgrammar:
    def __init__(self, text: str) -> None:
        xgrammar = pytest.importorskip("xgrammar")
        tokens = [*WORDS, *(name.encode() for name in NAMES), b"</s>"]
        info = xgrammar.TokenizerInfo(tokens, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[END])
        compiled = xgrammar.GrammarCompiler(info).compile_grammar(xgrammar.Grammar.from_ebnf(text))
        self.new = lambda: xgrammar.GrammarMatcher(compiled)
        self._bitmask = xgrammar.allocate_token_bitmask(1, END + 1)

    def mask(self, matcher: Any) -> set[int]:
        matcher.fill_next_token_bitmask(self._bitmask)
        return bits(self._bitmask.numpy())

    def accept(self, matcher: Any, token: int) -> bool:
        return bool(matcher.accept_token(token))


@pytest.mark.parametrize("text", GRAMMARS)
@pytest.mark.parametrize("engine", [OfLlguidance, OfXgrammar])
def test_the_masks_are_the_same(engine: Any, text: str) -> None:
    named = Grammar.lark(text.format(*NAMES))
    if engine is OfLlguidance:
        other = engine(structgen.export(named, "lark"))
    else:
        by_id = Grammar.lark(text.format(*(f"<[{token}]>" for token in SPECIAL.values())))
        other = engine(structgen.export(by_id, "xgrammar"))
    constraint = structgen.compile(named, VOCABULARY)
    for seed in range(10):
        rng = random.Random(seed)
        matcher, theirs = constraint.matcher(), other.new()
        path: list[int] = []
        while len(path) < 12:
            allowed = set(matcher.allowed_token_ids())
            assert allowed == other.mask(theirs), path
            following = sorted(allowed - {END})
            if not following:
                break
            special = [token for token in following if token >= len(WORDS)]
            path.append(rng.choice(special if special and rng.random() < 0.5 else following))
            matcher.accept_token(path[-1])
            assert other.accept(theirs, path[-1])
