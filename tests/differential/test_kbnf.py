"""The allowed tokens on random walks, against those of the published `kbnf` engine.

Both end eagerly here. `STRUCTGEN_DIFFERENTIAL=full` takes many times more grammars and longer walks.
Where the two disagree and the published package is at fault, `KNOWN` tells why; a grammar may disagree for no other
reason, and the share that agrees in full is held.
"""

from __future__ import annotations

import importlib.util
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from support.cycles import has_endless_rules, is_cyclic
from support.engine_process import EngineProcess
from support.grammars import random_grammar
from support.kbnf_grammars import BY_HAND, realistic_grammar
from support.naive import NaiveRecognizer
from support.smollm2 import smollm2_tokens

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.writing.kbnf import print_grammar

pytestmark = pytest.mark.skipif(importlib.util.find_spec("kbnf") is None, reason="the oracle, kbnf, is not installed")

FULL = os.environ.get("STRUCTGEN_DIFFERENTIAL") == "full"
SCALE = 20 if FULL else 1
WALKS = 3
LENGTH = 24 if FULL else 8  # tokens of a walk
SECONDS = 2.0  # for kbnf to answer to one grammar; it takes some milliseconds, or for ever

LETTERS = "ab ba abc aa aaa bc cc bb abb bab abab abcab é éa aé ä 日 日本 AB Ab"
JSON = '], }, }. ]. [" "] ": "," "a": "a" {" [] [[ , . true false null nu ll ue tr \\" \\n'
OTHERS = "12 10 123 1. .5 -1 e1 00 the quick cat a. b. c. ab, <b> </ > () (( )) a,b ```"
WITH_SPACES = (" ", "  ", " a", ", ", "a ", " cat", "\n\n", "a\n", " \n", "ab é", "- ")
TEXTS = (*LETTERS.split(), *JSON.split(), *OTHERS.split(), *WITH_SPACES)
BYTE_TOKENS = dict(
    enumerate(
        [
            *(bytes([byte]) for byte in range(256)),
            *(text.encode() for text in dict.fromkeys(TEXTS) if len(text.encode()) > 1),
            "日".encode()[:2],
            "日".encode()[1:],
            "é".encode()[1:] + b"a",
            b"a" + "é".encode()[:1],
            b"\xff\xff",
            b"a\xff",
        ]
    )
)


# -- what is wrong with the published package ------------------------------------------------------------------------


@dataclass(frozen=True)
class Disagreement:
    """The first step at which the engines differ.

    Attributes:
        grammar: the tree.
        text: before it.
        token: what was accepted next, or None.
        ours, theirs: the allowed tokens.
        result: what kbnf said to `token`: "Ongoing", "Finished" or "rejected: …"; or its error for the whole grammar.
        ended: whether our text ended with `token`.
        vocabulary_size: how many tokens there are.
    """

    grammar: ast.Grammar
    text: bytes
    token: bytes | None
    ours: frozenset[bytes]
    theirs: frozenset[bytes]
    result: str
    ended: bool
    vocabulary_size: int


def runs_through_an_end(it: Disagreement) -> bool:
    """Tell whether the text ends within a token that goes on to an incomplete longer text: kbnf calls that finished.

    `'ab' | 'abcabc'` and the token `abcab`: the text that kbnf ends with is not in the language.
    """
    if it.token is None or it.ours != it.theirs or it.result != "Finished" or it.ended:
        return False
    tables = normalize(it.grammar, keep_endless=True)
    matcher = Matcher(CompiledGrammar(tables, Vocabulary.from_bytes(dict(enumerate([b"\0"])))))
    matcher.accept_bytes(it.text)
    for byte in it.token[:-1]:
        matcher.accept_bytes(bytes([byte]))
        if matcher.is_accepting:
            return True
    return False


def start_uses_itself(it: Disagreement) -> bool:
    """Tell whether a rule uses `start`: in some such grammars kbnf goes on past the first end."""
    return it.ended and it.result == "Ongoing" and it.ours == it.theirs and _refers_to_start(it.grammar)


def optional_terminal_that_may_be_empty(it: Disagreement) -> bool:
    """Tell whether an optional terminal may be empty, as in `#'a*'?`: kbnf reads it as always empty."""
    return it.theirs < it.ours and any(
        isinstance(node, (ast.RegexTerminal, ast.SubstringsTerminal)) and _may_be_empty(node)
        for node in _nodes(it.grammar)
    )


