"""Charsmaps of SentencePiece, as `tokenizers` reads them."""

import pytest
from support.charsmaps import charsmap
from tokenizers import normalizers

from structgen.tokenization.configuration.normalizers import replaced_together

pytestmark = pytest.mark.slow  # none of this is ever compiled


def test_the_texts_of_a_charsmap():
    short = {"A": "a", "\t": " ", "ﬁ": "fi", "e\u0301": "é", "и\u0306": "й", "\U0001d400": "A"}
    long = {"か\u3099": "が", "Ae": "e", "b\U0001d400": "c"}  # of six bytes, or of what is replaced by itself
    made = charsmap(short | long)
    assert replaced_together(made) == {"e\u0301", "и\u0306"}
    normalizer = normalizers.Precompiled(made)
    assert all(normalizer.normalize_str(text) == new for text, new in short.items())
    assert normalizer.normalize_str("か\u3099") == "か\u3099"


@pytest.mark.parametrize("data", [b"", b"abc", b"\x04\0\0\0", b"\0\0\0\0"])
def test_what_is_no_charsmap_is_an_error(data):
    with pytest.raises(ValueError, match="begins with the size"):
        replaced_together(data)
