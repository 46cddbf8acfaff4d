"""Logits after many beginnings: each one's own, however the sessions are shared, forked or cut back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.toy_models import ToyModel

from structgen.generation.aligned.reader import PrefixReader
from structgen.models.sequences import SequencePool

PROMPT = [3, 1, 4]
ROUNDS = st.lists(
    st.lists(st.lists(st.integers(0, 2), max_size=4).map(tuple), min_size=1, max_size=4, unique=True), max_size=6
)


class Recurrent(ToyModel):
    """A model whose sessions cannot be cut back."""

    def session(self):
        session = super().session()

        class Whole(type(session)):
            can_crop = False
            crop = None

        session.__class__ = Whole
        return session


class Pooled(ToyModel):
    """A model whose sessions share a small cache, as those of llama.cpp."""

    def session_batch(self):
        model, held = self, [[] for _ in range(3)]

        class Cache:
            def decode(self, entries):
                rows = []
                for token_id, position, sequence, is_wanted in entries:
                    assert position == len(held[sequence])
                    held[sequence].append(token_id)
                    if is_wanted:
                        rows.append(model.logits_after(held[sequence]))
                return np.array(rows, np.float32)

            def remove(self, sequence, begin):
                del held[sequence][begin:]
                return True

            def copy(self, origin, sequence):
                held[sequence] = list(held[origin])

        return SequencePool(Cache(), sequences=3, cells=40, batch_tokens=8, can_crop=True)


@settings(max_examples=60)
@pytest.mark.parametrize("kind", [ToyModel, Recurrent, Pooled])
@given(ROUNDS)
def test_each_beginning_has_its_own_logits(kind, rounds):
    model = kind()
    reader = PrefixReader(model, PROMPT)
    for paths in rounds:
        for path, row in zip(paths, reader.logits(paths), strict=True):
            np.testing.assert_array_equal(row, model.logits_after([*PROMPT, *path]))
    assert reader.passes == len(rounds)


@settings(max_examples=15)
@given(ROUNDS)
def test_the_same_in_batches_of_transformers(tiny_model, rounds):
    reader = PrefixReader(tiny_model, PROMPT)
    for paths in rounds:
        for path, row in zip(paths, reader.logits(paths), strict=True):
            alone = tiny_model.session().forward([*PROMPT, *path])[0][: len(row)]
            np.testing.assert_allclose(row, alone, rtol=1e-3, atol=1e-3)


def test_what_was_read_is_not_read_again(tiny_model):
    reader = PrefixReader(tiny_model, PROMPT)
    reader.logits([()])
    reader.logits([(7,), (8,)])
    reader.logits([(7, 1), (7, 2), (8, 3)])
    assert (reader.passes, reader.token_count) == (3, 2 + 3)


def test_tokens_of_the_prompt_are_not_counted():
    """Also where a session cannot be forked or cut back, and the prompt is read again."""
    reader = PrefixReader(Recurrent(), PROMPT)
    for paths in ([()], [(0,), (1,)], [(0, 2), (1, 0)]):
        reader.logits(paths)
    assert reader.token_count == 4


def test_errors_of_the_model_are_raised():
    model = ToyModel()
    model.logits_after = lambda ids: np.zeros(3, np.float32)
    with pytest.raises(Exception, match="next_logits returned"):
        PrefixReader(model, PROMPT).logits([()])
