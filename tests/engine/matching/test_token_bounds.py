"""Bounds on the tokens of a rule: `x[max_tokens=3]: /.*/`, against a count of the tokens that hold its text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structgen
from structgen import Grammar, Limits, Vocabulary
from structgen.errors import GrammarError, TokenRejectedError

WORDS = ["a", "b", "c", "ab", "<", ">", "<a", "b>", "><", "a><b", "<>", "é", "é>"]
BYTES_OF_E = [b"\xc3", b"\xa9"]
ALL = [word.encode() for word in WORDS] + BYTES_OF_E
END = len(ALL)
VOCABULARY = Vocabulary.from_bytes(dict(enumerate(ALL)), [END], END + 1)
RULES = 'start: ("<" x ">")*\nx[max_tokens={}]: /[abcé]*/'


def runs_of(tokens: list[int]) -> list[int] | None:
    """Return how many tokens hold each text of `x`; None if the texts do not fit the rules."""
    runs: list[int] = []
    inside = False
    for token in tokens:
        counted = False
        for byte in ALL[token]:
            if byte == ord("<"):
                if inside:
                    return None
                inside, counted = True, False
                runs.append(0)
            elif byte == ord(">"):
                if not inside:
                    return None
                inside = False
            elif not inside:
                return None
            elif not counted:
                counted = True
                runs[-1] += 1
    return runs


@given(st.lists(st.integers(0, len(WORDS) - 1), max_size=12), st.integers(1, 4))
def test_a_text_is_in_as_many_tokens_as_it_may(tokens, most):
    constraint = structgen.compile(Grammar.lark(RULES.format(most)), VOCABULARY)
    matcher = constraint.matcher()
    for number, token in enumerate(tokens):
        runs = runs_of(tokens[: number + 1])
        fits = runs is not None and max(runs, default=0) <= most
        assert (token in matcher.allowed_token_ids()) == fits
        if not fits:
            with pytest.raises(TokenRejectedError):
                matcher.accept_token(token)
            return
        matcher.accept_token(token)


@pytest.mark.parametrize("limits", [Limits(item_sets=40), Limits(mask_bytes=0)])
@settings(max_examples=10)
@given(data=st.data())
def test_going_back_and_beginning_anew_keep_the_count(limits, data):
    """With hardly any room for sets or masks, they are begun anew on the way."""
    constraint = structgen.compile(Grammar.lark(RULES.format(3)), VOCABULARY, limits=limits)
    matcher = constraint.matcher()
    accepted: list[int] = []
    for _ in range(8):
        if accepted and data.draw(st.booleans()):
            count = data.draw(st.integers(1, len(accepted)))
            matcher.rollback(count)
            del accepted[len(accepted) - count :]
        token = data.draw(st.sampled_from([token for token in matcher.allowed_token_ids() if token < len(WORDS)]))
        matcher.accept_token(token)
        accepted.append(token)
        other = constraint.matcher()
        for token in accepted:
            other.accept_token(token)
        assert matcher.allowed_token_ids() == other.allowed_token_ids() == matcher.fork().allowed_token_ids()


def test_a_character_is_not_cut():
    matcher = structgen.compile(Grammar.lark(RULES.format(2)), VOCABULARY).matcher()
    for token in (4, 0, END - 2):
        matcher.accept_token(token)
    assert matcher.allowed_token_ids() == [END - 1]
    matcher.accept_token(END - 1)
    assert matcher.allowed_token_ids() == [5, 8]


def test_nothing_is_forced_where_the_split_matters():
    grammar = Grammar.lark('start: x "b"\nx[max_tokens=2]: /a{0,1}/')
    matcher = structgen.compile(grammar, VOCABULARY).matcher()
    matcher.accept_token(0)
    assert matcher.forced_bytes() == b""
    assert matcher.allowed_token_ids() == [1]


def test_temperature_and_captures_go_along():
    grammar = Grammar.lark('start: x "<"\nx[capture, stop="c", max_tokens=3, temperature=0.7]: /[abc]*/')
    constraint = structgen.compile(grammar, VOCABULARY)
    matcher = constraint.matcher()
    found = []
    for token in (0, 1, 3):
        found.append(matcher.temperature)
        matcher.accept_token(token)
    assert found == [0.7] * 3
    assert matcher.temperature is None
    assert matcher.allowed_token_ids() == [4]
    assert constraint.captures("abab<") == {"x": "abab"}


def test_bytes_count_as_one_token():
    matcher = structgen.compile(Grammar.lark(RULES.format(1)), VOCABULARY).matcher()
    matcher.accept_bytes(b"<abcabc")
    assert not matcher.allows_bytes(b"a")
    assert structgen.check(Grammar.lark(RULES.format(1)), "<abcabc><a>").fits


def test_in_a_grammar_with_token_terminals():
    vocabulary = Vocabulary.from_bytes(
        dict(enumerate(ALL)), [END], END + 2, special_tokens={"</s>": END, "<end>": END + 1}
    )
    grammar = Grammar.lark("start: (x <end> | <[3]> x <[0]>)*\nx[max_tokens=2]: /[ab]*/")
    matcher = structgen.compile(grammar, vocabulary).matcher()
    for token in (3, 3, 0):
        matcher.accept_token(token)
    assert END + 1 in matcher.allowed_token_ids()
    for token in (END + 1, 0, 1):
        matcher.accept_token(token)
    assert matcher.allowed_token_ids() == [END + 1]


def test_what_is_refused(tiny_tokenizer):
    grammar = Grammar.lark('start: x "b"\nx[max_tokens=3]: /a*/')
    vocabulary = Vocabulary.from_huggingface(tiny_tokenizer)
    with pytest.raises(GrammarError, match="cannot be combined with tokenization='proper'"):
        structgen.compile(grammar, vocabulary, tokenization="proper")
    with pytest.raises(GrammarError, match="cannot be exported"):
        structgen.export(grammar, "gbnf")
