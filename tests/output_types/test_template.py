"""`template`: texts with holes, and what stood in them."""

import datetime
import enum
import json
import re
import uuid
from typing import Annotated, Literal

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from support.texts import constraint_of, language, lets_through

import structgen
from structgen import Grammar, SubstringOf, json_lines, template


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    y: int | None = None


free = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
# A type, its values, and how one is written in a hole.
KINDS = [
    (int, st.integers(), str),
    (float, st.floats(allow_nan=False, allow_infinity=False, width=32), json.dumps),
    (bool, st.booleans(), json.dumps),
    (datetime.date, st.dates(), str),
    (uuid.UUID, st.uuids(), str),
    (Colour, st.sampled_from(Colour), lambda value: value.value),
    (Literal["a", "b c", "-"], st.sampled_from(["a", "b c", "-"]), str),
    (Literal[1, "one"], st.sampled_from([1, "one"]), json.dumps),
    (str | None, st.none() | free, lambda value: json.dumps(value, ensure_ascii=False)),
    (Point, st.builds(Point, x=st.integers(0, 9), y=st.none()), lambda value: f'{{"x":{value.x}}}'),
    (list[int], st.lists(st.integers(0, 9), max_size=3), lambda value: json.dumps(value, separators=(",", ":"))),
    (Grammar.regex("[a-z]{2}"), st.text("abc", min_size=2, max_size=2), str),
    (Grammar.choice({"yes": True, "no": False}), st.booleans(), lambda value: "yes" if value else "no"),
    (
        json_lines(int, min_items=1),
        st.lists(st.integers(0, 9), min_size=1, max_size=3),
        lambda v: "\n".join(map(str, v)),
    ),
    (template("<{inner}>", inner=int), st.fixed_dictionaries({"inner": st.integers()}), lambda v: f"<{v['inner']}>"),
]


@given(st.data())
def test_filled_templates_are_let_through_and_read_again(data):
    """Any types in any order, between texts that they cannot hold."""
    chosen = data.draw(st.lists(st.sampled_from(KINDS), max_size=4))
    kinds = {f"h{number}": kind for number, (kind, _, _) in enumerate(chosen)}
    values = {f"h{number}": data.draw(values) for number, (_, values, _) in enumerate(chosen)}
    pattern = "{{" + "".join(f" | {{{name}}}" for name in kinds) + " | }}"
    text = "{" + "".join(f" | {write(values[f'h{n}'])}" for n, (_, _, write) in enumerate(chosen)) + " | }"
    if any(text.count(" | ") != len(chosen) + 1 for _ in "x"):
        return  # a string holds the separator
    constraint = constraint_of(template(pattern, **kinds), whitespace="compact")
    assert lets_through(constraint, text)
    assert constraint.parse(text) == values


DELIMITERS = ["-", "ab", "aa", "aba", "\n\n", "é"]


@given(st.sampled_from(DELIMITERS), st.text("ab-\né", max_size=8), st.text("ab-\né", max_size=8))
def test_free_text_ends_where_what_is_behind_it_first_comes(delimiter, before, after):
    """As `partition` has it; also where the delimiter overlaps itself."""
    text = before + delimiter + after
    constraint = constraint_of(template(f"{{left}}{delimiter}{{right}}", left=str, right=str))
    assert lets_through(constraint, text)
    left, _, right = text.partition(delimiter)
    assert constraint.parse(text) == {"left": left, "right": right}


@given(st.sampled_from(DELIMITERS), st.text("ab-\né", max_size=8))
def test_free_text_is_refused_where_it_would_end_earlier(delimiter, before):
    """So that what is read is what was written."""
    only = constraint_of(template(f"{{left}}{delimiter}", left=str))
    text = before + delimiter
    assert lets_through(only, text) == (text.index(delimiter) == len(before))


@given(st.text("ab-", max_size=6))
def test_bounded_text_is_free_text_too(text):
    """Lengths beside; a pattern tells by itself what may be there."""
    bounded = template("{x}-", x=Annotated[str, Field(min_length=1, max_length=3)])
    assert lets_through(bounded, text + "-") == (1 <= len(text) <= 3 and "-" not in text)
    patterned = template("{x}-", x=Annotated[str, Field(pattern="^[a-]*$")])
    assert lets_through(patterned, text + "-") == ("b" not in text)


regexes = st.sampled_from(["a*", "a|ab", "[ab]+", "(ab)*", "b?", "a{2}", "[^a]"])


@given(st.lists(regexes, min_size=1, max_size=3), st.text("ab", max_size=6))
def test_ambiguous_holes_take_the_longest_from_the_left(parts, text):
    """Against all ways to cut a text."""

    def cut(text, parts):
        if not parts:
            return None if text else []
        for end in range(len(text), -1, -1):
            if re.fullmatch(parts[0], text[:end]):
                rest = cut(text[end:], parts[1:])
                if rest is not None:
                    return [text[:end], *rest]
        return None

    constraint = constraint_of(template("".join(f"{{h{n}:{part}}}" for n, part in enumerate(parts))))
    pieces = cut(text, parts)
    assert lets_through(constraint, text) == (pieces is not None)
    if pieces is not None:
        assert list(constraint.parse(text).values()) == pieces
    else:
        with pytest.raises(ValueError, match="does not fit"):
            constraint.parse(text)


def test_the_language_by_brute_force():
    """All short texts."""
    kind = template("{a:x|xy}{{{b}}}{c:y*}", b=Literal["x", ""])
    pattern = re.compile(r"(x|xy)\{(x|)\}y*")
    found = language(kind, "xy{}", 6)
    assert found
    assert found == {text for text in language(Grammar.regex("[xy{}]*"), "xy{}", 6) if pattern.fullmatch(text)}


