"""Token terminals: masks, accepted tokens, rollback and forced tokens against a naive recognizer, and their edges.

The oracle knows nothing of marks: it replaces each token terminal by a private character, and reads a sequence of
tokens in all ways: each token as its text, as its private character, and an end token as the end.
"""

from __future__ import annotations

import pickle
import random
from dataclasses import replace

import pytest
from support.grammars import random_grammar
from support.naive import NaiveRecognizer
from support.vocabularies import accepted_tokens

import structgen
from structgen import Grammar, GrammarError, Limits, TokenRejectedError, Vocabulary
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.rewriting import nodes_of, rewrite

TEXTS = dict(enumerate(text.encode() for text in ("a", "b", "c", "ab", "ba", "abc", "aa", "é")))
EOS, CALL, DONE, UNUSED = 10, 11, 12, 13
TEXTS[14] = b"a\xff"  # no text of a grammar with token terminals
NAMED = (0, 3, 5, EOS, CALL, DONE)
VOCABULARY = Vocabulary.from_bytes(
    TEXTS, eos_token_ids=[EOS], size=16, special_tokens={"</s>": EOS, "<call>": CALL, "<done>": DONE}
)


# -- a naive recognizer ------------------------------------------------------------------------------------------------


def with_tokens(rng: random.Random, grammar: ast.Grammar) -> ast.Grammar:
    """Replace some terminals by token terminals."""

    def change(node: ast.Expression) -> ast.Expression:
        if not isinstance(node, (ast.Literal, ast.RegexTerminal)) or rng.random() < 0.5:
            return node
        ids = rng.sample(NAMED, rng.randint(1, 2))
        return ast.Token(ids=tuple((token, token) for token in ids))

    return replace(grammar, rules=tuple(replace(rule, body=rewrite(rule.body, change)) for rule in grammar.rules))


def private(token: int) -> bytes:
    """The character that stands for a token terminal in the oracle."""
    return chr(0xE000 + token).encode()


def naive_of(grammar: ast.Grammar) -> NaiveRecognizer:
    def change(node: ast.Expression) -> ast.Expression:
        if not isinstance(node, ast.Token):
            return node
        parts = tuple(ast.Literal(private(token)) for first, last in node.ids for token in range(first, last + 1))
        return parts[0] if len(parts) == 1 else ast.Choice(parts)

    rules = tuple(replace(rule, body=rewrite(rule.body, change)) for rule in grammar.rules)
    return NaiveRecognizer(replace(grammar, rules=rules))


def readings(token: int) -> list[bytes]:
    text = TEXTS.get(token, b"")
    return [private(token)] + ([text] if text and 0xFF not in text else [])


class Oracle:
    """All readings of the tokens so far that can be continued."""

    def __init__(self, grammar: ast.Grammar) -> None:
        self.naive = naive_of(grammar)
        self.texts = {b""}
        self.may_have_ended = False

    def after(self, token: int) -> tuple[set[bytes], bool]:
        texts = {text + reading for text in self.texts for reading in readings(token)}
        viable = {text for text in texts if self.naive.run(text)[0]}
        return viable, token == EOS and self.may_end

    @property
    def may_end(self) -> bool:
        return self.may_have_ended or any(self.naive.run(text)[1] for text in self.texts)

    def allowed(self) -> list[int]:
        return [token for token in range(VOCABULARY.size) if any(self.after(token))]

    def accept(self, token: int) -> None:
        self.texts, self.may_have_ended = self.after(token)


@pytest.mark.one_in(3, uncompiled=12)
@pytest.mark.parametrize("seed", range(300))
def test_masks_are_those_of_a_naive_recognizer(seed: int) -> None:
    rng = random.Random(seed)
    grammar = with_tokens(rng, random_grammar(rng))
    limits = Limits(item_sets=rng.choice((40, 1_000_000)))  # few: the sets are dropped, and the text is read again
    compiled = CompiledGrammar(
        normalize(grammar, keep_endless=True, vocabulary=VOCABULARY, limits=limits), VOCABULARY, limits=limits
    )
    for _ in range(3):
        matcher, oracle = Matcher(compiled), Oracle(grammar)
        earlier: list[list[int]] = []
        for _ in range(5):
            allowed = matcher.allowed_token_ids()
            assert allowed == oracle.allowed(), (seed, earlier, grammar)
            assert matcher.is_accepting == oracle.may_end
            refused = [token for token in range(VOCABULARY.size) if token not in allowed]
            with pytest.raises(TokenRejectedError):
                matcher.accept_token(rng.choice(refused))
            for token in (rng.choice(allowed or refused), rng.choice(refused)):
                assert matcher.explain(token).allowed == (token in allowed), (seed, token)
            forced = matcher.forced_pieces()
            if forced and isinstance(forced[0], int):
                assert allowed == [forced[0]]
            if not allowed:
                break
            earlier.append(allowed)
            token = rng.choice(allowed)
            matcher.accept_token(token)
            oracle.accept(token)
        for kept in range(len(earlier) - 1, -1, -1):
            matcher.rollback(1)
            assert matcher.allowed_token_ids() == earlier[kept]


