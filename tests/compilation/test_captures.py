"""Captures of texts: what each rule has made; suffixes, ignored texts, grammars in grammars, token terminals."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.vocabularies import BYTES

import structgen
from structgen import Grammar, Vocabulary

WITH_STOP = 'with_stop[capture, stop="<end>"]: /.*/'
WITH_SUFFIX = 'with_suffix[capture, suffix="<end>"]: /.*/'
CALLS = r"""
start: ( f_foo | f_bar )* f_end
f_end[capture]: TEXT
TEXT: /(.|\n)*/

f_foo_hd[suffix="<function", capture="__LIST_APPEND:text"]: TEXT
f_foo: f_foo_hd "=foo>" arguments "</function>"
arguments[capture="__LIST_APPEND:arguments"]: %json { "type": "object" }

f_bar_hd[suffix="<function", capture="__LIST_APPEND:text"]: TEXT
f_bar: f_bar_hd "=bar>" number "</function>"
number[capture]: /[0-9]+/
"""


@pytest.mark.parametrize(
    ("grammar", "text", "captures"),
    [
        # Those of llguidance's documentation.
        (f"start: with_stop\n{WITH_STOP}", "foo", {"with_stop": "foo"}),
        (
            f'start: outer_stop\nouter_stop[capture]: with_stop "<end>"\n{WITH_STOP}',
            "foo<end>",
            {"with_stop": "foo", "outer_stop": "foo<end>"},
        ),
        (f'start: outer\nouter[capture]: with_stop "b"\n{WITH_STOP}', "foob", {"with_stop": "foo", "outer": "foob"}),
        (
            f"start: outer_suffix\nouter_suffix[capture]: with_suffix\n{WITH_SUFFIX}",
            "foo<end>",
            {"with_suffix": "foo", "outer_suffix": "foo<end>"},
        ),
        ("start: with_lazy\nwith_lazy[capture, lazy]: /.*<end>/", "foo<end>", {"with_lazy": "foo<end>"}),
        # Names, and which of several captures counts.
        ('start: x\nx[capture="bar"]: "a"', "a", {"bar": "a"}),
        ('start: x "b"\nx[capture, suffix=/[0-9]+/, stop_capture="end"]: /.*/', "q1b", {"end": "1", "x": "q"}),
        ('start: x "b"\nx[suffix=/[0-9]+/, stop_capture="end"]: /.*/', "q1b", {"end": "1"}),
        ("start: x*\nx[capture]: /a+b/", "abaab", {"x": "aab"}),
        ('start: x*\nx[capture="__LIST_APPEND:q"]: /a+b/', "abaab", {"q": ["ab", "aab"]}),
        ('start: x{2,3}\nx[capture="__LIST_APPEND:q"]: /a*b*/', "abaab", {"q": ["ab", "aab"]}),
        ('start: x~2..3\nx[capture="__LIST_APPEND:q"]: /[ab]{1,2}/', "aab", {"q": ["aa", "b"]}),
        ('start: x{3,}\nx[capture="__LIST_APPEND:q"]: /[ab]{1,2}/', "aabb", {"q": ["aa", "b", "b"]}),
        ('start: x+\nx[capture="__LIST_APPEND:q"]: /a+b?/', "aba", {"q": ["ab", "a"]}),
        ("start: [x] /[a-z]*/\nx[capture]: /[0-9]/", "ab", {}),
        ("start: [x] /[a-z]*/\nx[capture]: /[0-9]/", "1ab", {"x": "1"}),
        (
            'start: x\nx[capture]: "(" x ")" | y\ny[capture="q"]: /[0-9]+/',
            "((12))",
            {"q": "12", "x": "((12))"},
        ),
        ("start: x y\nx[capture]: /a*/\ny[capture]: /a*/", "aaa", {"x": "aaa", "y": ""}),
        ('start: x | y\nx[capture]: "a"\ny[capture]: /[ab]/', "b", {"y": "b"}),
        # Ignored texts are within a capture, but not at its end.
        ("start: x y\n%ignore / +/\nx[capture]: /a/+\ny[capture]: /b*/", "a a  b ", {"x": "a a", "y": "b"}),
        ('start: x "b"\n%ignore / +/\nx[capture, suffix=";"]: /a*/', "aa; b", {"x": "aa"}),
        # Grammars in grammars.
        (
            'start: "a" n\nn[capture, temperature=0.4]: %lark {\n start: "x" y\n y[capture]: "z"\n}',
            "axz",
            {"y": "z", "n": "xz"},
        ),
        ('start: "<" v ">"\nv[capture]: %json {"type": "array"}', "<[1,2]>", {"v": "[1,2]"}),
        (
            CALLS,
            'One <function=foo>{"a": 1}</function>, two <function=bar>12</function> end.\n',
            {"text": ["One ", ", two "], "arguments": ['{"a": 1}'], "number": "12", "f_end": " end.\n"},
        ),
        ('start: /a+/ "b"', "aab", {}),
        ("start: x\nx[capture]: /a+/", "c", {}),
        ("start: x\nx[capture]: /é+./", "éé€", {"x": "éé€"}),
    ],
)
def test_captures(grammar, text, captures):
    constraint = structgen.compile(Grammar.lark(grammar), BYTES)
    assert constraint.captures(text) == captures
    assert pickle.loads(pickle.dumps(constraint)).captures(text) == captures
    assert structgen.check(Grammar.lark(grammar), text).captures == captures


def test_captures_of_grammars_made_of_others():
    inner = Grammar.lark('start: "x" y\ny[capture]: /[0-9]+/')
    outer = Grammar.lark('start: "<" z ">"\nz[capture]: @inner', bind={"inner": inner})
    both = Grammar.concat(outer, " ", Grammar.kbnf('start ::= "k" "l"?;', eager=False), inner)
    assert structgen.compile(both, BYTES).captures("<x12> klx3") == {"y": "3", "z": "x12"}


def test_grammars_bound_to_one_name_are_kept_apart():
    """The text around them is the same, and their parts have the same numbers."""
    for pattern, text in (("[a-z]+", "abc"), ("[0-9]+", "123")):
        inner = Grammar.lark(f"start: name\nname[capture]: /{pattern}/")
        for outer in (
            Grammar.kbnf('start ::= "<" inner ">";', bind={"inner": inner}),
            Grammar.lark('start: "<" @inner ">"', bind={"inner": inner}),
        ):
            assert structgen.compile(outer, BYTES).captures(f"<{text}>") == {"name": text}


def test_token_terminals_stand_as_their_texts_and_names():
    words = {byte: bytes([byte]) for byte in range(256)} | {256: b"hi"}
    vocabulary = Vocabulary.from_bytes(words, [257], 260, special_tokens={"<a>": 258, "</a>": 259})
    grammar = Grammar.lark('start: (<a> x </a> | <[256]>)*\nx[capture="__LIST_APPEND:x"]: /[a-z]*/ ')
    constraint = structgen.compile(grammar, vocabulary)
    matcher = constraint.matcher()
    for token in (258, ord("o"), 259, 256, 258, 259):
        matcher.accept_token(token)
    assert matcher.is_accepting
    assert constraint.captures("<a>o</a>hi<a></a>") == {"x": ["o", ""]}


@given(st.lists(st.tuples(st.text("ab", min_size=1), st.booleans()), max_size=30), st.booleans())
def test_captures_of_lists(items, is_right):
    """Right and left recursion of many items, each captured."""
    rule = "one many | one" if is_right else "many one | one"
    text = f'start: [many]\nmany: {rule}\none: word | name\nword[capture="__LIST_APPEND:word"]: /[ab]+;/\n'
    grammar = Grammar.lark(text + 'name[capture="__LIST_APPEND:name", suffix=":"]: /[ab]+/')
    whole = "".join(name + (";" if is_word else ":") for name, is_word in items)
    found = structgen.compile(grammar, BYTES).captures(whole)
    assert found.get("word", []) == [name + ";" for name, is_word in items if is_word]
    assert found.get("name", []) == [name for name, is_word in items if not is_word]


def test_deep_recursion_is_read():
    grammar = Grammar.lark('start: many\nmany: one many | one\none[capture="__LIST_APPEND:one"]: /[a-z]+;/')
    assert structgen.compile(grammar, BYTES).captures("abc;" * 2000) == {"one": ["abc;"] * 2000}
