"""The characters of labels, against the definitions in RFC 5892, character by character."""

import unicodedata

from structgen.engine.regex.unicode_classes import Ranges, union_of
from structgen.schema.formats.idn_characters import combining_classes, label_characters, mark_characters, of_direction
from structgen.schema.formats.idn_tables import CONTEXTUAL, DIRECTED, DISALLOWED, VALID_BY_EXCEPTION

LETTER_DIGITS = {"Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"}


def codes_of(ranges: Ranges) -> set[int]:
    return {code for low, high in ranges for code in range(low, high + 1)}


def is_stable(character: str) -> bool:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
    return folded == character


def test_label_characters_are_stable_letters_and_digits():
    letters = (code for code in range(0x80, 0x40000) if unicodedata.category(chr(code)) in LETTER_DIGITS)
    valid = {code for code in letters if is_stable(chr(code))} | codes_of(((0x2D, 0x2D), (0x30, 0x39), (0x61, 0x7A)))
    valid = valid - codes_of(union_of([*DISALLOWED, *CONTEXTUAL])) | codes_of(VALID_BY_EXCEPTION)
    assert codes_of(label_characters()) == valid


def test_marks_and_their_classes():
    labels = codes_of(label_characters())
    assert codes_of(mark_characters()) == {code for code in labels if unicodedata.category(chr(code))[0] == "M"}
    classes = combining_classes()
    assert {code: value for value, ranges in classes.items() for code in codes_of(ranges)} == {
        code: unicodedata.combining(chr(code)) for code in labels
    }


def test_right_to_left_characters_are_in_few_ranges():
    directed = {
        code for code in codes_of(label_characters()) if unicodedata.bidirectional(chr(code)) in ("R", "AL", "AN")
    }
    assert directed <= codes_of(DIRECTED)
    assert codes_of(of_direction("R", "AL", "AN")) == directed
