"""`export`: what it takes, and what it refuses. That other engines read it is in tests/differential."""

from __future__ import annotations

import importlib.util
import itertools
from typing import get_args

import pytest

import structgen
from structgen.compilation.export import Dialect
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.kbnf.normal_form.passes import normalize
from structgen.schema import SchemaWarning, schema_to_kbnf

TEXTS = [dialect for dialect in get_args(Dialect) if dialect != "vllm"]


@pytest.mark.parametrize("to", TEXTS)
def test_the_end_follows_the_value(to):
    text = structgen.export({"enum": ["a", 1]}, to, end="<end>")
    assert "<end>" in text.replace("\\", "").replace("u003c", "<").replace("u003e", ">")
    with_own_start = structgen.Grammar.kbnf("start ::= 'x'; start_ ::= 'y';")
    assert structgen.export(with_own_start, to, end="!") != structgen.export(with_own_start, to)


@pytest.mark.parametrize("to", get_args(Dialect))
def test_uniqueness_is_refused_for_all(to):
    with pytest.raises(structgen.UnsupportedSchemaError) as caught:
        structgen.export({"type": "array", "uniqueItems": True}, to)
    assert caught.value.keyword == "uniqueItems"


@pytest.mark.parametrize("to", get_args(Dialect))
@pytest.mark.parametrize("kbnf", ["start ::= margin! 'a';", "start ::= !#'[a-z]' 'a';"])
def test_our_own_words_are_refused_by_name(to, kbnf):
    with pytest.raises(structgen.GrammarError, match=r"cannot express the (look-ahead|'margin!')"):
        structgen.export(structgen.Grammar.kbnf(kbnf), to)


def test_the_dialects_of_kbnf():
    older = structgen.Grammar.kbnf("start ::= except!('a') 'a';")
    assert structgen.export(older, "kbnf") == "start ::= #ex'a'? 'a';\n"
    assert structgen.export(older, "kbnf-older") == "start ::= except!('a') 'a';\n"
    with pytest.raises(structgen.GrammarError, match="the older dialect cannot express"):
        structgen.export(structgen.Grammar.kbnf("start ::= #e'a+b';"), "kbnf-older")


def test_regexes_and_languages_are_grammars_too():
    assert structgen.export(structgen.Grammar.regex("[0-9]{2}"), "lark") == "start: /[0-9]{2}/\n"
    assert structgen.export(structgen.Grammar.language("json"), "xgrammar").startswith("root ::=")


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="to must be one of kbnf, "):
        structgen.export({}, "xml")
    with pytest.raises(ValueError, match="not for a Grammar"):
        structgen.export(structgen.Grammar.regex("a"), "gbnf", whitespace="single")
    with pytest.raises(structgen.LimitExceededError):
        structgen.export(
            {"pattern": "^(a|b)*a(a|b){30}$", "maxLength": 50}, "gbnf", limits=structgen.Limits(automaton_states=50)
        )


def test_an_automaton_that_is_too_large_to_be_written_down_is_refused(monkeypatch):
    monkeypatch.setattr("structgen.kbnf.writing.automaton_rules._MAX_STATES", 100)
    with pytest.raises(structgen.LimitExceededError, match="more than 100 rules"):
        structgen.export({"type": "number", "multipleOf": 429}, "gbnf")


def test_what_vllm_gets_is_what_xgrammar_reads():
    arguments = structgen.export({"type": "integer"}, "vllm")
    assert arguments == {"grammar": structgen.export({"type": "integer"}, "xgrammar")}
    if importlib.util.find_spec("xgrammar") is None:
        pytest.skip("xgrammar is not installed")
    import xgrammar

    assert xgrammar.Grammar.from_ebnf(arguments["grammar"])


@pytest.mark.parametrize("to", TEXTS)
def test_an_error_names_the_field(to):
    schema = {
        "type": "object",
        "properties": {"sum": {"type": "string", "pattern": "^(a|b)*a(a|b){30}$", "maxLength": 50}},
        "required": ["sum"],
        "additionalProperties": False,
    }
    with pytest.raises(structgen.LimitExceededError, match=r"^#/properties/sum, in the rule 'sum'"):
        structgen.export(schema, to, limits=structgen.Limits(automaton_states=50))


