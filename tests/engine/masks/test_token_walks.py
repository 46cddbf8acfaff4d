"""Compare the masks of walks that characters decide, or closed sets of states, with what matchers accept."""

from __future__ import annotations

import itertools
import random

import pytest
from support.vocabularies import accepted_tokens

from structgen.engine.matching.compiled import CompiledGrammar, SharedTables
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.schema.json_text.strings import quoted

CHARACTER = parse_regex(r'[^"\\\n]|\\["\\n]')
LETTERS = "hi-日"
LONG = [letter * count for letter in LETTERS for count in range(1, 26)]
LONG += [text + end for text in LONG for end in ("\n", "\n\n", '"', "i", "h-")]
LONG += ["".join(random.Random(seed).choices(LETTERS, k=seed % 30 + 1)) for seed in range(200)]
LINES = [b"", *sorted({text.encode() for text in LONG}), "日".encode()[:2], b"h" * 12 + "日".encode()[:1]]
LONG_WORDS = Vocabulary.from_bytes(dict(enumerate(LINES)), eos_token_ids=[len(LINES)])
SHORT = [bytes(letters) for size in range(1, 7) for letters in itertools.product(b"hia-.", repeat=size)]
SHORT += [text + b'"' for text in SHORT if len(text) < 4]
MANY_WORDS = Vocabulary.from_bytes(dict(enumerate(SHORT)), eos_token_ids=[len(SHORT)])
RANDOM = {"".join(random.Random(seed).choices("hi-" * 6 + "日", k=seed % 24 + 1)).encode() for seed in range(4_000)}
RANDOM_WORDS = Vocabulary.from_bytes(dict(enumerate([*sorted(RANDOM), b'"'])), eos_token_ids=[len(RANDOM) + 1])


def after(regex: rx.Regex, vocabulary: Vocabulary, text: bytes) -> tuple[Matcher, SharedTables]:
    """Return a matcher of a regex after some text, and the tables that its masks fill."""
    compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", ast.RegexTerminal(regex)),))), vocabulary)
    matcher = Matcher(compiled)
    matcher.accept_bytes(text)
    return matcher, compiled.shared


def within(least: int, most: int, *parts: rx.Regex) -> rx.Regex:
    return rx.intersection(rx.sequence(*parts), rx.repeat(CHARACTER, least, most))


def within_quotes(least: int, most: int, pattern: str) -> rx.Regex:
    """Return strings with a bound in which a pattern is searched."""
    search = rx.sequence(rx.star(CHARACTER), parse_regex(pattern), rx.star(CHARACTER))
    return rx.intersection(quoted(search), quoted(rx.repeat(CHARACTER, least, most)))


@pytest.mark.parametrize("text", [b'"', b'"h', b'"hh'])
@pytest.mark.parametrize(
    "regex",
    [
        quoted(rx.star(CHARACTER)),
        quoted(rx.repeat(CHARACTER, 3, 17)),
        quoted(within(2, 30, within(1, 12, parse_regex("[hi日]+(-[hi]+)*")), parse_regex("[-a]i?"))),
        quoted(within(2, 30, within(1, 20, parse_regex("[hi-]+")), parse_regex("@(h-)*"))),
        quoted(within(2, 40, parse_regex("h([hi-]{0,18}[hi])?(a[hi]*)*"))),
        quoted(within(2, 40, parse_regex("h([hi-]{0,9}|i{0,19}|-{0,4}日)a"))),
        rx.intersection(quoted(rx.star(CHARACTER)), rx.Complement(quoted(parse_regex("[hi-]{0,20}")))),
        rx.intersection(quoted(rx.star(CHARACTER)), rx.Complement(quoted(parse_regex(".*hi.*")))),
        quoted(rx.sequence(rx.star(CHARACTER), parse_regex("[hi]{14}"), rx.star(CHARACTER))),
        quoted(parse_regex("([hi]{2}-){0,6}h*")),
        quoted(within(12, 12, rx.star(CHARACTER), parse_regex("[i日]"), rx.star(CHARACTER))),
        quoted(within(17, 20, rx.star(CHARACTER), parse_regex("h-h"), rx.star(CHARACTER))),
        quoted(within(0, 19, rx.star(CHARACTER), parse_regex("(hi|日-|---)"), rx.star(CHARACTER))),
    ],
)
def test_masks_of_tokens_with_many_characters(regex: rx.Regex, text: bytes) -> None:
    matcher, _ = after(regex, LONG_WORDS, text)
    assert matcher.allowed_token_ids() == accepted_tokens(matcher, LONG_WORDS.size)


