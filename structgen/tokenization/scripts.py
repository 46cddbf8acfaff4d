"""The scripts of characters (Latin, Han …), as the pre-tokenizer "UnicodeScripts" sees them.

It cuts between characters of different ones, in a version of Unicode of its own. So it is asked: a character
between letters of another script is cut off or not.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ANY_SCRIPT", "SCRIPT", "script_pattern", "scripts_of"]

SCRIPT = r"\p{tokenizers:script:"  # and a number: a class in regexes
ANY_SCRIPT = -1  # of characters that go with any other: spaces, and those that are not assigned
SURROGATES = range(0xD800, 0xE000)
PLANES = ((0x0, 0x40000), (0xE0000, 0xE1000))  # all others are not assigned, or private
PRIVATE = 0xE000


def scripts_of(text: str) -> NDArray[np.int16]:
    """Of each character the number of its script, or ANY_SCRIPT."""
    codes = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype="<u4")
    found: NDArray[np.int16] = _table()[codes]
    return found


def script_pattern() -> str:
    """A regex that matches a run of characters of one script, with those that go with any behind the first one."""
    classes = [f"{SCRIPT}{script}}}" for script in range(_table().max() + 1)]
    return "|".join(f"{each}(?:{each}|{SCRIPT}{ANY_SCRIPT}}})*" for each in classes)


@functools.cache
def _table() -> NDArray[np.int16]:
    """int16[0x110000]: by character, the number of its script."""
    from tokenizers import pre_tokenizers

    cutter = pre_tokenizers.UnicodeScripts()
    codes = np.array([code for first, last in PLANES for code in range(first, last) if code not in SURROGATES])
    fixed = codes[_are_cut_off(cutter, codes, "a") | _are_cut_off(cutter, codes, "α")]
    text = "".join(map(chr, fixed.tolist()))
    firsts = np.array([first for _, (first, _) in cutter.pre_tokenize_str(text)])
    found = np.full(len(firsts), ANY_SCRIPT, dtype=np.int16)
    while len(left := np.flatnonzero(found == ANY_SCRIPT)):
        one = chr(fixed[firsts[left[0]]])
        found[left[~_are_cut_off(cutter, fixed[firsts[left]], one)]] = found.max() + 1
    table = np.full(0x110000, ANY_SCRIPT, dtype=np.int16)
    table[fixed] = np.repeat(found, np.diff([*firsts, len(fixed)]))
    for first, last in ((PLANES[0][1], PLANES[1][0]), (PLANES[1][1], 0x110000)):
        table[first:last] = table[PRIVATE]
    return table


def _are_cut_off(cutter: Any, codes: NDArray[np.intp], letter: str) -> NDArray[np.bool_]:
    """Which characters begin a piece behind a letter."""
    text = letter + "".join(chr(code) + letter for code in codes.tolist())
    firsts = np.array([first for _, (first, _) in cutter.pre_tokenize_str(text)])
    members = np.zeros(len(text), dtype=np.bool_)
    members[firsts] = True
    return members[1::2]
