"""Patterns inside a longer text: they match where `re` matches them, whatever comes next."""

import itertools
import re

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex_syntax.open_ends import LooksOutside
from structgen.engine.regex_syntax.parser import parse_part
from structgen.errors import GrammarError

LETTERS = "abc1 ;-\n"


def _refuses(end, following):
    return bool(following) and any(low <= ord(following[0]) <= high for low, high in end.refused)


class Ends:
    """The result of `parse_part`, to be asked for texts."""

    def __init__(self, pattern, **options):
        self._store = AutomatonStore()
        self._ends = [(self._store.add(end.regex), end) for end in parse_part(pattern, **options)]

    def match(self, text, following):
        matched = [end for state, end in self._ends if self._store.matches(state, text.encode())]
        return any(not _refuses(end, following) for end in matched)


@pytest.mark.parametrize(
    "pattern",
    [
        r"a(?!b)|c",
        r"ab\b",
        r"a\Bb|-\bc",
        r"(?=[a-z]*1)[a-z0-9]+;",
        r"(?!ab)[abc]{1,3}",
        r"(?!a)(?!bb)[abc]+",
        r"[ab](?![^a])",
        r"(a\b ?)+",
        r"(?m:a$)",
        r"a(?=bc)bcd?",
        r"(?:a(?!b)|b)+",
        r"[abc]+(?!\w)",
        r"((?!ab)[abc])+",
        r"(?=(ab|c)*1)[abc1]+ ",
        r"a(?=(?!c)[bc])[bc]",
        r"(?<=a|b)?a(?<!b)",
    ],
)
def test_texts_match_where_re_matches_them(pattern):
    ends = Ends(pattern)
    for length in range(4):
        for letters in itertools.product(LETTERS, repeat=length):
            text = "".join(letters)
            for following in ("", *LETTERS, "b1", "ab", "1;", "  b"):
                here = re.match(rf"(?:{pattern})(?={re.escape(following)}\Z)", text + following)
                assert ends.match(text, following) == (here is not None and here.end() == length), (text, following)


@pytest.mark.parametrize(
    ("pattern", "is_behind"),
    [
        (r"a(?=b)", False),
        (r"a(?!bc)", False),
        (r"a\B", False),
        (r"a$", False),
        (r"(?=.*b)[ab]+", False),
        (r"(?!ab\b)[a-c]\w*", False),
        (r"(?<!a)b", True),
        (r"b(?<!ab)c", True),
        (r"\ba", True),
        (r"^a", True),
        (r"(?m:^)a", True),
    ],
)
def test_what_depends_on_more_than_the_next_character_is_refused(pattern, is_behind):
    with pytest.raises(LooksOutside) as caught:
        parse_part(pattern)
    assert caught.value.is_behind == is_behind


def test_a_text_that_a_lexer_never_takes_is_left_out():
    """`a` would match before a letter, but a longest match then includes the letter; a lazy one does not."""
    ends = Ends(r"(?!a\b)[abc]\w*")
    assert not ends.match("a", "b") and ends.match("ab", " ") and not ends.match("a", " ")
    with pytest.raises(LooksOutside):
        parse_part(r"(?!a\b)[abc]\w*", is_lazy=True)


def test_errors_point_into_the_pattern():
    with pytest.raises(GrammarError, match="line 1, column 3"):
        parse_part("ab(")
