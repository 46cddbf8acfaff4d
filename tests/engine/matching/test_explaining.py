"""`Matcher.explain` against the mask and a search by brute force; the rules and locations that it names."""

import json
import random

import numpy as np
import pytest
from support.kbnf_grammars import BY_HAND
from support.vocabularies import BYTES, EOS, LETTERS, SIZE, SMALL, SPECIAL, compiled_from

import structgen
from structgen.engine.matching.expectations import ExpectationFinder, class_words, joined, printable, shown
from structgen.engine.matching.matcher import Matcher

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "city": {"type": "string", "maxLength": 40},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
    "$defs": {
        "Tag": {
            "type": "object",
            "properties": {
                "day": {"type": "string", "format": "date"},
                "to": {"anyOf": [{"type": "null"}, {"const": 7}]},
            },
            "required": ["day"],
            "additionalProperties": {"type": "boolean"},
        }
    },
}


def allowed(matcher, size):
    mask = structgen.allocate_token_bitmask(1, size)
    matcher.fill_next_token_bitmask(mask)
    return np.unpackbits(mask.view(np.uint8)[0], bitorder="little")[:size].astype(bool)


def refused_at(matcher, text):
    """Return how many bytes a matcher accepts one by one."""
    twin = Matcher(matcher._compiled) if hasattr(matcher, "_compiled") else matcher.fork()
    for count in range(len(text) + 1):
        twin = matcher.fork()
        try:
            twin.accept_bytes(text[:count])
        except structgen.TokenRejectedError:
            return count - 1
    return None


def check_everywhere(compiled, vocabulary, rng, steps=8):
    """Explain every token before each step of a random walk."""
    matcher = Matcher(compiled)
    for _ in range(steps):
        bits = allowed(matcher, vocabulary.size)
        for token in range(-1, vocabulary.size + 1):
            found = matcher.explain(token)
            assert found.allowed == (0 <= token < vocabulary.size and bool(bits[token])), (token, str(found))
            assert str(found).startswith(f"token {token} ")
            if found.reason in ("grammar", "taken"):
                # Bytes that are fed one by one may end an eager text, which those of a token do not.
                position = found.position if compiled.eager else refused_at(matcher, found.text)
                assert found.position == position, str(found)
                assert found.behind.endswith(found.text[:position])
        tokens = [int(t) for t in np.flatnonzero(bits) if t not in vocabulary.eos_token_ids]
        if not tokens:
            break
        matcher.accept_token(rng.choice(tokens))


@pytest.mark.parametrize("text", BY_HAND)
@pytest.mark.parametrize("eager", [False, True])
def test_it_agrees_with_the_mask_under_grammars(text, eager):
    compiled = compiled_from(text, eager=eager)
    check_everywhere(compiled, SMALL, random.Random(text))


