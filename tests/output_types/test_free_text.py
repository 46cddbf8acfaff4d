"""Free text: which texts may stand before a mark, and how the tree says it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.automata.store import AutomatonStore
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.output_types.free_text import any_text, early, text_before

MARKS = ["", ":", "é", "ab", "aa", "aaa", "aba", "abab", "\n\n", "END"]


def regex_of(node):
    """The regex of free text; an option's regex has the empty text by itself."""
    terminal = node.body if isinstance(node, ast.Option) else node
    assert isinstance(terminal, ast.RegexTerminal)
    return terminal.regex


@given(st.sampled_from(MARKS), st.text("ab\nENDé:", max_size=8))
def test_the_text_before_a_mark_makes_no_earlier_mark(mark, text):
    store = AutomatonStore()
    is_free = not mark or (text + mark).index(mark) == len(text)
    assert store.matches(store.add(regex_of(text_before(mark))), text.encode()) == is_free
    if mark:
        assert store.matches(store.add(early(mark)), text.encode()) != is_free


@pytest.mark.parametrize(("mark", "source"), [(":", ":"), ("ab", "ab"), ("END", "END"), ("\n", "\\n")])
def test_free_text_up_to_a_mark_is_ex_in_the_tree(mark, source):
    node = text_before(mark)
    assert isinstance(node, ast.Option)
    assert (node.body.kind, node.body.source) == ("ex", source)


@pytest.mark.parametrize("mark", ["ab", ":", "END", "aba"])
def test_the_rules_are_those_of_the_regex_alone(mark):
    """So the option around `#ex` costs no mask anything."""
    node = text_before(mark)
    said = normalize(ast.Grammar((ast.Rule("start", node),)))
    assert said.symbols == normalize(ast.Grammar.of_regex(regex_of(node))).symbols


@given(st.lists(st.sampled_from(["a", "bc", "\n", "é"]), max_size=3), st.text("abcé\n", max_size=6))
def test_text_without_texts(excludes, text):
    store = AutomatonStore()
    is_free = not any(one in text for one in excludes)
    assert store.matches(store.add(regex_of(any_text(excludes))), text.encode()) == is_free
    assert store.matches(store.add(regex_of(any_text(excludes, 3))), text.encode()) == (is_free and len(text) <= 3)
    if excludes:
        source = any_text(excludes).body.source
        assert (re.search(source, text) is None) == is_free