@pytest.mark.one_in(1, uncompiled=4)
@pytest.mark.parametrize("seed", range(40))
def test_masks_where_tokens_come_near_a_bound(seed: int) -> None:
    rng = random.Random(seed)
    least = rng.randrange(20)
    pattern = rng.choice(("h", "[i日]", "hi", "h-h", "(hi|日-|---)", "h.{3}i", "日{2}", "-[hi]"))
    bounded = within_quotes(least, least + rng.choice((0, 1, 2, 3, 5, 9)), pattern)
    if rng.random() < 0.3:
        bounded = rx.intersection(bounded, rx.Complement(quoted(parse_regex(rng.choice((".*i-", "h{4,9}", ".*-h.*"))))))
    for text, vocabulary in itertools.product(('"', '"h', '"日', '"-h'), (LONG_WORDS, RANDOM_WORDS)):
        try:
            matcher, _ = after(bounded, vocabulary, text.encode())
        except TokenRejectedError:
            continue  # it is no text of the regex
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, vocabulary.size)


def test_few_nodes_are_visited_where_tokens_come_near_a_bound() -> None:
    matcher, tables = after(within_quotes(8, 8, "[i日]"), RANDOM_WORDS, b'"')
    before = tables.terminals.nodes_visited
    assert matcher.allowed_token_ids() == accepted_tokens(matcher, RANDOM_WORDS.size)
    near = sum(len(word.decode()) in (7, 8) for word in RANDOM)
    assert tables.terminals.nodes_visited - before < near  # all others are told by their length


def test_long_tokens_make_no_states_where_characters_are_counted() -> None:
    lines = [b"-" * count for count in range(1, 60)] + [b'"', b"-" * 9 + b"\n", b"-" * 59 + b"\n"]
    vocabulary = Vocabulary.from_bytes(dict(enumerate(lines)), eos_token_ids=[len(lines)])
    regex = quoted(within(2, 90, within(1, 40, parse_regex("[hi日-]+")), parse_regex("@[hi]+")))
    matcher, tables = after(regex, vocabulary, b'"hi')
    before = tables.automata.count
    assert matcher.allowed_token_ids() == list(range(38))
    assert tables.automata.count - before < 80  # a new state after each dash would make 200


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("(h[hia]+-)*h[hia]+", 1.0),  # another state after each `h`
        (r"(h[^h.]|i[^i.]|a[^a.]|-)*", 1.0),  # the last character decides which may come
        ("[^-.]*(h(i|a)h|ahh)[^.]*", 1.1),  # only after a match
    ],
)
def test_walks_pass_by_sets_of_states_that_some_characters_never_leave(pattern: str, part: float) -> None:
    search = quoted(rx.sequence(rx.star(CHARACTER), parse_regex(pattern), rx.star(CHARACTER)))
    for regex in (search, quoted(parse_regex(pattern))):
        matcher, tables = after(regex, MANY_WORDS, b'"h')
        before = tables.terminals.nodes_visited
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, MANY_WORDS.size)
        assert tables.terminals.nodes_visited - before < part * MANY_WORDS.trie.node_count


