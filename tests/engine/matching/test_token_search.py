"""The fewest tokens of a text: compared with all sequences of tokens, for small grammars and vocabularies."""

from __future__ import annotations

import random

import pytest
from support.grammars import random_grammar

import structgen
from structgen.engine.matching import token_search
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.matching.rests import shortest_rest
from structgen.engine.matching.token_search import fewest_tokens
from structgen.kbnf.normal_form.passes import normalize

END = 0  # the end token
LETTERS = [b"a", b"b", b"c", "é".encode()]
LONGER = [b"ab", b"ba", b"aa", b"abc", b"cab", b"bb", b"aaaa", b"cc"]
MOST = 5  # tokens of the sequences that are tried


def by_trying(matcher: Matcher, spellings: list[bytes]) -> int | None:
    """Return the fewest tokens that complete a text, by trying all sequences of them; None for more than MOST."""
    waiting = [(matcher.fork(), b"")]
    seen = {b""}
    for count in range(MOST + 1):
        longer = []
        for state, text in waiting:
            if state.is_accepting:
                return count
            for token in state.allowed_token_ids():
                after = text + spellings[token]
                if token != END and after not in seen:
                    seen.add(after)
                    moved = state.fork()
                    moved.accept_token(token)
                    longer.append((moved, after))
        waiting = longer
    return None


@pytest.mark.parametrize("seed", range(120))
@pytest.mark.one_in(4, uncompiled=20)
def test_the_fewest_tokens_of_random_grammars(seed: int) -> None:
    rng = random.Random(seed)
    spellings = [b"</s>", *LETTERS, *rng.sample(LONGER, 3)]
    vocabulary = structgen.Vocabulary.from_bytes(dict(enumerate(spellings)), eos_token_ids=[END])
    matcher = Matcher(CompiledGrammar(normalize(random_grammar(rng)), vocabulary))
    rest = shortest_rest(matcher)
    if rest is None or rest.tokens is None:
        return
    found = fewest_tokens(matcher, len(rest.tokens))
    expected = by_trying(matcher, spellings)
    fewest = len(rest.tokens) if found is None else len(found)
    assert fewest > MOST if expected is None else fewest == expected
    for token in found or ():
        matcher.accept_token(token)
    assert found is None or matcher.is_accepting


def test_a_search_that_reaches_too_many_sets_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    spellings = [bytes([byte]) for byte in b"zqyes"] + [b"yes"]
    vocabulary = structgen.Vocabulary.from_bytes(dict(enumerate(spellings)))
    grammar = structgen.Grammar.choice(["zq", "yes yes", "yes"])
    matcher = structgen.compile(grammar, vocabulary).matcher()
    assert fewest_tokens(matcher, 2) == [5]
    assert fewest_tokens(matcher, 1) is None
    monkeypatch.setattr(token_search, "MAX_WALKS", 0)
    assert fewest_tokens(matcher, 2) is None
