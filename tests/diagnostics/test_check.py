"""`check`: agreement with the validator, the first wrong byte by brute force, and what is told."""

import io
import itertools
import json
import random
import re
import sys
import warnings
from types import SimpleNamespace

import jsonschema
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.beyond import is_beyond
from support.shared_data import NO_DATA, remotes, suite_cases, suite_files

import structgen
from structgen import cli
from structgen.diagnostics.check import Checker, check
from structgen.schema import SchemaWarning

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "tags": {"type": "array", "items": {"enum": ["café", "b"]}},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
SUITE = ["properties", "additionalProperties", "uniqueItems", "contains", "not", "oneOf", "if-then-else", "multipleOf"]
SUITE += ["pattern", "enum", "const", "items", "prefixItems", "required", "dependentSchemas", "unevaluatedProperties"]
FILES = [file for file in suite_files() if file.removeprefix("draft2020-12/") in SUITE]


@pytest.mark.skipif(not FILES, reason=NO_DATA)
@pytest.mark.parametrize("file", FILES or SUITE)
def test_it_agrees_with_the_official_suite(file):
    for case in suite_cases(file):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SchemaWarning)
            try:
                checker = Checker(case.schema, registry=remotes())
            except structgen.UnsatisfiableSchemaError:
                assert not any(instance.is_valid for instance in case.instances)
                continue
        for instance in case.instances:
            if is_beyond(file, case, instance):
                continue
            for layout in ({}, {"indent": 70}, {"ensure_ascii": False, "separators": (",", ":")}):
                text = "\n" + json.dumps(instance.data, **layout) + "\n"
                result = checker.check(text)
                assert result.fits == instance.is_valid, (case.name, instance.description, str(result))
                assert bool(result.problems) != result.fits
                assert not result.note


@pytest.mark.skipif(not FILES, reason=NO_DATA)
@pytest.mark.parametrize("file", FILES or SUITE)
def test_it_agrees_with_jsonschema_on_shortened_texts(file):
    """A text that breaks off is no JSON; where it breaks off, or before, is what is told."""
    rng = random.Random(file)
    for case in itertools.islice(suite_cases(file), 4):
        try:
            checker = Checker(case.schema, registry=remotes())
        except structgen.UnsatisfiableSchemaError:
            continue
        for instance in case.instances:
            text = json.dumps(instance.data)
            if text[0] not in '[{"':
                continue
            cut = rng.randrange(1, len(text))
            result = checker.check(text[:cut])
            assert not result
            (problem,) = result.problems
            assert problem.offset <= cut
            assert problem.breaks_off == (problem.offset == len(text[:cut].rstrip()))
            if instance.is_valid:
                assert problem.breaks_off, str(result)


strings = st.text(alphabet='a" é,', max_size=3)
composite = st.recursive(
    strings, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(strings, inner, max_size=2), max_leaves=4
)


def squeezed(text):
    """Without white space outside of strings."""
    out, in_string, escaped = [], False, False
    for character in text:
        if in_string or character not in " \t\n\r":
            out.append(character)
        if in_string and not escaped and character == "\\":
            escaped = True
            continue
        if character == '"' and not escaped:
            in_string = not in_string
        escaped = False
    return "".join(out)


def spellings(value):
    """All compact texts of a value, its keys in any order."""
    if isinstance(value, list):
        return [f"[{','.join(items)}]" for items in itertools.product(*map(spellings, value))]
    if isinstance(value, dict):
        pairs = [[f"{json.dumps(key, ensure_ascii=False)}:{s}" for s in spellings(v)] for key, v in value.items()]
        orders = itertools.permutations(pairs)
        return [f"{{{','.join(members)}}}" for order in orders for members in itertools.product(*order)]
    return [json.dumps(value, ensure_ascii=False)]


def first_wrong(texts, given):
    """By brute force over its beginnings: the first character behind which no text of some goes on."""
    for end in range(1, len(given) + 1):
        if not any(text.startswith(squeezed(given[:end])) for text in texts):
            return end - 1
    return None if squeezed(given) in texts else len(given.rstrip(" \t\n\r"))


