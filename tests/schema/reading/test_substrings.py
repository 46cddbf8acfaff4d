"""`x-substring-of` and `SubstringOf`: every run of units of the source can be written, and nothing else."""

import itertools
import json
import re
from typing import Annotated, Literal

import jsonschema
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, StringConstraints
from support.texts import allowed_by, constraint_of, language, lets_through
from typing_extensions import TypeAliasType

import structgen
from structgen import SubstringOf
from structgen.compilation.cache import estimated_bytes
from structgen.engine.automata.suffix_automaton import SuffixAutomaton
from structgen.kbnf.normal_form.productions import _FACTS, _NUMBERS
from structgen.schema.json_text.terminals import _quoted_once
from structgen.schema.own_keywords import SUBSTRING_OF
from structgen.schema.reading.substrings import is_substring, units_of

NASTY = 'He said "hi\n" to \\me\t\x00\x7f. Ça e\u0301té 👩‍👩‍👧 don\'t'
sources = st.text(st.sampled_from('ab "\\\n/é\u0301😀\x00'), min_size=1, max_size=12)


def schema_of(text, unit="character", **more):
    """Return a schema of substrings of a source."""
    return {"type": "string", SUBSTRING_OF: {"text": text, "unit": unit}, **more}


def written(text):
    """Return a string as the grammar spells a known one."""
    return json.dumps(text, ensure_ascii=False)


def pieces(text, unit="character"):
    """Return every run of units, from every pair of borders."""
    units = units_of(text, unit)
    runs = {"".join(units[low:high]) for low, high in itertools.combinations(range(len(units) + 1), 2)}
    return {run for run in runs if unit == "character" or not (run[0].isspace() or run[-1].isspace())}


@given(sources, st.sampled_from(["character", "word"]))
def test_masks_have_all_pieces_and_nothing_else(text, unit):
    """Return all texts, by following every token that the masks allow."""
    if unit == "word" and not text.strip():
        return
    matcher = constraint_of(schema_of(text, unit)).matcher()
    found = set()
    reached = [b""]
    while reached:
        begun = reached.pop()
        matcher.reset()
        matcher.accept_bytes(begun)
        allowed = matcher.allowed_token_ids()
        if 256 in allowed:
            found.add(begun.decode())
        reached.extend(begun + bytes([byte]) for byte in allowed if byte < 256)
    assert found == {written(piece) for piece in pieces(text, unit)}
    assert all(is_substring(piece, text, unit) for piece in pieces(text, unit))


@given(sources, sources, st.sampled_from(["character", "word"]))
def test_the_check_is_that_of_the_borders(text, value, unit):
    """Compare `is_substring` with the list of all runs."""
    assert is_substring(value, text, unit) == (value in pieces(text, unit))


def test_masks_over_tokens_of_several_characters():
    """Check that each token is allowed where some run continues with it."""
    source = 'abba "ab" é\\'
    words = ["a", "b", "ab", "ba", "abba", ' "', "bb", "é", 'a"', '"', '\\"', '\\\\"', " ", 'ba \\"', "c", '"a', "é\\"]
    tokens = {number: word.encode() for number, word in enumerate(words)}
    vocabulary = structgen.Vocabulary.from_bytes({**tokens, 60: b""}, eos_token_ids=[60])
    texts = {written(piece) for piece in pieces(source)}
    matcher = constraint_of(schema_of(source), vocabulary).matcher()
    for text in sorted(texts):
        for end in range(len(text) + 1):
            matcher.reset()
            matcher.accept_bytes(text[:end].encode())
            assert matcher.allowed_token_ids() == allowed_by(texts, text[:end], tokens, [60]), text[:end]


