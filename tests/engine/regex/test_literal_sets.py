"""Sets of literals: sorted texts, each once."""

import random

from structgen.engine.regex.tree import MAX_AT_ONCE, LiteralSet, literal_set


def test_many_texts_are_sorted():
    rng = random.Random(4)
    texts = {b"value " + bytes(rng.choices(b"ab", k=rng.randrange(30))) for _ in range(3 * MAX_AT_ONCE)}
    texts |= {b"value", b"value "}
    assert len(texts) > MAX_AT_ONCE
    found = literal_set(texts)
    assert isinstance(found, LiteralSet)
    assert list(found.__match_args__) and list(getattr(found, found.__match_args__[0])) == sorted(texts)


def test_many_equal_texts_are_one():
    rng = random.Random(5)
    texts = [b"value"] * (2 * MAX_AT_ONCE) + [b"value " + bytes(rng.choices(b"ab", k=3)) for _ in range(MAX_AT_ONCE)]
    rng.shuffle(texts)
    found = literal_set(iter(texts))
    assert isinstance(found, LiteralSet)
    assert list(getattr(found, found.__match_args__[0])) == sorted(set(texts))
    assert literal_set([b"same"] * (2 * MAX_AT_ONCE)) == literal_set([b"same"])