def several_substrings(it: Disagreement) -> bool:
    """Tell whether there are two different `#substrs`: kbnf reads both as one of them."""
    texts = {node.text for node in _nodes(it.grammar) if isinstance(node, ast.SubstringsTerminal)}
    return len(texts) > 1 and it.ours != it.theirs


def past_the_end_of_a_text_without(it: Disagreement) -> bool:
    """Tell whether tokens run past the end of an `#ex`: kbnf leaves them out where there are thousands of tokens."""
    has_ex = any(isinstance(node, ast.RegexTerminal) and node.kind == "ex" for node in _nodes(it.grammar))
    return has_ex and it.vocabulary_size > 1000 and it.theirs < it.ours and all(len(t) > 1 for t in it.ours - it.theirs)


def newer_characters(it: Disagreement) -> bool:
    """Tell whether Unicode 15 matters, which kbnf has and Python 3.11 has not: U+31350 to U+323AF are letters in it."""
    sources = [node.source or "" for node in _nodes(it.grammar) if isinstance(node, ast.RegexTerminal)]
    has_unicode_class = any("\\w" in source or "\\p" in source for source in sources)
    begun = it.text[-3:]
    return has_unicode_class and it.ours < it.theirs and b"\xf0" in begun


def nothing_ever_ends(it: Disagreement) -> bool:
    """Tell whether a grammar has prefixes but no texts: kbnf panics."""
    return it.result.startswith("PanicException") and has_endless_rules(NaiveRecognizer(it.grammar))


def nothing_but_the_empty_text(it: Disagreement) -> bool:
    """Tell whether a grammar has no text, or only the empty one: kbnf refuses it."""
    return "after simplification is empty" in it.result and not it.ours


KNOWN: tuple[Callable[[Disagreement], bool], ...] = (
    runs_through_an_end,
    start_uses_itself,
    optional_terminal_that_may_be_empty,
    several_substrings,
    past_the_end_of_a_text_without,
    newer_characters,
    nothing_ever_ends,
    nothing_but_the_empty_text,
)


def _nodes(grammar: ast.Grammar) -> Iterator[ast.Expression]:
    stack = [rule.body for rule in grammar.rules]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (ast.Sequence, ast.Choice)):
            stack.extend(node.parts)
        elif isinstance(node, (ast.Option, ast.ZeroOrMore, ast.OneOrMore, ast.Bounded)):
            stack.append(node.body)


def _refers_to_start(grammar: ast.Grammar) -> bool:
    return any(isinstance(node, ast.Reference) and node.name == grammar.start for node in _nodes(grammar))


def _may_be_empty(node: ast.Expression) -> bool:
    return normalize(ast.Grammar((ast.Rule("start", node),))).accepts_empty


# -- the comparison ---------------------------------------------------------------------------------------------------


@dataclass
class Walk:
    """A walk over random allowed tokens, with `allowed` before each of them and after the last."""

    tokens: list[int]
    allowed: list[list[int]]
    ended: bool


def random_walk(compiled: CompiledGrammar, rng: random.Random) -> Walk:
    matcher = Matcher(compiled)
    spellings = compiled.vocabulary.spellings
    walk = Walk([], [], False)
    while True:
        allowed = matcher.allowed_token_ids()
        walk.allowed.append(allowed)
        walk.ended = bool(walk.tokens) and matcher.is_accepting
        if walk.ended or not allowed or len(walk.tokens) == LENGTH:
            return walk
        # Long tokens run over the ends of terminals: take them as often as single bytes.
        long = [token for token in allowed if len(spellings[token]) > 1]
        token = rng.choice(long if long and rng.random() < 0.5 else allowed)
        matcher.accept_token(token)
        walk.tokens.append(token)


