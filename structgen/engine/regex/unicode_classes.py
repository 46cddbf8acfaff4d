"""Sets of characters as sorted, disjoint ranges of code points, and the classes that regexes name.

What Unicode says comes from Python's own `unicodedata`, so its version is that of the interpreter; only scripts come
from `script_tables`. Surrogates are no characters here: no set holds one.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache

__all__ = [
    "ANY",
    "POSIX_CLASSES",
    "WHITE_SPACE",
    "Ranges",
    "case_closure",
    "category",
    "difference_of",
    "intersection_of",
    "negation_of",
    "property_class",
    "script",
    "union_of",
    "word_class",
]

Ranges = tuple[tuple[int, int], ...]  # inclusive, sorted, neither overlapping nor adjacent

ANY: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))
WHITE_SPACE: Ranges = (
    (0x9, 0xD), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip

_LAST = 0x10FFFF
_MIXED_PLANES = 4  # those before have characters of all kinds everywhere
_BEGIN_OF_PLANE = 0x1000
# What is Alphabetic but neither letter, mark nor number by category: letters in circles or squares.
_CIRCLED = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
_ROW = 0x100
_CASED_END = 0x20000  # past the last character with cases: none is outside of the first two planes
_JOINERS = ((0x200C, 0x200D),)

# The ASCII classes of POSIX brackets.
POSIX_CLASSES: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0, 0x7F),),
    "blank": ((0x9, 0x9), (0x20, 0x20)),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "digit": ((0x30, 0x39),),
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x9, 0xD), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}

# General_Category: long names of the values, as Unicode's PropertyValueAliases.txt has them.
_CATEGORY_NAMES = {
    "letter": "L", "casedletter": "LC", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt",
    "modifierletter": "Lm", "otherletter": "Lo", "mark": "M", "combiningmark": "M", "nonspacingmark": "Mn",
    "spacingmark": "Mc", "enclosingmark": "Me", "number": "N", "decimalnumber": "Nd", "digit": "Nd",
    "letternumber": "Nl", "othernumber": "No", "punctuation": "P", "punct": "P", "connectorpunctuation": "Pc",
    "dashpunctuation": "Pd", "openpunctuation": "Ps", "closepunctuation": "Pe", "initialpunctuation": "Pi",
    "finalpunctuation": "Pf", "otherpunctuation": "Po", "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc",
    "modifiersymbol": "Sk", "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs", "lineseparator": "Zl",
    "paragraphseparator": "Zp", "other": "C", "control": "Cc", "cntrl": "Cc", "format": "Cf", "surrogate": "Cs",
    "privateuse": "Co", "unassigned": "Cn",
}  # fmt: skip
_CATEGORIES = frozenset(
    (
        *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
        *("Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"),
    )
)


def union_of(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the same set as sorted ranges that neither overlap nor touch."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def intersection_of(left: Ranges, right: Ranges) -> Ranges:
    """Return what is in both sets."""
    if not left or not right:
        return ()
    out: list[tuple[int, int]] = []
    # Of many ranges, those that end before the other set begins are skipped.
    i = max(bisect_right(left, right[0]) - 1, 0)
    j = max(bisect_right(right, left[0]) - 1, 0)
    while i < len(left) and j < len(right):
        mine, theirs = left[i], right[j]
        low = mine[0] if mine[0] > theirs[0] else theirs[0]
        if mine[1] < theirs[1]:
            high = mine[1]
            i += 1
        else:
            high = theirs[1]
            j += 1
        if low <= high:
            out.append((low, high))
    return tuple(out)


def negation_of(ranges: Ranges) -> Ranges:
    """Return every character that is not in the set."""
    out: list[tuple[int, int]] = []
    at = 0
    for low, high in ranges:
        if at < low:
            out.append((at, low - 1))
        at = high + 1
    if at <= _LAST:
        out.append((at, _LAST))
    return intersection_of(tuple(out), ANY)


def difference_of(left: Ranges, right: Ranges) -> Ranges:
    """Return what is in the one set and not in the other."""
    return intersection_of(left, negation_of(right))


@cache
def _ranges_by_category() -> dict[str, Ranges]:
    """Return the characters of each two-letter general category. Takes 20 ms, once a process."""
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in _CATEGORIES}
    category_of = unicodedata.category
    current, begin = category_of("\0"), 0
    for code_point in _changes():
        name = category_of(chr(code_point))
        if name != current:
            found[current].append((begin, code_point - 1))
            current, begin = name, code_point
    found[current].append((begin, _LAST))
    found["Cs"] = []
    return {name: tuple(ranges) for name, ranges in found.items()}


def _changes() -> Iterator[int]:
    """Yield the code points whose category may differ from that of the one before.

    Planes 4 to 16 have one category from some row on, except for their last two code points: they are unassigned, for
    private use, or have their few characters at the begin.
    """
    yield from range(_MIXED_PLANES << 16)
    for plane in range(_MIXED_PLANES << 16, _LAST + 1, 1 << 16):
        yield from range(plane, plane + _BEGIN_OF_PLANE)
        yield from range(plane + 0xFFFE, plane + 0x10000)


@cache
def category(name: str) -> Ranges | None:
    """Return the characters of a general category (`Lu`, `L`, `Uppercase_Letter`, …); None if the name is unknown."""
    name = _CATEGORY_NAMES.get(_loose(name), name)
    canonical = name[:1].upper() + name[1:].lower()
    if canonical in ("Lc", "L&"):
        members = {"Lu", "Ll", "Lt"}
    else:
        members = {c for c in _CATEGORIES if canonical in (c, c[0])}
    if not members:
        return None
    return union_of(r for member in members for r in _ranges_by_category()[member])


@cache
def _assigned() -> Ranges:
    """Return the characters that Unicode has given a meaning."""
    no_meaning = union_of([*(category("Cn") or ()), *(category("Co") or ())])
    return difference_of(ANY, no_meaning)


@cache
def _where(holds: Callable[[str], bool]) -> Ranges:
    """Return the characters with a meaning for which a predicate holds."""
    return union_of((c, c) for low, high in _assigned() for c in range(low, high + 1) if holds(chr(c)))


def _loose(name: str) -> str:
    """Return a property's name without case, spaces, hyphens and underscores (UAX 44, LM3)."""
    return "".join(c for c in name.lower() if c not in " -_")


