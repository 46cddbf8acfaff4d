"""Back-references to groups with few texts, against Python's `re` and a JavaScript engine."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
import subprocess

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex_syntax.parser import parse_readings, parse_regex
from structgen.errors import GrammarError, LimitExceededError
from structgen.limits import Limits

NODE = shutil.which("node")
TEXTS = ["".join(text) for length in range(6) for text in itertools.product("ab-", repeat=length)]
BODIES = ["a", "b", "-", "[ab]", "-?", "a|b", "ab", "a?", "(?:a|-)", "", "a{1,2}", "[ab]-?"]
SCRIPT = """
const [patterns, texts] = JSON.parse(require('fs').readFileSync(0));
console.log(JSON.stringify(patterns.map(p => {
    const part = new RegExp(p, 'u'), whole = new RegExp('^(?:' + p + ')$', 'u');
    return [texts.map(t => part.test(t)), texts.map(t => whole.test(t))];
})));
"""

# (dialect, pattern, texts that match as a whole, others)
EXPANDED = [
    ("ecma", r"""(['"])[^'"]*\1""", ["''", "'a'", '"a"'], ["'a\"", "'", ""]),
    ("ecma", r"(\d)\1{3}", ["1111", "0000"], ["1112", "111"]),
    ("ecma", r"\d\d([-/.]?)\d\d\1\d\d", ["010203", "01-02-03", "01.02.03"], ["01-0203", "01-02/03", "01x02x03"]),
    ("ecma", r"(?<mark>[*_])a+\k<mark>", ["*aa*", "_a_"], ["*a_"]),
    ("python", r"(?P<mark>[*_])a+(?P=mark)", ["*aa*", "_a_"], ["*a_"]),
    ("ecma", r"(?:(a|b)\1)+", ["aabb", "bb"], ["ab", "aab", ""]),
    ("ecma", r"(a|(b))c\2", ["ac", "bcb"], ["bc", "acb"]),
    ("python", r"(a|(b))c\2", ["bcb"], ["ac", "bc", "acb"]),
    ("ecma", r"(a)?b\1", ["b", "aba"], ["ab", "ba"]),
    ("python", r"(a)?b\1", ["aba"], ["b", "ab", "ba"]),
    ("ecma", r"((a)|b){0,1}c\2", ["aca", "bc", "c"], ["ac", "bca"]),
    ("ecma", r"(\))[(]\1", [")()"], ["()", ")("]),
    ("ecma", r"(é|\u20ac)x\1", ["éxé", "€x€"], ["éx€"]),
    ("ecma", r"([ab])(?!\1)[ab]", ["ab", "ba"], ["aa", "bb"]),
]


def matcher(pattern: str, dialect: str, *, anchored: bool = True):
    store = AutomatonStore()
    start = store.add(parse_regex(pattern, dialect, anchored=anchored))
    return lambda text: store.matches(start, text.encode())


@pytest.mark.parametrize(("dialect", "pattern", "matching", "others"), EXPANDED)
def test_groups_with_few_texts_are_repeated(dialect: str, pattern: str, matching: list[str], others: list[str]) -> None:
    matches = matcher(pattern, dialect)
    assert [text for text in matching + others if matches(text)] == matching


REFUSED = [
    r"(a+)\1",  # without end
    r"(\w)\1",  # too many texts
    r"\1(a)",  # before its group
    r"(a\1)",  # in its group
    r"(a)|\1",  # the group never matches
    r"(a)*b\1",  # the last round counts
    r"(?:(a)?b\1)+",  # of which round is the group?
    r"(?=(a))\1",  # in a look-ahead
    r"(^a)\1",
    r"(a)\2",
    r"(?i:(a)\1)",  # of the same letter in another case
    "(" * 60 + "a" + ")" * 60 + r"\60",
]


@pytest.mark.parametrize("pattern", REFUSED)
@pytest.mark.parametrize("dialect", ["ecma", "python"])
def test_other_back_references_are_refused_at_their_position(dialect: str, pattern: str) -> None:
    with pytest.raises(GrammarError, match=r"a back-reference .* is not supported") as caught:
        parse_regex(pattern, dialect)
    assert caught.value.column == re.search(r"\\[1-9]", pattern).start() + 1


def test_a_pattern_does_not_grow_without_bound() -> None:
    with pytest.raises(GrammarError, match="back-reference"):
        parse_regex("".join(f"([0-9]){chr(97 + i)}" for i in range(6)) + r"\1\2\3\4\5\6", "ecma")


def test_readings_differ_where_a_group_may_have_no_match() -> None:
    def count(pattern: str, dialect: str = "ecma") -> int:
        return len(parse_readings(pattern, dialect, anchored=True, limits=Limits()))

    assert (count(r"(a)\1"), count(r"(a)?\1"), count(r"(a)?\1", "python"), count("(a)?")) == (1, 2, 1, 1)


def random_pattern(rng: random.Random) -> str:
    groups = 0

    def group() -> str:
        nonlocal groups
        groups += 1
        body = rng.choice(BODIES)
        if rng.random() < 0.3:
            body = rng.choice(BODIES) + group() + rng.choice(["", "|b", "a?"])
        return f"({body}){rng.choice(['', '', '', '?', '?', '{0,1}', '*', '{2}'])}"

    def item(depth: int) -> str:
        kind = rng.random()
        if kind < 0.3:
            return group()
        if kind < 0.6 and groups:
            return f"\\{rng.randrange(1, groups + 1)}{rng.choice(['', '', '', '?', '*'])}"
        if kind < 0.66 and groups:
            return f"(?!\\{rng.randrange(1, groups + 1)})"
        if kind < 0.75 and depth:
            inside = "".join(item(depth - 1) for _ in range(rng.randrange(1, 4)))
            return f"(?:{inside}{rng.choice(['', '', '|a', '|-b'])}){rng.choice(['', '?', '?', '+', '*'])}"
        return rng.choice(["a", "b", "-", "[ab]", "a*"])

    return "".join([group() if rng.random() < 0.7 else "", *(item(2) for _ in range(rng.randrange(2, 5)))])


def agreeing(pattern: str, dialect: str, expected: list[list[bool]]) -> int:
    """Compares a pattern, of a part and of the whole text, and tells how often it was read."""
    compared = 0
    for anchored in (False, True):
        try:
            matches = matcher(pattern, dialect, anchored=anchored)
        except (GrammarError, LimitExceededError):
            continue
        assert [matches(text) for text in TEXTS] == expected[anchored], (pattern, anchored)
        compared += 1
    return compared


def random_patterns(seed: int) -> list[str]:
    rng = random.Random(seed)
    patterns = [random_pattern(rng) for _ in range(400)]
    return [pattern for pattern in patterns if re.search(r"\\\d", pattern)]


def test_random_back_references_match_as_in_python() -> None:
    compared = 0
    for pattern in random_patterns(31):
        try:
            compiled = re.compile(pattern)
        except re.error:
            continue
        found = [[bool(how(text)) for text in TEXTS] for how in (compiled.search, compiled.fullmatch)]
        compared += agreeing(pattern, "python", found)
    assert compared > 200


@pytest.mark.skipif(NODE is None, reason="needs a JavaScript engine")
def test_random_back_references_match_as_in_javascript() -> None:
    patterns = random_patterns(32)
    run = subprocess.run(
        [str(NODE), "-e", SCRIPT], input=json.dumps([patterns, TEXTS]), capture_output=True, text=True, timeout=60
    )
    found = json.loads(run.stdout)
    assert sum(agreeing(pattern, "ecma", mine) for pattern, mine in zip(patterns, found, strict=True)) > 200