ALIKE = [chr(point) for point in range(0x5100, 0x5100 + 800)]  # all begin with the byte 0xE5,
MIXED = [chr(point) for point in range(0x4E00, 0x4E00 + 40)]  # and these with 0xE4
WIDE = [
    *ALIKE,
    *(text + "é" for text in ALIKE[:50]),
    *(text + end for text in MIXED for end in ("", "日h", '"', "。", "\u3000")),
]
CUT = [b"\xe4", b"\xe4\xb8", b"\xe4\xb8\x80\xe4", b"\xc3", b"\xe4\xb8\x80\xc3"]
BYTES = [*(text.encode() for text in ["h", "i", "hi", "-", " ", "h ", "é", "。", '"', 'h"', *WIDE]), *CUT]
WIDE_WORDS = Vocabulary.from_bytes(dict(enumerate(BYTES)), eos_token_ids=[len(BYTES)])


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        (r"[^-\s]\S*", 0.5),  # the state before the first character is another one than those after it
        (r"(\S+\s+){0,9}\S+", 0.5),
        (r"(h|[^hi]\S*i)\S*", 0.5),
        (r"[^-一]\S*", 1),  # one of the characters of a kind is refused,
        (r"([^一]|一h)\S*", 1),  # leads to another state,
        ("[^h]", 1),  # or is the last one
    ],
)
def test_walks_pass_by_characters_of_several_bytes_that_all_lead_to_one_state(pattern: str, part: float) -> None:
    for least, most in ((0, None), (0, 40), (0, 2), (1, 3)):
        regex = rx.intersection(quoted(parse_regex(pattern)), quoted(rx.repeat(CHARACTER, least, most)))
        for text in (b'"', b'"\xe4'):
            matcher, tables = after(regex, WIDE_WORDS, text)
            before = tables.terminals.nodes_visited
            assert matcher.allowed_token_ids() == accepted_tokens(matcher, WIDE_WORDS.size), (least, most, text)
            if most is None and text == b'"':
                assert tables.terminals.nodes_visited - before <= part * WIDE_WORDS.trie.node_count


DEEP = ["".join(random.Random(seed).choices("hia", k=200)).encode() for seed in range(8)]
DEEP = [text[:size] for text in DEEP for size in range(1, 201)] + [b"-", b"h-", b"hi-h", b"h."]
DEEP_WORDS = Vocabulary.from_bytes(dict(enumerate(dict.fromkeys(DEEP))), eos_token_ids=[len(dict.fromkeys(DEEP))])


def repeated(pattern: str) -> ast.Grammar:
    """Return the grammar of texts of a regex, one after the other, and dashes between."""
    parts = ast.ZeroOrMore(ast.Choice((ast.RegexTerminal(parse_regex(pattern)), ast.Literal(b"-"))))
    return ast.Grammar((ast.Rule("start", parts),))


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("pattern", ["[hia]+", "[hia]*", "h[hia]*|i[ai]*", "(h|ia?)+|a", "[hi]{1,3}a?"])
def test_walks_pass_by_what_they_have_found_where_each_character_may_end_a_part(pattern: str) -> None:
    compiled = CompiledGrammar(normalize(repeated(pattern)), DEEP_WORDS)
    matcher = Matcher(compiled)
    for text in (b"", b"h", b"-"):
        matcher.accept_bytes(text)
        before = compiled.shared.terminals.nodes_visited
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, DEEP_WORDS.size)
        visited = compiled.shared.terminals.nodes_visited - before
        assert visited < 300 * DEEP_WORDS.trie.node_count  # else up to 6,700 times as many


BLANKS = [b" ", b"  ", b"\n", b"\n ", b"\t"]
SPACED = [*BLANKS, *(blank + text for blank in BLANKS for text in SHORT if len(text) < 5)]
SPACED_WORDS = Vocabulary.from_bytes(dict(enumerate(SPACED)), eos_token_ids=[len(SPACED)])


@pytest.mark.parametrize("pattern", ["[hia-]+", "h[hia]*|i-?", "(h[^h.]|i[^i.]|-)*a", "[hi]{1,3}a?", "ha", "[^h]*h"])
@pytest.mark.parametrize("blank", ["[ \n]*", " +", "[ \t\n]{1,2}"])
def test_walks_after_white_space_skip_what_characters_decide(pattern: str, blank: str) -> None:
    parts = (ast.RegexTerminal(parse_regex(blank)), ast.RegexTerminal(parse_regex(pattern)), ast.Literal(b"."))
    compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", ast.Sequence(parts)),))), SPACED_WORDS)
    matcher = Matcher(compiled)
    assert matcher.allowed_token_ids() == accepted_tokens(matcher, SPACED_WORDS.size)
    matcher.accept_bytes(b" ")
    assert matcher.allowed_token_ids() == accepted_tokens(matcher, SPACED_WORDS.size)
