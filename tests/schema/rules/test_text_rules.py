"""Strings whose value is a text of a grammar: the masks have exactly the spellings of the grammar's texts."""

import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.grammars import random_grammar
from support.naive import NaiveRecognizer
from support.strict_json import read_strictly
from support.texts import is_read
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen import Grammar
from structgen.kbnf.writing.kbnf import print_grammar

KEYWORD = "x-structgen-grammar"
RECURSIVE = {
    "quotes": "start ::= '\"' [start] '\"' | \"\\\\\" start;",
    "lines": "start ::= 'a' [start] '\\n' | #'[\\t😀é]';",
    "classes": "start ::= #'[a]' [start] #'[\"\\\\\\\\]';",
    "ahead": "start ::= word | start ' ' word; word ::= #'[\"a]+' !#'[\"a]';",
    "except": "start ::= name | '(' start ')'; name ::= #'[a\"]+' - 'a\"';",
    "first": "start ::= '(' [start] ')' | #e'[a\"]*\"';",
    "without": "start ::= '(' [start] ')' | #ex'a\"';",
    "pieces": "start ::= '(' [start] ')' | #substrs'a\"😀';",
    "blocks": "start ::= line | line indented!(start); line ::= margin! #'[a\"]' '\\n';",
    "empty": "start ::= [inner]; inner ::= '(' [inner] ')';",
}


def schema_of(text):
    return {"type": "string", KEYWORD: {"kbnf": text, "start": "start"}}


def written(text, ensure_ascii=False):
    return json.dumps(text, ensure_ascii=ensure_ascii)


def other_spelling(rng, text):
    """A text in any legal spelling of JSON."""
    units = []
    for character in text:
        ways = [json.dumps(character, ensure_ascii=False)[1:-1]]
        points = character.encode("utf-16-be")
        escape = "".join(f"\\u{points[at] << 8 | points[at + 1]:04x}" for at in range(0, len(points), 2))
        ways += [escape, escape.upper().replace("\\U", "\\u")]
        units.append(rng.choice(ways))
    return f'"{"".join(units)}"'


@pytest.mark.parametrize("name", RECURSIVE)
def test_the_canonical_spellings_are_those_of_the_texts(name):
    text = RECURSIVE[name]
    constraint = structgen.compile(schema_of(text), BYTES)
    grammar = structgen.compile(Grammar.kbnf(text, eager=False), BYTES)
    found = 0
    for value in map("".join, itertools.chain(*[itertools.product('a"\\()\n😀 ', repeat=n) for n in range(5)])):
        is_text = is_read(grammar, value)
        assert is_read(constraint, written(value)) == is_text, value
        found += is_text
    assert found


@pytest.mark.parametrize("name", RECURSIVE)
def test_walks_are_json_of_texts(name):
    text = RECURSIVE[name]
    constraint = structgen.compile({"type": "array", "items": schema_of(text)}, BYTES)
    grammar = structgen.compile(Grammar.kbnf(text, eager=False), BYTES)
    sampler, rng = Sampler(BYTES, longest=400, late=40), random.Random(name)
    finished = 0
    for _ in range(10):
        walk = sampler.walk(constraint.grammar, rng)
        if walk.finished:
            finished += 1
            for value in read_strictly(walk.text):
                assert is_read(grammar, value), value
    assert finished


@given(st.integers(0, 10**9), st.text('a"\\', max_size=6))
def test_characters_of_classes_have_any_spelling(seed, value):
    grammar = structgen.compile(Grammar.kbnf(RECURSIVE["classes"], eager=False), BYTES)
    constraint = structgen.compile(schema_of(RECURSIVE["classes"]), BYTES)
    spelling = other_spelling(random.Random(seed), value)
    assert json.loads(spelling) == value
    assert is_read(constraint, spelling) == is_read(grammar, value)


@pytest.mark.parametrize("seed", range(40))
def test_random_grammars(seed):
    tree = random_grammar(random.Random(seed))
    schema = schema_of(print_grammar(tree))
    naive = NaiveRecognizer(tree)
    try:
        constraint = structgen.compile(schema, BYTES)
    except structgen.SchemaError as error:
        constraint = None
        assert "no text" in str(error) or "no value" in str(error)
    for value in map("".join, itertools.chain(*[itertools.product("abcé", repeat=n) for n in range(5)])):
        is_text = value != "" and naive.run(value.encode())[1]
        assert (constraint is not None and is_read(constraint, written(value))) == is_text, value