# -- single cases ------------------------------------------------------------------------------------------------------


def matcher_of(text: str, *tokens: int | bytes, eager: bool = False) -> Matcher:
    matcher = structgen.compile(Grammar.kbnf(text, eager=eager), VOCABULARY).matcher()
    for token in tokens:
        if isinstance(token, bytes):
            matcher.accept_bytes(token)
        else:
            matcher.accept_token(token)
    return matcher


def test_the_text_of_a_token_is_not_the_token() -> None:
    matcher = matcher_of("start ::= #token'<call>' 'b' | '<call>' 'c';")
    assert not matcher_of("start ::= #token'<call>';").allows_bytes(b"<call>")
    assert matcher.allowed_token_ids() == [CALL]  # no token spells "<"
    twin = matcher.fork()
    twin.accept_bytes(b"<call>")
    assert twin.allowed_token_ids() == [2]
    matcher.accept_token(CALL)
    assert matcher.allowed_token_ids() == [1]


@pytest.mark.parametrize("bounds", [{}, {"maxLength": 20}, {"minLength": 9, "maxLength": 300}, {"pattern": "^a"}])
def test_a_named_token_is_text_within_a_string(bounds: dict[str, object]) -> None:
    """Where most tokens are allowed, the mask is that of all tokens without some: this one by its mark."""
    tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"<call>", 257: b""}
    vocabulary = Vocabulary.from_bytes(tokens, eos_token_ids=[257])
    grammar = Grammar.kbnf("start ::= #token'<call>' x;", bind={"x": {"type": "string", **bounds}}, eager=False)
    matcher = structgen.compile(grammar, vocabulary).matcher()
    for token in (256, ord('"'), ord("a"), ord("b"), 256, ord("c"), ord("d"), ord('"')):
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, 258)
        matcher.accept_token(token)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 2},
        {"type": "array", "items": {"type": "string", "maxLength": 3}, "uniqueItems": True},
        {"type": "object", "minProperties": 2},
    ],
)
def test_any_token_beside_texts_that_must_differ(schema: dict[str, object]) -> None:
    """Each token has a text and a mark. Where the text is refused, or has too many characters, the mark may fit."""
    texts = [*(bytes([byte]) for byte in range(255)), b'["a","a"', b'{"a":1,"a":', b'["a","b"]', b"[1,1]", b'{"a":1}']
    vocabulary = Vocabulary.from_bytes(dict(enumerate(texts)), eos_token_ids=[len(texts)])
    grammar = Grammar.kbnf("start ::= x | #token[*] | '[\"a' #token[*];", bind={"x": schema}, eager=False)
    matcher = structgen.compile(grammar, vocabulary, whitespace="compact").matcher()
    for byte in b'["ab"':
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, len(texts) + 1)
        if not matcher.allows_bytes(bytes([byte])):
            break
        matcher.accept_bytes(bytes([byte]))


def test_bytes_never_match_a_token() -> None:
    matcher = matcher_of("start ::= any! #token'<call>';")
    assert not matcher.allows_bytes(b"a\xff\x00\x00\x0b")
    with pytest.raises(TokenRejectedError) as caught:
        matcher.accept_bytes(b"a\xff\x00\x00\x0b")
    assert caught.value.position == 1
    assert matcher.allowed_token_ids() == [0, 1, 2, 3, 4, 5, 6, 7, CALL]  # not b"a\xff"


def test_all_tokens_but_some() -> None:
    assert matcher_of("start ::= #token[*];").allowed_token_ids() == [t for t in range(16) if t != EOS]
    assert matcher_of("start ::= #token[^'<call>',0-3];").allowed_token_ids() == [
        t for t in range(4, 16) if t not in (EOS, CALL)
    ]
    assert matcher_of('start ::= #token[1-2,"<done>"];').allowed_token_ids() == [1, 2, DONE]


