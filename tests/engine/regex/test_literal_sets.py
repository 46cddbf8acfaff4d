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