SCHEMAS = [
    PERSON,
    {"type": "array", "items": {"enum": ["a", "ab", 1, None]}, "uniqueItems": True, "maxItems": 3},
    {"type": "object", "patternProperties": {"^a": {"type": "number"}}, "maxProperties": 2},
    {"anyOf": [{"type": "integer", "multipleOf": 3}, {"type": "string", "pattern": "^a+b"}, {"type": "array"}]},
    {"$ref": "#/$defs/Tree", "$defs": {"Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}, "maxItems": 2}}},
    {"not": {"type": "string"}},
    {"type": "object", "minProperties": 1, "propertyNames": {"maxLength": 2}},
]


@pytest.mark.one_in(2, uncompiled=6)
@pytest.mark.parametrize("schema", SCHEMAS, ids=map(json.dumps, SCHEMAS))
@pytest.mark.parametrize("options", [{}, {"whitespace": "single"}, {"property_order": "any", "whitespace": "compact"}])
def test_it_agrees_with_the_mask_under_schemas(schema, options):
    compiled = structgen.compile(schema, BYTES, **options).grammar
    for seed in range(2):
        check_everywhere(compiled, BYTES, random.Random(seed), steps=24)


@pytest.mark.parametrize("text", BY_HAND)
def test_every_byte_that_may_come_is_expected(text):
    """Every byte that may come is the first one of an example, or of its kind; without expectations no byte may."""
    compiled = compiled_from(text, BYTES)
    matcher, rng = Matcher(compiled), random.Random(text)
    for _ in range(6):
        bits = allowed(matcher, BYTES.size)
        found = matcher.expected()
        assert bool(found) == bool(bits.any())
        assert any(one.words == "the end" for one in found) == matcher.is_accepting
        for one in found:
            if one.example:
                assert bits[one.example[0]], one
        tokens = [int(t) for t in np.flatnonzero(bits) if t < 256]
        if not tokens:
            break
        matcher.accept_token(rng.choice(tokens))


def explained(grammar, text, token):
    matcher = structgen.compile(grammar, BYTES).matcher()
    matcher.accept_bytes(text)
    return matcher.explain(token)


def test_rules_of_grammars_are_named():
    grammar = structgen.Grammar.kbnf(
        "start ::= sum ';'; sum ::= sum '+' term | term; term ::= number | '(' sum ')'; number ::= #'[0-9]+';"
    )
    found = explained(grammar, b"1+(2+", ord("x"))
    assert set(found.rules) == {"term", "number"}  # though the normal form has put one into the other
    assert [one.words for one in found.expected if one.place == "number"] == ['"0" to "9"']
    assert str(found).startswith('token 120 ("x") is refused at its byte 0, "x", after "1+(2+".')


def test_a_terminal_of_several_rules_names_them():
    grammar = structgen.Grammar.kbnf(
        "start ::= 'by ' first ' ' last '.'; first ::= #'[A-Z][a-z]+'; last ::= #'[A-Z][a-z]+';"
    )
    assert explained(grammar, b"by ", ord("x")).rules == ("first or last",)


def test_rules_of_indented_grammars_are_named():
    text = "start ::= 'if:\\n' indented!(line+); line ::= margin! #'[a-z]+' '\\n';"
    grammar = structgen.Grammar.kbnf(text, eager=False)
    found = explained(grammar, b"if:\n  a\n", ord("b"))
    assert found.expected


def test_keywords_in_any_case_are_words():
    matcher = structgen.compile(structgen.Grammar.language("sql"), BYTES).matcher()
    assert '"select" in any case (SELECT)' in map(str, matcher.expected())
    # Bytes of other characters that differ in the same bit are no letters.
    pair = structgen.compile(structgen.Grammar.kbnf("start ::= #'[ɐéa]x' | 'Éx';"), BYTES).matcher()
    assert "in any case" not in str(pair.expected())
    # A capital letter and another character: only one of them is a letter.
    digit = structgen.compile(structgen.Grammar.kbnf("start ::= #'[5A]x';"), BYTES).matcher()
    assert [one.words for one in digit.expected()] == ['"5x" or "Ax"']


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "an object (#)"),
        (b"{", 'a key: "name" (#)'),
        (b'{"na', '`me"` (#)'),
        (b'{"name": ', "a string of at most 40 characters (#/properties/name)"),
        (b'{"name": "A', "more of a string of at most 40 characters (#/properties/name)"),
        (b'{"name": "A", "age":', "an integer from 0 to 120 (#/properties/age)"),
        (b'{"name": "A", "age": 1, "city":', "a string of at most 40 characters (#/properties/city)"),
        (b'{"name": "A", "age": 1, ', 'a key: "city" or "tags" (#)'),
        (b'{"name": "A", "age": 1}', "the end"),
        (b'{"name": "A", "age": 1, "tags": [{', 'a key: "day" (#/$defs/Tag)'),
        (b'{"name": "A", "age": 1, "tags": [{"day": ', "a string, a date (#/$defs/Tag/properties/day)"),
        (b'{"name": "A", "age": 1, "tags": [{"day": "2020-01-01", "to": ', "null or 7 (#/$defs/Tag/properties/to)"),
        (
            b'{"name": "A", "age": 1, "tags": [{"day": "2020-01-01", "x": ',
            "true or false (#/$defs/Tag/additionalProperties)",
        ),
    ],
)
def test_places_of_schemas_are_named(text, words):
    matcher = structgen.compile(PERSON, BYTES).matcher()
    matcher.accept_bytes(text)
    assert words in map(str, matcher.expected())


def test_equal_subschemas_keep_their_locations():
    """`name` and `city` are one node of the schema, and have two locations."""
    matcher = structgen.compile(PERSON, BYTES, property_order="any", whitespace="single").matcher()
    matcher.accept_bytes(b'{"city": ')
    assert matcher.expected()[0].place == "#/properties/city"
    matcher.accept_bytes(b'"x", "name": ')
    assert matcher.expected()[0].place == "#/properties/name"


def test_open_rules_lead_to_the_place():
    matcher = structgen.compile(PERSON, BYTES).matcher()
    matcher.accept_bytes(b'{"name": "A", "age": 1, "tags": [{"day": "20')
    assert matcher.open_rules()[-2:] == ("#/properties/tags/items", "#/$defs/Tag/properties/day")
    grammar = structgen.Grammar.kbnf("start ::= a '.'; a ::= '(' a ')' | b; b ::= '[' b ']' | #'[0-9]+';")
    matcher = structgen.compile(grammar, BYTES).matcher()
    matcher.accept_bytes(b"((12")
    assert matcher.open_rules() == ("start", "a", "b")


