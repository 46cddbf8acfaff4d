"""Compare masks of states that few bytes leave with what matchers accept, and count the nodes of their walks."""

from __future__ import annotations

import random

import pytest
from support.vocabularies import accepted_tokens

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.schema.json_text.strings import quoted

CHARACTER = parse_regex(r'[^"\\\n]|\\["\\n]')
ANY = rx.star(CHARACTER)
RARE = ("q", "z", "qq", "zz", '"', "\\", "\n", "é", "日", "\u2028", "qu", "quz")


def words() -> list[bytes]:
    """Return words of common letters, in some of which there is something rare, or half of a character at the end."""
    rng = random.Random(5)
    found = set()
    while len(found) < 4000:
        text = "".join(rng.choices("aeinst -", k=rng.randint(1, 6)))
        if rng.random() < 0.2:
            text += rng.choice(RARE) + "".join(rng.choices("aeinst -uqz", k=rng.randint(0, 3)))
        spelling = text.encode()
        found.add(spelling + rng.choice([b"\xe6", b"\xe2\x80"]) if rng.random() < 0.02 else spelling)
    return sorted(found)


WORDS = words()
VOCABULARY = Vocabulary.from_bytes(dict(enumerate(WORDS)), eos_token_ids=[len(WORDS)])


def contains(pattern: str) -> rx.Regex:
    return quoted(rx.sequence(ANY, parse_regex(pattern), ANY))


def refuses(pattern: str) -> rx.Regex:
    return rx.intersection(quoted(ANY), rx.Complement(contains(pattern)))


def compiled_from(expression: ast.Expression, vocabulary: Vocabulary) -> CompiledGrammar:
    return CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", expression),))), vocabulary)


@pytest.mark.parametrize(
    "regex",
    [
        refuses("qu"),
        refuses("q|zz"),
        refuses("q[^u]"),
        refuses("[a-z]q.z"),
        refuses("日"),
        contains("qu"),
        contains("q\u2028z"),
        rx.intersection(contains("qu"), refuses("zz")),
        rx.intersection(contains("z"), contains("q")),
        rx.intersection(refuses("q"), refuses("z"), quoted(rx.repeat(CHARACTER, 0, 300))),
        quoted(parse_regex("[^qz\u2028]*q?")),
        quoted(parse_regex("([^qz]|qu|z[^qz])*")),
        quoted(parse_regex(r"[a-p]{1,2}\.[^q]*")),
        quoted(parse_regex("(q|[^q]{40})*")),
        rx.sequence(rx.star(parse_regex(r"[^q\n]")), parse_regex("q[^z]*")),  # it may end, or be left, within a token
    ],
)
def test_masks_of_states_that_few_bytes_leave(regex: rx.Regex) -> None:
    compiled = compiled_from(ast.RegexTerminal(regex), VOCABULARY)
    for text in (b'"', b'"q', b'"a z', b"a", '"日'.encode()[:2]):
        matcher = Matcher(compiled)
        try:
            matcher.accept_bytes(text)
        except TokenRejectedError:
            continue
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, VOCABULARY.size), text


@pytest.mark.one_in(1, uncompiled=4)
@pytest.mark.parametrize(
    "pattern", ["qu", "q|zz", "q[^u]", "z.q", "[a-t]q", "(q|日){2}", " ", "q.{3}", "(qu|[^q])*", "z.*q"]
)
def test_masks_of_states_with_bounds_that_few_bytes_leave(pattern: str) -> None:
    for searched in (contains(pattern), refuses(pattern), quoted(parse_regex(pattern))):
        regex = rx.intersection(searched, quoted(rx.repeat(CHARACTER, 2, 30)))
        matcher = Matcher(compiled_from(ast.RegexTerminal(regex), VOCABULARY))
        try:
            for byte in b'"aaqaea iznst -uqee':  # after some of them one table serves for all bounds
                matcher.accept_bytes(bytes([byte]))
                assert matcher.allowed_token_ids() == accepted_tokens(matcher, VOCABULARY.size), pattern
        except TokenRejectedError:
            continue


@pytest.mark.parametrize("regex", [refuses("qu"), contains("quz"), rx.intersection(contains("z"), refuses("qu"))])
def test_walks_visit_few_nodes_where_few_bytes_leave_a_state(regex: rx.Regex) -> None:
    compiled = compiled_from(ast.RegexTerminal(regex), VOCABULARY)
    matcher = Matcher(compiled)
    matcher.accept_bytes(b'"')
    before = compiled.shared.terminals.nodes_visited
    assert len(matcher.allowed_token_ids()) > 3000
    assert compiled.shared.terminals.nodes_visited - before < VOCABULARY.trie.node_count / 8


def test_sets_are_made_again_where_many_states_had_some() -> None:
    letters = "qzQZ#+*%&_<>"
    spellings = [*WORDS, *(word[:-1] + letter.encode() for word in WORDS[::9] for letter in letters)]
    spellings = list(dict.fromkeys(spellings))
    vocabulary = Vocabulary.from_bytes(dict(enumerate(spellings)), eos_token_ids=[len(spellings)])
    choice = ast.Choice(
        tuple(
            ast.Sequence((ast.Literal(b"%d" % index), ast.RegexTerminal(refuses(f"[{letter}]"))))
            for index, letter in enumerate(letters)
        )
    )
    compiled = compiled_from(choice, vocabulary)
    for index in range(len(letters)):
        matcher = Matcher(compiled)
        matcher.accept_bytes(b'%d"' % index)
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, vocabulary.size)
