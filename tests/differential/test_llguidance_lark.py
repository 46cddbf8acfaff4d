"""Lazy rules, suffixes, stops, captures and grammars in grammars beside llguidance: masks on random walks, captures.

Not looked at here, as docs/lark.md lists it: a lazy rule whose body may be empty; a `stop` of several tokens, or one
that the rules after it do not write; a lexer that takes the longest terminal; JSON that only one of both writes; and
bounds on tokens of which llguidance counts one more.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import structgen
from structgen import Grammar, Vocabulary

WORDS = [bytes([byte]) for byte in range(256)] + [b"hello", b"ab", b"abc", b"<end>", b"o<", b"nd>b", b"<f", b"=foo>"]
END = len(WORDS)
VOCABULARY = Vocabulary.from_bytes(dict(enumerate(WORDS)), [END], END + 1)
LIKELY = b"<end>abo12="
SAME = [
    'start: x\nx[suffix="<end>"]: /.*/',
    'start: x "b"\nx[suffix="<end>"]: /.*/',
    'start: x "b"\nx[suffix="<end>"]: /[a-h]*/',
    'start: x "b"\nx[suffix=/[0-9]+/]: /.*/',
    'start: x "b"\nx[suffix=/a?b/]: /.*/',
    'start: x "b"\nx[suffix=B]: /[a-c]*/\nB: "ab" | "bc"',
    'start: x "b"\nx[suffix="ab"i]: /[abcABC]*/',
    'start: x "b"\nx[suffix="a".."c"]: /.*/',
    'start: x "b"\nx[lazy]: /.*<end>/',
    'start: (x "b")*\nx[lazy]: /.*<end>/',
    'start: x "b"\nx[lazy]: /[0-9]+/',
    'start: x "b"\nx[lazy]: /a|ab|abc/',
    'start: x "b"\nx[suffix="<end>", lazy, temperature=0.5]: /.*/',
    'start: x "b"\nx[stop="b"]: /[abc]*/',
    'start: x "b" "c"\nx[stop="b"]: /.*/',
    'start: x "b"\nx[temperature=0.5]: /a+/',
    # The text of a rule is in at most so many tokens. (Where a text ends is clear here.)
    'start: x "b"\nx[max_tokens=3]: /a*/',
    'start: "aa" x "b"\nx[max_tokens=2]: /a+/',
    "start: x*\nx[max_tokens=2]: /a+/",
    'start: x "b"\nx[stop="b", max_tokens=3, temperature=0.7]: /[abc]*/',
    'start: x "b"\nx[max_tokens=3]: /[é-ü€]+/',
    # A lazy rule ends the others that began with it.
    "start: a | b\na[lazy]: /[a-z]*x/\nb: /[a-z]*/",
    'start: a "1" | b "2"\na[lazy]: /[a-z]*x/\nb: /[a-z]*x/',
    'start: a "1" | b "2"\na[lazy]: /[a-z]*x/\nb[lazy]: /[a-z]*x/',
    'start: a "1" | b "2"\na[lazy]: /[a-z]*x/\nb[lazy]: /[a-z]*xy/',
    'start: b "2" | a "1"\na[suffix="b"]: /[a-z]*/\nb: "ab" "c"',
    (
        "start: ( f_foo | f_bar )* f_end\nf_end: TEXT\nTEXT: /(.|\\n)*/\n"
        'f_foo_hd[lazy]: TEXT "<f"\nf_foo: f_foo_hd "=foo>" %json { "enum": [true, "a"] } "</f>"\n'
        'f_bar_hd[lazy]: TEXT "<f"\nf_bar: f_bar_hd "=bar>" /[0-9]+/ "</f>"'
    ),
    # Grammars in grammars, and words.
    'start: "a" %lark {\n start: "x" y\n y: "z" | "b"\n} "c"',
    'start: /[ab]+/ foobar\nfoobar: %lark {\n start: "foo" | "Bar"\n}\n',
    'start: n "b"\nn[temperature=0.5, capture]: %lark {\n start: y ";"\n y[lazy]: /[a-c]+1/\n}\n',
    'start: "<" %regex {"substring_words": "a b. abc"} ">"',
    'start: "<" %regex {"substring_words": "don\'t __a1é2 \\u00a0 x--y"} ">"',
    '%llguidance {"allow_initial_skip": true}\nstart: "a" "b" "c"\n%ignore / +/',
]


class Tokens:
    def __init__(self) -> None:
        self.tokens = [*WORDS, b"\xff</s>"]
        self.eos_token_id, self.bos_token_id = END, None
        self.special_token_ids = [END]

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text if isinstance(text, bytes) else text.encode())


@pytest.fixture(scope="module")
def new() -> Any:
    """Return a function that makes llguidance's matcher of a grammar."""
    llguidance = pytest.importorskip("llguidance")
    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()))

    def make(grammar: str) -> Any:
        matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
        assert not matcher.is_error(), matcher.get_error()
        return matcher

    return make


