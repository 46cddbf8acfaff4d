"""Strings with conditions, of which the form of their terms tells something: held against their automata."""

from __future__ import annotations

import random

import pytest
from support.vocabularies import BYTES

import structgen
from structgen.engine.automata.inclusion import is_spelled
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD, EMPTY
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.limits import Limits
from structgen.schema.formats.regexes import ecma_regex
from structgen.schema.json_text.strings import escaped, quoted

ANY_STRING = quoted(rx.star(rx.ANY_CHAR))
CHARACTER = parse_regex(r'[^"\\]|\\["\\n]')  # of a string in which quotes are escaped
LETTERS = "abz1-"


def pattern(rng: random.Random, character: rx.Regex = rx.ANY_CHAR) -> rx.Regex:
    """A few letters, counted letters and any characters, one after another."""
    parts: list[rx.Regex] = []
    for _ in range(rng.randint(1, 4)):
        letter = rx.Chars(tuple((ord(c), ord(c)) for c in sorted(rng.sample(LETTERS, 2))))
        parts.append(
            rng.choice(
                (
                    rx.Literal(rng.choice(LETTERS).encode()),
                    letter,
                    rx.repeat(letter, 1, 3),
                    rx.repeat(letter, 0, None),
                    rx.star(character),
                    rx.optional(letter),
                    rx.repeat(character, rng.randint(1, 3), None),
                )
            )
        )
    return rx.sequence(*parts)


