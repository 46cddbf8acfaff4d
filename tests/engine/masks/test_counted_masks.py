"""Compare masks of counted classes with the counts; with many tokens the classes share one order of tokens."""

import codecs
import itertools
import re
import string

import pytest

import structgen
from structgen.engine.vocabulary.vocabulary import Vocabulary

LETTERS = string.ascii_lowercase
PAIRS = ["".join(pair) for pair in itertools.product(LETTERS, repeat=2)]
TEXTS = [*LETTERS, *PAIRS, *(pair + "abc" for pair in PAIRS), *(2 * pair + "!" for pair in PAIRS), "0", "a0", "!", "é"]
END = len(TEXTS)


def vocabulary_of(end: str) -> Vocabulary:
    """Return the vocabulary with another end token, so that it shares no tables with the others."""
    spellings = {number: text.encode() for number, text in enumerate(TEXTS)}
    return Vocabulary.from_bytes({**spellings, END: end.encode()}, eos_token_ids=[END])


def expected(allowed: str, low: int, high: int, written: str) -> list[int]:
    """Return the tokens that may come next in `[allowed]{low,high}!`, the end token left out."""
    found = []
    for number, text in enumerate(TEXTS):
        body, mark, rest = (written + text).partition("!")
        if not rest and set(body) <= set(allowed) and len(body) <= high and (not mark or len(body) >= low):
            found.append(number)
    return found


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_classes_that_share_an_order_of_tokens_allow_their_own(order: tuple[int, ...]) -> None:
    vocabulary = vocabulary_of(f"<{order}>")
    classes = [LETTERS, LETTERS.replace("z", ""), LETTERS + "0é"]
    for low, high in ((0, 3), (2, 9), (4, 40), (0, 1)):
        for number in order:
            allowed = classes[number]
            grammar = structgen.Grammar.regex(f"[{allowed}]{{{low},{high}}}!")
            matcher = structgen.compile(grammar, vocabulary).matcher()
            for size in range(high + 1):
                written = ("ab" * high)[:size]
                assert matcher.allowed_token_ids() == expected(allowed, low, high, written), (allowed, high, written)
                if size < high:
                    matcher.accept_bytes(("ab" * high)[size : size + 1].encode())


