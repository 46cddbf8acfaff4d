"""Compare the states said to stay open with their automata, and the masks made with them with matchers."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest
from support.vocabularies import accepted_tokens, check_along

import structgen
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.masks.character_kinds import CharacterKinds, kind_of, kinds_in
from structgen.engine.masks.skippable_states import SkippableStates
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.schema.json_text.strings import quoted

CHARACTER = parse_regex(r'[^"\\]|\\["\\n]')
ANY = rx.star(CHARACTER)
ANY_STRING = quoted(ANY)
CHARACTERS = "ahi-1 é日"
LOCAL = rx.intersection(parse_regex(r'[^@"\\]*'), rx.repeat(CHARACTER, 0, 64))
ADDRESS = quoted(rx.intersection(rx.sequence(LOCAL, rx.Literal(b"@"), ANY), rx.repeat(CHARACTER, 0, 90)))
PATTERNS = ("hi", "ah|hi", "[a-i]{3}", "[0-9a-f]{2,}", "(a|h)(-|1)", "[^a]h", "é", "h.i", "(hi-){2}", "(hi|-){1,3}1")


def condition(rng: random.Random) -> rx.Regex:
    """Return a string in which a pattern is searched, or which a pattern matches as a whole."""
    pattern = parse_regex(rng.choice(PATTERNS))
    shapes = (
        rx.sequence(ANY, pattern, ANY),
        rx.sequence(ANY, pattern, ANY),
        rx.sequence(pattern, ANY),
        pattern,
        rx.repeat(pattern, 0, rng.choice((None, 40))),
        rx.literal_set([b"hi", b"ah-", "éa".encode()]),
        rx.repeat(CHARACTER, rng.randint(1, 3), None),
    )
    return quoted(rng.choice(shapes))


def conditions(rng: random.Random) -> rx.Regex:
    parts = [condition(rng) for _ in range(rng.randrange(2))]
    refused = [rx.Complement(condition(rng)) for _ in range(rng.randrange(3))]
    return rx.intersection(ANY_STRING, *parts, *refused)


def skippable_states(store: AutomatonStore) -> SkippableStates:
    return SkippableStates(store, CharacterKinds(store))


def after(store: AutomatonStore, state: int, text: bytes) -> int:
    for byte in text:
        state = store.step(state, byte)
    return state


def check(store: AutomatonStore, found: SkippableStates, state: int, rng: random.Random) -> int:
    """Follow texts that are said to stay inside a state; return how many of them lead to another state."""
    number = found.find(state)
    moved = 0
    for _ in range(12):
        text = "".join(rng.choices(CHARACTERS, k=rng.randint(1, 9))).encode()
        if not found.stays_inside(number, kinds_in(text), len(text)):
            continue
        target = state
        for byte in text[: len(text) - rng.randrange(2)]:  # a token may end within a character
            target = store.step(target, byte)
            assert target, (text, state)
            assert not store.is_accepting(target)
        moved += target != state
    return moved


def bounded(rng: random.Random) -> rx.Regex:
    """Return a string with a bound on its characters, and perhaps more conditions."""
    least = rng.randrange(6)
    counted = quoted(rx.repeat(CHARACTER, least, least + rng.choice((0, 1, 3, 9))))
    return rx.intersection(counted, *[condition(rng) for _ in range(rng.randrange(3))])


def nested_bounds(rng: random.Random) -> rx.Regex:
    """Return a string with bounds inside of one another, as a mail address has them."""
    words = ("[a-i]+(-[a-i]+)*", "[ahi]*", "[a-i0-9é]{0,30}", "(h|a){0,4}i", "[ahi -]*(hi){1,3}", r"[^@\"\\]*")
    names = ("[a-i]([a-i0-9-]{0,20}[a-i])?", "h*", "日{1,3}", "(a|hi){0,4}")
    local = rx.intersection(parse_regex(rng.choice(words)), rx.repeat(CHARACTER, 1, rng.choice((5, 12, 30))))
    address = rx.sequence(local, rx.Literal(rng.choice((b"@", b"1", b"a"))), parse_regex(rng.choice(names)))
    return quoted(rx.intersection(address, rx.repeat(CHARACTER, 1, rng.choice((9, 20, 40)))))


def searches_in_bounds(rng: random.Random) -> rx.Regex:
    """Return a string within bounds in which several patterns are searched, as passwords have them."""
    patterns = [parse_regex(rng.choice(PATTERNS)) for _ in range(rng.randint(1, 3))]
    searches = [rx.sequence(ANY, pattern, *(ANY,) * rng.randrange(2)) for pattern in patterns]
    counted = rx.repeat(CHARACTER, rng.randrange(9), rng.choice((9, 20, 40)))
    return rx.sequence(rx.Literal(b'"'), rx.intersection(counted, *searches), rx.Literal(b'"'))


def bounds_before_any_end(rng: random.Random) -> rx.Regex:
    """Return a bounded repetition before something that may begin as what is repeated does."""
    least = rng.randrange(4)
    counted = rx.repeat(CHARACTER, least, least + rng.choice((1, 3, 9)))
    ends = ("a", "hi", "1a?", "[a-h]i", "é", "日-", "(hi|-)[ah]*", '"', "h{2,3}", "(ah){0,2}i")
    return rx.sequence(rx.Literal(b'"'), counted, *[parse_regex(rng.choice(ends)) for _ in range(rng.randint(1, 2))])


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize(
    ("make", "least_opened", "least_moved"),
    [
        (conditions, 500, 1000),
        (bounded, 500, 500),
        (nested_bounds, 200, 500),
        (searches_in_bounds, 500, 500),
        (bounds_before_any_end, 500, 500),
    ],
)
def test_nothing_ends_and_something_follows_in_a_state_that_stays_open(
    make: Callable[[random.Random], rx.Regex], least_opened: int, least_moved: int
) -> None:
    moved = opened = 0
    for seed in range(400):
        rng = random.Random(seed)
        store = AutomatonStore()
        found = skippable_states(store)
        start = store.add(make(rng))
        for _ in range(6):
            state = after(store, start, ('"' + "".join(rng.choices(CHARACTERS, k=rng.randrange(5)))).encode())
            if state:
                moved += check(store, found, state, rng)
                opened += found.moves[found.find(state)]
    assert opened > least_opened  # of 2,400
    assert moved > least_moved


@pytest.mark.parametrize(
    ("counted", "pattern", "most"),
    [
        ((0, 12), None, 12),
        ((3, 12), None, 12),
        ((12, 12), "[0-9a-f]", 11),
        ((0, 12), "[0-9a-f]", 11),
        ((9, 12), "hip|hat", 9),
        ((2, 12), "(hi|a){3}", 9),
        ((3, 3), "[a-i]{3}", 0),
    ],
)
def test_how_long_texts_may_be_where_characters_are_counted(
    counted: tuple[int, int], pattern: str | None, most: int
) -> None:
    store = AutomatonStore()
    found = skippable_states(store)
    searches = [quoted(rx.sequence(ANY, parse_regex(pattern), ANY))] if pattern else []
    state = after(store, store.add(rx.intersection(quoted(rx.repeat(CHARACTER, *counted)), *searches)), b'"')
    number = found.find(state)
    assert [found.stays_inside(number, kind_of(ord("-")), length) for length in range(1, 15)] == [
        length <= most for length in range(1, 15)
    ]


CONTAINS = "contains"
REFUSES = "refuses"


def state_of(store: AutomatonStore, *parts: tuple[str, str]) -> int:
    """Return the state within the quotes of a string that contains some patterns and does not contain others."""
    regexes = [quoted(rx.sequence(ANY, parse_regex(pattern), ANY)) for _, pattern in parts]
    ready = [rx.Complement(regex) if kind == REFUSES else regex for (kind, _), regex in zip(parts, regexes)]
    return after(store, store.add(rx.intersection(ANY_STRING, *ready)), b'"')


@pytest.mark.parametrize(
    ("parts", "inside", "not_said"),
    [
        ([(CONTAINS, "hipchat")], ["hip", "anything é"], ['a"', "\\n"]),
        ([(CONTAINS, "[0-9a-f]{32,}")], ["0123", "xyz"], ['"']),
        ([(CONTAINS, "trace|debug|info")], ["trac", "x"], ['"']),
        ([(CONTAINS, "(?:[0-9a-f]{2}[:-]){4}[0-9a-f]{2}")], ["00:11:22:33:44:55"], ['"']),
        ([(REFUSES, "hipchat")], ["hipcha", "tahcpi", "xyz"], ["hipchat", "tahcpih", "tahcpi é"]),
        ([(REFUSES, "[0-9a-f]{32,}")], ["0123456789abcdef"], ["0" * 32]),
        ([(CONTAINS, "hipchat"), (REFUSES, "github")], ["hipcha", "git"], ["github"]),
        ([(CONTAINS, "hipchat"), (CONTAINS, "github")], ["hipchatgithub"], ['"']),
        ([(REFUSES, "hipchat"), (REFUSES, "github")], ["hipc", "gub", "githu"], ["hipchat", "github"]),
    ],
)
def test_searches_and_their_complements_stay_open(
    parts: list[tuple[str, str]], inside: list[str], not_said: list[str]
) -> None:
    store = AutomatonStore()
    found = skippable_states(store)
    number = found.find(state_of(store, *parts))
    assert found.moves[number]
    for text in inside:
        assert found.stays_inside(number, kinds_in(text.encode()), len(text.encode())), text
    for text in not_said:
        assert not found.stays_inside(number, kinds_in(text.encode()), len(text.encode())), text


def test_a_string_without_texts_of_certain_letters_stays_open_whatever_comes() -> None:
    store = AutomatonStore()
    found = skippable_states(store)
    named = quoted(parse_regex("[a-z]{0,250}"))
    state = after(store, store.add(rx.intersection(ANY_STRING, rx.Complement(named))), b'"ab')
    assert found.stays_inside(found.find(state), kinds_in("name of é".encode()), 10_000)


def test_a_string_that_must_end_so_stays_open() -> None:
    store = AutomatonStore()
    found = skippable_states(store)
    number = found.find(after(store, store.add(quoted(rx.sequence(ANY, CHARACTER, parse_regex("txt")))), b'"a'))
    assert found.moves[number]
    assert found.stays_inside(number, kinds_in("file.txt é".encode()), 10_000)
    assert not found.stays_inside(number, kinds_in(b'"'), 1)


def test_a_search_for_many_words_stays_open_and_so_does_each_part_of_a_match() -> None:
    words = ["".join(letters) for letters in itertools.product("abcdefgh", repeat=3)]
    store = AutomatonStore()
    found = skippable_states(store)
    state = store.add(quoted(rx.sequence(ANY, parse_regex("|".join(f"{word}[0-9]+" for word in words)), ANY)))
    for text in (b'"', b"x", b"ab", b"cdx"):
        state = after(store, state, text)
        number = found.find(state)
        assert found.moves[number]
        assert found.stays_inside(number, kinds_in(b"habit"), 5)


@pytest.mark.parametrize(
    "regex",
    [
        parse_regex("[hi]{0,5}hh"),
        rx.intersection(quoted(rx.repeat(CHARACTER, 0, 9)), quoted(parse_regex("[al]*h[al]*"))),
        parse_regex('[ah]{3}[a-z]*"'),  # ends in no quote that characters do not begin with
        quoted(parse_regex("a{0,9}")),
        rx.intersection(ANY_STRING, rx.Complement(quoted(rx.sequence(ANY, parse_regex("[a-i]"), ANY)))),
        quoted(rx.repeat(CHARACTER, 0, 3)),  # not for ever
        rx.intersection(quoted(parse_regex("[hi]*")), quoted(parse_regex("[hl]*"))),  # what both are made of
        rx.intersection(quoted(parse_regex("[hi]*h[hi]*")), quoted(parse_regex("[hl]*h[hl]*"))),
    ],
)
def test_of_others_it_is_not_said(regex: rx.Regex) -> None:
    store = AutomatonStore()
    found = skippable_states(store)
    start = store.add(regex)
    for text in ("", "a", '"', '"a', '"ah'):
        state = after(store, start, text.encode())
        assert not state or not found.stays_inside(found.find(state), kind_of(ord("h")) | kind_of(ord("i")), 4), text


def test_what_may_be_left_out_is_not_needed() -> None:
    store = AutomatonStore()
    found = skippable_states(store)
    named = quoted(rx.sequence(parse_regex("l{0,2}h{2}"), ANY))
    number = found.find(after(store, store.add(rx.intersection(ANY_STRING, rx.Complement(named))), b'"'))
    assert found.stays_inside(number, kind_of(ord("l")), 9)
    assert not found.stays_inside(number, kind_of(ord("h")), 9)


LETTERS = ("h", "i", "a", "-", '"', "\\")
TEXTS = ["".join(letters) for size in (1, 2, 3) for letters in itertools.product(LETTERS, repeat=size)]
# Behind `hhh` are more nodes than a walk sees before it asks whether it may skip them.
TEXTS += ["".join(letters) for size in (4, 5, 6, 7, 8) for letters in itertools.product("hi", repeat=size)]
TOKENS = [text.encode() for text in TEXTS] + [b"hh\xc3", b"hi\xc3\xa9", b"\xa9h", b'\xa9"', b"ih\xe6\x97"]
WORDS = Vocabulary.from_bytes(dict(enumerate(TOKENS)), eos_token_ids=[len(TOKENS)])


@pytest.mark.parametrize("seed", range(25))
def test_masks_of_open_states_are_what_matchers_accept(seed: int) -> None:
    rng = random.Random(seed)
    body = ast.Choice(tuple(ast.RegexTerminal(conditions(rng)) for _ in range(rng.randint(1, 2))))
    check_masks(ast.Sequence((body, ast.Literal(b"-"), body)), rng)


@pytest.mark.parametrize("pattern", ["[hi]{6}", "[hi]{8}", "[hi]{10}", "[hi]{5}-", "h[hi]{4}h", "(h|i){3,9}a", "h{7}"])
@pytest.mark.parametrize("refuses", [False, True])
def test_masks_where_tokens_are_as_long_as_what_is_looked_for(pattern: str, refuses: bool) -> None:
    search = quoted(rx.sequence(ANY, parse_regex(pattern), ANY))
    regex = rx.intersection(ANY_STRING, rx.Complement(search) if refuses else search)
    for seed in range(3):
        check_masks(ast.RegexTerminal(regex), random.Random(seed))


@pytest.mark.parametrize(
    ("regex", "most"),
    [
        (rx.intersection(quoted(rx.repeat(CHARACTER, 8, 8)), quoted(rx.sequence(ANY, parse_regex("[ah]"), ANY))), 1.0),
        (rx.intersection(ANY_STRING, rx.Complement(quoted(parse_regex("[a-i]{9,12}")))), 1.0),
        (rx.intersection(ADDRESS, quoted(rx.repeat(CHARACTER, 0, 80))), 0.25),
        (parse_regex('"[^,]*'), 0.25),
        (parse_regex('"[^,]{0,90}ah'), 0.5),
        (parse_regex('"[^,]{0,90}[-a]'), 0.5),
    ],
)
def test_walks_pass_by_what_stays_open_or_may_end_anywhere(regex: rx.Regex, most: float) -> None:
    tables = normalize(ast.Grammar((ast.Rule("start", ast.RegexTerminal(regex)),)))
    compiled = CompiledGrammar(tables, WORDS)
    matcher = Matcher(compiled)
    matcher.accept_token(TOKENS.index(b'"'))
    terminals = compiled.shared.terminals
    before = terminals.nodes_visited
    assert len(matcher.allowed_token_ids()) > len(TOKENS) / 2
    assert terminals.nodes_visited - before < most * WORDS.trie.node_count


@pytest.mark.parametrize("seed", range(25))
def test_masks_of_bounds_before_any_end(seed: int) -> None:
    rng = random.Random(seed)
    regex = bounds_before_any_end(rng)
    check_masks(ast.Sequence((ast.RegexTerminal(regex), ast.Literal(rng.choice((b"hh", b"a", b"-"))))), rng)


@pytest.mark.parametrize("seed", range(20))
def test_masks_of_bounds_beside_searches(seed: int) -> None:
    """Test bounded texts, also with something that follows where they may end."""
    rng = random.Random(seed)
    character = rng.choice((rx.ANY_CHAR, CHARACTER, parse_regex("[hia]")))
    least = rng.randrange(4)
    free = rx.star(character)
    found = rx.sequence(free, parse_regex(rng.choice(("a", "h", "hi", "[hi]{2}"))), free)
    end = rng.choice((rx.EMPTY, rx.Literal(b'"')))
    counted = rx.repeat(character, least, least + rng.choice((0, 1, 2, 5)))
    regex = rx.intersection(rx.sequence(counted, end), rx.sequence(found, end))
    check_masks(ast.Sequence((ast.RegexTerminal(regex), ast.Literal(rng.choice((b"hh", b'"', b"-"))))), rng)


@pytest.mark.parametrize("seed", range(20))
def test_masks_of_bounds_inside_of_bounds(seed: int) -> None:
    rng = random.Random(seed)
    check_masks(ast.Sequence((ast.RegexTerminal(nested_bounds(rng)), ast.Literal(rng.choice((b"hh", b'"'))))), rng)


def test_what_is_left_of_bounds_inside_of_bounds_decides_how_long_texts_may_be() -> None:
    store = AutomatonStore()
    found = skippable_states(store)
    local = rx.intersection(parse_regex("[a-i]+(-[a-i]+)*"), rx.repeat(CHARACTER, 1, 12))
    address = rx.sequence(local, rx.Literal(b"@hi"))
    start = store.add(quoted(rx.intersection(address, rx.repeat(CHARACTER, 1, 20))))
    number = found.find(after(store, start, b'"a'))
    # Of 12 characters one is written. The `@hi"` that must come is no part of them, and fits into the other bound.
    assert [length for length in range(15) if found.stays_inside(number, kind_of(ord("b")), length)] == [*range(12)]
    assert not found.stays_inside(number, kind_of(ord("-")), 1)


def test_a_bounded_text_may_end_before_what_follows() -> None:
    found = rx.sequence(rx.star(rx.ANY_CHAR), rx.Literal(b"h"), rx.star(rx.ANY_CHAR))
    regex = rx.intersection(rx.repeat(rx.ANY_CHAR, 2, 3), found)
    check_masks(ast.Sequence((ast.RegexTerminal(regex), ast.Literal(b"ii"))), random.Random(1))


@pytest.mark.parametrize("pattern", ["[^\\-]*", "h[a-i]*", "([hi]|é)*", "[^日]*1?"])
@pytest.mark.parametrize("end", ["-", "é"])
def test_masks_after_a_terminal_that_may_end_after_each_character(pattern: str, end: str) -> None:
    check_masks(ast.Sequence((ast.RegexTerminal(parse_regex(pattern)), ast.Literal(end.encode()))), random.Random(1))


def check_masks(body: ast.Expression, rng: random.Random) -> None:
    """Compare the masks along a text with what matchers accept."""
    tables = normalize(ast.Grammar((ast.Rule("start", body),)))
    check_along(Matcher(CompiledGrammar(tables, WORDS)), len(TOKENS), WORDS.size, rng, 4)


@pytest.mark.parametrize("character", ["é", "日", "😀"])
def test_the_length_of_a_refused_text_counts_bytes(character: str) -> None:
    texts = ['"', *"abc ", *(f"x{i}" for i in range(40))]
    texts += [character * n + end for n in range(1, 12) for end in ("", "b", "c")]
    vocabulary = Vocabulary.from_bytes({i: text.encode() for i, text in enumerate(texts)}, eos_token_ids=[len(texts)])
    schema = {"type": "string", "pattern": character + "a", "not": {"pattern": character + "{10}"}}
    matcher = structgen.compile(schema, vocabulary).matcher()
    matcher.accept_bytes(b'"')
    assert matcher.allowed_token_ids() == accepted_tokens(matcher, vocabulary.size)


def test_counted_characters_are_not_followed_from_state_to_state() -> None:
    store = AutomatonStore()
    counts = rx.choice(rx.repeat(parse_regex("[a-z]"), 1, 500), rx.repeat(parse_regex("[a-z0-9é]"), 1, 300))
    state = after(store, store.add(quoted(rx.intersection(counts, parse_regex("([a-z0-9é]{3})*")))), b'"abc')
    skippable = skippable_states(store)
    skippable.find(state)
    before = store.count
    assert not skippable.find_closed(state, 1000)
    assert store.count - before < 80


def test_counts_that_a_walk_has_met_are_followed() -> None:
    """A string that is no text of up to 40 letters: after 41 of them, all leads back to the same state."""
    store = AutomatonStore()
    refused = quoted(rx.repeat(parse_regex('[^"\\\\\\n]'), 0, 40))
    state = after(store, store.add(rx.intersection(ANY_STRING, rx.Complement(refused))), b'"')
    skippable = skippable_states(store)
    skippable.find(state)
    after(store, state, b" " * 50)
    assert skippable.find_closed(state, 1000)
