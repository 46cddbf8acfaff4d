"""`Grammar.choice` and `Grammar.substring`."""

import enum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.texts import allowed_by, constraint_of, language
from support.vocabularies import BYTES

import structgen
from structgen import Grammar

TOKENS = {0: b"a", 1: b"b", 2: b"ab", 3: b"ba", 4: b"abb", 5: b"c", 6: "é".encode()[:1], 7: "é".encode()[1:], 9: b""}
VOCABULARY = structgen.Vocabulary.from_bytes(TOKENS, eos_token_ids=[9])
some_texts = st.lists(st.text("abé", max_size=4), min_size=1, max_size=8)


@given(some_texts)
def test_masks_of_a_choice_by_brute_force(texts):
    """Prefixes of one another, the empty text, and the same text twice among them."""
    matcher = structgen.compile(Grammar.choice(texts), VOCABULARY).matcher()
    for text in texts:
        for end in range(len(text) + 1):
            matcher.reset()
            matcher.accept_bytes(text[:end].encode())
            assert matcher.allowed_token_ids() == allowed_by(set(texts), text[:end], TOKENS, [9])


@given(some_texts)
def test_a_choice_is_its_texts(texts):
    """All of them, and nothing else."""
    assert language(Grammar.choice(texts), "abé", 5) == set(texts)


def test_a_choice_gives_what_its_texts_stand_for():
    """Themselves, or the values of a mapping, or the members of an enumeration."""

    class Colour(enum.Enum):
        RED = "red"
        DARK = "dark red"

    assert constraint_of(Grammar.choice(["red", "blue"])).parse("blue") == "blue"
    assert constraint_of(Grammar.choice({"yes": True, "no": [0]})).parse("no") == [0]
    assert constraint_of(Grammar.choice(Colour)).parse("dark red") is Colour.DARK
    with pytest.raises(ValueError, match="not one of the choices"):
        constraint_of(Grammar.choice({"yes": True})).parse("maybe")


def test_a_text_is_spelled_for_the_value_that_it_gives():
    """Texts may be the values of other texts."""
    grammar = Grammar.choice({"left": "right", "right": "left", "up": 1})
    assert [grammar.parse(grammar.spell(value)) for value in ("left", "right", 1)] == ["left", "right", 1]
    assert grammar.spell("up") == "up"


def test_choices_of_the_same_texts_share_a_grammar_and_not_their_values():
    """The order does not matter, nor does what they stand for."""
    first, second = constraint_of(Grammar.choice({"a": 1, "b": 2})), constraint_of(Grammar.choice({"b": 3, "a": 4}))
    assert first.grammar is second.grammar
    assert (first.parse("a"), second.parse("a")) == (1, 4)
    assert constraint_of(Grammar.choice(["a", "b,"])).grammar is not constraint_of(Grammar.choice(["a,", "b"])).grammar


@pytest.mark.parametrize("texts", [[], {}, "yes", [1], [["a"]], {1: "a"}, ["\ud800"], enum.Enum("Number", {"ONE": []})])
def test_what_is_no_choice(texts):
    """No texts, or something else."""
    with pytest.raises(structgen.GrammarError):
        Grammar.choice(texts)


def test_a_choice_of_very_many_texts_is_one_table():
    texts = [f"{number:05d} {number * 7919 % 100003}" for number in range(50_000)]
    constraint = constraint_of(Grammar.choice(texts))
    matcher = constraint.matcher()
    for byte in texts[777].encode():
        assert byte in matcher.allowed_token_ids()
        matcher.accept_token(byte)
    assert matcher.is_terminated
    assert constraint.grammar.sets.rules.size < 20


def test_a_choice_is_not_eager():
    """Behind `ab`, the model may go on to `abc`."""
    matcher = constraint_of(Grammar.choice(["ab", "abc"])).matcher()
    matcher.accept_bytes(b"ab")
    assert matcher.allowed_token_ids() == [ord("c"), 256]


@given(st.text("ab é", min_size=1, max_size=8), st.integers(1, 4))
def test_substrings_are_pieces_of_their_text(text, most):
    """By all pairs of borders."""
    every = {text[low:high] for low in range(len(text)) for high in range(low + 1, len(text) + 1)}
    assert language(Grammar.substring(text), "ab é", 9) == every
    short = {piece for piece in every if len(piece) <= most}
    assert language(Grammar.substring(text, max_length=most), "ab é", 9) == short


def test_substrings_of_words():
    """White space at neither end, and no half words."""
    grammar = Grammar.substring("a ab  b.", unit="word")
    whole = {"a", "ab", "b", "b.", ".", "a ab", "ab  b", "ab  b.", "a ab  b", "a ab  b."}
    assert language(grammar, "ab .", 9) == whole
    assert language(Grammar.substring("a ab  b.", unit="word", max_length=2), "ab .", 9) == {"a", "ab", "b", "b.", "."}


