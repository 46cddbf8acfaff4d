"""Pieces of a text, against the split of whole texts and against all ways to cut; and that little is scanned twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.vocabularies import BYTES, compiled_from

from structgen.engine.matching import spans as spans_module
from structgen.engine.matching.spans import Spans
from structgen.engine.matching.splitting import ends_of, split

RULES = [
    "start ::= #'a*';",
    "start ::= #'a|ab';",
    "start ::= 'a' start 'b' | 'c';",
    "start ::= #'[ab]+';",
    "start ::= 'b' | 'bb' | '';",
]
PARTS = [*(compiled_from(rules, BYTES) for rules in RULES), b"a", b"ca"]
parts = st.lists(st.sampled_from(PARTS), min_size=1, max_size=4)
texts = st.text("abc", max_size=9)


@given(texts, st.lists(parts, min_size=1, max_size=3), st.data())
def test_pieces_are_those_of_the_split(text, wanted, data):
    """Several questions about one text: what was found for one must not mislead another."""
    whole = text.encode()
    spans = Spans(whole)
    for row in wanted:
        start = data.draw(st.integers(0, len(whole)))
        end = data.draw(st.integers(start, len(whole)))
        found = spans.split(row, start, end)
        expected = split(whole[start:end], row)
        assert (None if found is None else [whole[first:last] for first, last in found]) == expected
        assert spans.fits(row[0], start, end) == (end - start in ends_of(row[0], whole[start:end], {0}))
        assert spans.ends(row[0], start, end) == sorted(start + at for at in ends_of(row[0], whole[start:end], {0}))


ITEMS = [("start ::= #'a+b?';", "start ::= #'(a+b?)*';"), ("start ::= #'a|b|ab|';", "start ::= #'(a|b|ab|)*';")]


def longest_items(text: str, item, at: int = 0):
    """Return the ends of items, each as long as the later ones allow, found by trying all."""
    if at == len(text):
        return []
    for end in sorted(ends_of(item, text.encode(), {at}) - {at}, reverse=True):
        rest = longest_items(text, item, end)
        if rest is not None:
            return [end, *rest]
    return None


@pytest.mark.parametrize("rules", ITEMS)
@given(text=st.text("ab", max_size=8))
def test_repeated_pieces_are_the_longest_from_the_left(rules, text):
    item, items = (compiled_from(one, BYTES) for one in rules)
    expected = longest_items(text, item)
    if expected is not None:
        found = Spans(text.encode()).split_repeated(item, items, 0, len(text))
        assert [end for _, end in found] == expected


@pytest.mark.parametrize("is_right", [True, False])
def test_levels_of_a_recursion_are_not_scanned_again(monkeypatch, is_right):
    """A list of 300 items, each level with one item less."""
    item = compiled_from("start ::= #'[a-z]+;';", BYTES)
    rest = compiled_from("start ::= #'([a-z]+;)+';", BYTES)
    data = b"abc;" * 300
    scanned = 0

    def counted(function):
        def call(part, data, starts, *goals):
            nonlocal scanned
            scanned += len(data) - min(starts, default=0)
            return function(part, data, starts, *goals)

        return call

    monkeypatch.setattr(spans_module, "starts_of", counted(spans_module.starts_of))
    spans = Spans(data)
    start, end = 0, len(data)
    for _ in range(299):
        assert spans.fits(rest, start, end)
        cut = spans.split([item, rest] if is_right else [rest, item], start, end)
        start, end = cut[1] if is_right else cut[0]
    assert end - start == 4
    assert scanned < 60 * len(data)  # all levels anew: 150 times
