"""`CapturedTexts` against byte strings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.constants import EMPTY_TEXT
from structgen.engine.earley.captured_texts import CapturedTexts

TEXTS = st.text("ab", max_size=8).map(str.encode)


@given(st.lists(TEXTS, max_size=20))
def test_numbers_stand_for_texts_and_their_beginnings(given_texts: list[bytes]) -> None:
    texts = CapturedTexts()
    numbers = {b"": EMPTY_TEXT}
    for text in given_texts:
        number = EMPTY_TEXT
        for at, byte in enumerate(text):
            number = texts.append(number, byte)
            assert numbers.setdefault(text[: at + 1], number) == number
    assert len(set(numbers.values())) == len(numbers)
    for text, number in numbers.items():
        for beginning, other in numbers.items():
            assert texts.continues(number, other) == text.startswith(beginning)
            if text.startswith(beginning):
                assert texts.between(other, number) == text[len(beginning) :]
