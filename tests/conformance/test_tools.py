"""What the conformance tests rest on: expectations hold both ways, and texts are read strictly."""

import pytest
from support.judging import Verdict, differences, judge
from support.shared_data import Case, Instance
from support.strict_json import read_strictly


def _case(schema, *instances):
    return Case("case", schema, tuple(Instance(repr(data), data, is_valid) for data, is_valid in instances))


def test_verdicts():
    assert judge(_case({"type": "integer"}, (1, True), ("a", False))).text == "right"
    assert judge(_case({"type": "integer"}, (1, False))) == Verdict("wrong: accepts the invalid '1'", is_broken=True)
    assert judge(_case({"type": "integer"}, ("a", True))).text == "wrong: refuses the valid ''a''"
    assert judge(_case({"$ref": "https://example.org/schema"})).text == "refused $ref"


def test_a_schema_that_allows_nothing_is_right_where_nothing_is_valid():
    assert judge(_case(False, (1, False))).text == "right"
    assert judge(_case(False, (1, True))).text == "wrong: refuses the valid '1'"


def test_better_and_worse_than_expected_are_both_told():
    right, refused = Verdict("right"), Verdict("refused not")
    assert not differences({"a": right, "b": refused}, {"a": "right", "b": "refused not"})
    assert differences({"a": refused}, {"a": "right"}) == ["a: expected right, found refused not"]
    assert differences({"a": right}, {"a": "refused not"}) == ["a: expected refused not, found right"]
    assert differences({"a": right}, {}) == ["a: expected nothing, found right"]
    assert differences({}, {"a": "right"}) == ["a: expected right, and it is not there"]


def test_what_is_broken_is_never_as_expected():
    broken = Verdict("wrong: accepts the invalid 'x'", is_broken=True)
    assert differences({"a": broken}, {"a": broken.text})


@pytest.mark.parametrize(
    "text", [b'{"a": 1, "a": 2}', b'{"\\u0061": 1, "a": 2}', b"NaN", b"1e999", b'"\\ud800"', b'"\xff"']
)
def test_strict_reading_refuses(text):
    with pytest.raises(ValueError):
        read_strictly(text)


def test_strict_reading():
    assert read_strictly(b'{"a": [1, 2.5, null], "b": "\\ud83d\\ude00"}') == {
        "a": [1, 2.5, None],
        "b": "\N{GRINNING FACE}",
    }