def nested(rng: random.Random, depth: int = 3) -> rx.Regex:
    """Parts within parts: sequences, choices and repetitions, of letters and of characters of several bytes."""
    if depth == 0:
        return rng.choice(
            (rx.Literal(b"a"), rx.Literal(b"-x"), rx.Chars(((97, 122),)), rx.Chars(((200, 300),)), rx.EMPTY)
        )
    parts = [nested(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    bounds = rng.choice(((0, 1), (0, None), (1, None), (2, 3), (0, 2), (1, 1)))
    return rx.repeat(rx.sequence(*parts) if rng.random() < 0.6 else rx.choice(*parts), *bounds)


def without(rng: random.Random) -> rx.Regex:
    """Strings that match none of a few patterns."""
    others = [rng.choice((pattern(rng), rx.literal_set([b"a", b"zz", b"1-"]))) for _ in range(rng.randint(1, 2))]
    return rx.intersection(ANY_STRING, *(rx.Complement(quoted(other)) for other in others))


def found_without(rng: random.Random) -> rx.Regex:
    """Strings in which a pattern is found, and that match none of a few others."""
    free = rx.star(CHARACTER)
    shapes = [rx.sequence(free, pattern(rng, CHARACTER), free), pattern(rng, CHARACTER), free]
    others = [
        rx.sequence(free, pattern(rng, CHARACTER), rng.choice((free, rx.EMPTY))) for _ in range(rng.randint(0, 2))
    ]
    return rx.intersection(quoted(rng.choice(shapes)), *(rx.Complement(quoted(other)) for other in others))


def letters_without(rng: random.Random) -> rx.Regex:
    """Strings of a few letters, in which patterns over all characters are not found; as keys of such a pattern are."""
    inner = rng.choice([parse_regex("[ab1]"), parse_regex("[ab-]|z1"), parse_regex("[ab]|a-"), CHARACTER])
    body = rx.repeat(inner, rng.randint(0, 2), None)
    first = rng.choice(
        (rx.EMPTY, rx.Literal(b"z"), parse_regex("[a1]"), parse_regex("a|b1"), rx.optional(rx.Literal(b"-")))
    )
    last = rng.choice((rx.EMPTY, rx.EMPTY, rx.Literal(b"b"), rx.sequence(rx.Literal(b"z"), rx.star(inner))))
    free = rx.star(rng.choice((CHARACTER, CHARACTER, parse_regex("[ab1z-]|b1"))))
    others = [
        rx.sequence(rng.choice((free, rx.EMPTY)), pattern(rng, CHARACTER), rng.choice((free, rx.EMPTY)))
        for _ in range(rng.randint(1, 2))
    ]
    excluded = [rx.Complement(quoted(other)) for other in others]
    return rx.intersection(quoted(rx.sequence(first, body, last)), *excluded)


def is_ever_endless(automata: AutomatonStore, state: int) -> bool:
    """As `AutomatonStore.is_ever_endless` by its definition: all states, and what comes back from where."""
    after: dict[int, set[int]] = {}
    waiting = [state]
    while waiting:
        top = waiting.pop()
        if top not in after:
            after[top] = {automata.step(top, byte) for byte in range(256)} - {DEAD}
            waiting.extend(after[top])
    endless = {here for here in after if here in reached_from(after, after[here])}
    while more := {here for here in after if here not in endless and after[here] & endless}:
        endless |= more
    return state in endless and all(here in endless for here in after if after[here])


def reached_from(after: dict[int, set[int]], begin: set[int]) -> set[int]:
    seen = set(begin)
    waiting = list(begin)
    while waiting:
        for target in after[waiting.pop()] - seen:
            seen.add(target)
            waiting.append(target)
    return seen


@pytest.mark.parametrize("seed", range(150))
def test_strings_said_to_be_ever_endless_are(seed: int) -> None:
    automata = AutomatonStore()
    state = automata.add(without(random.Random(seed)))
    if state != DEAD and automata.is_ever_endless(state):
        assert is_ever_endless(automata, state)


@pytest.mark.parametrize("seed", range(150))
def test_searches_said_to_be_ever_endless_are(seed: int) -> None:
    automata = AutomatonStore()
    state = automata.add(found_without(random.Random(seed)))
    if state != DEAD and automata.is_ever_endless(state):
        assert is_ever_endless(automata, state)


@pytest.mark.parametrize("seed", range(400))
def test_states_whose_form_shows_that_they_are_ever_endless_are(seed: int) -> None:
    rng = random.Random(seed)
    automata = AutomatonStore()
    state = automata.add(rng.choice((quoted, rx.sequence))(nested(rng)))
    if state != DEAD and automata.is_endless_by_form(state):
        assert is_ever_endless(automata, state)


def test_the_form_of_many_regexes_shows_that_they_are_ever_endless() -> None:
    shown = 0
    for seed in range(400):
        automata = AutomatonStore()
        state = automata.add(quoted(nested(random.Random(seed))))
        shown += state != DEAD and automata.is_endless_by_form(state)
    assert shown > 60


def test_no_automaton_is_needed_for_tags_of_languages() -> None:
    tag = r"[A-Za-z]{2,3}(-[A-Za-z]{3}){0,2}(-[A-Za-z0-9]{5,8})*(-([0-9A-WY-Za-wy-z](-[A-Za-z0-9]{2,8})+))*"
    whole = rf"^(title_(({tag}(-(x(-[A-Za-z0-9]{{1,8}})+))?)|(x(-[A-Za-z0-9]{{1,8}})+)))$"
    automata = AutomatonStore()
    state = automata.add(quoted(escaped(parse_regex(whole, "ecma", anchored=False))))
    before = automata.count
    assert automata.is_ever_endless(state)
    assert automata.count == before


@pytest.mark.parametrize("seed", range(150))
def test_few_letters_said_to_be_ever_endless_are(seed: int) -> None:
    automata = AutomatonStore()
    state = automata.add(letters_without(random.Random(seed)))
    if state != DEAD and automata.is_ever_endless(state):
        assert is_ever_endless(automata, state)


@pytest.mark.parametrize("key", ["[a-z0-9][a-z0-9_-]*", "_[a-z0-9_-]+", "[a-z_]+", "x?[a-z]{2,}"])
@pytest.mark.parametrize("others", [["properties"], ["prop|erties", "additional"]])
def test_no_automaton_is_needed_for_keys_in_which_patterns_are_not_found(key: str, others: list[str]) -> None:
    automata = AutomatonStore()
    free = rx.star(CHARACTER)
    excluded = [rx.Complement(quoted(rx.sequence(free, parse_regex(other), free))) for other in others]
    state = automata.add(rx.intersection(quoted(parse_regex(key)), *excluded))
    before = automata.count
    assert automata.is_ever_endless(state)
    assert automata.count < before + 10


def test_what_a_beginning_has_of_two_patterns_may_leave_one_end() -> None:
    """After `a` there is `ab` and no other: the second `ab` would come behind an `a`."""
    automata = AutomatonStore()
    free = rx.star(CHARACTER)
    ending = quoted(rx.sequence(free, rx.Literal(b"ab")))
    refused = quoted(rx.sequence(free, rx.Literal(b"a"), free, rx.Literal(b"ab"), free))
    state = automata.add(rx.intersection(ending, rx.Complement(refused)))
    assert not is_ever_endless(automata, state)
    assert not automata.is_ever_endless(state)


@pytest.mark.parametrize("others", [[], ["hipchat"], ["[0-9]{9}", "^x-"]])
def test_no_automaton_is_needed_for_a_search(others: list[str]) -> None:
    automata = AutomatonStore()
    free = rx.star(CHARACTER)
    refused = [rx.Complement(quoted(rx.sequence(free, parse_regex(other), free))) for other in others]
    state = automata.add(rx.intersection(quoted(rx.sequence(free, parse_regex("github|[a-f]{80}"), free)), *refused))
    before = automata.count
    assert automata.is_ever_endless(state)
    assert automata.count < before + 10


@pytest.mark.parametrize(
    "others",
    [
        ["[0-9a-f]{32}"],  # a search: thousands of states
        ["hipchat", "slack|irc"],
        ["^x-"],
        ["^(ab|cd)$"],
        ["^x-", "[0-9]{3}", "^name$"],
        ["^[^a]*$"],  # an `a` must come: what follows it is free
        ["a$"],
        ["^[a-z]*b"],
    ],
)
def test_no_automaton_is_needed_to_see_it(others: list[str]) -> None:
    automata = AutomatonStore()
    patterns = [parse_regex(other, "ecma", anchored=False) for other in others]
    regex = rx.intersection(ANY_STRING, *(rx.Complement(quoted(found)) for found in patterns))
    assert automata.is_ever_endless(automata.add(regex))


def test_no_state_is_needed_to_see_that_texts_are_bounded() -> None:
    automata = AutomatonStore()
    key = quoted(parse_regex(r"tabs\[(\d|1[0-5])\]\.groups\[\d\]\.(label|description)"))
    state = automata.add(rx.intersection(key, rx.Complement(quoted(rx.Literal(b"tabs[0].groups[0].label")))))
    before = automata.count
    assert not automata.is_ever_endless(state)
    assert automata.count == before


@pytest.mark.parametrize(
    ("found", "refused"),
    [
        ("", r"\d+.\d+.\d+.*"),  # after a letter at the end of a text, no more digits are found than before
        ("", r"^application/(.*\+)?json$"),  # no text of it ends with an `a`
        (r"^(.*\+)?json$", "^$"),  # after `j` the text may end with `son`, or go on in `.*`
        (r"^x(a[^y]*x|[^x]*y)b$", "^$"),
    ],
)
def test_few_states_are_needed_to_see_it(found: str, refused: str) -> None:
    automata = AutomatonStore()
    within, outside = (quoted(escaped(parse_regex(pattern, "ecma", anchored=False))) for pattern in (found, refused))
    state = automata.add(rx.intersection(within, rx.Complement(outside)))
    before = automata.count
    assert automata.is_ever_endless(state)
    assert automata.count < before + 100


@pytest.mark.parametrize("seed", range(150))
def test_what_is_said_to_be_spelled_is_a_string(seed: int) -> None:
    rng = random.Random(seed)
    automata = AutomatonStore()
    star = automata.table.tail[automata.add(ANY_STRING)]
    body, _, _ = automata.table.payload[star]
    for _ in range(4):
        state = automata.add(quoted(pattern(rng)))
        for byte in rng.choice((b'"', b'"a', b'"z1', b'"\\u00', b'"-\\')):
            state = automata.step(state, byte)
        heads = {EMPTY: True} if rng.random() < 0.5 else None
        if is_spelled(
            automata.terms, state, body, automata.table.tail[star], automata.alphabets.cover(body), {}, heads
        ):
            others = automata.terms.complement(star, EMPTY)
            assert automata.emptiness.pruned(automata.terms.intersection([state, others], EMPTY)) == DEAD


def test_nested_repetitions_are_compared_once() -> None:
    """As in `format: regex`. Comparing each of them wherever it stands would be two million comparisons."""
    automata = AutomatonStore()
    terms = automata.terms
    body, _, _ = automata.table.payload[automata.add(rx.star(CHARACTER))]
    nested = terms.literal(b'\\"', EMPTY)
    for letter in b"bcdefgh" * 3:
        nested = terms.append(nested, terms.literal(bytes([letter]), EMPTY))
        nested = terms.repeat(nested, 0, -1, terms.literal(b"z", terms.repeat(nested, 0, -1, EMPTY)))
    cover = automata.alphabets.cover(body)
    assert is_spelled(terms, nested, body, EMPTY, cover, {EMPTY: True}, {EMPTY: True})
    unescaped = terms.append(nested, terms.literal(b'"', EMPTY))
    assert not is_spelled(terms, unescaped, body, EMPTY, cover, {EMPTY: True}, {EMPTY: True})


@pytest.mark.parametrize("seed", range(60))
def test_counted_texts_said_to_be_spelled_are_strings(seed: int) -> None:
    rng = random.Random(seed)
    automata = AutomatonStore()
    star = automata.table.tail[automata.add(ANY_STRING)]
    body, _, _ = automata.table.payload[star]
    unit = rng.choice(
        (rx.ANY_CHAR, CHARACTER, rx.sequence(rx.Literal(b"a"), rx.ANY_CHAR), parse_regex('é|"[ab]"|[^"]'))
    )
    inner = rng.choice((pattern(rng), pattern(rng, CHARACTER), rx.star(rx.ANY_CHAR), parse_regex('(a"|b|é|-)*')))
    counted = rx.intersection(inner, rx.repeat(unit, rng.randint(0, 2), rng.randint(3, 6)))
    start = automata.step(automata.add(rx.sequence(rx.Literal(b'"'), counted, rx.Literal(b'"'))), ord('"'))
    alphabet = [*b'abz1-"\xc3\xa9\\']
    for _ in range(30):
        state = start
        for _ in range(rng.randint(0, 3)):
            state = automata.step(state, rng.choice([b for b in alphabet if automata.step(state, b)] or alphabet))
        if is_spelled(automata.terms, state, body, automata.table.tail[star], automata.alphabets.cover(body), {}):
            string = star
            for _ in range(12):
                byte = rng.choice([b for b in alphabet if automata.step(state, b)] or alphabet)
                state, string = automata.step(state, byte), automata.step(string, byte)
                assert not automata.table.accepting[state] or automata.table.accepting[string]


@pytest.mark.parametrize("other", ["^a", "a", "^[ab]*@", "c$"])
def test_an_address_without_a_pattern_needs_few_states(other: str) -> None:
    schema = {"type": "string", "format": "email", "not": {"pattern": other}}
    matcher = structgen.compile(schema, BYTES, limits=Limits(automaton_states=10_000)).matcher()
    matcher.accept_bytes(b'"x')
    assert ord("@") in matcher.allowed_token_ids()
    matcher.accept_bytes(b'@d.ef"')
    assert matcher.is_accepting


def test_no_text_is_searched_past_its_bound() -> None:
    """Regexes of at most three characters, with and without `a`: longer ones lead to very many terms."""
    schema = {"type": "string", "format": "regex", "maxLength": 3, "pattern": "(?<!b)a", "not": {"pattern": "a"}}
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(schema, BYTES, limits=Limits(automaton_states=20_000))


def test_a_string_long_enough_is_no_condition_beside_a_pattern() -> None:
    automata = AutomatonStore()
    for inner in (rx.repeat(rx.Chars(((97, 122),)), 2, None), rx.repeat(rx.Chars(((48, 57), (97, 102))), 3, 40)):
        plain = automata.add(quoted(inner))
        long_enough = automata.add(rx.intersection(quoted(inner), quoted(rx.repeat(rx.ANY_CHAR, 2, None))))
        assert plain != long_enough
        for byte in b'"aaa':
            plain, long_enough = automata.step(plain, byte), automata.step(long_enough, byte)
        assert plain == long_enough


@pytest.mark.parametrize(
    ("pattern", "same"),
    [
        ("[0-9]+.*", "[0-9]{1,7}.*"),
        ("[0-9]*.*", ".*"),
        (".*[0-9]+.*", ".*[0-9]{1,3}.*"),
        (".*[0-9]{3,}", ".*[0-9]{3}"),
        ("[0-9]{2,5}(.|\\n)*", "[0-9]{2}(.|\\n)*"),
        ("([0-9]{2}.*|[0-9]{5}.*)", "[0-9]{2}.*"),
        ('([0-9]*|a.*|.*)"', '.*"'),
        ('(b+|ab{0,3}|.*c.*|.*)"', '.*"'),
    ],
)
def test_any_characters_leave_nothing_to_say_beside_them(pattern: str, same: str) -> None:
    automata = AutomatonStore()
    assert automata.add(parse_regex(pattern)) == automata.add(parse_regex(same))


@pytest.mark.parametrize(("pattern", "other"), [("[0-9]+[0-8]*", "[0-9][0-8]*"), ('(a*|[a-c]*")', '[a-c]*"')])
def test_fewer_characters_do_not(pattern: str, other: str) -> None:
    automata = AutomatonStore()
    assert automata.add(parse_regex(pattern)) != automata.add(parse_regex(other))


def test_many_ways_through_what_is_repeated_are_not_followed_one_by_one() -> None:
    automata = AutomatonStore()
    some, more = "(?:ab|cd)" * 40, "(?:ab|cd|ef)" * 40
    state = automata.add(parse_regex(f"(?:{some}){{2,3}}(?:{more})*"))
    assert automata.matches(state, b"ab" * 80)
    assert automata.matches(state, b"ab" * 80 + b"ef" * 40)
    assert not automata.matches(state, b"ef" * 40)


@pytest.mark.parametrize("bound", [(0, None), (3, 40)])
def test_what_a_complement_refuses_as_a_whole_takes_no_long_search(bound):
    """After an `a`, every text of the format is refused. A search that visits all its states would never end."""
    found = rx.Complement(rx.sequence(rx.star(rx.ANY_CHAR), rx.Literal(b"a"), rx.star(rx.ANY_CHAR)))
    store = AutomatonStore(Limits(automaton_states=50_000))
    start = store.add(quoted(escaped(rx.intersection(ecma_regex(), found, rx.Repeat(rx.ANY_CHAR, *bound)))))
    string = store.next(start, ord('"'))
    assert store.next(string, ord("a")) == DEAD
    assert store.matches(start, b'"[b-d](x|y)?z"')
    assert not store.matches(start, b'"[b-d](x|\\u0061)?z"')
    assert store.emptiness.terms_searched < 3_000


@pytest.mark.parametrize("pattern", ["^(?!.*ab)", "^(?:(?!ab).)*$"])
def test_an_address_without_a_word_takes_no_long_search(pattern: str) -> None:
    """After `ab` nothing is left. A search of all ends of an address, each with its counts, would never end."""
    constraint = structgen.compile({"type": "string", "format": "email", "pattern": pattern}, BYTES, cache=False)
    matcher = constraint.matcher()
    assert matcher.allows_bytes(b'"b@a.b"')
    matcher.accept_bytes(b'"a')
    assert ord("b") not in matcher.allowed_token_ids()
    assert constraint.grammar.shared.automata.emptiness.terms_searched < 200


@pytest.mark.parametrize(
    ("name", "pattern", "text"),
    [
        ("email", ":", rb'"\"a:b\"@c.d"'),
        ("email", "a:b", rb'"\"a:b\"@c.d"'),
        ("email", "%", b'"a%b@c.d"'),
        ("idn-email", ":", b'"a@[IPv6:1:2::3]"'),
        ("x-email", "[:%]", b'"a%b@mail.org"'),
    ],
)
def test_an_address_with_a_rare_character_takes_no_long_search(name: str, pattern: str, text: bytes) -> None:
    """No host name has these characters. A search of all host names, each with its counts, would never end."""
    constraint = structgen.compile({"type": "string", "format": name, "pattern": pattern}, BYTES, cache=False)
    matcher = constraint.matcher()
    for byte in text:
        assert byte in matcher.allowed_token_ids()
        matcher.accept_token(byte)
    assert matcher.is_accepting
    assert constraint.grammar.shared.automata.emptiness.terms_searched < 10_000
