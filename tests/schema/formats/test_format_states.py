"""Formats take few automaton states, alone, beside a bound, and beside another format."""

import pytest
from support.vocabularies import BYTES

import structgen
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD
from structgen.schema import formats
from structgen.schema.algebra import StringSet
from structgen.schema.json_text.strings import escaped, quoted
from structgen.schema.json_text.terminals import string_regex


@pytest.mark.parametrize(
    ("name", "text", "more", "states"),
    [("idn-email", "eeee", "e", 30), ("idn-email", "eeee@ee", "-", 120), ("idn-hostname", "eeee", "-", 240)],
)
def test_one_character_more_makes_few_states(name, text, more, states):
    # The escapes of all letters were copied before each thing that may follow: 198, 1,234 and 564 states.
    store = AutomatonStore()
    state = store.add(quoted(escaped(formats.language(name).regex)))
    for byte in b'"' + text.encode():
        state = store.step(state, byte)
    before = store.count
    assert store.step(state, ord(more)) != DEAD
    assert store.count - before < states


@pytest.mark.parametrize("name", ["email", "idn-email", "hostname", "uuid"])
def test_a_bound_that_a_format_has_anyway_is_no_condition(name):
    language = formats.language(name)
    alone = string_regex(StringSet(within=(language,)))
    assert string_regex(StringSet(low=1, high=254, within=(language,))) == alone
    assert string_regex(StringSet(low=1, high=20, within=(language,))) != alone
    assert string_regex(StringSet(low=200, within=(language,))) != alone


@pytest.mark.parametrize(
    ("name", "other", "states"),
    [("email", "iri-reference", 10_000), ("email", "uri-reference", 10_000), ("idn-email", "uri-reference", 40_000)],
)
def test_addresses_that_are_no_references_take_few_states(name, other, states):
    """No reference has `^` or `[`: after one, every address is allowed; after `@b` there is none any more."""
    schema = {"type": "string", "format": name, "not": {"format": other}}
    limits = structgen.Limits(automaton_states=states)
    constraint = structgen.compile(schema, BYTES, limits=limits, cache=False)
    for text, following, expected in [(b"a.b@", b"b", False), (b"a.b@", b"[", True), (b"a^b@", b"b", True)]:
        matcher = constraint.matcher()
        matcher.accept_bytes(b'"' + text)
        assert (following[0] in matcher.allowed_token_ids()) == (expected or name == "idn-email")
