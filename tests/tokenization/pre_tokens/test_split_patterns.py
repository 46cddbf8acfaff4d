"""Split patterns and the classes of characters in them, against `tokenizers` itself."""

import itertools
import json
import random
import sys

import numpy as np
import pytest

from structgen.tokenization.configuration.pre_tokenizers import read_splits
from structgen.tokenization.pre_tokens.character_classes import ANY_SCRIPT, Memberships, scripts_of
from structgen.tokenization.pre_tokens.split_guesses import Split, may_end, opened, options
from structgen.tokenization.pre_tokens.split_patterns import union_of

pytestmark = pytest.mark.slow  # none of this is ever compiled


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


PATTERNS = [
    r"\s+$",
    r"a$|1",
    r"\n$|$1?a",
    r"(a|1$)+",
    r"a+?1?",
    r"\s+(?!\S)|\s+",
    r" ?a+",
    r"a++|\s?+1",
    r"[^a]{1,2}",
    r"(?=a)\S|1 ",
    r"a{1,2}+1|\s{2}+",
    r"1a{0,2}+",
    r"a{2}?1",
    r"1{2}?a|1",
    r"a{1,2}?1",
    r"(?<=a)[1 ]+",
    r"(?<!a)1",
    r"(?<![\s1])a+?|1",
    r"a|(?<=a)(?<!1)1|(?<!1) ",
    r"(?<=(?i:A))1|\n",
    r"1(?<=1)a|(1|a(?<!1))+ ",
    r"^a+",
    r"^\s|1\n?^",
    r"\n^|a^1|(?:^|1)a",
    r"\ba+",
    r"\b(1|a)\b",
    r"\s+\B|a\B1",
    r"\A[1a]|1",
    r"\n\z|a",
]
BEHAVIORS = ["isolated", "removed", "contiguous", "merged_with_previous", "merged_with_next"]


def cuts_of(splits, memberships, text):
    """Return whether there is a cut before each character, for each guess that comes true."""
    found = [((), opened(splits))]
    for members in memberships(text):
        found = [((*cuts, is_cut), after) for cuts, guess in found for is_cut, after in options(splits, guess, members)]
    return [cuts for cuts, guess in found if may_end(splits, guess)]


@pytest.mark.one_in(4, uncompiled=12)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("invert", [False, True])
def test_texts_are_cut_as_by_tokenizers(pattern, behavior, invert):
    from tokenizers import Regex, pre_tokenizers

    split = pre_tokenizers.Split(Regex(pattern), behavior, invert)
    ((program, ours),), _ = read_splits([json.loads(split.__getstate__())], has_spaces=True)
    splits = (Split(program, 0, ours),)
    memberships = Memberships(splits, [], None, marks_spaces=False)
    rng = random.Random(7)
    texts = ["".join(text) for length in range(1, 5) for text in itertools.product("a1 \n", repeat=length)]
    texts += ["".join(rng.choices("a1 \n", k=rng.randint(5, 9))) for _ in range(200)]
    for text in texts:
        pieces = [offsets for _, offsets in split.pre_tokenize_str(text)]
        is_whole = sum(last - first for first, last in pieces) == len(text)
        first_ones = {first for first, _ in pieces} - {0}
        expected = [tuple(at in first_ones for at in range(len(text)))] if is_whole else []
        assert cuts_of(splits, memberships, text) == expected, text


def test_every_character_is_of_the_script_that_tokenizers_takes_it_for():
    from tokenizers import pre_tokenizers

    scripts = scripts_of("".join(map(chr, range(0x110000))))
    assert scripts[ord("ー")] == scripts[ord("字")] == scripts[ord("か")] != scripts[ord("a")]
    rng = random.Random(9)
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for order in (codes, rng.sample(codes, len(codes))):
        of_order = scripts[order]
        fixed = np.flatnonzero(of_order != ANY_SCRIPT)
        expected = fixed[np.diff(of_order[fixed], prepend=ANY_SCRIPT) != 0]
        cut = pre_tokenizers.UnicodeScripts().pre_tokenize_str("".join(map(chr, order)))
        assert [first for _, (first, _) in cut] == expected.tolist()