def first_disagreement(
    text: str, vocabulary: Vocabulary, process: EngineProcess, rng: random.Random
) -> Disagreement | str:
    """Return the first difference on a grammar; or "agree", or "no answer" where kbnf hangs or crashes."""
    grammar = parse(text)
    compiled = CompiledGrammar(normalize(grammar, keep_endless=True), vocabulary, eager=True)
    walks = [random_walk(compiled, rng) for _ in range(WALKS)]
    answer = process.ask(text, [walk.tokens for walk in walks])
    # In `#ex`, kbnf leaves out the byte 0xFF, which is in no UTF-8 text; every other byte is in.
    without = b"\xff" if "#ex" in text else None

    def texts(tokens: list[int]) -> frozenset[bytes]:
        found = (vocabulary.token_bytes(token) for token in tokens)
        return frozenset(data for data in found if without is None or without not in data)

    if "walks" not in answer:
        ours = texts(walks[0].allowed[0])
        no_answer = answer["error"] in ("hang", "crash")
        if no_answer:
            return "no answer"
        return Disagreement(grammar, b"", None, ours, frozenset(), answer["error"], False, vocabulary.size)
    for walk, steps in zip(walks, answer["walks"]):
        for at, (bits, result) in enumerate(steps):
            theirs = token_ids(bits)
            last = at + 1 >= len(walk.tokens)
            ended = walk.ended and last
            expected = "" if at == len(walk.tokens) else "Finished" if ended else "Ongoing"
            # The texts of the same tokens are the same, and many.
            is_same = theirs == walk.allowed[at] or texts(theirs) == texts(walk.allowed[at])
            if not is_same or result != expected:
                data = [vocabulary.token_bytes(token) for token in walk.tokens]
                token = data[at] if at < len(data) else None
                text_before = b"".join(data[:at])
                both = texts(walk.allowed[at]), texts(theirs)
                return Disagreement(grammar, text_before, token, *both, result, ended, vocabulary.size)
    return "agree"


def token_ids(bits: str) -> list[int]:
    data = bytes.fromhex(bits)
    return [8 * at + bit for at, byte in enumerate(data) if byte for bit in range(8) if byte >> bit & 1]


def agreement(texts: list[str], tokens: dict[int, bytes]) -> Counter[str]:
    """Count how often the engines agree; fail at a disagreement of unknown cause."""
    vocabulary = Vocabulary.from_bytes(tokens)
    process = EngineProcess("kbnf_worker.py", tokens, SECONDS)
    counts: Counter[str] = Counter()
    try:
        for index, text in enumerate(texts):
            found = first_disagreement(text, vocabulary, process, random.Random(index))
            if isinstance(found, Disagreement):
                causes = [known.__name__ for known in KNOWN if known(found)]
                assert causes, described(text, found)
                counts[causes[0]] += 1
            else:
                counts[found] += 1
    finally:
        process.close()
    print(dict(counts))
    return counts


def described(text: str, it: Disagreement) -> str:
    return (
        f"{text}\nafter {it.text!r}: only ours {sorted(it.ours - it.theirs)[:8]}, only kbnf's "
        f"{sorted(it.theirs - it.ours)[:8]}; then {it.token!r}: kbnf {it.result!r}, ours ended: {it.ended}"
    )


def recursive_grammars(seeds: range, *, regexes: bool) -> list[str]:
    """Return random grammars without those on which kbnf hangs: cyclic ones, and rules that never end.

    Every other one has a mark at its end, so that the text cannot end before, or within a token.
    """
    texts = []
    for seed in seeds:
        grammar = random_grammar(random.Random(seed), regexes=regexes)
        naive = NaiveRecognizer(grammar)
        if not is_cyclic(naive) and not has_endless_rules(naive):
            text = print_grammar(grammar)
            marked = re.sub(r"\bstart\b", "whole", text) + "start ::= whole '.';"
            texts.append(marked if len(texts) % 2 else text)
    return texts


# -- over bytes and a few longer tokens ---------------------------------------------------------------------------


def test_grammars_written_by_hand() -> None:
    counts = agreement(list(BY_HAND), BYTE_TOKENS)
    assert len(BY_HAND) >= 60
    assert counts["agree"] >= 0.95 * len(BY_HAND)


@pytest.mark.parametrize("regexes", [False, True])
def test_recursive_and_ambiguous_grammars(regexes: bool) -> None:
    texts = recursive_grammars(range(300 * SCALE), regexes=regexes)
    counts = agreement(texts, BYTE_TOKENS)
    assert counts["agree"] >= 0.75 * len(texts)
    assert counts["no answer"] <= 0.05 * len(texts)


def test_grammars_as_people_write_them() -> None:
    texts = [realistic_grammar(random.Random(seed)) for seed in range(200 * SCALE)]
    counts = agreement(texts, BYTE_TOKENS)
    assert counts["agree"] >= 0.92 * len(texts)
    assert counts["no answer"] == 0


# -- over a real vocabulary -------------------------------------------------------------------------------------------


def test_over_the_tokens_of_a_model() -> None:
    realistic = [realistic_grammar(random.Random(seed)) for seed in range(1000, 1000 + 15 * SCALE)]
    texts = [*BY_HAND[:: 1 if FULL else 4], *realistic]
    counts = agreement(texts, smollm2_tokens())
    assert counts["agree"] >= 0.8 * len(texts)
    assert counts["no answer"] == 0
