"""The temperature that a grammar asks for, token by token."""

from __future__ import annotations

import pytest
from support.vocabularies import BYTES

import structgen
from structgen import Grammar


def temperatures(grammar: Grammar, text: str) -> list[float | None]:
    matcher = structgen.compile(grammar, BYTES).matcher()
    found = [matcher.temperature]
    for byte in text.encode():
        matcher.accept_bytes(bytes([byte]))
        found.append(matcher.temperature)
    return found


@pytest.mark.parametrize(
    ("rules", "text", "expected"),
    [
        ('y "b"\ny[temperature=0.5]: /a+/', "xaab", [None, 0.5, 0.5, 0.5, None]),
        ('y "b"\ny[temperature=0]: /a*/', "xb", [None, 0.0, None]),
        ('y "b"\ny[temperature=0.5, suffix="q"]: /[a-z]*/', "xaqb", [None, 0.5, 0.5, None, None]),
        ('y "b"\ny[temperature=1.5e0]: %json {"type": "array"}', "x[1]b", [None, 1.5, 1.5, 1.5, None, None]),
        (
            'y "b"\ny[temperature=0.5]: %json {"items": {"type": "integer"}, "type": "array", "uniqueItems": true}',
            "x[1,2]b",
            [None, 0.5, 0.5, 0.5, 0.5, 0.5, None, None],
        ),
        ('y "b"\ny[temperature=0.5]: @n', "x1b", [None, 0.5, 0.5, None]),
        # The innermost counts; where several may come, the highest.
        (
            'y "b"\ny[temperature=0.5]: %lark {\n start: "q" z "w"\n z[temperature=0.9]: /[0-9]/\n}',
            "xq1wb",
            [None, 0.5, 0.9, 0.5, None, None],
        ),
        ("(y | z)\ny[temperature=0.5]: /[0-9]a/\nz[temperature=1]: /[0-9]b/", "x1a", [None, 1.0, 1.0, None]),
    ],
)
def test_it_counts_where_a_rule_is_under_way_or_may_begin(rules, text, expected):
    bind = {"n": {"type": "integer"}} if "@n" in rules else {}
    assert temperatures(Grammar.lark(f'start: "x" {rules}', bind=bind), text) == expected


def test_it_goes_along_into_grammars_made_of_others():
    inner = Grammar.lark("start: y\ny[temperature=0.5]: /a+/")
    assert temperatures("<" + inner + ">", "<a>") == [None, 0.5, 0.5, None]
    template = structgen.template("<{x}>", x=inner)
    assert temperatures(template, "<a>") == [None, 0.5, 0.5, None]


def test_it_goes_back_with_the_text():
    matcher = structgen.compile(Grammar.lark('start: "x" y "b"\ny[temperature=0.5]: /a+/'), BYTES).matcher()
    matcher.accept_bytes(b"x")
    fork = matcher.fork()
    matcher.rollback(1)
    assert (matcher.temperature, fork.temperature) == (None, 0.5)


def test_other_grammars_have_none():
    assert temperatures(Grammar.lark("start: /a+/"), "a") == [None, None]
    assert temperatures({"type": "array"}, "[1]") == [None] * 4
