"""Random trees of regexes over a few letters, and what they denote by the definitions."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from structgen.engine.regex.tree import (
    ANY_CHAR,
    EMPTY,
    NOTHING,
    ByteSet,
    Chars,
    Choice,
    Complement,
    Early,
    Intersection,
    Literal,
    LiteralSet,
    Regex,
    Repeat,
    Sequence,
    Substrings,
    literal_set,
    star,
)

LETTERS = [b"a", b"b", b"c"]
LONGEST = 5
TEXTS = frozenset(b"".join(t) for n in range(LONGEST + 1) for t in itertools.product(LETTERS, repeat=n))
TEXT = star(ANY_CHAR)


def byte_set(characters: bytes) -> ByteSet:
    return ByteSet(sum(1 << c for c in set(characters)))


def concatenated(left: frozenset[bytes], right: frozenset[bytes]) -> frozenset[bytes]:
    return frozenset(a + b for a in left for b in right if len(a) + len(b) <= LONGEST)


def repeated(body: frozenset[bytes], low: int, high: int | None) -> frozenset[bytes]:
    rounds = frozenset({b""})
    for _ in range(low):
        rounds = concatenated(rounds, body)
    total = rounds
    for _ in range(LONGEST + 1 if high is None else high - low):
        rounds = concatenated(rounds, body)
        total |= rounds
    return total


def meaning(regex: Regex) -> frozenset[bytes]:
    """The texts over a, b, c, at most LONGEST bytes long, that a tree denotes, by the definitions."""
    match regex:
        case Literal(data):
            return frozenset({data}) & TEXTS
        case Chars(ranges):
            return frozenset(chr(c).encode() for low, high in ranges for c in range(low, high + 1)) & TEXTS
        case ByteSet(mask):
            return frozenset(letter for letter in LETTERS if mask >> letter[0] & 1)
        case Sequence(parts):
            found = frozenset({b""})
            for part in parts:
                found = concatenated(found, meaning(part))
            return found
        case Choice(parts):
            return frozenset().union(*map(meaning, parts))
        case Repeat(body, low, high):
            return repeated(meaning(body), low, high)
        case Intersection(parts):
            return frozenset.intersection(*map(meaning, parts))
        case Complement(body):
            return TEXTS - meaning(body)
        case Early(body):
            found = meaning(body)
            return frozenset(t for t in found if not any(t[:n] in found for n in range(len(t))))
        case LiteralSet(texts):
            return frozenset(texts) & TEXTS
        case Substrings(units):
            places = range(len(units) + 1)
            return frozenset(b"".join(units[i:j]) for i in places for j in places) & TEXTS


short_texts = st.lists(st.sampled_from(LETTERS), max_size=3).map(b"".join)
leaves = st.one_of(
    short_texts.map(Literal),
    st.sampled_from([Chars(((97, 98),)), Chars(((98, 99),)), Chars(((97, 97), (0xE9, 0x20AC))), EMPTY, NOTHING]),
    st.sets(st.sampled_from(b"abc")).map(byte_set),
    st.sets(short_texts, min_size=2, max_size=6).map(literal_set),
    st.lists(st.sampled_from(LETTERS), max_size=5).map(lambda units: Substrings(tuple(units))),
)


def larger(inner: st.SearchStrategy[Regex]) -> st.SearchStrategy[Regex]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    counts = st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(0, 4)))
    return st.one_of(
        several.map(Sequence),
        several.map(Choice),
        several.map(Intersection),
        st.builds(lambda body, count: Repeat(body, count[0], None if count[1] is None else sum(count)), inner, counts),
        inner.map(Complement),
        inner.map(Early),
    )


trees = st.recursive(leaves, larger, max_leaves=8)