def bits(mask: bytes) -> set[int]:
    number = int.from_bytes(mask, "little")
    return {token for token in range(END + 1) if number >> token & 1}


def masks_are_the_same(grammar: Grammar, new: Any, text: str) -> None:
    constraint = structgen.compile(grammar, VOCABULARY)
    for seed in range(4):
        rng = random.Random(seed)
        matcher, theirs = constraint.matcher(), new(text)
        path: list[int] = []
        while len(path) < 14:
            allowed = set(matcher.allowed_token_ids())
            if END in allowed and "%ignore" in text:
                break  # after the last terminal, llguidance ignores nothing
            assert allowed == ({END} if theirs.is_stopped() else bits(theirs.compute_bitmask())), path
            following = sorted(allowed - {END})
            if not following:
                break
            likely = [token for token in following if token >= 256 or token in LIKELY]
            path.append(rng.choice(likely if likely and rng.random() < 0.6 else following))
            matcher.accept_token(path[-1])
            assert theirs.consume_token(path[-1])


@pytest.mark.parametrize("text", SAME)
def test_the_masks_are_the_same(new, text):
    masks_are_the_same(Grammar.lark(text), new, '%llguidance {"no_forcing": true}\n' + text)


@pytest.mark.parametrize(
    "grammars",
    [
        [{"lark_grammar": 'start: "a" @x "b"'}, {"name": "x", "json_schema": {"enum": ["ab", None]}}],
        [{"lark_grammar": 'start: "a" @x "b"'}, {"name": "x", "lark_grammar": 'start: "hello"* "x"'}],
        [
            {"lark_grammar": 'start: y "b" @z\ny[temperature=0.5]: @x'},
            {"name": "x", "lark_grammar": "start: @z y\ny[lazy]: /[ab]+1/"},
            {"name": "z", "lark_grammar": 'start: "ab" | "o<"'},
        ],
    ],
)
def test_lists_of_grammars(new, grammars):
    for one in grammars:
        if "lark_grammar" in one:
            one["lark_grammar"] = '%llguidance {"no_forcing": true}\n' + one["lark_grammar"]
    text = json.dumps({"grammars": grammars})
    masks_are_the_same(Grammar.lark(text), new, text)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ('start: outer\nouter[capture]: x\nx[capture, suffix="<end>"]: /.*/', "foo<end>"),
        ('start: outer\nouter[capture]: x "b"\nx[capture, stop="b"]: /.*/', "foob"),
        ('start: outer "b"\nouter[capture]: x\nx[capture, lazy]: /.*<end>/', "foo<end>b"),
        ('start: x "b"\nx[capture, suffix=/a?b/, stop_capture="s"]: /.*/', "qabb"),
        ('start: x "c"\nx[capture, suffix=/[0-9]+/, stop_capture="s"]: /.*/', "qa1c"),
        ('start: x* "c"\nx[capture]: /a+b/', "abaabc"),
        ('start: x* "c"\nx[capture="__LIST_APPEND:q"]: /a+b/', "abaababc"),
        ('start: x "c"\nx[capture]: "(" x ")" | y\ny[capture="q"]: /[0-9]+/', "((12))c"),
        ('start: x "b"\n%ignore / +/\nx[capture]: "a" "c"', "a  c  b"),
        ('start: "a" n "b"\nn[capture]: %lark {\n start: "x" y\n y[capture]: "z"\n}', "axzb"),
    ],
)
def test_the_captures_are_the_same(new, text, whole):
    theirs = new('%llguidance {"no_forcing": true}\n' + text)
    for byte in whole.encode():
        theirs.compute_bitmask()
        assert theirs.consume_token(byte)
    expected: dict[str, Any] = {}
    for name, captured in theirs.get_captures():
        if name.startswith("__LIST_APPEND:"):
            expected.setdefault(name.removeprefix("__LIST_APPEND:"), []).append(captured.decode())
        else:
            expected[name] = captured.decode()
    assert structgen.compile(Grammar.lark(text), VOCABULARY).captures(whole) == expected