def test_a_bound_that_matters_late_is_kept() -> None:
    matcher = structgen.compile(structgen.Grammar.regex("[a-y]{0,60}!"), vocabulary_of("<>")).matcher()
    for size in range(0, 60, 3):
        assert matcher.allowed_token_ids() == expected(LETTERS.replace("z", ""), 0, 60, "abc" * (size // 3))
        matcher.accept_bytes(b"abc")


def test_many_tokens_are_removed_from_a_copy_of_a_shared_mask() -> None:
    pairs = ["".join(pair) for pair in itertools.product(string.ascii_letters, repeat=2)]
    texts = [*string.ascii_letters, *pairs, *(pair + "c" for pair in pairs), "!"]
    spellings = {number: text.encode() for number, text in enumerate([*texts, "<>"])}
    vocabulary = Vocabulary.from_bytes(spellings, eos_token_ids=[len(texts)])
    matcher = structgen.compile(structgen.Grammar.regex("[a-zA-Z]{0,6}!"), vocabulary).matcher()
    for left in range(6, -1, -1):
        allowed = [number for number, text in enumerate(texts) if len(text.rstrip("!")) <= left]
        assert matcher.allowed_token_ids() == allowed
        if left:
            matcher.accept_bytes(b"x")


def test_a_token_that_begins_no_character_is_in_no_order_without_it() -> None:
    texts = ["".join(letters) for size in (1, 2, 3) for letters in itertools.product("abcdefghijklmnop", repeat=size)]
    spellings = {number: text.encode() for number, text in enumerate([*texts, '"'])}
    quote, end = len(texts), len(texts) + 1
    vocabulary = Vocabulary.from_bytes({**spellings, end: b"<quoted>"}, eos_token_ids=[end])
    for schema in ({"maxLength": 2}, {"maxLength": 1, "pattern": "^[a-p]*$"}):
        matcher = structgen.compile({"type": "string", **schema}, vocabulary).matcher()
        matcher.accept_bytes(b'"')
        shorter = [number for number, text in enumerate(texts) if len(text) <= schema["maxLength"]]
        assert matcher.allowed_token_ids() == [*shorter, quote]


def may_begin(text: str, low: int, high: int) -> bool:
    """Return whether some text of `([a-p]{low,high}")(,[a-p]{low,high}")*}` begins with a text."""
    body, brace, rest = text.partition("}")
    *parts, last = body.split(",")
    if not all(is_whole(part, low, high) for part in parts) or rest:
        return False
    letters, quote, after = last.partition('"')
    return is_whole(last, low, high) or (not brace and not quote and not after and len(letters) <= high)


def is_whole(part: str, low: int, high: int) -> bool:
    """Return whether a text is one of `[a-p]{low,high}"`."""
    letters, quote, rest = part.partition('"')
    return bool(quote) and not rest and low <= len(letters) <= high


def test_what_is_left_after_counted_exits_is_merged_with_their_counts() -> None:
    letters = "abcdefghijklmnop"
    bodies = [*letters, *("".join(pair) for pair in itertools.product(letters, repeat=2))]
    lefts = ['"', '",', '",a', '",ab"', '"}', '",abc', '"]', '",a}']
    texts = [*bodies, *(body + left for body in bodies for left in lefts), ",", ",a", "}"]
    spellings = {number: text.encode() for number, text in enumerate(texts)}
    vocabulary = Vocabulary.from_bytes({**spellings, len(texts): b"<merged>"}, eos_token_ids=[len(texts)])
    for low, high in ((1, 3), (0, 2), (2, 5)):
        grammar = f'start ::= text rest; rest ::= "}}" | "," text rest; text ::= #\'[a-p]{{{low},{high}}}"\';'
        for written in ("", "a", "ab", 'ab"', 'ab",c', 'ab",cd",'):
            matcher = structgen.compile(structgen.Grammar.kbnf(grammar), vocabulary).matcher()
            matcher.accept_bytes(written.encode())
            wanted = [number for number, text in enumerate(texts) if may_begin(written + text, low, high)]
            assert matcher.allowed_token_ids() == wanted, (low, high, written)


def fits(data: bytes, high: int, needed: str) -> bool:
    """Return whether some text of `[^a]{0,high}!` that has all characters of `needed` begins with some bytes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(data)
    except UnicodeDecodeError:
        return False
    is_cut = bool(decoder.getstate()[0])
    body, mark, rest = text.partition("!")
    missing = len(set(needed) - set(body))
    if mark:
        return not (rest or is_cut or missing) and "a" not in body and len(body) <= high
    return "a" not in body and len(body) + is_cut + missing <= high


@pytest.mark.parametrize(
    ("regex", "high", "needed"),
    [("[^a!]{0,2}!", 2, ""), ("[^a!]{0,3}!", 3, ""), ("[^a!]*z[^a!]*!", 99, "z"), ("[^a!]*é[^a!]*!", 99, "é")],
)
def test_characters_of_several_bytes_are_skipped_and_counted_as_one(regex: str, high: int, needed: str) -> None:
    lead = "中".encode()[:2]
    texts = [lead + bytes([last]) for last in range(0x80, 0xC0)]
    texts += [text + end for text in texts for end in (b"!", b"b", b"a", b"\xe4", lead)]
    texts += [b"\xe4", lead, b"\xc3", b"\xc3\xa9", b"\xc3\xa9!", b"z", b"b", b"a", b"!", b"zz!", b"\xff", b"\xa9"]
    vocabulary = Vocabulary.from_bytes({**dict(enumerate(texts)), len(texts): b"<bytes>"}, eos_token_ids=[len(texts)])
    for written in (b"", b"b", b"\xe4", lead, "中".encode()):
        matcher = structgen.compile(structgen.Grammar.regex(regex), vocabulary).matcher()
        matcher.accept_bytes(written)
        wanted = [number for number, text in enumerate(texts) if fits(written + text, high, needed)]
        assert matcher.allowed_token_ids() == wanted, written


@pytest.mark.parametrize("allowed", ["a-zé", "a-cé", "a-fxé", "abé", "a-zäé"])
def test_characters_are_counted_whether_all_or_some_of_their_kind_are_allowed(allowed: str) -> None:
    characters = ["a", "c", "d", "x", "é", "ä", "A", "-"]
    bodies = ["".join(body) for size in (1, 2, 3) for body in itertools.product(characters, repeat=size)]
    texts = [text.encode() for text in [*bodies, *(body + "!" for body in bodies), *(body + "?" for body in bodies)]]
    texts += [b"\xc3", b"a\xc3", b"\xa9", b"\xa9!", b"a\xa9", b"!"]
    stop = f"<{allowed}>".encode()
    vocabulary = Vocabulary.from_bytes({**dict(enumerate(texts)), len(texts): stop}, eos_token_ids=[len(texts)])
    whole = re.compile(f"[{allowed}]{{2,3}}!")
    begun = re.compile(f"[{allowed}]{{0,3}}|{whole.pattern}")
    for written in (b"", b"a", b"a\xc3"):
        matcher = structgen.compile(structgen.Grammar.regex(whole.pattern), vocabulary).matcher()
        matcher.accept_bytes(written)
        endings = (b"", b"\xa9", b"\xa4")  # the last bytes of é and ä
        wanted = [
            number
            for number, text in enumerate(texts)
            if any(begun.fullmatch((written + text + end).decode(errors="replace")) for end in endings)
        ]
        assert matcher.allowed_token_ids() == wanted, written


def missing(body: str, needle: str) -> int:
    """Return how many characters must still come until a text has `needle` in it."""
    if needle in body:
        return 0
    return next(len(needle) - size for size in range(len(needle), -1, -1) if body.endswith(needle[:size]))


def test_states_of_a_search_with_a_bound_are_walked_alone_until_an_index_pays() -> None:
    texts = [*LETTERS, *PAIRS, *(pair + "abc" for pair in PAIRS), '"', 'e"', 'le"']
    spellings = {number: text.encode() for number, text in enumerate(texts)}
    vocabulary = Vocabulary.from_bytes({**spellings, len(texts): b"<search>"}, eos_token_ids=[len(texts)])
    schema = {"type": "string", "pattern": "needle", "maxLength": 24}
    compiled = structgen.compile(schema, vocabulary)
    visited = []
    for written in ("", "n", "ne", "nee", *("x" * size for size in range(1, 19)), "x" * 17 + "n", "x" * 18 + "needl"):
        matcher = compiled.matcher()
        matcher.accept_bytes(b'"' + written.encode())
        wanted = []
        for number, text in enumerate(texts):
            body, mark, rest = (written + text).partition('"')
            needed = missing(body, "needle")
            if not (rest or (mark and needed)) and len(body) + needed <= 24:
                wanted.append(number)
        assert matcher.allowed_token_ids() == wanted, written
        visited.append(compiled.grammar.shared.terminals.nodes_visited)
    assert visited[3] < 1_500  # with an index for each of the four states: 2,935


PIECES = ("a", "b", " ", r"\n", r"\"", "é", "中", "\x01")


def is_begun(text: bytes, words: int, high: int) -> bool:
    r"""Return whether a string of `^(?:\S+\s+){0,words-1}\S+$` with at most `high` characters begins with a text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    body = decoder.decode(text)
    body = body.replace(r"\n", " ").replace(r"\"", "x") + "y" * bool(decoder.getstate()[0])
    body, mark, rest = body.partition('"')
    if rest or "\x01" in body or body.startswith(" "):
        return False
    missing = not body or body.endswith(" ")
    fits = len(body) + missing <= high and len(body.split()) + missing <= words
    return fits and not (mark and missing)


@pytest.mark.parametrize(("words", "high"), [(2, 3), (3, 5), (10, 7), (10, 16), (10, 60), (999, 4), (999, 30)])
def test_words_and_characters_are_counted_at_once(words: int, high: int) -> None:
    bodies = ["".join(body) for size in (1, 2, 3, 4) for body in itertools.product(PIECES, repeat=size)]
    bodies += [body * size for body in ("a", " ", r"\n", "a ", "a中") for size in (6, 12, 20)]
    lines = ["a" * size + "\x01" for size in range(1, 30)]
    texts = [text.encode() for text in dict.fromkeys([*bodies, *lines, *(body + '"' for body in bodies[:80])])]
    cut = "中".encode()[:2]
    texts += [cut, b"a" + cut, cut + b"\x80", *("中".encode() + cut[:size] for size in (1, 2))]
    stop = f"<{words} {high}>".encode()
    vocabulary = Vocabulary.from_bytes({**dict(enumerate(texts)), len(texts): stop}, eos_token_ids=[len(texts)])
    schema = {"type": "string", "pattern": rf"^(?:\S+\s+){{0,{words - 1}}}\S+$", "maxLength": high}
    compiled = structgen.compile(schema, vocabulary)
    for written in ("", "a", "a ", r"a\n", "a b", "aaa", "中", "a b a"):
        if not is_begun(written.encode(), words, high):
            continue
        matcher = compiled.matcher()
        matcher.accept_bytes(b'"' + written.encode())
        wanted = [number for number, text in enumerate(texts) if is_begun(written.encode() + text, words, high)]
        assert matcher.allowed_token_ids() == wanted, written


@pytest.mark.parametrize("text", [b"[0.5", b"[0.540", b"[0.5,0.7", b"[12", b"[1.2e1"])
def test_where_digits_are_counted_and_may_end_tokens_go_on_after_them(text):
    """The comma is no character of a number. A token that has one after digits is no token of the number alone."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b"5,", b"55,", b"5]", b"05,7", b"0,0", b"5}", b"5:", b"55-", b",1", b".5,", b"5,5,5", b"\n5,", b"5\n,"]
    vocabulary = structgen.Vocabulary.from_bytes(dict(enumerate([*tokens, b""])), eos_token_ids=[len(tokens)])
    items = {"type": "number", "exclusiveMinimum": 0.25}
    schema = {"type": "array", "items": items, "maxItems": 3, "contains": {"type": "integer"}}
    matcher = structgen.compile(schema, vocabulary).matcher()
    matcher.accept_bytes(text)
    allowed = set(matcher.allowed_token_ids())
    for number, token in enumerate(tokens):
        assert (number in allowed) == matcher.allows_bytes(token), token
