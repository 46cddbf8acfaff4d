"""A regex of internationalized host names: IDNA 2008 (RFC 5890 to 5893) as a regular language.

The characters of a label follow from Python's `unicodedata` by the rules of RFC 5892 (`idn_characters`). The obvious
regex, an intersection of all rules, has too many states. Labels are therefore composed of parts that satisfy the rules
by construction:

- clusters of a letter and its marks: the marks are in canonical order, and none would be composed with the letter
  (NFC);
- pieces that contain a character with a contextual rule and its context: `l·l` for the middle dot (there are nine
  such characters);
- whole names, which satisfy the rule about right-to-left labels.

The language is smaller than IDNA's where that keeps the automaton small:

- A-labels (`xn--…`) are left out: they must be decoded first, which no automaton of reasonable size does;
- a U-label may take at most 63 octets when encoded. Labels here are so short that they always fit, given the range of
  characters that they stay in (`_WINDOWS`); so are names;
- marks that are composed with some letter follow only letters that are composed with none;
- beside a right-to-left label, all labels are right-to-left or ASCII.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from sys import maxunicode

from structgen.engine.regex.tree import (
    ANY_CHAR,
    Chars,
    Literal,
    Regex,
    Repeat,
    choice,
    intersection,
    optional,
    plus,
    sequence,
    star,
)
from structgen.engine.regex.unicode_classes import ANY, Ranges, difference_of, intersection_of, union_of
from structgen.schema.formats.idn_characters import (
    combining_classes,
    compositions,
    label_characters,
    mark_characters,
    of_direction,
)
from structgen.schema.formats.idn_tables import GREEK, HEBREW, JAPANESE, JOINS_BOTH_WAYS, JOINS_RIGHT
from structgen.schema.formats.network import HOSTNAME, PLAIN_LABEL
from structgen.schema.formats.parts import ALNUM, LETTER
from structgen.schema.json_text.strings import byte_set

__all__ = ["LOOSE_NAME", "idn_hostname", "mail_domain"]

_DOT = Chars(((0x2E, 0x2E), (0x3002, 0x3002), (0xFF0E, 0xFF0E), (0xFF61, 0xFF61)))
_ASCII: Ranges = ((0x30, 0x39), (0x61, 0x7A))
_HYPHEN = Literal(b"-")
_RIGHT_TO_LEFT = ("R", "AL", "AN")
_VIRAMA = 9
_NON_JOINER, _JOINER = 0x200C, 0x200D
_ARABIC_DIGITS, _PERSIAN_DIGITS = (0x660, 0x669), (0x6F0, 0x6F9)
_GERESH: Ranges = ((0x5F3, 0x5F4),)

# (first code point, last code point, maximum characters). A label that takes its characters beyond ASCII from one such
# range, and has at most so many characters, takes at most 63 octets when encoded. The worst case of Punycode was
# searched exhaustively, for each number of ASCII characters.
_RIGHT_TO_LEFT_WINDOW = (0x590, 0x7FF, 22)
_WINDOWS = (
    (0x80, 0x24F, 23),  # Latin
    (0x370, 0x52F, 23),  # Greek, Cyrillic
    (0x900, 0xDFF, 20),  # the scripts of India
    (0xE00, 0xEFF, 24),  # Thai, Lao
    (0xF00, 0x1FFF, 18),  # Tibetan to Khmer, Georgian, Ethiopic, Greek with accents
)
_MAX_WITH_JOINERS = 17  # the code points of the joiners are far from those of the letters that they join
_KANA_AND_HAN = (0x3005, 0x9FFF, 15)
_HANGUL = (0xAC00, 0xD7A3, 16)
_ANYWHERE = (0x80, 0x3FFFF, 9)
_MAX_LABELS = 3  # in a name of any labels
_MAX_SHORT_NAME = 50  # characters of a name with more labels


def _one(*codes: int) -> Chars:
    return Chars(union_of((code, code) for code in codes))


def _chars(ranges: Ranges) -> Regex:
    return Chars(ranges) if ranges else choice()


LOOSE_NAME = plus(Chars(((0x2D, 0x2E), (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), (0x80, 0xD7FF), (0xE000, 0x10FFFF))))
"""Texts that might be a name once A-labels are decoded and lengths counted. No other ASCII character is in any name."""


# --- clusters --------------------------------------------------------------------------------------------------------


def _marks(ranges: Ranges) -> Regex:
    """Return sequences of marks in canonical order: sorted by combining class."""
    runs = {value: intersection_of(ranges, found) for value, found in combining_classes().items() if value}
    lower = [star(Chars(runs[value])) for value in sorted(runs) if value < _VIRAMA and runs[value]]
    higher = [star(Chars(runs[value])) for value in sorted(runs) if value > _VIRAMA and runs[value]]
    if not runs.get(_VIRAMA):
        return sequence(*lower, *higher)
    viramas = star(Chars(runs[_VIRAMA]))
    joined = sequence(Chars(runs[_VIRAMA]), _one(_NON_JOINER, _JOINER))
    return sequence(*lower, viramas, choice(joined, sequence(*higher)))


class _Clusters:
    """Clusters of a set of characters: a character of combining class 0, and the marks that may follow it in NFC."""

    def __init__(self, characters: Ranges) -> None:
        starters = intersection_of(characters, combining_classes()[0])
        marks = difference_of(characters, starters)
        self.joined = union_of((mark, mark) for mark, _ in compositions())
        self.joining = union_of(r for mark, ranges in compositions() for r in ranges if _is_mark(mark, marks))
        self.all_marks = _marks(marks)
        self.safe_marks = _marks(difference_of(marks, self.joined))
        self.starters = starters

    def of(self, starters: Ranges) -> Regex:
        """Return the clusters that begin with these characters."""
        plain = difference_of(starters, self.joining)
        composed = intersection_of(starters, self.joining)
        return choice(
            sequence(_chars(plain), self.all_marks),
            sequence(_chars(composed), self.safe_marks),
        )


def _is_mark(code: int, marks: Ranges) -> bool:
    """Return whether a code point is among some marks."""
    at = bisect_right(marks, (code, maxunicode))
    return at > 0 and code <= marks[at - 1][1]


def _word(characters: Ranges, *pieces: Regex) -> Regex:
    """Return labels of clusters and other pieces, with single hyphens between them, that do not begin with a mark."""
    clusters = _Clusters(characters)
    starters = clusters.starters
    # Vowel signs of class 0 that NFC composes with another one right before them.
    late = intersection_of(starters, clusters.joined)
    before_late = union_of(r for mark, ranges in compositions() for r in ranges if _is_mark(mark, late))
    early = difference_of(starters, union_of([*late, *before_late]))
    free = sequence(choice(clusters.of(early), *pieces), star(clusters.of(difference_of(late, before_late))))
    bound = clusters.of(intersection_of(starters, before_late))
    signs = mark_characters()
    first = choice(
        sequence(clusters.of(difference_of(early, signs)), star(clusters.of(difference_of(late, before_late)))),
        clusters.of(difference_of(intersection_of(starters, before_late), signs)),
        *pieces,
    )
    return sequence(first, star(sequence(optional(_HYPHEN), choice(free, bound))))


# --- labels ----------------------------------------------------------------------------------------------------------


def _within(window: tuple[int, int, int], label: Regex, ascii_part: Ranges = ((0x2D, 0x7A),)) -> Regex:
    """Return the labels with at most so many characters, all of one window or of `ascii_part`."""
    low, high, most = window
    inside = union_of([*ascii_part, (low, high)])
    joined = union_of([*inside, (_NON_JOINER, _JOINER)])
    short = choice(Repeat(Chars(inside), 1, most), Repeat(Chars(joined), 1, min(most, _MAX_WITH_JOINERS)))
    return intersection(label, short)


def _left_to_right() -> Regex:
    """Return labels without right-to-left characters."""
    free = difference_of(label_characters(), union_of([*of_direction(*_RIGHT_TO_LEFT), (0x2D, 0x2D)]))

    def window(low: int, high: int) -> Ranges:
        return union_of([*_ASCII, *intersection_of(free, ((low, high),))])

    labels: list[Regex] = []
    for low, high, most in _WINDOWS:
        labels.append(_within((low, high, most), _word(window(low, high), *_pieces(low, high))))
    alone = difference_of(combining_classes()[0], union_of((mark, mark) for mark, _ in compositions()))
    for low, high, most in (_KANA_AND_HAN, _HANGUL, _ANYWHERE):
        letters = intersection_of(window(low, high), alone)
        if (low, high, most) == _ANYWHERE:
            letters = union_of([*letters, _PERSIAN_DIGITS])  # never beside the Arabic digits, which are right-to-left
        first = Chars(difference_of(letters, mark_characters()))
        labels.append(sequence(first, Repeat(Chars(letters), 0, most - 1)))
    labels.append(_with_katakana_dot())
    return choice(*labels)


def _pieces(low: int, high: int) -> list[Regex]:
    """Return the characters of a window that need a context, each with that context (RFC 5892, appendix A)."""
    pieces: list[Regex] = []
    if low <= 0xB7 <= high:
        middle_dot = Literal("\u00b7".encode())
        pieces.append(sequence(Literal(b"l"), middle_dot, Literal(b"l"), star(sequence(middle_dot, Literal(b"l")))))
    if low <= 0x375 <= high:
        greek = intersection_of(GREEK, ((low, high),))
        pieces.append(sequence(_one(0x375), Chars(greek)))
    return pieces


def _with_katakana_dot() -> Regex:
    """Return labels with Katakana's middle dot: they contain Kana or Han somewhere (RFC 5892, appendix A.7)."""
    low, high, most = _KANA_AND_HAN
    japanese = intersection_of(difference_of(JAPANESE, mark_characters()), label_characters())
    japanese = intersection_of(japanese, ((low, high),))
    other = Chars(union_of([*_ASCII, (0x30FB, 0x30FB)]))
    every = Chars(union_of([*_ASCII, *japanese, (0x30FB, 0x30FB)]))
    return _within((low, high, most), sequence(star(other), Chars(japanese), star(every)), _ASCII)


