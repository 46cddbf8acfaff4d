"""Terms with smaller bounds on what comes often, held against languages that are written so from the start."""

import pytest

from structgen.engine.automata.count_bounds import least_count, lessened, most_counted
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
    body = most_counted(automata.terms, state)
    assert automata.table.counted[state] and body
    assert lessened(automata.terms, state, body, 30) == walked(automata, WORDS % 60, text)
    assert (
        least_count(automata.terms, state, body) - least_count(automata.terms, walked(automata, WORDS % 60, text), body)
        == 30
    )


def test_terms_without_such_bounds_and_those_that_are_not_looked_into() -> None:
    automata = AutomatonStore()
    plain = walked(automata, "[a-z]+ [a-z]*!", b"")
    assert not automata.table.counted[plain]
    assert most_counted(automata.terms, plain) == 0
    body = most_counted(automata.terms, walked(automata, WORDS % 90, b""))
    assert least_count(automata.terms, plain, body) == FAR  # it has no bound on that
    exact = walked(automata, "([a-z]+ +){7}!", b"")
    assert least_count(automata.terms, exact, body) == 0  # one that says how often it must come is not made less
    words, other = (automata.add(parse_regex(pattern)) for pattern in (WORDS % 90, "[^x]*"))
    both = automata.terms.intersection([words, other], 1)
    assert most_counted(automata.terms, both) == 0
    assert least_count(automata.terms, both, body) == 0