def test_an_end_token_between_turns() -> None:
    grammar = "start ::= turn+; turn ::= 'a' #token'</s>';"
    assert matcher_of(grammar, 0).allowed_token_ids() == [EOS]
    matcher = matcher_of(grammar, 0, EOS)
    assert matcher.allowed_token_ids() == [0, EOS]
    assert matcher.is_accepting
    assert not matcher.is_terminated
    assert matcher_of(grammar, 0, EOS, 0, EOS, EOS).is_terminated


def test_forced_pieces_are_texts_and_tokens() -> None:
    matcher = matcher_of("start ::= 'ab' #token'<call>' #token'<done>' 'c' #token[1-2];")
    assert matcher.forced_pieces() == [b"ab", CALL, DONE, b"c"]
    assert matcher.forced_bytes() == b"ab"
    assert matcher_of("start ::= #token'<call>' 'b';").forced_bytes() == b""


def test_an_eager_end() -> None:
    assert matcher_of("start ::= 'a' (#token'<call>' 'b')?;", 0, eager=True).is_terminated
    assert matcher_of("start ::= 'a' #token'<call>';", 0, CALL, eager=True).is_terminated


def test_a_name_may_be_the_text_of_one_token() -> None:
    assert matcher_of("start ::= #token'abc' 'a';", 5).allowed_token_ids() == [0]


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ("start ::= 'a'\n  #token'<calls>';", "line 2, column 3: the vocabulary has no token '<calls>'"),
        ("start ::= #token[99];", "line 1, column 11: there is no token 99: the vocabulary has the ids 0 to 15"),
        ("start ::= #token[^0-15];", "line 1, column 11: no token is left"),
        ("start ::= 'a' - #token[3];", "a token terminal is used where only a regular language"),
        ("start ::= !#token[3] 'a';", "a token terminal is used where only a regular language"),
    ],
)
def test_errors_when_compiled(grammar: str, message: str) -> None:
    with pytest.raises(GrammarError, match=".*".join(map(__import__("re").escape, [message]))):
        structgen.compile(Grammar.kbnf(grammar), VOCABULARY)


def test_a_name_of_several_tokens_is_refused() -> None:
    vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"a"})
    with pytest.raises(GrammarError, match="'a' is the text of several tokens: 0, 1"):
        structgen.compile(Grammar.kbnf("start ::= #token'a';"), vocabulary)


def test_explanations_name_the_token() -> None:
    matcher = matcher_of("start ::= 'a' #token'<call>' 'b';", 0, CALL)
    assert str(matcher.explain(0)) == (
        'token 0 ("a") is refused at its byte 0, "a", after "a<call>". Expected there: "b" (start).'
    )
    matcher.rollback(1)
    assert [str(one) for one in matcher.expected()] == ['the token "<call>" (start)']
    assert (
        str(matcher.explain(DONE))
        == "token 12 is refused: it stands for no text (a special token, or an id that is not used)."
    )
    other = matcher_of("start ::= 'a' #token'<call>' 'b' #token'<done>';", 0)
    assert str(other.explain(DONE)) == (
        'token 12 ("<done>") is refused after "a": the grammar does not allow this token there. '
        'Expected there: the token "<call>" (start).'
    )


def test_pickling_and_grammars_of_the_same_vocabulary() -> None:
    constraint = structgen.compile(Grammar.kbnf("start ::= 'a' #token'<call>';"), VOCABULARY)
    loaded = pickle.loads(pickle.dumps(constraint))
    assert loaded.vocabulary is VOCABULARY
    assert VOCABULARY.special_tokens["<call>"] == CALL
    plain = structgen.compile(Grammar.kbnf("start ::= 'a' 'b';"), VOCABULARY)
    assert plain.grammar.marked is VOCABULARY  # nothing is made for grammars without token terminals
    assert plain.grammar.spellings is VOCABULARY.spellings


def test_a_template_hole_has_no_tokens() -> None:
    template = structgen.template("x {y}", y=Grammar.kbnf("start ::= 'a' #token'<call>';"))
    with pytest.raises(GrammarError, match="the hole 'y' has token terminals"):
        structgen.compile(template, VOCABULARY)


def test_every_node_of_a_random_grammar_is_of_the_kinds_above() -> None:
    rng = random.Random(0)
    kinds = {
        type(node)
        for _ in range(50)
        for rule in with_tokens(rng, random_grammar(rng)).rules
        for node in nodes_of(rule.body)
    }
    assert ast.Token in kinds