def test_the_example():
    """Text and numbers."""
    capital = template("The capital is {city:[A-Z][a-z]+}. It has {inhabitants} inhabitants.", inhabitants=int)
    text = "The capital is Paris. It has 2102650 inhabitants."
    assert lets_through(capital, text)
    assert constraint_of(capital).parse(text) == {"city": "Paris", "inhabitants": 2102650}


def test_pieces_of_a_source_stand_as_they_are():
    """Not as JSON."""
    kind = template("> {quote}\n{why}", quote=Annotated[str, SubstringOf('a "b" c', unit="word")], why=str)
    assert constraint_of(kind).parse('> "b"\nbecause') == {"quote": '"b"', "why": "because"}
    assert lets_through(kind, '> "b"\nbecause')
    assert not lets_through(kind, '> " b"')


def test_conditions_that_the_engine_checks_hold_in_holes():
    """Of two holes, each has its own."""
    kind = template("{a} {b}", a=set[int], b=Annotated[set[Literal["x", "y"]], Field(min_length=2)])
    assert lets_through(kind, '[1,2] ["x","y"]', whitespace="compact")
    assert not lets_through(kind, '[1,2] ["x","x"', whitespace="compact")


def test_grammars_with_recursion_look_aheads_and_indentation():
    """Whole languages in a hole."""
    kind = template("({a}){b}", a=Grammar.kbnf('start ::= "a" start "b" | "c";'), b=Grammar.language("python"))
    text = "(aacbb)if x:\n    y = 1\n"
    assert lets_through(kind, text)
    assert constraint_of(kind).parse(text) == {"a": "aacbb", "b": text[7:]}
    assert not lets_through(kind, "(aacb)")


def test_grammars_in_holes_do_not_end_early_nor_nowhere():
    """By themselves, these two end at their first chance, and keep a rule that never ends."""
    assert constraint_of(template("{x}!", x=Grammar.kbnf("start ::= 'a'+;"))).parse("aaa!") == {"x": "aaa"}
    assert lets_through(template("{x}!", x=Grammar.kbnf("start ::= 'a'+;")), "aaa!")
    endless = template("{x}!", x=Grammar.kbnf("start ::= 'a' | 'b' loop; loop ::= 'b' loop;"))
    assert constraint_of(endless).matcher().allowed_token_ids() == [ord("a")]


def test_braces_in_regexes():
    """Pairs, classes and escapes do not close a hole."""
    kind = template(r"{{{a:[0-9]{2}}|{b:[}]\}}|{c:[^]}]}}}")
    assert constraint_of(kind).parse("{12|}}|x}") == {"a": "12", "b": "}}", "c": "x"}


BROKEN = [
    ("{", 1, "name"),
    ("a}", 2, "without"),
    ("{}", 1, "name"),
    ("{1}", 1, "name"),
    ("{a", 3, "comes"),
    ("{a!r}", 3, "comes"),
    ("{a:[0-9}", 1, "not closed"),
    ("{a:(}", 1, "regex"),
    ("{a:x} {a:y}", 7, "second"),
    ("{x:y}", 1, "keyword"),
    ("{y}", 1, "has no type"),
    ("no hole", 0, "no hole 'x'"),
]


@pytest.mark.parametrize(("pattern", "column", "says"), BROKEN)
def test_patterns_that_make_no_sense(pattern, column, says):
    """With the place, and what to do."""
    holes = {} if pattern.startswith("{a") or pattern in ("{", "a}", "{}", "{1}") else {"x": int}
    with pytest.raises(structgen.GrammarError, match=says) as raised:
        template(pattern, **holes)
    assert raised.value.column == column


def test_half_a_surrogate_pair():
    """Nothing could write it."""
    with pytest.raises(structgen.GrammarError, match="surrogate") as raised:
        template("a\ud800{x:y}")
    assert raised.value.column == 2


def test_the_line_of_an_error():
    """And what stands there."""
    with pytest.raises(structgen.GrammarError) as raised:
        template("one\ntwo {}")
    assert (raised.value.line, raised.value.column, raised.value.source) == (2, 5, "two {}")


def test_holes_that_nothing_fits():
    """An error that names them, or the schema's own."""
    with pytest.raises(structgen.GrammarError, match=r"in the hole 'x': the regex .* matches no text"):
        constraint_of(template("{x}a", x=Grammar.regex(r"a(?!)|[^\s\S]")))
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        constraint_of(template("{x}", x={"type": "string", "minLength": 2, "maxLength": 1}))
    with pytest.raises(structgen.UnsupportedSchemaError):
        constraint_of(template("{x}", x=pydantic.FilePath))


def test_templates_without_holes():
    """A text, and an empty dict; the empty one too."""
    assert constraint_of(template("a{{}}")).parse("a{}") == {}
    assert lets_through(template("a{{}}"), "a{}")
    assert lets_through(template(""), "")
    assert not lets_through(template(""), "a")


def test_values_that_a_validator_refuses():
    """As everywhere."""

    def is_even(value):
        if value % 2:
            raise ValueError("it is odd")
        return value

    kind = template("{x}", x=Annotated[int, pydantic.AfterValidator(is_even)])
    assert constraint_of(kind).parse("2") == {"x": 2}
    with pytest.raises(pydantic.ValidationError, match="odd"):
        constraint_of(kind).parse("1")


def test_equal_templates_are_compiled_once():
    """By the content of their holes."""
    first, second, third = (
        constraint_of(template("{x}!", x=kind)).grammar for kind in (int, {"type": "integer"}, {"type": "string"})
    )
    assert constraint_of(template("{x}!", x=int)).grammar is first
    assert second is not third
    assert constraint_of(template("{y}!", y=int)).grammar is first