@given(st.lists(composite, min_size=1, max_size=3), st.data())
def test_the_first_wrong_byte_is_that_of_brute_force(allowed, data):
    texts = [text for value in allowed for text in spellings(value)]
    layout = data.draw(st.sampled_from([{}, {"indent": 3}, {"indent": "\t"}]))
    given_text = json.dumps(data.draw(st.sampled_from(allowed) | composite), ensure_ascii=False, **layout)
    at = data.draw(st.integers(0, len(given_text)))
    given_text = (
        given_text[:at] + data.draw(st.sampled_from(["", "", "a", '"', "]", "}", ",", ":", "1"])) + given_text[at:]
    )
    result = check({"enum": allowed}, given_text)
    expected = first_wrong(texts, given_text)
    assert result.fits == (expected is None), str(result)
    if expected is not None:
        (problem,) = result.problems
        assert problem.offset == len(given_text[:expected].encode()), (given_text, str(result))
        assert problem.column == expected - (given_text[:expected].rfind("\n") + 1) + 1
        assert problem.line == given_text[:expected].count("\n") + 1


GRAMMAR = "start ::= sum ';'; sum ::= sum '+' term | term; term ::= #'[0-9]+' | '(' sum ')';"


@given(st.text(alphabet="1(+);", max_size=10))
def test_grammars_too(text):
    from support.naive import NaiveRecognizer

    from structgen.kbnf.reading.kbnf import parse

    naive = NaiveRecognizer(parse(GRAMMAR))
    result = check(structgen.Grammar.kbnf(GRAMMAR), text)
    viable = [naive.run(text[:end].encode())[0] for end in range(len(text) + 1)]
    if naive.run(text.encode())[1]:
        assert result.fits
    else:
        (problem,) = result.problems
        assert problem.offset == (viable.index(False) - 1 if False in viable else len(text))
        assert problem.breaks_off == (False not in viable)
        assert problem.pointer is None


def test_grammars_are_read_to_their_end():
    """Whatever an eager grammar would end with."""
    grammar = structgen.Grammar.kbnf("start ::= 'A'{'A'};")
    assert check(grammar, "AAA")
    assert not check(grammar, "AAA\n")


def told(schema, text, **options):
    (problem,) = check(schema, text, **options).problems
    return problem


def test_places():
    problem = told(PERSON, '{\n  "name": "é",\n\t"tags": ["b", 5]\n}')
    assert (problem.line, problem.column, problem.pointer) == (3, 16, "/tags/1")
    assert problem.offset == len('{\n  "name": "é",\n\t"tags": ["b", '.encode())
    assert str(problem) == (
        '3:16: unexpected "5" (in /tags/1)\n'
        '   "tags": ["b", 5]\n'
        "                 ^\n"
        '  expected: "café" or "b" (#/properties/tags/items)'
    )


def test_white_space_is_free_and_strings_may_be_escaped():
    deep = " " * 500
    members = f'"age":{deep}3,\n{deep}"tags":["caf\\u00e9",{deep}"b"], "na\\u006de" : "\\ud83d\\ude00"'
    text = f"\r\n{deep}{{{deep}{members}}}{deep}"
    assert check(PERSON, text)
    assert check(PERSON, text.replace("3", "121")).problems[0].pointer == "/age"
    assert check(PERSON, text + "x").problems[0].offset == len(text)


def test_other_readings():
    assert not check(PERSON, '{"age": 1, "name": "a"}', property_order="schema")
    assert not check(PERSON, '{"name": "a", "age": 1}', whitespace="compact")
    assert check(PERSON, '{"name":"a","age":1}', whitespace="compact")


@pytest.mark.parametrize(
    ("text", "offset", "breaks_off"),
    [
        ("", 0, True),
        (" ", 0, True),
        ('{"name": "a", ', 13, True),
        ('{"name": "a", "age": 1', 22, True),
        ('{"name": "a", "age": 1} {', 24, False),
        ('{"name": "a", "age": 1 2}', 23, False),
        ('{"name": "a", "age": tru e}', 21, False),
        (b'{"name": "\xff"}', 10, False),
        ('{"name": "\ud800"}', 11, False),
        ('\ufeff{"name": "a"}', 0, False),
    ],
)
def test_where(text, offset, breaks_off):
    problem = told(PERSON, text)
    assert (problem.offset, problem.breaks_off) == (offset, breaks_off)


