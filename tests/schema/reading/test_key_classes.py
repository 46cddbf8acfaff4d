"""Classes of keys that patterns make: each key in one class, with the values of all patterns that match it."""

from __future__ import annotations

import random

import pytest
from support.membership import is_member, space_of

from structgen.engine.deadlines import Deadline
from structgen.limits import Limits
from structgen.schema.algebra import ALL_STRINGS, ANY, NONE, OPEN, Language, StringSet, meet
from structgen.schema.algebra.prefixes import prefix
from structgen.schema.reading import key_classes
from structgen.schema.reading.key_classes import disjoint_classes, merged
from structgen.schema.reading.keywords import language_of

PATTERNS = ("^a", "^ab", "^ab+c", "^(?:ab|ac)$", "b$", "^b", "^ba", "", "^[ab]c", "^(?:a|b)c", "c", "^abc$", "^é", "^$")
KEYS = ("", "a", "ab", "abc", "abbc", "ac", "b", "ba", "bab", "bc", "c", "é", "éb", "x", "ê")


def language(pattern: str) -> Language:
    return language_of(pattern, "ecma", None, "patternProperties", Limits())


@pytest.mark.parametrize("seed", range(40))
def test_each_key_has_the_values_of_all_its_patterns(seed):
    chance = random.Random(seed)
    patterns = [(language(pattern), (number + 2,)) for number, pattern in enumerate(chance.sample(PATTERNS, 5))]
    rest = chance.choice((OPEN, ((ALL_STRINGS[0], (9,)),), ()))
    classes = disjoint_classes(patterns, rest, Deadline(60))
    if classes is None:  # too many
        return
    for key in KEYS:
        expected = ANY
        for matched, node in patterns:
            expected = meet(expected, node) if matched.matches(key) else expected
        if expected == ANY:
            expected = rest[0][1] if rest else NONE
        found = [node for keys, node in classes if keys.contains(key)]
        assert found == ([expected] if expected != NONE else [])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_prefix_is_one_of_every_text(pattern):
    matched = language(pattern)
    begin = prefix(matched.regex).decode()
    assert all(key.startswith(begin) for key in KEYS if matched.matches(key))


def test_patterns_are_compared_with_those_that_begin_alike_only(monkeypatch):
    asked = []
    split = key_classes._split
    monkeypatch.setattr(key_classes, "_split", lambda keys, other: asked.append(other) or split(keys, other))
    patterns = [(language(f"^x{number}_"), (2,)) for number in range(100, 500)] + [(language("^x100_y"), (3,))]
    classes = disjoint_classes(patterns, (), Deadline(60))
    assert len(asked) == 1
    assert len(classes) == 401
    assert StringSet(within=(patterns[0][0],), outside=(patterns[-1][0],)) in [keys for keys, _ in classes]


@pytest.mark.parametrize("seed", range(10))
def test_patterns_with_the_same_values_are_merged(seed):
    chance = random.Random(seed)
    patterns = [(language(pattern), (chance.randint(2, 3),)) for pattern in chance.sample(PATTERNS, 8)]
    found = merged(patterns)
    assert len(found) == len({node for _, node in patterns})
    for key in KEYS:
        expected = {node for matched, node in patterns if matched.matches(key)}
        assert {node for matched, node in found if matched.matches(key)} == expected


def test_many_words_as_patterns_are_one_class():
    schema = {"patternProperties": {f"word{number}x": {"type": "integer"} for number in range(40)}}
    space, root = space_of(schema)
    (part,) = space.shape(root).objects
    assert len(part.classes) == 2
    assert not part.overlapping
    assert is_member(space, root, {"a word7x": 1, "word7": "a"})
    assert not is_member(space, root, {"a word7x": "a"})


def test_merged_patterns_are_not_taken_for_a_pattern_of_their_names():
    ((both, _),) = merged([(language("a"), (2,)), (language("b"), (2,))])
    assert both != language("a or ecma b")
    assert both != language("['ecma a', 'ecma b']")