def test_keys_that_come_again_are_told():
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    found = explained_schema(schema, b'{"key": 1, "key', ord('"'))
    assert found.reason == "taken"
    assert "must not come again" in str(found)
    assert explained_schema(schema, b'{"key": 1, "keys', ord('"')).allowed


def explained_schema(schema, text, token):
    matcher = structgen.compile(schema, BYTES).matcher()
    matcher.accept_bytes(text)
    return matcher.explain(token)


def test_tokens_without_text():
    matcher = Matcher(compiled_from("start ::= 'ab' 'c';", eager=True))
    assert matcher.explain(SPECIAL).reason == "no text"
    assert matcher.explain(SIZE).reason == "no token"
    assert matcher.explain(-1).reason == "no token"
    assert matcher.explain(EOS[0]).reason == "unfinished"
    matcher.accept_token(LETTERS.index("abc"))
    assert matcher.explain(EOS[1]).allowed
    assert matcher.explain(0).reason == "ended"
    assert str(matcher.explain(0)) == 'token 0 ("a") is refused: the text has ended. Expected there: the end.'
    assert matcher.expected()[0].words == "the end"
    assert matcher.open_rules() == ()


def test_nothing_changes():
    matcher = structgen.compile(PERSON, BYTES).matcher()
    matcher.accept_bytes(b'{"name": "A')
    before = matcher.allowed_token_ids()
    for token in range(BYTES.size):
        matcher.explain(token)
    matcher.expected()
    assert matcher.allowed_token_ids() == before


def test_it_goes_on_where_tables_are_renewed():
    limits = structgen.Limits(item_sets=40)
    matcher = structgen.compile({"type": "array"}, BYTES, limits=limits).matcher()
    for _ in range(60):
        matcher.accept_bytes(b"[1,")
        assert matcher.explain(ord("}")).reason == "grammar"
        assert any(one.words == "any value" for one in matcher.expected())


def test_deep_texts_are_explained():
    """The location of a deep item is that of the items that wait for it, up to the root."""
    matcher = structgen.compile(True, BYTES).matcher()
    matcher.accept_bytes(b'[{"a":' * 1500)
    assert matcher.explain(ord("]")).rules in ((), ("#",))
    assert matcher.open_rules() in ((), ("#",))


def test_many_keys_are_listed_shortly():
    schema = {"type": "object", "properties": {f"key{n}": {} for n in range(500)}, "additionalProperties": False}
    matcher = structgen.compile(schema, BYTES, property_order="any").matcher()
    matcher.accept_bytes(b"{")
    (keys,) = [one for one in matcher.expected() if one.words.startswith("a key")]
    assert keys.words.endswith('"key104" or 492 more')


@pytest.mark.slow
def test_a_grammar_made_with_higher_limits_is_explained():
    limits = structgen.Limits(regex_nodes=1_000_000, grammar_symbols=10_000_000)
    long = "|".join(f"a{number}" for number in range(100_000))
    grammar = structgen.Grammar.kbnf(f"start ::= #'{long}' end; end ::= 'b';", limits=limits)
    matcher = structgen.compile(grammar, BYTES, limits=limits).matcher()
    matcher.accept_bytes(b"a7")
    assert '"b" (end)' in map(str, matcher.expected())


def test_a_finder_tells_what_a_set_expects():
    compiled = compiled_from("start ::= 'a' | 'b';")
    finder = ExpectationFinder(compiled.sets, compiled.tables, compiled.origin, compiled.vocabulary.shown)
    with compiled.lock:
        assert list(map(str, finder.expected(compiled.sets.start_set))) == ['"a" or "b" (start)']


def test_words():
    assert joined([]) == ""
    assert joined(["a"]) == "a"
    assert joined("abc") == "a, b or c"
    assert joined("abcdefghij") == "a, b, c, d, e, f, g, h or 2 more"
    assert shown(b"\x00\xff") == '"\\x00\\xff"'
    assert shown(b'":"') == '`":"`'
    assert shown(b'a"') == '`a"`'
    assert len(shown(b"x" * 1000)) < 80
    assert printable("é\u202e".encode()) == "é\\u202e"
    assert class_words((1 << 256) - 1) == "any character"
    assert class_words((1 << 256) - 1 - (1 << 0x22)) == 'any character but `"`'


@pytest.mark.parametrize(
    ("make", "begun"),
    [
        (lambda schema: schema, ""),
        (structgen.json_lines, ""),
        (lambda schema: structgen.template("see {it}", it=schema), "see "),
    ],
)
def test_what_holds_schemas_tells_their_places(make, begun):
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    matcher = structgen.compile(make(schema), BYTES, whitespace="single").matcher()
    matcher.accept_bytes(f'{begun}{{"age": '.encode())
    assert [str(one) for one in matcher.expected()] == ["an integer (#/properties/age)"]
    assert matcher.open_rules()[-1] == "#/properties/age"
