"""The ECMA dialect against a JavaScript engine, where there is one."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.errors import GrammarError, LimitExceededError

NODE = shutil.which("node")
ATOMS = [
    *("a", "b", "A", "é", ".", "[ab]", "[^a]", "[a-c]", r"\w", r"\d", r"\s", r"\W", r"\S", r"\D", "^", "$", r"\u0061"),
    *(r"\u{1F600}", r"\ud83d\ude00", r"\x41", r"\cJ", r"\0", "[^]", "[]", r"\p{Lu}", r"\P{L}", r"\/", "[é-ü]"),
    *(r"\t", r"[\b]", r"[^\d\s]", "-", r"[\d\-]"),
]
ASSERTIONS = ["^", "$", r"\b", r"\B", "(?=b)", "(?!-)"]
SMALL_ATOMS = ["a", "b", "-", "é", ".", "[ab]", r"\w", r"\W", "[^a]", r"\n", r"\s"]
QUANTIFIERS = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "??"]
TEXTS = [
    *("", "a", "b", "A", "ab", "ba", "aa", "é", "\n", "a\n", "-", "1", "a1", " ", "\u2028", "\ufeff", "É", "bb", "aab"),
    *("\b", "\0", "١", "a b", "Z9", "/", "\x85"),
]
SMALL_TEXTS = ["".join(text) for length in range(4) for text in itertools.product("ab-\né", repeat=length)]
SMALL_TEXTS += ["a-b-a", "ab-ab-", "--a--b", "aébé-a", "aaaaa", "a-a-a-a", "b-ab\na"]
# What is refused although it is regular.
LEFT_OUT = [
    "cannot be repeated",
    "negative look-ahead is not supported",
    "look-behind in a repeated group that looks further than one character",
    "an assertion in look-behind",
    "look-behind is supported for at most",
    "are too many",
    "too many look-behinds",
    "are too much work",
    "regex_nodes",
]
SCRIPT = """
const [patterns, texts] = JSON.parse(require('fs').readFileSync(0));
console.log(JSON.stringify(patterns.map(p => {
    try {
        const part = new RegExp(p, 'u'), whole = new RegExp('^(?:' + p + ')$', 'u');
        return [texts.map(t => part.test(t)), texts.map(t => whole.test(t))];
    } catch (error) { return null; }
})));
"""


def random_pattern(rng: random.Random, depth: int) -> str:
    alternatives = []
    for _ in range(rng.choice([1, 1, 2])):
        items = []
        for _ in range(rng.randrange(4)):
            kind = rng.random()
            if depth and kind < 0.25:
                item = f"({rng.choice(['', '?:'])}{random_pattern(rng, depth - 1)})"
            elif depth and kind < 0.4:
                items.append(f"(?{rng.choice('=!')}{random_pattern(rng, depth - 1)})")
                continue
            else:
                item = rng.choice(ATOMS)
            items.append(item + (rng.choice(QUANTIFIERS) if rng.random() < 0.3 and item not in "^$" else ""))
        alternatives.append("".join(items))
    return "|".join(alternatives)


def random_behind(rng: random.Random) -> str:
    counts = ["", "", "", "", "?", "{2}", "{0,2}"]
    alternatives = ["".join(rng.choice(SMALL_ATOMS) + rng.choice(counts) for _ in range(rng.randrange(1, 4)))]
    return "|".join(alternatives + [rng.choice(SMALL_ATOMS)] * (rng.random() < 0.3))


def random_asserting_pattern(rng: random.Random, depth: int) -> str:
    """Word boundaries, look-behind and short look-ahead at all places."""
    alternatives = []
    for _ in range(rng.choice([1, 1, 2])):
        items = []
        for _ in range(rng.randrange(1, 5)):
            kind = rng.random()
            if kind < 0.25:
                items.append(rng.choice(ASSERTIONS))
            elif kind < 0.37:
                items.append(f"(?<{rng.choice('=!')}{random_behind(rng)})")
            elif depth and kind < 0.45:
                items.append(f"(?{rng.choice('=!')}{random_asserting_pattern(rng, depth - 1)})")
            else:
                group = depth and kind < 0.7
                item = f"(?:{random_asserting_pattern(rng, depth - 1)})" if group else rng.choice(SMALL_ATOMS)
                items.append(item + (rng.choice(QUANTIFIERS) if rng.random() < 0.4 else ""))
        alternatives.append("".join(items))
    return "|".join(alternatives)


def random_looking_rounds(rng: random.Random) -> str:
    """A repeated group with look-ahead, and other assertions beside it."""
    looks = ["ab", "a-", "b[ab]", "-a|ba", "[ab]{1,2}-", "a.*-"]
    body = f"{rng.choice(['', 'a?'])}(?{rng.choice('=!')}{rng.choice(looks)})"
    body += rng.choice(["[ab]", "[ab]-", "a|b", "[ab]+-", "ab?", "."])
    before = rng.choice(["^", r"\b", r"\B", "(?<=a)", "(?<!-)", r"^a?\b", r"a\b-", r"(?:^|\b-)", "", "^-*"])
    after = rng.choice(["$", "-$", "b$", r"-?\b$", "[ab]*-$", "--$", r"\b", r"a\b$", r"-\B$", r"(?:-\b|$)"])
    return f"{before}(?:{body}){rng.choice(['*', '+', '{2}', '{1,3}'])}{after}"


def agree_with_javascript(patterns: list[str], texts: list[str]) -> int:
    """Compares patterns, and tells how many were read."""
    run = subprocess.run(
        [str(NODE), "-e", SCRIPT], input=json.dumps([patterns, texts]), capture_output=True, text=True, timeout=60
    )
    compared = 0
    for pattern, expected in zip(patterns, json.loads(run.stdout), strict=True):
        assert expected is not None, pattern
        for anchored in (False, True):
            try:
                tree = parse_regex(pattern, "ecma", anchored=anchored)
            except (GrammarError, LimitExceededError) as error:
                assert any(reason in str(error) for reason in LEFT_OUT), (pattern, error)
                continue
            store = AutomatonStore()
            start = store.add(tree)
            found = [store.matches(start, text.encode()) for text in texts]
            assert found == expected[anchored], (pattern, anchored)
            compared += 1
    return compared


@pytest.mark.skipif(NODE is None, reason="needs a JavaScript engine")
def test_random_patterns_match_as_in_javascript() -> None:
    rng = random.Random(20)
    assert agree_with_javascript([random_pattern(rng, 2) for _ in range(600)], TEXTS) > 1000


@pytest.mark.skipif(NODE is None, reason="needs a JavaScript engine")
def test_random_assertions_hold_as_in_javascript() -> None:
    rng = random.Random(21)
    assert agree_with_javascript([random_asserting_pattern(rng, 2) for _ in range(400)], SMALL_TEXTS) > 600


@pytest.mark.skipif(NODE is None, reason="needs a JavaScript engine")
def test_random_rounds_with_look_ahead_match_as_in_javascript() -> None:
    rng = random.Random(22)
    assert agree_with_javascript([random_looking_rounds(rng) for _ in range(250)], SMALL_TEXTS) > 200