@pytest.mark.parametrize("to", TEXTS)
@pytest.mark.parametrize("name", ["email", "idn-email", "hostname", "idn-hostname"])
def test_formats_of_bounded_lengths_are_written_wider(to, name):
    schema = {"type": "object", "properties": {"of": {"type": "string", "format": name}}, "required": ["of"]}
    if (to, name) == ("lark", "hostname"):
        assert "&" in structgen.export(schema, to)
        return
    with pytest.warns(SchemaWarning, match=f"^#/properties/of: the format '{name}' is written wider"):
        text = structgen.export(schema, to)
    assert text.count("\n") < 60


@pytest.mark.parametrize("to", TEXTS)
def test_the_format_regex_is_written_by_levels_of_groups_or_wider(to):
    """In Lark's dialect a string is one terminal, whose automaton would have a million states."""
    schema = {"type": "string", "format": "regex"}
    if to == "lark":
        with pytest.warns(
            SchemaWarning, match="^#: the format 'regex' is written wider than it is: without all its syntax"
        ):
            assert len(structgen.export(schema, to)) < 1000
    else:
        assert structgen.export(schema, to).count("\n") > 5


@pytest.mark.parametrize(
    ("name", "good", "long"),
    [
        ("email", "ada@host.org", "a" * 65 + "@host.org"),
        ("idn-email", "adä@höst.org", "ä" * 65 + "@host.org"),
        ("hostname", "host.org", "host." * 60 + "org"),
        ("idn-hostname", "höst.org", "höst." * 60 + "org"),
    ],
)
def test_what_is_written_wider_holds_the_format(name, good, long):
    with pytest.warns(SchemaWarning):
        text = structgen.export({"type": "string", "format": name}, "kbnf")
    vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
    constraint = structgen.compile(structgen.Grammar.kbnf(text, eager=False), vocabulary)
    for value in (good, long):
        matcher = constraint.matcher()
        for byte in f'"{value}"'.encode():
            matcher.accept_token(byte)
        assert matcher.is_accepting


def test_exact_formats_are_the_default_of_the_tree(recwarn):
    tree = schema_to_kbnf({"type": "string", "format": "email"})
    vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
    matcher = Matcher(CompiledGrammar(normalize(tree), vocabulary, eager=False))
    for byte in b'"' + b"a" * 64:
        matcher.accept_token(byte)
    assert matcher.allowed_token_ids() == [ord("@")]
    assert not recwarn.list


def test_equal_states_of_an_automaton_are_one():
    """An automaton with a state for each prefix would take four times the text."""
    assert len(structgen.export({"type": "integer", "multipleOf": 12, "minimum": 5, "maximum": 90_000}, "kbnf")) < 2500
    text = structgen.export({"type": "number", "multipleOf": 0.5}, "lark", numbers="any")
    assert len(text) < 150_000
    depths = itertools.accumulate((sign == "(") - (sign == ")") for sign in text)
    assert max(depths) < 30  # llguidance refuses grammars that nest deeper than about 40


@pytest.mark.parametrize("to", TEXTS)
def test_multiples_have_any_number_of_digits(to, recwarn):
    """With at most 18 digits, those of 7 take 14,000 characters and more."""
    text = structgen.export({"type": "integer", "multipleOf": 7}, to)
    assert len(text) < 1400 and not recwarn.list
    vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
    if to.startswith("kbnf"):
        constraint = structgen.compile(structgen.Grammar.kbnf(text, eager=False), vocabulary)
        for value in (0, -7, 700, 7 * 10**30):
            matcher = constraint.matcher()
            matcher.accept_bytes(str(value).encode())
            assert matcher.is_accepting
            assert not set(matcher.allowed_token_ids()) & set(b"-.eE")
        assert not structgen.check(structgen.Grammar.kbnf(text, eager=False), "71").fits


def test_an_end_with_a_lone_surrogate_is_refused():
    with pytest.raises(structgen.GrammarError, match="lone surrogate"):
        structgen.export({"type": "integer"}, "gbnf", end="\ud800")
