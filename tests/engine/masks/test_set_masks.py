"""Masks against brute force: a token is in the mask exactly if a matcher accepts it.

The vocabulary is wide enough for every way in which tables are kept (dense masks, merged remainders, differences), the
terminals are such as schemas make: counted characters, escapes, searches, conditions and their complements.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from support.vocabularies import accepted_tokens, check_along, nodes_along

import structgen
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.masks.tables import TerminalMask
from structgen.engine.masks.terminal_masks import TerminalMasks
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize

UNCOMPILED = os.environ.get("STRUCTGEN_UNCOMPILED") == "1"
TRIES = 6 if UNCOMPILED else 40

ALPHABET = ("a", "b", '"', "\\", "n", ",", "é", "日")
TEXTS = [
    *("".join(letters) for length in (1, 2, 3) for letters in itertools.product(ALPHABET, repeat=length)),
    *("".join(letters) for letters in itertools.product(("a", '"', "\\", "é"), repeat=4)),
    "aaaaaaaa",
    'aaaaaa"',
    '"' * 6,
    "éééééé",
    "\\n\\n\\n",
]
PIECES = ["é".encode()[:1], "é".encode()[1:]]
PIECES += ["日".encode()[:1], "日".encode()[:2], "日".encode()[1:], "日".encode()[2:]]
PIECES += [b"a" + piece for piece in PIECES[:4]] + [piece + b'"' for piece in PIECES]
TOKENS = dict(enumerate([text.encode() for text in TEXTS] + PIECES))
EOS = len(TOKENS)
WIDE = Vocabulary.from_bytes(TOKENS, eos_token_ids=[EOS])
WIDE_ENOUGH = Vocabulary.from_bytes(  # for JSON too
    TOKENS | {EOS + 1 + byte: bytes([byte]) for byte in range(256)} | {2000: b'": ', 2001: b", ", 2002: b'"a"'},
    eos_token_ids=[EOS],
)

# -- terminals -------------------------------------------------------------------------------------------------------

QUOTE = rx.Literal(b'"')


def chars(text: str) -> rx.Regex:
    return rx.Chars(tuple((ord(letter), ord(letter)) for letter in sorted(text)))


ESCAPE = rx.sequence(rx.Literal(b"\\"), chars('"\\n'))
CHARACTERS = (
    rx.ANY_CHAR,
    chars("ab"),
    chars("aé日"),
    rx.difference(rx.ANY_CHAR, chars('"\\')),
    rx.choice(rx.difference(rx.ANY_CHAR, chars('"\\')), ESCAPE),
    rx.choice(chars("ab"), ESCAPE),
    rx.choice(rx.Literal(b"ab"), chars("b,")),
    rx.choice(chars("a"), rx.Literal(b"ab")),  # one is the beginning of the other
    rx.optional(chars("ab")),  # may be empty
    rx.Literal(b"ab"),
    rx.Repeat(chars("aé"), 2, 3),
    rx.ByteSet(sum(1 << byte for byte in b'ab"\xc3\xa9')),
)
RESTS = (
    rx.EMPTY,
    QUOTE,
    rx.sequence(QUOTE, rx.star(chars(","))),
    rx.sequence(QUOTE, rx.optional(QUOTE)),
    chars("ab"),  # overlaps with what is counted
    rx.star(chars("ab")),
    rx.optional(rx.Literal(b",")),
    rx.Literal(b"ab"),
    rx.choice(QUOTE, rx.Literal(b'\\"')),
    rx.sequence(rx.star(rx.difference(rx.ANY_CHAR, chars('"'))), QUOTE),  # goes on with what is counted, and more
    rx.sequence(rx.Literal(b","), rx.star(rx.difference(rx.ANY_CHAR, chars('"'))), QUOTE),
)
NEEDLES = (b"a", b"ab", "é".encode(), b"aa", b'\\"', b"b,")


def counted(rng: random.Random) -> rx.Regex:
    """Return a counted class and what follows it, `C{m,n} R`."""
    least = rng.choice((0, 0, 1, 2, 5))
    most = rng.choice((None, least + 1, least + 2, least + 7, 300))
    return rx.sequence(rx.repeat(rng.choice(CHARACTERS), least, most), rng.choice(RESTS))


def words(rng: random.Random) -> rx.Regex:
    """Return a regex with a bound on how often something longer than a character comes, as in `(\\S+\\s+){0,9}\\S+`."""
    word = rx.repeat(rng.choice(CHARACTERS), 1, None)
    word_and_space = rx.sequence(word, rx.repeat(rng.choice(CHARACTERS), 1, None))
    return rx.sequence(rx.repeat(word_and_space, 0, rng.choice((3, 5, 12, 40))), word, rng.choice(RESTS))


def found_within(rng: random.Random) -> rx.Regex:
    """Return `C* P C* R`: a pattern without anchors in a string."""
    char = rng.choice(CHARACTERS)
    needle = rx.repeat(
        rng.choice((*CHARACTERS, *(rx.Literal(text) for text in NEEDLES))), *rng.choice(((1, 1), (2, 4), (3, 3)))
    )
    return rx.sequence(rx.star(char), needle, rx.star(char), rng.choice(RESTS))


def search(rng: random.Random) -> rx.Regex:
    return rx.sequence(rx.star(rx.ANY_CHAR), rx.Literal(rng.choice(NEEDLES)), rx.star(rx.ANY_CHAR))


def conditional(rng: random.Random) -> rx.Regex:
    """Return a string with further conditions, each of which may be a complement."""
    parts = [counted(rng)]
    for _ in range(rng.randint(1, 2)):
        condition = rng.choice(
            (
                search(rng),
                rx.literal_set([rng.choice(NEEDLES) + tail for tail in (b"", b'"', b"a", b'a"', b'b"', b'aa"')]),
                counted(rng),
                rx.sequence(rx.Literal(rng.choice(NEEDLES)), rx.star(rx.ANY_CHAR)),
            )
        )
        parts.append(rng.choice((condition, rx.Complement(condition))))
    return rx.intersection(*parts)


def terminal(rng: random.Random) -> rx.Regex:
    kind = rng.random()
    if kind < 0.25:
        return counted(rng)
    if kind < 0.33:
        return words(rng)
    if kind < 0.4:
        return found_within(rng)
    if kind < 0.8:
        return conditional(rng)
    if kind < 0.9:
        return rx.choice(counted(rng), conditional(rng))
    return rx.Early(search(rng))


def grammar_of(rng: random.Random) -> ast.Grammar:
    """Return a grammar with terminals as schemas have them: quoted, one of several, in a list, in a sequence."""
    found = [ast.RegexTerminal(terminal(rng)) for _ in range(rng.randint(1, 3))]
    one = ast.Choice(tuple(found)) if len(found) > 1 else found[0]
    shape = rng.randrange(4)
    if shape == 0:
        body = one
    elif shape == 1:
        body = ast.Sequence((ast.Literal(b'"'), one, ast.Choice((ast.Literal(b'"'), ast.Literal(b'",')))))
    elif shape == 2:
        body = ast.Sequence((one, ast.ZeroOrMore(ast.Sequence((ast.Literal(b","), one)))))
    else:
        body = ast.Sequence((*found, ast.Option(ast.Literal(b"\\n")), ast.Reference("tail")))
    return ast.Grammar((ast.Rule("start", body), ast.Rule("tail", ast.Choice((ast.Literal(b","), one)))))


# -- tests -----------------------------------------------------------------------------------------------------------


def check_walk(compiled: CompiledGrammar, rng: random.Random, length: int) -> None:
    matcher = Matcher(compiled)
    text = b""
    for _ in range(length):
        allowed = matcher.allowed_token_ids()
        assert allowed == accepted_tokens(matcher, compiled.vocabulary.size), text
        going_on = [token for token in allowed if token != EOS]
        if not going_on:
            return
        token = rng.choice(going_on)
        matcher.accept_token(token)
        text += compiled.vocabulary.token_bytes(token)


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("seed", range(TRIES))
def test_masks_are_what_matchers_accept(seed: int, eager: bool) -> None:
    rng = random.Random(seed)
    compiled = CompiledGrammar(normalize(grammar_of(rng), keep_endless=eager), WIDE, eager=eager)
    for _ in range(2):
        check_walk(compiled, rng, 4)


@pytest.mark.one_in(1, uncompiled=4)
@pytest.mark.parametrize("characters", range(len(CHARACTERS)))
@pytest.mark.parametrize("rest", range(len(RESTS)))
def test_counted_characters_and_what_follows_them(characters: int, rest: int) -> None:
    if UNCOMPILED and (characters + rest) % 4:
        pytest.skip("every fourth is enough where a mask takes long")
    rng = random.Random(characters)
    for least, most in ((0, 1), (0, 3), (2, 2), (1, 4), (3, None), (0, 9)):
        regex = rx.sequence(rx.repeat(CHARACTERS[characters], least, most), RESTS[rest])
        body = ast.Sequence((ast.RegexTerminal(regex), ast.Choice((ast.Literal(b","), ast.Literal(b'"n')))))
        compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", body),))), WIDE)
        check_walk(compiled, rng, 3)


def other_texts(rng: random.Random) -> rx.Regex:
    """Return texts other than some, like keys that no property names; their tables differ little from those of all."""
    characters = CHARACTERS[rng.choice((0, 3, 4))]
    letters = rng.sample(("a", "b", "é", '\\\\"', "n"), 2)
    named = [(letters[rng.randrange(2)] + tail + '"').encode() for tail in ("", "a", "ab", "é", "éé", "an")]
    any_text = rx.sequence(rx.repeat(characters, 0, rng.choice((None, None, 6, 20))), QUOTE)
    kind = rng.randrange(5)
    if kind == 0:
        return rx.difference(any_text, rx.literal_set(named))
    if kind == 1:
        return rx.difference(any_text, rx.sequence(rx.Literal(named[0][:-1]), rx.star(rx.ANY_CHAR)))
    if kind == 2:
        return rx.intersection(any_text, rx.Complement(rx.literal_set(named)), rx.Complement(search(rng)))
    if kind == 3:
        return longer_texts(rng, characters)
    refused = [search(rng)]
    for _ in range(2):
        least = rng.choice((0, 1, 3))
        refused.append(rx.sequence(rx.repeat(rng.choice(CHARACTERS), least, rng.choice((least + 4, 16, 64))), QUOTE))
    return rx.intersection(any_text, *map(rx.Complement, refused[rng.randrange(2) : rng.choice((2, 3))]))


def longer_texts(rng: random.Random, characters: rx.Regex) -> rx.Regex:
    """Return texts with a least count and other conditions, such as a string of twelve characters with a digit."""
    least = rng.choice((1, 3, 9, 12))
    long = rx.sequence(rx.repeat(characters, least, rng.choice((None, least, least + 4, 30))), QUOTE)
    # After "ab", a text that ends with "aba" may have one more character, or three, but not two.
    ending = rx.sequence(rx.star(rx.ANY_CHAR), rx.Literal(rng.choice((b"a", b"aba", "ébn".encode()))), QUOTE)
    conditions = [search(rng), ending, rx.Complement(search(rng)), rx.Complement(ending)]
    return rx.intersection(long, *rng.sample(conditions, rng.choice((1, 1, 2))))


@pytest.mark.parametrize("seed", range(TRIES))
def test_texts_other_than_some(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3):
        found = ast.RegexTerminal(other_texts(rng))
        body = ast.Sequence((found, ast.Choice((ast.Literal(b","), ast.Literal(b'"'), found))))
        check_walk(CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", body),))), WIDE), rng, 4)


def test_grammars_of_one_vocabulary_share_tables_and_stay_right() -> None:
    rng = random.Random(5)
    grammars = [grammar_of(random.Random(seed % 7)) for seed in range(14)]
    compiled = [CompiledGrammar(normalize(grammar), WIDE) for grammar in grammars]
    assert len({id(one.shared) for one in compiled}) == 1
    for _ in range(1 if UNCOMPILED else 2):
        for one in compiled:
            check_walk(one, rng, 3)


def test_a_mask_costs_a_walk_over_remainders_only() -> None:
    """In a free string nearly all tokens stay inside: for each set only the tokens that leave it are walked."""
    regex = rx.sequence(rx.Repeat(CHARACTERS[4], 0, 200), QUOTE)
    body = ast.Sequence((ast.Literal(b'"'), ast.RegexTerminal(regex), ast.Literal(b",")))
    compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", body),))), WIDE)
    matcher = Matcher(compiled)
    matcher.accept_bytes(b'"aa')
    matcher.allowed_token_ids()
    shared, own = compiled.shared.terminals.nodes_visited, compiled.masks.nodes_visited
    for _ in range(50):
        matcher.accept_bytes(b"a")
        matcher.allowed_token_ids()
    assert compiled.shared.terminals.nodes_visited == shared  # no table for each count
    assert compiled.masks.nodes_visited - own <= 50 * 100


def test_a_refused_bound_makes_no_tables_for_each_count() -> None:
    """As for keys that neither `^[ab]{1,200}$` nor `é` matches."""
    any_text = rx.sequence(rx.star(CHARACTERS[4]), QUOTE)
    bounded = rx.sequence(rx.repeat(chars("ab"), 1, 200), QUOTE)
    found = rx.sequence(rx.star(rx.ANY_CHAR), rx.Literal("é".encode()), rx.star(rx.ANY_CHAR))
    regex = rx.intersection(any_text, rx.Complement(bounded), rx.Complement(found))
    assert nodes_along(regex, WIDE, b"a", 50) <= 50 * 20


def test_what_may_follow_a_terminal_has_each_table_once() -> None:
    """Three alternatives begin with the same terminal, which reads what is left of `xy` after `x`."""
    branches = [ast.Sequence((ast.RegexTerminal(parse_regex("y+")), ast.Literal(end))) for end in (b"1", b"2", b"34")]
    body = ast.Sequence((ast.Literal(b"x"), ast.Choice(tuple(branches))))
    vocabulary = Vocabulary.from_bytes({0: b"x", 1: b"xy", 2: b"xyz", 3: b""}, eos_token_ids=[3])
    compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", body),))), vocabulary)
    assert Matcher(compiled).allowed_token_ids() == [0, 1]
    sets, terminals = compiled.sets, compiled.shared.terminals
    scan = sets.table.first_scan[sets.start_set]
    left = terminals.store.remainders[terminals.get(sets.scans.state[scan]).first_remainders]
    after = compiled.masks.dotted_rules.rest(sets.scans.position[scan] + 1, 0, left)
    assert len(after.tables) == 1


def test_tables_do_not_depend_on_how_much_room_the_automata_began_with() -> None:
    """Pools are replaced when they grow, also during a walk, which must not go on with the old one."""
    rng = random.Random(9)
    for _ in range(TRIES):
        regex = terminal(rng)
        found = []
        for capacity in (4, 4096):
            automata = AutomatonStore(capacity=capacity)
            tables = TerminalMasks(WIDE_ENOUGH, automata)
            tables.get(automata.add(regex))
            matched = [automata.matches(automata.add(regex), text) for text in TOKENS.values()]
            found.append((tables.nodes_visited, automata.count, matched))
        assert found[0] == found[1]


def test_a_long_chain_of_optional_characters_is_neither_deep_nor_dear() -> None:
    chain = rx.sequence(*[rx.optional(chars(letters)) for letters in ("ab", "né") * 300], QUOTE)
    compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", ast.RegexTerminal(chain)),))), WIDE)
    check_walk(compiled, random.Random(1), 1)


@pytest.mark.parametrize(("other", "are_same"), [("a?a", True), ("a|!", True), ("a|b", False), ("b", False)])
def test_terminals_that_end_at_the_same_nodes_share_what_is_left_of_tokens(other: str, are_same: bool) -> None:
    automata = AutomatonStore()
    tables = TerminalMasks(Vocabulary.from_bytes(dict(enumerate([b"a", b"b", b"a,", b"b,", b"ab"]))), automata)
    found = []
    for pattern in ("a", other):
        table = tables.get(automata.add(parse_regex(pattern)))
        found.append(tables.store.remainders[table.first_remainders])
    assert (found[0] is found[1]) == are_same


def test_tables_united_with_one_that_is_forgotten_are_not_taken_for_another_union() -> None:
    """Unions are found by the identity of their parts; a new part may get the identity of one that is gone."""
    automata = AutomatonStore()
    store = TerminalMasks(WIDE_ENOUGH, automata).store
    dense = []
    for index in range(40):
        words = np.zeros(store.words, dtype=np.uint32)
        words[index % store.words] = 1 << index % 32
        dense.append(words)
    numbers = [store.keep_dense(words) for words in dense]
    whole = TerminalMask()
    whole.dense = numbers[0]
    for number, words in zip(numbers, dense, strict=True):
        part = TerminalMask()
        part.dense = number
        found = store.united([whole, part])
        del part
        assert np.array_equal(store.dense[found.dense].words, dense[0] | words)


# -- every way of keeping tables, forced on all states ---------------------------------------------------------------

CONSTANTS = {
    "all masks are dense": {"MAX_LISTED_TOKENS": 0},
    "no mask is dense": {"MAX_LISTED_TOKENS": 10**9},
    "all remainders are merged": {"MIN_MERGED_EXITS": 1, "MIN_MERGED_TOKENS": 0},
    "no remainders are merged": {"MIN_MERGED_EXITS": 10**9, "MAX_MERGED_NODES": 0},
    "all variations are differences": {
        "MAX_LISTED_TOKENS": 0,
        "MIN_MERGED_EXITS": 1,
        "MIN_MERGED_TOKENS": 0,
        "MAX_DIFFERENT_NODES": 10**9,
    },
    "no differences": {"MAX_DIFFERENT_NODES": 0},
    "all states are wide": {"WIDE": 10**9, "MAX_LISTED_TOKENS": 0, "MIN_ROOM": 2, "MAX_ROOM": 8},
    "all least counts share an index": {"WIDE": 10**9, "MAX_WALKED_COUNT": 0, "MAX_DIFFERENT_NODES": 0},
    "what is repeated before something has tables once": {"MAX_BYTES": 256, "MAX_LISTED_AFTER": 0, "MANY_NODES": 1},
    "what is left after two nodes is kept as bits": {"MANY_NODES": 2, "VERY_MANY_NODES": 2},
    "tokens may be found twice": {"MIN_ONCE": 0, "MIN_SKIPPED_TOKENS": 0},
    "all is skipped that may be": {"MIN_SKIPPED_TOKENS": 0, "MAX_LISTED_TOKENS": 0},
    "nothing is skipped": {"MIN_SKIPPED_TOKENS": 10**9},
}

SCRIPT = """
import importlib, random, sys
sys.path[:0] = [{tests!r}, {folder!r}]
from structgen.engine.masks import bound_room, counted_masks, difference_walk, first_bytes, next_bytes, remainder_tries
from structgen.engine.masks import table_store, terminal_masks, token_walks
modules = (bound_room, counted_masks, difference_walk, first_bytes, next_bytes, remainder_tries, table_store)
modules += (terminal_masks, token_walks)
for name, value in {constants!r}.items():
    having = [module for module in modules if hasattr(module, name)]
    assert having, name
    for module in having:
        setattr(module, name, value)