@pytest.mark.parametrize("tokenization", ["any", "proper"])
def test_pieces_can_be_written_by_a_real_tokenizer(tiny_tokenizer, tokenization):
    """Check that the masks allow the tokens that the tokenizer makes of each run."""
    # A size of its own: other tests read the same tokens out of tokenizers with special tokens besides.
    vocabulary = structgen.Vocabulary.from_huggingface(tiny_tokenizer, vocab_size=612)
    constraint = structgen.compile(schema_of(NASTY), vocabulary, tokenization=tokenization)
    for low in range(0, len(NASTY), 3):
        for high in range(low + 1, len(NASTY) + 1, 4):
            matcher = constraint.matcher()
            for token in tiny_tokenizer.encode(written(NASTY[low:high])):
                assert token in matcher.allowed_token_ids(), (NASTY[low:high], token)
                matcher.accept_token(token)
            assert matcher.is_accepting


def test_other_spellings_are_not_written():
    """Check that strings have one form, that of `json.dumps`, as other known strings have."""
    assert lets_through(schema_of("é/"), '"é/"')
    assert not lets_through(schema_of("é/"), '"\\u00e9/"')
    assert not lets_through(schema_of("é/"), '"é\\/"')


def test_the_empty_string_is_no_piece():
    """Check that the empty string is refused, except where another branch allows it."""
    assert not lets_through(schema_of("ab"), '""')
    assert lets_through({"anyOf": [schema_of("ab"), {"const": ""}]}, '""')


WORDS = [
    ("Don't pay 3.50 €!", ["Don't", " ", "pay", " ", "3.50", " ", "€", "!"]),
    ("‘rock ’n’ roll’", ["‘", "rock", " ", "’", "n", "’", " ", "roll", "’"]),
    ("1,000.5.", ["1,000.5", "."]),
    ("e\u0301te\u0301 नमस्ते", ["e\u0301te\u0301", " ", "नमस्ते"]),
    ("snake_case x-y", ["snake_case", " ", "x", "-", "y"]),
    ("東京です", ["東", "京", "で", "す"]),
    ("👩‍👩‍👧 ok👍🏽", ["👩‍👩‍👧", " ", "ok", "👍🏽"]),
    ("a \n\t b", ["a", " \n\t ", "b"]),
]


@pytest.mark.parametrize(("text", "units"), WORDS)
def test_words(text, units):
    """Check that no unit is split that a reader sees as one."""
    assert units_of(text, "word") == units


@given(st.text())
def test_units_are_the_text(text):
    """Check that the units together are the text again."""
    assert "".join(units_of(text, "word")) == text
    assert all(units_of(text, "word"))


# --- beside other keywords -------------------------------------------------------------------------------------------


@given(sources, st.integers(0, 6), st.integers(1, 6), st.sampled_from(["a", "^b", "b$", "[ab]{2}", "^[^é]*$"]))
def test_lengths_and_patterns_hold_too(text, low, high, pattern):
    """Check intersections with other keywords; an empty one is an error."""
    schema = schema_of(text, minLength=low, maxLength=high, pattern=pattern)
    # As ECMA-262 has it, `$` is the end.
    expected = {
        piece for piece in pieces(text) if low <= len(piece) <= high and re.search(pattern.replace("$", r"\Z"), piece)
    }
    if not expected:
        with pytest.raises(structgen.UnsatisfiableSchemaError):
            constraint_of(schema)
        return
    constraint = constraint_of(schema)
    for piece in pieces(text):
        assert lets_through(constraint, written(piece)) == (piece in expected)
    assert {constraint.parse(written(piece)) for piece in expected} == expected


def test_it_meets_enumerations_and_its_like():
    """Check combinations: two sources, a source and an `enum`, and `not`."""
    both = {"allOf": [schema_of("abc"), schema_of("bcd")]}
    assert language(both, 'abcd"', 5) == {'"b"', '"c"', '"bc"'}
    assert language(schema_of("abc", enum=["ab", "ac", 1]), 'abc"1', 5) == {'"ab"'}
    assert language(schema_of("ab", **{"not": {"const": "a"}}), 'ab"', 5) == {'"b"', '"ab"'}
    assert language({"oneOf": [schema_of("ab"), {"const": "a"}]}, 'ab"', 5) == {'"b"', '"ab"'}


