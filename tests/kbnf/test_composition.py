"""Grammars made of others have the texts of their parts, put together; names of rules never mix."""

import random
from itertools import product

import pytest

import structgen
from structgen import Grammar
from structgen.errors import GrammarError

BYTES = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)} | {256: b""}, eos_token_ids=[256])
MAX_LENGTH = 5

PARTS: dict[str, Grammar | str] = {
    "a": "a",
    "": "",
    "regex": Grammar.regex("a|bc"),
    "nullable": Grammar.regex("b?"),
    "choice": Grammar.choice(["ab", "c"]),
    "recursive": Grammar.kbnf("start ::= 'a' start 'b' | 'c';", eager=False),
    "named": Grammar.kbnf("start ::= 'a' x; x ::= 'b' | x 'b';", eager=False),
    "same name": Grammar.kbnf("start ::= x 'c'; x ::= 'c';", eager=False),
    "other start": Grammar.kbnf("x ::= 'c' start?; start ::= 'a';", start="x", eager=False),
    "free text": Grammar.kbnf("start ::= except!(x) 'c'; x ::= 'c';", eager=False),
    "gbnf": Grammar.gbnf('root ::= x{1,2}\nx ::= "b"'),
}


def texts(grammar: Grammar, alphabet: bytes = b"abc,") -> set[bytes]:
    """Return the texts of at most MAX_LENGTH bytes over an alphabet, as the engine reads them."""
    matcher = structgen.compile(grammar, BYTES).matcher()
    found: set[bytes] = set()

    def visit(text: bytes) -> None:
        if matcher.is_accepting:
            found.add(text)
        if len(text) < MAX_LENGTH:
            allowed = set(matcher.allowed_token_ids())
            for byte in alphabet:
                if byte in allowed:
                    matcher.accept_token(byte)
                    visit(text + bytes([byte]))
                    matcher.rollback(1)

    visit(b"")
    return found


LANGUAGES = {name: {part.encode()} if isinstance(part, str) else texts(part) for name, part in PARTS.items()}


def concatenated(*languages: set[bytes]) -> set[bytes]:
    return {text for parts in product(*languages) if len(text := b"".join(parts)) <= MAX_LENGTH}


def repeated(language: set[bytes], least: int, most: int | None, separator: bytes = b"") -> set[bytes]:
    found: set[bytes] = set()
    several: set[bytes] = {b""}
    for count in range(MAX_LENGTH + least + 2 if most is None else most + 1):
        if count >= least:
            found |= several
        several = concatenated(several, {separator} if count else {b""}, language)
    return found


@pytest.mark.parametrize("left", PARTS)
def test_concatenations_and_unions_have_the_texts_of_their_parts(left: str) -> None:
    for right in PARTS:
        if isinstance(PARTS[left], str) and isinstance(PARTS[right], str):
            continue
        one, other = LANGUAGES[left], LANGUAGES[right]
        assert texts(PARTS[left] + PARTS[right]) == concatenated(one, other), right
        assert texts(PARTS[left] | PARTS[right]) == one | other, right


@pytest.mark.parametrize("name", [name for name, part in PARTS.items() if isinstance(part, Grammar)])
def test_repetitions_have_so_many_texts(name: str) -> None:
    part = PARTS[name]
    assert isinstance(part, Grammar)
    language = LANGUAGES[name]
    assert texts(part.optional()) == language | {b""}
    for least, most, separator in ((0, None, ""), (1, None, ","), (0, 2, ","), (2, 3, ""), (2, 2, ","), (0, 1, ",")):
        made = part.repeat(least, most, separator=separator)
        assert texts(made) == repeated(language, least, most, separator.encode()), (least, most, separator)
    assert texts(part.named("x")) == texts(part.named("other")) == language


@pytest.mark.one_in(4, uncompiled=12)
@pytest.mark.parametrize("seed", range(24))
def test_compositions_of_compositions(seed: int) -> None:
    rng = random.Random(seed)

    def made(depth: int) -> tuple[Grammar | str, set[bytes]]:
        if depth == 0:
            name = rng.choice([*PARTS])
            return PARTS[name], LANGUAGES[name]
        parts = [made(rng.randrange(depth)) for _ in range(rng.randint(1, 3))]
        kind = rng.randrange(4)
        if kind == 0:
            return Grammar.concat(*[part for part, _ in parts]), concatenated(*[texts for _, texts in parts])
        if kind == 1:
            return Grammar.union(*[part for part, _ in parts]), set.union(*[texts for _, texts in parts])
        part, language = parts[0]
        part = Grammar.concat(part) if isinstance(part, str) else part
        if kind == 2:
            return part.named(rng.choice("xyz")), language
        least, most = rng.choice(((0, 1), (1, None), (0, None), (1, 2)))
        return part.repeat(least, most), repeated(language, least, most)

    for _ in range(4):
        grammar, language = made(3)
        assert texts(Grammar.concat(grammar)) == language, grammar


def test_equal_parts_make_equal_grammars_and_others_do_not() -> None:
    digits = Grammar.regex("[0-9]")
    assert "a" + digits == Grammar.concat("a", Grammar.regex("[0-9]"))
    assert hash("a" + digits) == hash(Grammar.concat("a", Grammar.regex("[0-9]")))
    different = ["a" + digits, "b" + digits, digits + "a", "a" | digits, digits.optional(), digits.repeat(0, 2)]
    different += [digits.named("x"), digits.named("y"), digits.repeat(separator=","), Grammar.concat("a", "[0-9]")]
    assert len(set(different)) == len(different)


def test_long_sums_stay_small() -> None:
    made = Grammar.concat("begin")
    for _ in range(200):
        made += Grammar.regex("x")
    assert len(made.tree.rules) == 1
    structgen.compile(made, BYTES).matcher().accept_bytes(b"begin" + b"x" * 200)


def test_messages_name_the_rules_of_parts() -> None:
    drink = Grammar.choice(["tea", "coffee"]).named("drink")
    matcher = structgen.compile("one " + drink, BYTES).matcher()
    matcher.accept_bytes(b"one ")
    assert "drink" in str(matcher.explain(ord("x")))


def test_compositions_are_exported_and_read_back() -> None:
    pair = Grammar.regex("[a-c]").named("letter").repeat(1, 2, separator=",") + Grammar.kbnf("start ::= 'a' | 'b';")
    text = structgen.export(pair, "kbnf")
    assert "letter ::=" in text
    assert texts(Grammar.kbnf(text, eager=False)) == texts(pair)


def test_wrong_parts_are_named() -> None:
    with pytest.raises(TypeError, match=r"not <class 'int'>; structgen.template"):
        Grammar.concat("a", int)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Grammar.regex("a") + 1  # type: ignore[operator]
    with pytest.raises(TypeError, match="union needs at least one"):
        Grammar.union()
    with pytest.raises(GrammarError, match="lone surrogate"):
        Grammar.regex("a") + "\ud800"
    for least, most in ((-1, None), (3, 2)):
        with pytest.raises(GrammarError, match="is not possible"):
            Grammar.regex("a").repeat(least, most)
    with pytest.raises(GrammarError, match="'a b' is no name"):
        Grammar.regex("a").named("a b")


def test_repr_is_the_call() -> None:
    made = ("a" | Grammar.kbnf("x ::= 'y';", eager=False)).repeat(1, separator=",").named("list")
    text = repr(made)
    assert text == (
        "Grammar.union('a', Grammar.kbnf(\"x ::= 'y';\", start='x', eager=False)).repeat(1, None, separator=',')"
        ".named('list')"
    )
    assert eval(text) == made
