"""Classes of characters in split patterns, against `tokenizers` itself."""

import sys

import pytest

from structgen.tokenization.split_patterns import union_of


@pytest.mark.parametrize(
    ("leaf", "negative", "parts"),
    [
        (r"[^\s\p{L}\p{N}]", True, [r"\s", r"\p{L}", r"\p{N}"]),
        (r"[^\r\n\p{L}\p{N}]", True, [r"\x{d}", r"\x{a}", r"\p{L}", r"\p{N}"]),
        (r"[\p{Ll}\p{Lo}\p{M}]", False, [r"\p{Ll}", r"\p{Lo}", r"\p{M}"]),
        (r"[\r\n]", False, [r"\x{d}", r"\x{a}"]),
        (r"\S", True, [r"\s"]),
        (r"\p{L}", False, [r"\p{L}"]),
        (r"[一-龥]", False, [r"[一-龥]"]),
        (r"[^\P{L}a]", False, [r"[^\P{L}a]"]),
    ],
)
def test_a_class_is_a_union_of_others(leaf, negative, parts):
    from tokenizers import Regex, pre_tokenizers

    def members(some):
        cut = pre_tokenizers.Split(Regex(f"(?:{some})+"), "removed").pre_tokenize_str(characters)
        return set(characters) - {character for piece, _ in cut for character in piece}

    characters = "".join(chr(code) for code in [*range(0x3100), *range(0xF900, 0x10400), *range(0x1D400, 0x1F000)])
    assert union_of(leaf) == (negative, parts)
    united = set().union(*(members(part) for part in parts))
    assert members(leaf) == (set(characters) - united if negative else united)


def test_no_character_beyond_the_first_plane_is_folded_to_several():
    assert all(len(chr(code).casefold()) == 1 for code in range(0x10000, sys.maxunicode + 1))