def test_other_types_are_not_touched():
    """Check that the keyword, like `pattern`, accepts values that are not strings."""
    assert lets_through({SUBSTRING_OF: "ab"}, "12")
    assert lets_through({SUBSTRING_OF: "ab"}, '"ab"')
    assert not lets_through({SUBSTRING_OF: "ab"}, '"ba"')


def test_keys_and_items_that_differ():
    """Check maps with substrings as keys, and lists of different substrings."""
    keys = {"type": "object", "propertyNames": {SUBSTRING_OF: "ab"}, "additionalProperties": {"const": 1}}
    assert lets_through(keys, '{"ab":1,"a":1}', whitespace="compact")
    assert not lets_through(keys, '{"a":1,"a":1}', whitespace="compact")
    assert not lets_through(keys, '{"ba":1}', whitespace="compact")
    unique = {"type": "array", "items": schema_of("ab"), "uniqueItems": True, "minItems": 3}
    assert lets_through(unique, '["a","b","ab"]', whitespace="compact")
    assert not lets_through(unique, '["a","b","a"', whitespace="compact")


def test_its_complement_is_refused_by_name():
    """Check that the complement is refused with the keyword and the location."""
    with pytest.raises(structgen.UnsupportedSchemaError) as raised:
        constraint_of({"properties": {"x": {"not": {SUBSTRING_OF: "ab"}}}})
    assert raised.value.keyword == SUBSTRING_OF
    assert raised.value.pointer == "/properties/x"


@pytest.mark.parametrize(
    "value", [1, "", {}, {"text": 1}, {"text": "a", "unit": "line"}, {"text": "a", "x": 1}, "\ud800"]
)
def test_what_it_cannot_be(value):
    """Check that invalid values of the keyword are refused with its location."""
    with pytest.raises(structgen.SchemaError) as raised:
        constraint_of({"items": {SUBSTRING_OF: value}})
    assert (raised.value.pointer, raised.value.keyword) == ("/items", SUBSTRING_OF)


def test_the_validator_knows_it():
    """Check that the validator knows the keyword in every draft, and ignores it beside an overriding reference."""
    for draft in ("draft4", "draft7", "2020-12"):
        constraint = constraint_of({SUBSTRING_OF: {"text": "cat sat", "unit": "word"}}, draft=draft)
        assert constraint.parse('"cat"') == "cat"
        with pytest.raises(jsonschema.ValidationError, match="source text"):
            constraint.parse('"at"')
    overridden = {"$ref": "#/definitions/any", SUBSTRING_OF: "a", "definitions": {"any": {}}}
    assert constraint_of(overridden, draft="draft7").parse('"b"') == "b"
    assert lets_through(overridden, '"b"', draft="draft7")


def test_texts_longer_than_automata_may_be_are_refused():
    """Check that the error names the limit."""
    with pytest.raises(structgen.LimitExceededError) as raised:
        constraint_of(schema_of("ab" * 600), limits=structgen.Limits(automaton_states=1000))
    assert raised.value.limit == "automaton_states"


# --- Pydantic --------------------------------------------------------------------------------------------------------