@cache
def script(name: str, *, extended: bool = False) -> Ranges | None:
    """Return the characters of a script (`Greek`, `Grek`, …); None if the name is unknown.

    Args:
        name: a long or short name.
        extended: by the property Script_Extensions: also the characters that the script shares with few others.

    Example:
        >>> script("Bopomofo")
        ((746, 747), (12549, 12591), (12704, 12735))
    """
    from structgen.engine.regex.script_tables import EXTENSIONS, SCRIPTS  # few patterns name a script

    wanted = _loose(name).removeprefix("is")
    names = next((names for names in SCRIPTS if wanted in names.split()), None)
    if names is None:
        return None
    found = _ranges(SCRIPTS[names])
    if extended:
        added, _, removed = EXTENSIONS.get(names.split()[0], "").partition("/")
        found = union_of([*difference_of(found, _ranges(removed)), *_ranges(added)])
    return found


def _ranges(text: str) -> Ranges:
    """Return the ranges of a text such as `"DF 660-669"`."""
    pairs = [piece.partition("-") for piece in text.split()]
    return union_of((int(low, 16), int(high or low, 16)) for low, _, high in pairs)


def property_class(name: str) -> Ranges | None:
    r"""Return the class that `\p{name}` means.

    General categories, with or without `gc=`; `Any`, `ASCII`, `Assigned`, `White_Space`, `Uppercase`, `Lowercase`,
    `ASCII_Hex_Digit`, `XID_Start`, `XID_Continue`. Scripts: `Script=Greek`, `sc=Grek`, `Script_Extensions=Greek`,
    `scx=Grek`, and the name alone.

    Returns:
        None for what is not known here: Python has no table of other properties.
    """
    key, _, value = name.replace(":", "=").partition("=")
    if value:
        match _loose(key):
            case "gc" | "generalcategory" | "category":
                return category(value.strip())
            case "sc" | "script":
                return script(value)
            case "scx" | "scriptextensions":
                return script(value, extended=True)
        return None
    found = category(name.strip())
    if found is not None:
        return found
    match _loose(name):
        case "any":
            return ANY
        case "ascii":
            return ((0, 0x7F),)
        case "assigned":
            return difference_of(ANY, category("Cn") or ())
        case "whitespace" | "space" | "wspace":
            return WHITE_SPACE
        case "uppercase" | "upper":
            return _where(str.isupper)
        case "lowercase" | "lower":
            return _where(str.islower)
        case "asciihexdigit" | "ahex":
            return POSIX_CLASSES["xdigit"]
        case "xidstart" | "xids":
            return difference_of(_where(str.isidentifier), ((0x5F, 0x5F),))
        case "xidcontinue" | "xidc":
            return _where(_continues_identifier)
    return script(name)


