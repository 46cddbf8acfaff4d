"""The ECMA dialect against a JavaScript engine, where there is one."""

from __future__ import annotations

import json
import random
import shutil
import subprocess

import pytest

from structgen.engine.automata import AutomatonStore
from structgen.engine.regex_parser import parse_regex
from structgen.errors import GrammarError

NODE = shutil.which("node")
ATOMS = [
    *("a", "b", "A", "é", ".", "[ab]", "[^a]", "[a-c]", r"\w", r"\d", r"\s", r"\W", r"\S", r"\D", "^", "$", r"\u0061"),
    *(r"\u{1F600}", r"\ud83d\ude00", r"\x41", r"\cJ", r"\0", "[^]", "[]", r"\p{Lu}", r"\P{L}", r"\/", "[é-ü]"),
    *(r"\t", r"[\b]", r"[^\d\s]", "-", r"[\d\-]"),
]
QUANTIFIERS = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "??"]
TEXTS = [
    *("", "a", "b", "A", "ab", "ba", "aa", "é", "\n", "a\n", "-", "1", "a1", " ", "\u2028", "\ufeff", "É", "bb", "aab"),
    *("\b", "\0", "١", "a b", "Z9", "/", "\x85"),
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


@pytest.mark.skipif(NODE is None, reason="needs a JavaScript engine")
def test_random_patterns_match_as_in_javascript() -> None:
    rng = random.Random(20)
    patterns = [random_pattern(rng, 2) for _ in range(600)]
    run = subprocess.run(
        [str(NODE), "-e", SCRIPT], input=json.dumps([patterns, TEXTS]), capture_output=True, text=True, timeout=60
    )
    compared = 0
    for pattern, expected in zip(patterns, json.loads(run.stdout), strict=True):
        assert expected is not None, pattern
        for anchored in (False, True):
            try:
                tree = parse_regex(pattern, "ecma", anchored=anchored)
            except GrammarError as error:
                assert "cannot be repeated" in str(error) or "negative look-ahead is not supported" in str(error)
                continue
            store = AutomatonStore()
            start = store.add(tree)
            found = [store.matches(start, text.encode()) for text in TEXTS]
            assert found == expected[anchored], (pattern, anchored)
            compared += 1
    assert compared > 1000