TYPES = [
    Annotated[str, SubstringOf("abc"), Field(max_length=2)],
    Annotated[str, Field(max_length=2), SubstringOf("abc")],
    Annotated[str, SubstringOf("abc"), Field(pattern="b")],
    Annotated[str, SubstringOf("abc"), StringConstraints(max_length=2, pattern="b")],
    Annotated[str, SubstringOf("abcd"), SubstringOf("bcde")],
    Annotated[str, SubstringOf("abc"), Field(min_length=2, description="some")],
    Annotated[str, SubstringOf("abc")] | None,
    Annotated[str, SubstringOf("abc")] | Literal[""],
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_pydantic_and_masks_agree(kind):
    """Compare masks and the validator on all short strings."""
    adapter = pydantic.TypeAdapter(kind)
    constraint = constraint_of(kind)
    for size in range(5):
        for text in map("".join, itertools.product("abcd", repeat=size)):
            try:
                adapter.validate_json(written(text))
            except pydantic.ValidationError:
                assert not lets_through(constraint, written(text)), text
            else:
                assert lets_through(constraint, written(text)), text


def test_what_pydantic_changes_was_a_piece_as_it_was_written():
    """Check that lower-casing and stripping follow the check: a run stays valid whatever they change."""
    kind = Annotated[str, SubstringOf(" Abc a"), StringConstraints(to_lower=True, strip_whitespace=True)]
    constraint = constraint_of(kind)
    for piece in pieces(" Abc a"):
        assert lets_through(constraint, written(piece))
        assert constraint.parse(written(piece)) == piece.strip().lower()


def test_instances_made_by_hand_are_checked():
    """Check that Pydantic validates `SubstringOf`, and that it needs a str and a usable text."""

    class Evidence(BaseModel):
        quote: Annotated[str, SubstringOf("The cat sat.", unit="word")]

    assert Evidence(quote="cat").quote == "cat"
    with pytest.raises(pydantic.ValidationError, match="source text"):
        Evidence(quote="at")
    with pytest.raises(structgen.SchemaError, match="annotates str only"):
        pydantic.TypeAdapter(Annotated[bytes, SubstringOf("a")])
    alias = TypeAliasType("alias", str)
    assert pydantic.TypeAdapter(Annotated[alias, SubstringOf("ab")]).validate_json('"b"') == "b"
    assert lets_through(Annotated[alias, SubstringOf("ab")], '"b"')
    for text in ("", "\ud800"):
        with pytest.raises(structgen.SchemaError):
            SubstringOf(text)
    with pytest.raises(structgen.SchemaError, match="is empty"):
        SubstringOf(" \n", unit="word")


def test_other_sources_are_other_grammars():
    """Check that the cache compares sources by content."""
    first, second = (constraint_of(schema_of(text)) for text in ("ab", "cd"))
    assert lets_through(first, '"ab"')
    assert lets_through(second, '"cd"')
    assert not lets_through(second, '"ab"')
    assert constraint_of(schema_of("ab")).grammar is first.grammar


# --- size ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["character", "word"])
@pytest.mark.parametrize("base", ["a", "ab ", "".join(map(chr, range(33, 127))), "so it goes: "])
def test_work_is_linear_in_the_text(unit, base):
    """Check that memory and automaton states grow with the text, not faster, if it repeats itself too."""
    text = (base * 30_000)[:30_000]
    constraint = constraint_of(schema_of(text, unit))
    store = constraint.grammar.shared.automata
    assert SuffixAutomaton(tuple(piece.encode() for piece in units_of(text, unit))).bytes_used < 60 * len(text)
    matcher = constraint.matcher()
    before = store.count
    for byte in written(text.strip()[:2000]).encode()[:-1]:
        assert byte in matcher.allowed_token_ids()
        matcher.accept_token(byte)
    assert store.count - before < 20_000


def test_nothing_large_is_kept_for_ever():
    """Check that caches of sources compiled one after the other are bounded and accounted for."""
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 5000)))
    weights = [
        estimated_bytes(constraint_of(given).grammar)
        for given in (
            schema_of(text),
            structgen.json_lines(schema_of(text)),
            structgen.Grammar.substring(text),
            structgen.template("{a}", a=structgen.Grammar.substring(text)),
        )
    ]
    assert min(weights) > 20 * len(text)
    before = len(_FACTS), len(_NUMBERS), _quoted_once.cache_info().currsize
    for number in range(3):
        constraint_of(schema_of(text[number:]))
        constraint_of(structgen.Grammar.substring(text[number:]))
        constraint_of(structgen.Grammar.choice([f"{character}{number}" for character in text]))
    assert (len(_FACTS), len(_NUMBERS), _quoted_once.cache_info().currsize) == before
