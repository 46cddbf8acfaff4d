"""`json_lines`: one value a line."""

import json
from typing import Annotated

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from support.texts import constraint_of, language, lets_through

import structgen
from structgen import json_lines


class Item(BaseModel):
    name: str
    tags: set[str] = Field(default=set(), max_length=3)


items = st.builds(Item, name=st.text(st.characters(exclude_categories=["Cs"]), max_size=5), tags=st.just(set()))


@given(st.lists(items, max_size=4), st.booleans(), st.sampled_from(["compact", "single"]))
def test_what_is_dumped_is_let_through_and_read_again(values, ends, whitespace):
    """With a line break at the end, or without; whatever line breaks the strings hold."""
    separators = (",", ":") if whitespace == "compact" else (", ", ": ")
    lines = [json.dumps(v.model_dump(mode="json"), separators=separators, ensure_ascii=False) for v in values]
    text = "\n".join(lines) + ("\n" if ends and values else "")
    assert lets_through(json_lines(Item), text, whitespace=whitespace)
    assert constraint_of(json_lines(Item), whitespace=whitespace).parse(text) == values


@pytest.mark.parametrize(
    ("bounds", "counts"),
    [({}, {0, 1, 2, 3, 4}), ({"min_items": 2}, {2, 3, 4}), ({"min_items": 1, "max_items": 3}, {1, 2, 3})],
)
def test_bounds_are_of_values(bounds, counts):
    """All texts over two values, against a split at line breaks."""
    found = language(json_lines({"enum": [1, 12]}, **bounds), "12\n", 6)
    for text in found:
        assert len(constraint_of(json_lines({"enum": [1, 12]}, **bounds)).parse(text)) in counts
    for count in range(4):
        text = "\n".join(["1"] * count)
        assert (text in found) == (count in counts), text
        assert (text + "\n" in found) == (count in counts and count > 0 and len(text) < 6)


def test_no_line_breaks_inside_of_values():
    """Where white space is free, there are spaces and tabs."""
    assert lets_through(json_lines(Item), '{ "name"\t: "x" }\n', whitespace="any")
    assert not lets_through(json_lines(Item), '{\n"name"', whitespace="any")
    assert not lets_through(json_lines(Item), "\n")
    assert not lets_through(json_lines(Item), '{"name":"x"}\n\n')
    assert lets_through(Item, '{ "name"\t: "x" }', whitespace="line")
    assert not lets_through(Item, '{\n"name"', whitespace="line")


def test_conditions_that_the_engine_checks_hold_in_every_line():
    """Items that differ, and keys that do not come twice; each line begins anew."""
    schema = {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True}
    assert lets_through(json_lines(schema), '["a","b"]\n["a","c"]', whitespace="compact")
    assert not lets_through(json_lines(schema), '["a","b"]\n["a","a"', whitespace="compact")
    assert lets_through(json_lines({"type": "object"}), '{"a":1}\n{"a":1,"b":2}', whitespace="compact")
    assert not lets_through(json_lines({"type": "object"}), '{"a":1,"a"', whitespace="compact")


def test_lines_of_scalars_and_of_pieces():
    """Numbers go on to the line break."""
    assert constraint_of(json_lines(int)).parse("1\n23\n") == [1, 23]
    assert lets_through(json_lines(int), "1\n23")
    quotes = json_lines(Annotated[str, structgen.SubstringOf("a\nb")], max_items=2)
    assert constraint_of(quotes).parse('"a\\nb"\n"b"') == ["a\nb", "b"]
    assert lets_through(quotes, '"a\\nb"\n"b"')


@given(st.integers(2, 10**9))
def test_large_bounds_cost_nothing(most):
    """Rules are made as lines are written."""
    constraint = constraint_of(json_lines({"const": 1}, max_items=most))
    assert lets_through(constraint, "1\n1")
    assert constraint.grammar.sets.rules.size < 200


def test_errors_of_a_line_are_those_of_its_validator():
    """And schemas that cannot be used are refused as ever."""
    with pytest.raises(pydantic.ValidationError):
        constraint_of(json_lines(int)).parse("1\n\n2")
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        constraint_of(json_lines(False))


@pytest.mark.parametrize("bounds", [(-1, None), (1.5, None), (0, 0), (3, 2), (True, None), (0, "2")])
def test_bounds_that_nothing_is_between(bounds):
    """Refused at the door."""
    with pytest.raises(ValueError, match="items"):
        json_lines(int, min_items=bounds[0], max_items=bounds[1])
