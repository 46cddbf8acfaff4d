"""Tokens that share the steps of their first bytes reach what each of them reaches alone."""

import random

import numpy as np
import pytest
from support.bpe_tokenizers import llama3, vocabulary_of
from support.vocabularies import compiled_from

from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.token_steps import TokenSteps


@pytest.mark.parametrize("source", [r"[a-z ]{0,9}:[0-9é]+", r'"(a|ab|abc)"[ \n]*,?|[a-z"]+', r"a+ab?"])
def test_steps_are_those_of_each_token_alone(source):
    vocabulary = vocabulary_of(llama3)
    scanner = ProperTokenization.of(vocabulary).scanner
    compiled = compiled_from(f"start ::= #'{source}';", vocabulary)
    sets, automata = compiled.sets, compiled.sets.automata
    steps = TokenSteps(compiled, scanner)
    rng = random.Random(source)
    for first in (b"", b"a", b'"a'):
        set_id = sets.goto_all(sets.start_set, first)
        start, _ = scanner.follow(scanner.start, 0, first)
        steps.begin(set_id, start, 0)
        items = range(sets.table.first_scan[set_id], sets.table.last_scan[set_id])
        for token in rng.choices(range(vocabulary.size), k=300):
            text = vocabulary.spellings[token]
            steps.follow(text)
            assert (steps.scanner_state, steps.scanner_state and steps.partial) == _after(scanner, start, text)
            if rng.random() < 0.5:  # each is followed only as far as it is asked for
                assert steps.next_set() == sets.goto_all(set_id, text)
            if rng.random() < 0.5:
                for item, scan in enumerate(items):
                    at = sets.scans.state[scan]
                    for byte in text:
                        at = at and automata.next(at, byte)
                    assert steps.state_within(item) == at


def test_the_steps_after_the_terminals_of_a_set_are_those_of_the_next_set():
    vocabulary = vocabulary_of(llama3)
    scanner = ProperTokenization.of(vocabulary).scanner
    compiled = compiled_from("start ::= #'a[a-z]*' #'-[ ]*' #'[0-9]+'; ", vocabulary)
    sets = compiled.sets
    steps, rest = TokenSteps(compiled, scanner), TokenSteps(compiled, scanner)
    steps.begin(sets.start_set, scanner.start, 0)
    for text, left in ((b"ab", 0), (b"ab-", 3), (b"ab-  ", 3), (b"a-1", 2), (b"b", 1), (b"a-  7", 2)):
        steps.follow(text)
        assert steps.left_after() == left
        assert [steps.set_at(length) for length in range(len(text) + 1)] == [
            sets.goto_all(sets.start_set, text[:length]) for length in range(len(text) + 1)
        ]
        if 0 < left < len(text):
            rest.continue_after(steps, left)
            assert rest.set_id == steps.set_at(left) and rest.text == text[left:]
            assert (rest.scanner_state, rest.partial) == (steps.scanner_state, steps.partial)
            assert rest.next_set() == steps.next_set()


def _after(scanner, state, text):
    state, partial = scanner.follow(state, 0, text)
    return state, state and partial


def test_tokens_come_in_the_order_of_their_texts():
    vocabulary = vocabulary_of(llama3)
    tokens = [token for token in range(vocabulary.size) if vocabulary.spellings[token]]
    texts = [vocabulary.spellings[token] for token in vocabulary.trie.in_order(np.array(tokens[::3], dtype=np.intc))]
    assert texts == sorted(texts)
    assert len(texts) == len(tokens[::3])
    assert not len(vocabulary.trie.in_order(np.array([], dtype=np.intc)))
