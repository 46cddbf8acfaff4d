"""Lazy nonterminals and captures: lists of different items, with rules that are named by the items seen before."""

from __future__ import annotations

import random
from array import array
from collections.abc import Hashable, Sequence

import pytest
from support.texts import is_read
from support.vocabularies import accepted_tokens

from structgen.engine.grammar.tables import Capture, GrammarTables, Lazy, Refusals, Spelling, Symbol
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex.tree import Literal, Regex, difference, literal_set
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import LimitExceededError, TokenRejectedError
from structgen.limits import Limits

COMMA, CLOSE = Literal(b","), Literal(b"]")
TEXTS = [
    "a",
    "b",
    "ab",
    ",",
    "]",
    "a,",
    "a,b",
    ",a",
    ",b,",
    "a]",
    "b]",
    "ab,a",
    "b,ab]",
    "a,a",
    ",a,b,",
    "[",
    "[a",
    "[a,",
]
TEXTS += ["x", "(", ")", "(a", "),(", "),(a)", "(a),(b)", "),(a", "a)]"]
WORDS = Vocabulary.from_bytes(
    {token: text.encode() for token, text in enumerate(TEXTS)} | {100: b"</s>"}, eos_token_ids=[100]
)


class Different:
    """Source of lists `[x,y,…]` of different items: words of a regex, or such words in parentheses.

    A key is a kind and the texts seen: "items" at an item, "rest" after one; "pair" is `(word)`.
    """

    def __init__(self, pattern: str, *, endless: bool, nested: bool = False) -> None:
        self.word = parse_regex(pattern, "python", limits=Limits())
        self.endless = endless
        self.nested = nested

    def tables(self) -> GrammarTables:
        """`start ::= '[' items()`."""
        return GrammarTables(
            symbols=array("i", [-2, 1, -1]),
            first_rule=array("i", [0, 1]),
            rule_starts=array("i", [0]),
            terminals=(Literal(b"["),),
            names=("start",),
            start=0,
            accepts_empty=False,
            lazy=(("items", frozenset()),),
            source=self,
        )

    def _without(self, seen: frozenset[bytes]) -> Regex:
        return difference(self.word, literal_set(seen)) if seen else self.word

    def bodies(self, key: Hashable) -> Sequence[Sequence[Symbol]]:
        assert isinstance(key, tuple)
        kind, seen = key
        if kind == "pair":
            words = frozenset(text[1:-1] for text in seen)
            return [(Literal(b"("), self._without(words), Literal(b")"))]
        if kind == "items":
            of = Lazy(("pair", seen)) if self.nested else self._without(seen)
            return [(Capture(of, seen, self.endless),)]
        return [(CLOSE,), (COMMA, Lazy(("items", seen)))]

    def forget(self) -> None:
        """Drop nothing: nothing is computed for written texts."""

    def after(self, then: Hashable, text: bytes | None) -> Hashable:
        assert isinstance(then, frozenset)
        return ("rest", then if text is None else then | {text})


def compiled(
    pattern: str, vocabulary: Vocabulary = WORDS, limits: Limits | None = None, **kind: bool
) -> CompiledGrammar:
    source = Different(pattern, **{"endless": False, **kind})
    return CompiledGrammar(source.tables(), vocabulary, limits=limits or Limits())


@pytest.mark.parametrize("endless", [False, True])
def test_items_are_different(endless: bool) -> None:
    grammar = compiled("[ab]+", endless=endless)
    assert is_read(grammar, b"[a,b,ab,aa]")
    assert not is_read(grammar, b"[a,b,a]")
    assert is_read(grammar, b"[a,b,aa]")
    assert not is_read(grammar, b"[ab,b,ab]")


def test_what_is_captured_may_be_made_of_many_terminals() -> None:
    grammar = compiled("[ab]+", nested=True)
    assert is_read(grammar, b"[(a),(b),(ab)]")
    assert not is_read(grammar, b"[(a),(b),(a)]")


def test_a_source_that_calls_itself_too_deeply_passes_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = Matcher(compiled("[ab]+"))

    def too_deep(self: Different, then: Hashable, text: bytes | None) -> Hashable:
        raise RecursionError

    with monkeypatch.context() as patch:
        patch.setattr(Different, "after", too_deep)
        for call in (matcher.accept_bytes, matcher.allows_bytes):
            with pytest.raises(LimitExceededError, match="nests too deep"):
                call(b"[a,b]")
    matcher.accept_bytes(b"[a,b]")
    assert matcher.allowed_token_ids() == [100]


def test_after_the_last_item_of_a_finite_kind_nothing_leads_on() -> None:
    matcher = Matcher(compiled("a|b"))
    matcher.accept_bytes(b"[a,")
    assert matcher.forced_bytes() == b"b"
    matcher.accept_bytes(b"b")
    matcher.accept_bytes(b"]")
    assert matcher.is_accepting


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        ("[ab]+", {"endless": True}),
        ("[ab]+", {"endless": False}),
        ("a|b|ab|aba", {}),
        ("a|b+", {"endless": True}),
        ("[ab]+", {"endless": True, "nested": True}),
        ("a|b|ab", {"nested": True}),
    ],
)
def test_masks_are_what_accept_takes(seed: int, pattern: str, kind: dict[str, bool]) -> None:
    rng = random.Random(seed)
    grammar = compiled(pattern, **kind)
    matcher = Matcher(grammar)
    for _ in range(12):
        allowed = matcher.allowed_token_ids()
        assert [t for t in allowed if t != 100] == accepted_tokens(matcher, len(TEXTS)), matcher
        choices = [t for t in allowed if t != 100]
        if not choices:
            break
        matcher.accept_token(rng.choice(choices))


