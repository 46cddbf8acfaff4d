"""Unicode tables for IDNA that Python's `unicodedata` lacks, as ranges of hexadecimal code points.

Scripts and joining types come from Unicode's Scripts.txt and ArabicShaping.txt, version 18, restricted to characters of
labels; the exceptions from RFC 5892.
"""

from __future__ import annotations

from structgen.engine.regex.unicode_classes import Ranges, union_of

__all__ = [
    "CONTEXTUAL",
    "DIRECTED",
    "DISALLOWED",
    "GREEK",
    "HEBREW",
    "JAPANESE",
    "JOINS_BOTH_WAYS",
    "JOINS_RIGHT",
    "VALID_BY_EXCEPTION",
]


def _ranges(text: str) -> Ranges:
    """Return the code point ranges of a text such as `"DF 660-669"`."""
    pairs = [piece.split("-") for piece in text.split()]
    return union_of((int(pair[0], 16), int(pair[-1], 16)) for pair in pairs)


VALID_BY_EXCEPTION = _ranges("DF 3C2 6FD 6FE F0B 3007")
"""Exceptions that are valid: RFC 5892, section 2.6."""
CONTEXTUAL = _ranges("B7 375 5F3 5F4 660-669 6F0-6F9 200C 200D 30FB")
"""Characters with a contextual rule: CONTEXTJ and CONTEXTO, RFC 5892, appendix A."""
DISALLOWED = _ranges(
    # RFC 5892: exceptions, section 2.6; default-ignorable characters; ignored blocks, section 2.4; old Hangul, 2.9.
    "640 7FA 302E 302F 3031-3035 303B "
    "34F 115F 1160 17B4 17B5 180B-180F FE00-FE0F "
    "20D0-20FF 1D100-1D1FF 1D200-1D24F "
    "1100-11FF A960-A97C D7B0-D7FB"
)
GREEK = _ranges(
    "371 373 377 37B-37D 390 3AC-3CE 3D7 3D9 3DB 3DD 3DF 3E1 3F3 3F8 3FB-3FC 1D26-1D2A 1F00-1F07 1F10-1F15 "
    "1F20-1F27 1F30-1F37 1F40-1F45 1F50-1F57 1F60-1F67 1F70 1F72 1F74 1F76 1F78 1F7A 1F7C 1FB0-1FB1 1FB6 1FC6 "
    "1FD0-1FD2 1FD6-1FD7 1FE0-1FE2 1FE4-1FE7 1FF6 AB65"
)
HEBREW = _ranges("591-5BD 5BF 5C1-5C2 5C4-5C5 5C7-5C9 5D0-5EA 5EF-5F2 FB1E")
JAPANESE = _ranges(
    "3005 3007 3041-3096 309D-309E 30A1-30FA 30FD-30FE 31F0-31FF 3400-4DBF 4E00-9FFF FA0E-FA0F FA11 FA13-FA14 FA1F "
    "FA21 FA23-FA24 FA27-FA29 16FE3 16FF0-16FF3 1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B000-1B122 1B127-1B128 1B132 "
    "1B150-1B152 1B155 1B164-1B168 20000-2A6DF 2A700-2B81E 2B820-2CEAD 2CEB0-2EBE0 2EBF0-2EE5D 30000-3134A "
    "31350-33479"
)
"""Hiragana, Katakana and Han."""
JOINS_BOTH_WAYS = _ranges(
    "620 626 628 62A-62E 633-63F 641-647 649-64A 66E-66F 679-687 69A-6BF 6C1-6C2 6CC 6CE 6D0-6D1 6FA-6FC 6FF "
    "712-714 71A-71D 71F-727 729 72B 72D-72E 74E-758 75C-76A 76D-770 772 775-777 77A-77F 7CA-7EA 841-845 848 "
    "84A-853 855 860 862-865 868 886 889-88D 88F 8A0-8A9 8AF-8B0 8B3-8B8 8BA-8C8 1820-1878 1887-18A8 18AA "
    "A840-A871 10AC0-10AC4 10AD3-10AD6 10AD8-10ADC 10ADE-10AE0 10B80 10B82 10B86-10B88 10B8A-10B8B 10B8D 10B90 "
    "10D01-10D21 10D23 10EC3-10EC4 10EC6-10EC7 10F30-10F32 10F34-10F44 10F70-10F73 10F76-10F81 10FB0 10FB2-10FB3 "
    "10FB8 10FBB-10FBC 10FBE-10FBF 10FC1 10FC4 1E922-1E943"
)
"""Joining type D: joins to the letters on both sides."""
JOINS_RIGHT = _ranges(
    "622-625 627 629 62F-632 648 671-673 688-699 6C0 6C3-6CB 6CD 6CF 6D2-6D3 6D5 6EE-6EF 710 715-719 71E 728 72A "
    "72C 72F 74D 759-75B 76B-76C 771 773-774 778-779 840 846-847 849 854 856-858 867 869-86A 870-882 88E 8AA-8AC "
    "8AE 8B1-8B2 8B9 10AC5 10AC7 10AC9-10ACA 10ACE-10AD2 10ADD 10AE1 10AE4 10B81 10B83-10B85 10B89 10B8C "
    "10B8E-10B8F 10B91 10D22 10EC2 10F33 10F74-10F75 10FB4-10FB6 10FB9-10FBA 10FBD 10FC2-10FC3"
)
"""Joining type R: joins to the letter before it."""

DIRECTED = _ranges("590-8FF FB1D-FDFF FE70-FEFF 10800-10FFF 1E800-1EFFF")
"""All characters written from right to left, and Arabic digits, are in these ranges: those where unassigned characters
have that direction, too, by Unicode's DerivedBidiClass.txt."""