def test_what_is_valid_and_would_not_be_generated_is_noted():
    for schema, text in (({}, '{"a": 1, "a": 2}'), ({"type": "number"}, "1" * 400), ({"type": "string"}, '"\\ud800"')):
        result = check(schema, text)
        assert result
        assert "structgen never generates this" in result.note
        assert result.note in str(result)
        jsonschema.validate(json.loads(text), schema)
    assert not check({"additionalProperties": {"type": "integer"}, "type": "object"}, '{"a": 1, "a": "x"}')


def test_what_is_wrong_is_told_behind_what_would_not_be_generated():
    result = check({"properties": {"big": {"type": "number"}, "small": {"maximum": 3}}}, '{"big": 1e999, "small": 4}')
    assert [problem.pointer for problem in result.problems] == ["/small"]
    assert "1:13" in result.note


class Person(pydantic.BaseModel):
    name: str
    friends: list["Person"] = []

    @pydantic.field_validator("name")
    @classmethod
    def known(cls, name):
        if name == "Bob":
            raise ValueError("no Bobs")
        return name


def test_validators_of_models_have_the_last_word():
    line = ' "friends": [{"name": "C"}, {"name": "Bob"}, {"name": "Bob"}]}'
    result = check(Person, f'{{"name": "A",\n{line}')
    assert [problem.pointer for problem in result.problems] == ["/friends/1/name", "/friends/2/name"]
    assert [(problem.line, problem.column) for problem in result.problems] == [
        (2, line.find('"Bob"') + 1),
        (2, line.rfind('"Bob"') + 1),
    ]
    assert "no Bobs" in result.problems[0].message
    assert result.problems[0].expected == ()
    assert not check(Person, '{"name": 1}')


def test_lax_values_of_models_do_not_fit():
    """Pydantic would read it; the schema says otherwise."""

    class Aged(pydantic.BaseModel):
        age: int

    assert Aged.model_validate_json('{"age": "3"}').age == 3
    assert not check(Aged, '{"age": "3"}')


def test_long_lines_are_cut():
    problem = told({"type": "array", "items": {"type": "integer"}}, f"[{'1,' * 500}x{',1' * 500}]")
    assert len(problem.excerpt) < 150
    assert problem.excerpt[problem.caret] == "x"
    assert problem.column == 1002


def test_carets_stand_below_wide_characters():
    problem = told({"type": "array", "items": {"enum": ["中文", 1]}}, '["中文", 2]')
    assert problem.caret == len('["xxxx", ')


def test_deep_texts_are_no_crash():
    with pytest.raises(structgen.LimitExceededError):
        check({}, "[" * 100_000 + "]" * 100_000)


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "person.json").write_text(json.dumps(PERSON))
    (tmp_path / "good.json").write_text('{"age": 3,\n\t"name": "A"}\n')
    (tmp_path / "bad.json").write_text('{"age": 3,\n\t"name": 1}\n')
    (tmp_path / "many.jsonl").write_text('{"age": 3, "name": "A"}\n\n{"age": -3, "name": "A"}\r\n{"age": 1, "age": 2}')
    return tmp_path


def command(capsys, *arguments):
    code = cli.main(["check", "--schema", "person.json", *arguments])
    return code, *capsys.readouterr()


def test_the_command(folder, capsys):
    assert command(capsys, "good.json") == (0, "", "")
    code, out, err = command(capsys, "good.json", "bad.json")
    assert (code, err) == (1, "")
    assert out == (
        "bad.json: name: 1 is not a text\n"
        'bad.json:2:10: unexpected "1" (in /name)\n'
        '   "name": 1}\n'
        "           ^\n"
        "  expected: a string of at most 5 characters (#/properties/name)\n"
    )


def test_lines_have_their_numbers(folder, capsys):
    code, out, _ = command(capsys, "--lines", "many.jsonl")
    assert code == 1
    assert re.findall(r"^many.jsonl:(\d+):(\d+)", out, re.MULTILINE) == [("3", "10"), ("4", "13")]


def test_the_command_reads_stdin(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO('{"name": "é", "age": 1}'.encode())))
    assert command(capsys, "-") == (0, "", "")