def test_places_survive_that_sets_are_dropped() -> None:
    grammar = compiled("[ab]+", limits=Limits(item_sets=60), nested=True)
    matcher, twin = Matcher(grammar), Matcher(grammar)
    matcher.accept_bytes(b"[(a),(b)")
    twin.accept_bytes(b"[(ab")
    for word in range(40):
        matcher.accept_bytes(f",({word:06b})".replace("0", "a").replace("1", "b").encode())
    with pytest.raises(TokenRejectedError):
        matcher.accept_bytes(b",(aaaaab)")
    with pytest.raises(TokenRejectedError):
        matcher.accept_bytes(b",(a)")
    twin.accept_bytes(b"),(b)]")
    assert twin.is_accepting


def test_a_text_in_the_middle_survives_that_sets_are_dropped() -> None:
    grammar = compiled("[äö]+", limits=Limits(item_sets=60), nested=True)
    matcher = Matcher(grammar)
    text = f"[({'äöö' * 30}),({'äöö' * 30}".encode()
    for at in range(len(text)):
        matcher.accept_bytes(text[at : at + 1])
    assert grammar.epoch > 0
    with pytest.raises(TokenRejectedError):
        matcher.accept_bytes(b")")
    matcher.accept_bytes("ä)]".encode())
    assert matcher.is_accepting


def test_places_survive_that_rules_are_dropped() -> None:
    grammar = compiled("[ab]+", limits=Limits(grammar_symbols=100))
    kept = Matcher(grammar)
    kept.accept_bytes(b"[ab,")
    for number in range(30):
        word = f"{number:06b}".replace("0", "a").replace("1", "b").encode()
        assert is_read(grammar, b"[" + word + b",a]")
    with pytest.raises(TokenRejectedError):
        kept.accept_bytes(b"ab,")
    kept.accept_bytes(b"abb]")
    assert kept.is_accepting


class Without:
    """Source of words of `[ab]+`, each before a comma. Some words are refused where they end.

    Attributes:
        asked: the beginnings for which it was asked what completes a refused word, by place.
    """

    def __init__(self, *words: bytes) -> None:
        self.words = words
        self.asked: list[tuple[Hashable, bytes]] = []
        self._always: dict[bytes, Sequence[Spelling]] = {}

    def tables(self) -> GrammarTables:
        """`start ::= word(0)`."""
        return GrammarTables(
            symbols=array("i", [1, -1]),
            first_rule=array("i", [0, 1]),
            rule_starts=array("i", [0]),
            terminals=(),
            names=("start",),
            start=0,
            accepts_empty=False,
            lazy=(("word", 0),),
            source=self,
        )

    def bodies(self, key: Hashable) -> Sequence[Sequence[Symbol]]:
        assert isinstance(key, tuple)
        kind, number = key
        if kind == "word":
            return [(Capture(parse_regex("[ab]+", "python", limits=Limits()), number, endless=True, refuses=True),)]
        return [(COMMA, Lazy(("word", number))), (CLOSE,)]

    def after(self, then: Hashable, text: bytes | None) -> Hashable | None:
        assert isinstance(then, int)
        return None if text in self.words else ("rest", then + 1)

    def refusals(self, then: Hashable, begun: bytes) -> Refusals:
        self.asked.append((then, begun))
        rests = [((word[len(begun) :],),) for word in self.words if word.startswith(begun) and word != begun]
        return ((self._always.setdefault(begun, rests),) if rests else ()), ()

    def forget(self) -> None:
        """Drop nothing: nothing is computed for written texts."""

    def least_bytes(self, key: Hashable) -> int:
        return 1

    def remaining(self, then: Hashable, least: int) -> Regex:
        raise TypeError("every beginning goes on to infinitely many words")


@pytest.mark.parametrize("seed", range(20))
def test_refused_words_are_asked_for_once_and_not_behind_a_beginning_of_none(seed: int) -> None:
    rng = random.Random(seed)
    source = Without(b"a", b"ab", b"bab")
    matcher = Matcher(CompiledGrammar(source.tables(), WORDS, limits=Limits()))
    for _ in range(20):
        allowed = [token for token in matcher.allowed_token_ids() if token != 100]
        assert allowed == accepted_tokens(matcher, len(TEXTS)), matcher
        if not allowed:
            break
        matcher.accept_token(rng.choice(allowed))
    assert len(set(source.asked)) == len(source.asked)
    for place, begun in source.asked:
        parts = [begun[:size] for size in range(len(begun)) if (place, begun[:size]) in source.asked]
        assert all(any(word.startswith(part) for word in source.words) for part in parts)


@pytest.mark.slow
def test_long_captures_keep_their_text() -> None:
    matcher = Matcher(compiled("[ab]+", limits=Limits(item_sets=1_000_000), nested=True, endless=True))
    rng = random.Random(0)
    words = ["".join(rng.choices("ab", k=20_000)) for _ in range(5)]
    matcher.accept_bytes(b"[" + ",".join(f"({word})" for word in words).encode())
    for word in words:
        with pytest.raises(TokenRejectedError):
            matcher.accept_bytes(f",({word})".encode())
    matcher.accept_bytes(f",({words[0]}a)]".encode())
    assert matcher.is_accepting