def _right_to_left() -> Regex:
    """Return right-to-left labels of RFC 5893, section 2: with one kind of digits, without Latin letters."""
    low, high, _ = _RIGHT_TO_LEFT_WINDOW
    inside = intersection_of(label_characters(), ((low, high),))
    letters = intersection_of(inside, of_direction("R", "AL"))
    clusters = _Clusters(union_of([*letters, *intersection_of(inside, of_direction("NSM"))]))
    letters = intersection_of(letters, clusters.starters)
    hebrew = _Clusters(intersection_of(union_of([*HEBREW]), union_of([*letters, *inside])))
    both_ways = clusters.of(intersection_of(letters, JOINS_BOTH_WAYS))
    to_the_left = clusters.of(intersection_of(letters, JOINS_RIGHT))
    non_joiner = _one(_NON_JOINER)
    joined = sequence(both_ways, star(sequence(non_joiner, both_ways)), optional(sequence(non_joiner, to_the_left)))
    numbered = sequence(hebrew.of(intersection_of(letters, HEBREW)), Chars(_GERESH))
    unit = choice(clusters.of(letters), joined, numbered)
    labels: list[Regex] = []
    for number in (union_of([(0x30, 0x39), _PERSIAN_DIGITS]), (_ARABIC_DIGITS,)):
        labels.append(sequence(unit, star(sequence(optional(_HYPHEN), choice(unit, Chars(number))))))
    return _within(_RIGHT_TO_LEFT_WINDOW, choice(*labels))


