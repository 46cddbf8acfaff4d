"""Patterns whose first masks would search too long are refused when they are read; usual look-ahead is not."""

import pytest

import structgen
from structgen import Limits
from structgen.schema import schema_to_rules

LONG_SEARCHES = [
    "^(?=.*a.{30}$)(?=.*b.{29}$)(?!.*c.{30}c)[a-d]+$",
    "^([a-c](?=.*a.{20}b)|[b-d](?!.*c.{20}d))*$",
    "^[a-z]{300}(?=.*a.{25}$)(?=.*b.{24}$)(?!.*c.{20}c)[a-d]+$",
    "^(ab){100}(?=.*a.{25}$)(?=.*b.{24}$)(?!.*c.{20}c)[a-d]+$",
]
USUAL = [
    r"^(?=.*[A-Z])(?=.*\d).{8,}$",
    r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[@$!%*?&])[A-Za-z\d@$!%*?&]{8,64}$",
    r"^[a-z]{300}-(?=.*\d)[A-Z\d]{8,64}$",
    "^(?!-)[a-z0-9-]{1,63}(?<!-)([.](?!-)[a-z0-9-]{1,63}(?<!-))*$",
]
FEW = Limits(automaton_states=20_000)


@pytest.mark.parametrize("pattern", LONG_SEARCHES)
def test_long_searches_are_refused_by_name(pattern):
    with pytest.raises(structgen.LimitExceededError, match=r"look-ahead .* \(at #/properties/a\)") as found:
        schema_to_rules({"properties": {"a": {"type": "string", "pattern": pattern}}}, limits=FEW)
    assert found.value.limit == "automaton_states"
    with pytest.raises(structgen.LimitExceededError, match="look-ahead"):
        structgen.Grammar.regex(pattern, limits=FEW)


@pytest.mark.parametrize("pattern", USUAL)
def test_usual_look_ahead_is_read(pattern):
    schema_to_rules({"type": "string", "pattern": pattern}, limits=FEW)
    assert structgen.Grammar.regex(pattern, limits=Limits(automaton_states=2_000)).kind == "regex"