import test_set_masks as test_masks
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.kbnf.normal_form.passes import normalize
for seed in range({first}, {first} + 12):
    rng = random.Random(seed)
    other = test_masks.ast.RegexTerminal(test_masks.other_texts(rng))
    for grammar in (test_masks.grammar_of(rng), test_masks.ast.Grammar((test_masks.ast.Rule("start", other),))):
        test_masks.check_walk(CompiledGrammar(normalize(grammar), test_masks.WIDE), rng, 3)
"""


@pytest.mark.one_in(2, uncompiled=6)
@pytest.mark.parametrize("which", CONSTANTS)
def test_masks_are_right_whichever_way_they_are_kept(which: str) -> None:
    """Set the constants in a process of its own, uncompiled: in compiled modules they are C integers."""
    folder = os.path.dirname(__file__)
    tests = os.path.dirname(os.path.dirname(folder))
    script = SCRIPT.format(tests=tests, folder=folder, constants=CONSTANTS[which], first=1000)
    environment = os.environ | {"STRUCTGEN_UNCOMPILED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


JSON_TOKENS = [
    *'[]{}",:;abc12 ',
    *('"a"', '"b"', '"a",', '["a"', '"a","b"', '","', '"]', '"];', "1,2", "[1", "2]", "[1,2];", ",1", ",2]", "];"),
    *('"a":', '"b":1', '{"a":1', '{"b":1}', ',"a":1', ',"b"', '"a":1,"b"', "1}", "};", "b;", ";["),
]


@pytest.mark.parametrize(
    "schema",
    [
        '{"items": {"enum": [1, 2]}, "type": "array", "uniqueItems": true}',
        '{"items": {"type": "string"}, "type": "array", "uniqueItems": true}',
        '{"items": {"type": "string", "maxLength": 2}, "type": "array", "uniqueItems": true}',
        '{"additionalProperties": {"type": "integer"}, "type": "object"}',
    ],
)
@pytest.mark.parametrize("body", ["#json SCHEMA ';' word", "word ';' #json SCHEMA ';'", "(#json SCHEMA ';')+ | word"])
def test_texts_are_captured_beside_look_aheads(schema: str, body: str) -> None:
    text = f"start ::= {body.replace('SCHEMA', schema)}; word ::= #'[abc]+' !#'[abc]';"
    tokens = dict(enumerate(token.encode() for token in JSON_TOKENS))
    vocabulary = Vocabulary.from_bytes(tokens, eos_token_ids=[len(tokens)])
    matcher = structgen.compile(structgen.Grammar.kbnf(text, eager=False), vocabulary).matcher()
    rng = random.Random(1)
    for _ in range(TRIES):
        matcher.reset()
        check_along(matcher, len(tokens), vocabulary.size, rng, 8)
