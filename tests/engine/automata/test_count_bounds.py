"""Terms with smaller bounds on what comes often, held against languages that are written so from the start."""

import pytest

from structgen.engine.automata.count_bounds import most_repeated, smallest_bound, with_smaller_bounds
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import FAR
from structgen.engine.regex_syntax.parser import parse_regex

WORDS = "([a-z]+ +){0,%d}[a-z]+!"


def walked(automata: AutomatonStore, pattern: str, text: bytes) -> int:
    state = automata.add(parse_regex(pattern))
    for byte in text:
        state = automata.step(state, byte)
    return state


@pytest.mark.parametrize("text", [b"", b"a", b"ab ", b"ab  c", b"a b c d"])
def test_what_has_less_left_is_what_was_written_with_less(text: bytes) -> None:
    automata = AutomatonStore()
    state = walked(automata, WORDS % 90, text)
    body = most_repeated(automata.terms, state)
    assert automata.table.counted[state] and body
    assert with_smaller_bounds(automata.terms, state, body, 30) == walked(automata, WORDS % 60, text)
    assert (
        smallest_bound(automata.terms, state, body)
        - smallest_bound(automata.terms, walked(automata, WORDS % 60, text), body)
        == 30
    )


def test_terms_without_such_bounds_and_those_that_are_not_looked_into() -> None:
    automata = AutomatonStore()
    plain = walked(automata, "[a-z]+ [a-z]*!", b"")
    assert not automata.table.counted[plain]
    assert most_repeated(automata.terms, plain) == 0
    body = most_repeated(automata.terms, walked(automata, WORDS % 90, b""))
    assert smallest_bound(automata.terms, plain, body) == FAR  # it has no bound on that
    exact = walked(automata, "([a-z]+ +){7}!", b"")
    assert smallest_bound(automata.terms, exact, body) == 0  # one that says how often it must come is not made less
    words, other = (automata.add(parse_regex(pattern)) for pattern in (WORDS % 90, "[^x]*"))
    both = automata.terms.intersection([words, other], 1)
    assert most_repeated(automata.terms, both) == 0
    assert smallest_bound(automata.terms, both, body) == 0