def test_notes_go_to_stderr(folder, capsys):
    (folder / "twice.json").write_text('{"name": "A", "age": 1, "age": 2}')
    code, out, err = command(capsys, "twice.json")
    assert (code, out) == (0, "")
    assert err.startswith("twice.json: structgen never generates this: 1:")


@pytest.mark.parametrize("arguments", [["missing.json"], ["."], ["good.json", "missing.json"]])
def test_files_that_are_not_there(folder, capsys, arguments):
    code, out, err = command(capsys, *arguments)
    assert (code, out) == (2, "")
    assert "cannot read" in err


def test_a_schema_that_is_refused(folder, capsys):
    assert cli.main(["check", "--schema", '{"type": "colour"}', "good.json"]) == 1
    assert "SchemaError" in capsys.readouterr().err


@pytest.mark.parametrize("text", [{"type": "integer"}, 5, None])
def test_a_text_that_is_none_is_refused_with_the_order_of_the_arguments(text):
    with pytest.raises(TypeError, match="the schema first, and then the text"):
        structgen.check('{"a": 1}', text)


MANY_STATES = {"type": "string", "pattern": "^(a|b)*a(a|b){12}c$"}
FEW = structgen.Limits(automaton_states=20)


@pytest.mark.parametrize(
    ("text", "fits"), [('"abab' + "b" * 11 + 'c"', True), ('"ababab' + "a" * 30 + '"', False), ("3", False)]
)
def test_where_the_grammar_passes_a_limit_the_validator_decides(text, fits):
    result = structgen.check({"properties": {"x": MANY_STATES}}, f'{{"x": {text}}}', limits=FEW)
    assert result.fits == fits == structgen.check(MANY_STATES, text).fits
    assert text == "3" or "the limit automaton_states=20" in result.note
    assert fits or result.reasons


def test_where_the_form_counts_a_passed_limit_is_an_error():
    for schema, text, options in (
        (MANY_STATES, '"ababab' + "a" * 30 + '"', {"whitespace": "compact"}),
        (MANY_STATES, '"ababab' + "a" * 30, {}),
        (structgen.Grammar.regex("(a|b)*a(a|b){12}c"), "ababab" + "a" * 30, {}),
    ):
        with pytest.raises(structgen.LimitExceededError):
            structgen.check(schema, text, limits=FEW, **options)


def test_a_position_is_told_even_if_what_is_expected_costs_too_much():
    def too_much(*_):
        raise structgen.LimitExceededError("mask_seconds", 1.0)

    class Costly:
        def __init__(self, matcher):
            self._matcher = matcher

        explain = expected = too_much

        def __getattr__(self, name):
            return getattr(self._matcher, name)

    checker = Checker({"type": "integer"})
    constraint = checker._constraint
    checker._constraint = SimpleNamespace(matcher=lambda: Costly(constraint.matcher()))
    for text, message in (("12x", '1:3: unexpected "x"'), ("-", "1:2: the text breaks off")):
        (problem,) = checker.check(text).problems
        assert str(problem).startswith(message) and not problem.expected


def test_a_broken_escape_is_a_problem_of_the_text():
    found = structgen.check({"type": "string"}, r'"\u03\u00613"')
    assert not found.fits and found.problems[0].offset == 5


def test_a_character_that_is_refused_at_a_later_byte_is_named_whole():
    problem = told({"type": "string", "pattern": "^[é]$"}, '"è"')
    assert (problem.message, problem.offset, problem.column, problem.caret) == ('unexpected "è"', 1, 2, 1)
    (problem,) = check(structgen.Grammar.regex("日本é"), "日本è").problems
    assert (problem.message, problem.offset, problem.column) == ('unexpected "è"', 6, 3)
    assert [str(one) for one in problem.expected] == ['"é" (start)']
    (problem,) = check(structgen.Grammar.regex("é"), b"\xc3(").problems  # no character
    assert (problem.message, problem.offset) == ('unexpected "("', 1)


def test_a_lone_surrogate_can_be_printed():
    assert str(check({"type": "integer"}, '"\\ud800"')).encode().startswith(rb'the value: "\ud800" is not an integer')


def test_other_forms_of_texts_and_schemas():
    assert not check({"type": "integer"}, memoryview(b'"a"'))
    assert check(["yes", "no"], "no")
    assert not check(re.compile("a+"), "b")