@pytest.mark.parametrize(
    ("keywords", "values", "others"),
    [
        ({"minLength": 1}, ["()"], ["", "("]),
        ({"enum": ["", "()", "(", "(()"]}, ["", "()"], ["(", "(())"]),
        ({"type": ["string", "null"]}, [None, "(())"], ["("]),
        ({"anyOf": [{"pattern": "x"}, {KEYWORD: {"kbnf": RECURSIVE["quotes"]}}]}, [], []),
    ],
)
def test_beside_other_keywords(keywords, values, others):
    schema = {"type": "string", KEYWORD: {"concat": [{"kbnf": RECURSIVE["empty"]}]}, **keywords}
    if not values:
        with pytest.raises(structgen.UnsupportedSchemaError, match="has other conditions beside it"):
            structgen.compile(schema, BYTES)
        return
    constraint = structgen.compile(schema, BYTES)
    for value in (*values, *others):
        assert is_read(constraint, written(value)) == (value in values), value
        if value in values:
            assert constraint.parse(written(value)) == value


REFUSED = {
    "maxLength": ({"maxLength": 3}, "#", KEYWORD),
    "not": ({"not": {}}, "#/not", KEYWORD),
    "uniqueItems": ({"uniqueItems": True}, "#", "uniqueItems"),
    "contains": ({"contains": {"const": '""'}}, "#/items", KEYWORD),
    "propertyNames": ({}, "#", KEYWORD),
    "patternProperties": ({}, "#/patternProperties/a", KEYWORD),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rules_is_refused_by_name_and_location(name):
    recursive = schema_of(RECURSIVE["quotes"])
    keywords, location, keyword = REFUSED[name]
    schema = {
        "maxLength": {**recursive, **keywords},
        "not": {"not": recursive},
        "uniqueItems": {"type": "array", "items": {"properties": {"a": recursive}}, **keywords},
        "contains": {"type": "array", "items": recursive, **keywords},
        "propertyNames": {"type": "object", "propertyNames": recursive},
        "patternProperties": {"type": "object", "patternProperties": {"a": recursive, "b": {"minLength": 3}}},
    }[name]
    with pytest.raises(structgen.UnsupportedSchemaError) as caught:
        structgen.compile(schema, BYTES)
    assert f"(at {location})" in str(caught.value)
    assert caught.value.keyword == keyword


@pytest.mark.parametrize("name", REFUSED)
def test_all_of_it_works_without_recursion(name):
    plain = {"type": "string", KEYWORD: {"kbnf": "start ::= 'a' part; part ::= '\"' | 'bb';"}}
    schema, values, others = {
        "maxLength": ({**plain, "maxLength": 2}, ['a"'], ["abb", "a"]),
        "not": ({"type": "string", "not": plain}, ["a"], ["abb"]),
        "uniqueItems": ({"type": "array", "items": plain, "uniqueItems": True}, [['a"', "abb"]], [["abb", "abb"]]),
        "contains": ({"type": "array", "items": plain, "contains": {"const": "abb"}}, [["abb"]], [['a"']]),
        "propertyNames": ({"type": "object", "propertyNames": plain}, [{'a"': 1}], [{"a": 1}]),
        "patternProperties": (
            {"type": "object", "patternProperties": {"a": plain, "b": {"minLength": 3}}},
            [{"ab": "abb"}],
            [{"ab": 'a"'}],
        ),
    }[name]
    constraint = structgen.compile(schema, BYTES)
    for value in (*values, *others):
        assert is_read(constraint, written(value)) == (value in values), value


def test_messages_name_the_field():
    schema = {"type": "object", "properties": {"q": {KEYWORD: {"language": "json"}, "type": "string"}}}
    matcher = structgen.compile(schema, BYTES).matcher()
    matcher.accept_bytes(b'{"q": ')
    assert "a string, a text in the language json (#/properties/q)" in str(matcher.explain(ord("1")))
    matcher.accept_bytes(b'"')
    assert "(#/properties/q)" in str(matcher.explain(ord("%")))


@pytest.mark.parametrize("dialect", ["kbnf", "gbnf", "lark"])
def test_exports_have_the_same_texts(dialect):
    schema = schema_of(RECURSIVE["quotes"])
    text = structgen.export(schema, dialect)
    read = Grammar.lark(text) if dialect == "lark" else getattr(Grammar, dialect)(text)
    exported, own = structgen.compile(read, BYTES), structgen.compile(schema, BYTES)
    for value in map("".join, itertools.chain(*[itertools.product('a"\\', repeat=n) for n in range(6)])):
        assert is_read(exported, written(value)) == is_read(own, written(value)), value


@pytest.mark.parametrize("name", ["ahead", "blocks"])
def test_what_no_other_engine_can_do_is_not_exported(name):
    with pytest.raises(structgen.UnsupportedSchemaError, match="look-aheads and indentation"):
        structgen.export(schema_of(RECURSIVE[name]), "kbnf")


def test_yaml_refuses_a_recursive_grammar():
    with pytest.raises(structgen.UnsupportedSchemaError, match="not written as JSON"):
        structgen.compile(schema_of(RECURSIVE["quotes"]), BYTES, format="yaml")
