"""Tests of the writer of YAML: every value is read back from its text, by both versions of YAML."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from structgen.schema.yaml_text.reader import yaml_to_json
from structgen.schema.yaml_text.writer import json_to_yaml

strings = st.text(st.sampled_from(" \n\t:#-a1no~é\x7f\u2028\"'"), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | strings,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3),
    max_leaves=8,
)


@given(values, st.sampled_from([0, 2]), st.booleans())
def test_values_are_read_back(value, list_step, blocks):
    text = json_to_yaml(json.dumps(value), list_step=list_step, blocks=blocks)
    assert json.loads(yaml_to_json(text)) == value
    assert yaml.safe_load(text) == value


@pytest.mark.parametrize(
    ("json_text", "text"),
    [
        ('{"a":[1,{"b":[[]]}],"c":{"d":{}}}', "a:\n  - 1\n  - b:\n      - []\nc:\n  d: {}"),
        ("[[1,[2]],[]]", "- - 1\n  - - 2\n- []"),
        ('"a\\nb\\n"', "|\n  a\n  b\n"),
        ('" a\\nb"', '" a\\nb"'),
        ('{"a":" b\\nc","d":"\\n"}', 'a: |2-\n   b\n  c\nd: "\\n"'),
        ("[1e5, 1.50, -0]", "- 1.0e+5\n- 1.50\n- -0"),
        ('{"no":null}', '"no": null'),
    ],
)
def test_the_style(json_text, text):
    assert json_to_yaml(json_text) == text