# --- names -----------------------------------------------------------------------------------------------------------


def _names(label: Regex) -> Regex:
    """Return labels separated by dots, without a bound on the length of the name."""
    label = Repeat(label, 1, 1)  # one shared term for all uses
    return sequence(label, star(sequence(_DOT, label)))


def _short_texts() -> Regex:
    """Return texts of at most three labels, or of so few characters that a name takes at most 253 octets.

    As one condition on all names, it makes one state of each set of names that a text may still become. A union of the
    names of three labels and of the short names would have the states of both.
    """
    in_label = star(Chars(difference_of(ANY, _DOT.ranges)))
    few_labels = sequence(in_label, Repeat(sequence(_DOT, in_label), 0, _MAX_LABELS - 1))
    return choice(few_labels, Repeat(ANY_CHAR, 1, _MAX_SHORT_NAME))


@cache
def idn_hostname() -> Regex:
    """Return names of U-labels and ASCII labels, with every character that separates labels (RFC 3490, section 3.1)."""
    in_order = intersection(PLAIN_LABEL, sequence(LETTER, star(byte_set(ALNUM + "-"))))
    names = choice(_names(choice(PLAIN_LABEL, _left_to_right())), _names(choice(in_order, _right_to_left())))
    return choice(HOSTNAME, intersection(names, _short_texts()))


@cache
def mail_domain() -> Regex:
    """Return domains of RFC 6531: labels of letters, digits and characters that are valid in any label.

    IDNA's rules about whole labels are not applied: an address is not refused because its domain is not in NFC.
    """
    signs = union_of([*difference_of(label_characters(), ((0x2D, 0x2D),)), (0x41, 0x5A)])
    first = Chars(difference_of(signs, mark_characters()))
    label = sequence(first, Repeat(sequence(optional(_HYPHEN), Chars(signs)), 0, 8))
    return sequence(label, Repeat(sequence(Literal(b"."), label), 0, 4))