def _continues_identifier(character: str) -> bool:
    """Return whether a character may follow the first one of an identifier (XID_Continue)."""
    return f"a{character}".isidentifier()


@cache
def word_class(dialect: str) -> Ranges:
    r"""Return what `\w` means: in "rust" as UTS 18 has it, in "python" as `re`, else ASCII."""
    if dialect == "rust":
        names = ("L", "M", "Nl", "Nd", "Pc")
        return union_of([*(r for n in names for r in category(n) or ()), *_CIRCLED, *_JOINERS])
    if dialect == "python":
        return union_of([*_where(str.isalnum), (0x5F, 0x5F)])
    return POSIX_CLASSES["word"]


@cache
def _case_variants() -> tuple[list[int], dict[int, tuple[int, ...]]]:
    """Return all characters that differ from another one only in case, sorted, and for each the others.

    Two characters are equal but for case when their full foldings are: those of several characters are the same for
    exactly the characters whose simple foldings are (Unicode's CaseFolding.txt, statuses C and S, from version 15.1
    on), such as ß and ẞ, or ﬅ and ﬆ.
    """
    groups: dict[str, list[int]] = {}
    for begin in range(0, _CASED_END, _ROW):
        row = "".join(map(chr, range(begin, begin + _ROW)))
        for character in row if row.casefold() != row else "":
            folded = character.casefold()
            if folded != character:
                groups.setdefault(folded, [ord(folded)] if len(folded) == 1 else []).append(ord(character))
    variants = {
        c: tuple(o for o in group if o != c) for group in map(sorted, groups.values()) if len(group) > 1 for c in group
    }
    return sorted(variants), variants


_LETTERS_I = ((0x49, 0x49), (0x69, 0x69), (0x130, 0x131))
"""The letters I, i, İ and ı. Foldings keep the last two apart; for `re`, they all are one letter."""


def case_closure(ranges: Ranges, *, ascii_only: bool = False, one_i: bool = False) -> Ranges:
    """Return the set with every character that equals one of it but for case.

    Args:
        ranges: a set.
        ascii_only: only the letters A to Z and a to z have cases.
        one_i: İ and ı equal i, as for Python's `re`.
    """
    more: list[tuple[int, int]] = list(ranges)
    if ascii_only:
        for base, other in ((0x41, 0x61), (0x61, 0x41)):
            inside = intersection_of(ranges, ((base, base + 25),))
            more.extend((low - base + other, high - base + other) for low, high in inside)
        return union_of(more)
    cased, variants = _case_variants()
    for low, high in ranges:
        for at in range(bisect_left(cased, low), bisect_left(cased, high + 1)):
            more.extend((other, other) for other in variants[cased[at]])
    if one_i and intersection_of(ranges, _LETTERS_I):
        more.extend(_LETTERS_I)
    return union_of(more)