def test_substrings_that_cannot_be():
    """Of nothing, or shorter than any word."""
    with pytest.raises(structgen.SchemaError):
        Grammar.substring("")
    with pytest.raises(structgen.SchemaError):
        Grammar.substring(" ", unit="word")
    with pytest.raises(structgen.GrammarError, match="no word"):
        Grammar.substring("word", unit="word", max_length=3)
    with pytest.raises(structgen.GrammarError, match="no character"):
        Grammar.substring("word", max_length=0)


def test_grammars_of_the_same_are_equal():
    """And hash alike; choices only if their texts stand for the same."""
    makers = [
        lambda: Grammar.regex("[0-9]+"),
        lambda: Grammar.kbnf('start ::= "a";'),
        lambda: Grammar.kbnf('start ::= "a";', eager=False),
        lambda: Grammar.choice({"a": [1]}),
        lambda: Grammar.choice({"a": [2]}),
        lambda: Grammar.choice(["a"]),
        lambda: Grammar.substring("ab"),
        lambda: Grammar.substring("ab", max_length=1),
    ]
    for number, make in enumerate(makers):
        for other, make_other in enumerate(makers):
            assert (make() == make_other()) is (number == other)
        assert hash(make()) == hash(make())


def test_what_a_grammar_shows():
    """How it is made, of the beginning of its source."""
    assert repr(Grammar.regex("[0-9]+")) == "Grammar.regex('[0-9]+')"
    assert repr(Grammar.choice({"yes": True, "no": False})) == "Grammar.choice(['no', 'yes'])"
    assert repr(Grammar.substring("a b", unit="word")) == "Grammar.substring('a b')"
    assert repr(Grammar.lark('start: "a"')) == "Grammar.lark('start: \"a\"')"
    assert repr(Grammar.kbnf('start ::= "a";', eager=False)) == "Grammar.kbnf('start ::= \"a\";', eager=False)"
    assert len(repr(Grammar.substring("word " * 1000))) < 100
    assert len(repr(Grammar.choice(map(str, range(1000))))) < 100
    assert structgen.compile(Grammar.choice(["a"]), BYTES).is_json is False


def test_kbnf_begins_at_start_or_at_the_rule_that_is_named():
    """Grammars with other starts differ, though their text is the same."""
    text = "start ::= digit '.'; digit ::= '0' | '1';"
    assert language(Grammar.kbnf(text), "01.", 3) == {"0.", "1."}
    digit = Grammar.kbnf(text, start="digit")
    assert language(digit, "01.", 3) == {"0", "1"}
    assert digit != Grammar.kbnf(text)
    assert digit == Grammar.kbnf(text, start="digit")
    assert repr(digit).endswith(", start='digit')")
    assert language(Grammar.kbnf("root ::= digit '.'; digit ::= '0';"), "0.", 3) == {"0."}
    with pytest.raises(structgen.GrammarError, match="'digits' is not defined\nHint: did you mean 'digit'"):
        Grammar.kbnf(text, start="digits")
    with pytest.raises(structgen.GrammarError, match="by no other: 'a', 'b'"):
        Grammar.kbnf("a ::= 'x'; b ::= 'y';")


def test_a_refusal_is_explained_in_a_grammar_with_another_start():
    """The explanation reads the grammar again, from the same rule."""
    matcher = constraint_of(Grammar.kbnf("root ::= digit '.'; digit ::= #'[0-9]';")).matcher()
    assert "digit" in str(matcher.explain(ord("x")))


def test_grammars_without_a_text_are_refused():
    """In every notation; the empty text is one where it was asked for."""
    for grammar, message in [
        (Grammar.kbnf("a ::= 'x' a;"), "the rule 'a' has no alternative that ends"),
        (Grammar.gbnf('root ::= "x" root'), "the rule 'root' has no alternative that ends"),
        (Grammar.lark('start: "x" start'), "the rule 'start' has no alternative that ends"),
        (Grammar.regex("[^\\s\\S]"), "matches no text"),
    ]:
        with pytest.raises(structgen.GrammarError, match=message):
            structgen.compile(grammar, BYTES)
    for grammar in (Grammar.regex("a*"), Grammar.lark('start: "a"*'), Grammar.gbnf('root ::= "a"*')):
        assert language(grammar, "a", 2) == {"", "a", "aa"}


def test_wrong_numbers_and_names_are_refused_at_once():
    letter = Grammar.regex("a")
    for wrong in (lambda: letter.repeat(2.5), lambda: letter.repeat(0, True), lambda: letter.repeat("1")):
        with pytest.raises(TypeError, match="the number of repetitions is an integer, not"):
            wrong()
    with pytest.raises(TypeError, match=r"max_length is an integer, not 2\.5"):
        Grammar.substring("abc", max_length=2.5)
    with pytest.raises(structgen.GrammarError, match="5 is no name of a rule"):
        letter.named(5)


def test_too_many_grammars_made_of_one_another_are_refused():
    grammar = Grammar.regex("a")
    with pytest.raises(structgen.GrammarError, match=r"too many grammars are made of one another[^\0]*at once"):
        for _ in range(5_000):
            grammar = grammar | "b"
