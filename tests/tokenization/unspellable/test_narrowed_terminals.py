"""Texts that cannot be spelled, as they hold a special token's text: exactly the others are left, without dead ends."""

import random
import re

import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import tokenizer_of, vocabulary_of, vocabulary_of_its_own
from support.reachable_texts import BYTES, texts_of
from tokenizers import AddedToken, Regex, normalizers, pre_tokenizers

import structgen
from structgen.engine.regex import tree as rx
from structgen.errors import VocabularyError
from structgen.tokenization.unspellable.narrowed_terminals import Spellable

SPECIAL = "<|end|>"
PIECES = ["<", "|", "en", "d", "|>", ">", "<|en", "d|>", "[<x]", "[d>]", "(e|é)n", "<|end|>", "a", "[|>]", "(|>)?"]


def random_pattern(rng):
    """Return a regex with many parts of the special token's text, after one another and as alternatives."""
    choices = []
    for _ in range(rng.randint(1, 3)):
        parts = [
            piece.replace("|>", r"\|>").replace("<|", r"<\|") for piece in rng.choices(PIECES, k=rng.randint(1, 5))
        ]
        if rng.random() < 0.5:
            parts.insert(rng.randint(0, len(parts)), r"<\|(en|an)(d|b)\|>")
        choices.append("".join(r"\|" if part == "|" else part for part in parts))
    return "|".join(choices)


@pytest.mark.one_in(12, uncompiled=36)
@pytest.mark.parametrize("make", [bpe_tokenizers.gpt2, bpe_tokenizers.llama3, bpe_tokenizers.gemma_like])
@pytest.mark.parametrize("seed", range(25))
def test_what_is_left_is_what_can_be_spelled(make, seed):
    rng = random.Random(seed)
    pattern = random_pattern(rng)
    kinds = [
        structgen.Grammar.regex(f"({pattern})!"),
        {"type": "string", "pattern": f"^({pattern})$", "maxLength": 20},
        {"type": "array", "items": {"type": "string", "pattern": f"^({pattern})$"}, "maxItems": 1},
    ]
    given = rng.choice(kinds)
    written = texts_of(structgen.compile(given, BYTES, whitespace="compact"))
    if written is None:
        pytest.skip("too many texts")
    expected = {text for text in written if SPECIAL not in text}
    vocabulary = vocabulary_of(make)
    try:
        constraint = structgen.compile(given, vocabulary, whitespace="compact", tokenization="proper")
    except VocabularyError as error:
        assert "cannot spell" in str(error) or "no text" in str(error)
        assert SPECIAL in pattern.replace("\\", "") or expected <= {"[]"}
        return
    assert texts_of(constraint) == expected


def random_rules(rng, may_recur):
    """Return a grammar that forms the special token's text by terminals of several rules, or little else."""
    rules = []
    cuts = sorted(rng.sample(range(len(SPECIAL) + 1), 5))
    repeated = ("{1,2}", "+")[may_recur]
    others = ["'<'", "'<|e'", "'|>'", "'a'", f"#'[<x]{repeated}'", "#'[d>]'"]
    for number in range(4):
        part = f"'{SPECIAL[cuts[number] : cuts[number + 1]]}'"
        deeper = [f"r{other}" for other in range(number + 1, 4)]
        bodies = [[part], *[rng.choices([part, part, *others, *deeper], k=rng.randint(1, 3)) for _ in "ab"]]
        rng.shuffle(bodies)
        bodies = bodies[: rng.randint(1, 3)]
        if may_recur and rng.random() < 0.5:
            bodies.append([part, f"r{number}"])
        rules.append(f"r{number} ::= {' | '.join(' '.join(body) for body in bodies)};")
    around = [f"'{SPECIAL[: cuts[0]]}'" if cuts[0] else "", f"'{SPECIAL[cuts[4] :]}'" if cuts[4] < len(SPECIAL) else ""]
    start = f"start ::= {around[0]} r0 r1 r2 r3 {around[1]} {rng.choice(['', '?' * bool(around[1])])};"
    return structgen.Grammar.kbnf(f"{start} {' '.join(rules)}", eager=may_recur and rng.random() < 0.5)


def leads_to_an_end(matcher, ends, rng):
    """Return whether random tokens come to an end of the text; assert that none is stuck."""
    for _ in range(80):
        allowed = matcher.allowed_token_ids()
        assert allowed
        if ends & set(allowed):
            return True
        matcher.accept_token(rng.choice(allowed))
    return False


@pytest.mark.one_in(4, uncompiled=12)
@pytest.mark.parametrize("seed", range(50))
def test_pieces_that_make_a_special_token_together(seed):
    """Check that the other texts are left without dead ends, or the grammar is refused."""
    rng = random.Random(seed)
    written = None
    while written is None:  # of some there are too many
        given = random_rules(rng, may_recur=False)
        written = texts_of(structgen.compile(given, BYTES))
    expected = {text for text in written if SPECIAL not in text}
    vocabulary = vocabulary_of(bpe_tokenizers.gpt2)
    if not expected:
        with pytest.raises(VocabularyError, match=r"can(not)? spell"):
            structgen.compile(given, vocabulary, tokenization="proper")
        return
    try:
        constraint = structgen.compile(given, vocabulary, tokenization="proper")
    except VocabularyError as error:
        assert "'<|end|>', which rules of the grammar make up together" in str(error)
        assert expected != written
        return
    assert texts_of(constraint) == expected


@pytest.mark.parametrize(
    ("rules", "is_refused"),
    [
        ("start ::= '<|' name '|>'; name ::= 'end' | 'x';", False),  # after `<|`, the masks allow only `x`
        ("start ::= '<' type '>'; type ::= #'[a-z|]+';", False),
        ("start ::= 'a' mark | 'b'; mark ::= '<|' name; name ::= 'end|>';", True),  # after `a` there is no other text
        ("start ::= 'abc def' mark | 'b'; mark ::= '<|' name; name ::= 'end|>';", True),  # one terminal in the tables
        ("start ::= part 'd|>'; part ::= 'ab<|en' | 'x';", True),
        ("start ::= '<|' 'en' 'd|>' | 'x' ;", False),  # at the start, nothing leads into it
    ],
)
def test_rules_are_refused_where_only_a_special_token_can_follow(rules, is_refused):
    given = structgen.Grammar.kbnf(rules)
    vocabulary = vocabulary_of(bpe_tokenizers.gpt2)
    if is_refused:
        with pytest.raises(VocabularyError, match=r"'<\|end\|>', which rules of the grammar make up together"):
            structgen.compile(given, vocabulary, tokenization="proper")
        return
    rng = random.Random(0)
    for _ in range(5):
        leads_to_an_end(structgen.compile(given, vocabulary, tokenization="proper").matcher(), {0}, rng)


def test_a_special_tokens_beginning_is_no_sure_end():
    # `<` would end the token of two letters; but after these, it leads to nothing except the special token.
    vocabulary = vocabulary_of(bpe_tokenizers.gpt2)
    pairs = [text.decode() for text in vocabulary.spellings if len(text) == 2 and text.isalpha()]
    assert pairs
    for first, second in pairs[:20]:
        given = structgen.Grammar.kbnf(f"start ::= '{first}' t '|end|>'; t ::= #'<|{second}';")
        assert texts_of(structgen.compile(given, vocabulary, tokenization="proper")) == {f"{first}{second}|end|>"}


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("seed", range(60))
def test_rules_that_recur_lead_to_an_end(seed):
    rng = random.Random(seed)
    given = random_rules(rng, may_recur=True)
    vocabulary = vocabulary_of(bpe_tokenizers.gpt2)
    try:
        constraint = structgen.compile(given, vocabulary, tokenization="proper")
    except VocabularyError as error:
        assert "spell" in str(error)
        return
    ends = set(vocabulary.eos_token_ids)
    assert sum(leads_to_an_end(constraint.matcher(), ends, rng) for _ in range(20)) > 0


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (structgen.json_lines({"type": "string", "pattern": r"^<\|(end|x)\|>$"}), '"<|x|>"\n"<|x|>"'),
        (structgen.template(r"see {a:<\|(end|x)\|>}."), "see <|x|>."),
        (structgen.Grammar.kbnf(r"start ::= a | '<' start; a ::= #'<[|](end|x)[|]>' '.';"), "<<<|x|>."),
        (
            {"type": "object", "patternProperties": {r"^<\|(end|x)\|>$": {"const": 1}}, "maxProperties": 1},
            '{"<|x|>": 1}',
        ),
    ],
)
def test_other_formats_are_not_led_astray(given, text):
    vocabulary = vocabulary_of(bpe_tokenizers.gpt2)
    constraint = structgen.compile(given, vocabulary, whitespace="single", tokenization="proper")
    matcher = constraint.matcher()
    for token in bpe_tokenizers.encoded(bpe_tokenizers.gpt2, text):
        assert token in matcher.allowed_token_ids()
        matcher.accept_token(token)
    rng = random.Random(0)
    for _ in range(20):
        matcher = constraint.matcher()
        for _ in range(60):
            allowed = matcher.allowed_token_ids()
            assert allowed
            token = rng.choice(allowed)
            if token in vocabulary.eos_token_ids:
                break
            matcher.accept_token(token)


@pytest.mark.parametrize(
    "given",
    [
        structgen.Grammar.regex(r"(<\|end\|>)+"),
        structgen.Grammar.regex(r"a<\|(en)(d)\|>b"),
        structgen.json_lines({"type": "string", "pattern": r"<\|end\|>"}),
        {
            "properties": {
                "a": {"items": {"pattern": r"^<\|(end)\|>$", "type": "string"}, "minItems": 1, "type": "array"}
            }
        }
        | {"required": ["a"], "type": "object"},
    ],
)
def test_what_has_no_text_that_can_be_spelled_is_refused(given):
    with pytest.raises(VocabularyError, match=r"can(not)? spell"):
        structgen.compile(given, vocabulary_of(bpe_tokenizers.gpt2), tokenization="proper")
    structgen.compile(given, vocabulary_of(bpe_tokenizers.gpt2))


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (structgen.template("x <|end|> {s}", s={"enum": ["a"]}), "the text 'x <|end|> ' of the template"),
        (structgen.template("x {s}", s={"const": "<|end|>"}), "nothing fits the hole 's'"),
        (
            structgen.template("x {s} y", s={"type": "string", "pattern": r"^(<\|end\|>)+$"}),
            "nothing fits the hole 's'",
        ),
        (structgen.template("x {s}", s=structgen.Grammar.regex(r"<\|end\|>")), "nothing fits the hole 's'"),
        (structgen.template("{s}", s={"type": "object", "required": ["<|end|>"]}), "it cannot spell '\"<|end|>\"'"),
    ],
)
def test_templates_without_a_text_that_can_be_spelled_are_refused(template, reason):
    with pytest.raises(VocabularyError, match=f"can spell no .*: {re.escape(reason)}"):
        structgen.compile(template, vocabulary_of(bpe_tokenizers.gpt2), tokenization="proper")


@pytest.mark.parametrize(
    "hole",
    [
        {"enum": ["b", "<|end|>"]},
        {"type": "string", "pattern": r"^(<\|end\|>|b)$"},
        structgen.Grammar.kbnf("start ::= 'b' | 'c' rest; rest ::= '<|end|>';"),
    ],
)
def test_holes_of_templates_lead_to_what_can_be_spelled(hole):
    constraint = structgen.compile(
        structgen.template("x {s} y", s=hole), vocabulary_of(bpe_tokenizers.gpt2), tokenization="proper"
    )
    assert texts_of(constraint) == {"x b y"}


ACCENTED = "e\u0301"  # NFC makes one character of it


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (structgen.Grammar.regex(f"({ACCENTED}|x){{1,2}}[aé]"), {"xa", "xxa", "xé", "xxé"}),
        (structgen.Grammar.regex("[\u0340\u0341]x|[\u0340x]a"), {"xa"}),
        ({"type": "string", "pattern": f"^({ACCENTED}|x)a?$"}, {'"x"', '"xa"'}),
        (structgen.template("{a:(" + ACCENTED + "|x)}."), {"x."}),
    ],
)
@pytest.mark.parametrize("make", [bpe_tokenizers.qwen3, bpe_tokenizers.bytes_only_nfc])
def test_what_a_normalizer_changes_is_not_led_into(make, given, texts):
    constraint = structgen.compile(given, vocabulary_of(make), tokenization="proper")
    assert texts_of(constraint) == texts


@pytest.mark.parametrize(
    "given",
    [
        structgen.Grammar.regex(f"x{ACCENTED}"),
        structgen.Grammar.regex("b[\u0340\u0341]"),
        {"type": "array", "items": {"type": "string", "pattern": f"^{ACCENTED}+$"}, "minItems": 1},
    ],
)
def test_patterns_of_what_a_normalizer_changes_are_refused(given):
    with pytest.raises(VocabularyError, match=r"can(not)? spell"):
        structgen.compile(given, vocabulary_of(bpe_tokenizers.qwen3), tokenization="proper")


def rules_of(rng, pieces, literals):
    """Return a grammar of literals, classes and patterns of some pieces."""
    rules = []
    for number in range(4):
        deeper = [f"r{other}" for other in range(number + 1, 4)]
        bodies = []
        for _ in range(rng.randint(1, 3)):
            first, second = rng.choices(pieces, k=2)
            symbols = [
                f"'{rng.choice(literals)}'",
                f"#'{first}'",
                f"#'[{first[0]}{second[0]}]'",
                f"#'{first}{second}?'",
            ]
            bodies.append(" ".join(rng.choices([*symbols, *deeper], k=rng.randint(1, 2))))
        rules.append(f"r{number} ::= {' | '.join(bodies)};")
    return structgen.Grammar.kbnf(f"start ::= r0 r1 r2 r3; {' '.join(rules)}", eager=False)


def spaces_joined():
    """Return a tokenizer that replaces two spaces by one, and removes "ab"."""
    replaced = [normalizers.Replace(Regex("  +"), " "), normalizers.Replace("ab", "")]
    tokenizer = bpe_tokenizers.gpt2()
    tokenizer.normalizer = normalizers.Sequence(replaced)
    return tokenizer


ACCENTS = ["e", "\u0301", "\u0323", "x", "é", "\u1eb9", "a", "\u0345", "\u0327"]
SPACES = [" ", "\n", "a", "b", "x", "/", "z", "Z", "ab"]


@pytest.mark.one_in(12, uncompiled=40)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(
    ("makes", "pieces", "literals"),
    [
        ((bpe_tokenizers.qwen3, bpe_tokenizers.bytes_only_nfc), ACCENTS, ACCENTS),
        (
            (bpe_tokenizers.whitespace, bpe_tokenizers.bert_like, bpe_tokenizers.punctuation_merged),
            SPACES,
            ["a", "b", "x", "Z", "ab"],
        ),
        ((spaces_joined,), [" ", "a", "b", "x", "1"], ["a", "b", " "]),
    ],
    ids=["accents", "white space", "replaced"],
)
def test_rules_that_make_together_what_the_tokenizer_changes(makes, pieces, literals, seed):
    rng = random.Random(seed)
    make = rng.choice(makes)
    vocabulary = vocabulary_of_its_own(tokenizer_of(make), 77)
    written = None
    while written is None:  # of some there are too many
        given = rules_of(rng, pieces, literals)
        written = texts_of(structgen.compile(given, BYTES))
    expected = {text for text in written if spelled(vocabulary, make, text) == text.encode()}
    try:
        constraint = structgen.compile(given, vocabulary, tokenization="proper")
    except VocabularyError as error:
        # Literals are refused wherever they stand; rules where they make up something that is changed.
        assert not expected or "cannot spell" in str(error)
        assert "together" not in str(error) or expected != written
        return
    assert texts_of(constraint) == expected


def spelled(vocabulary, make, text):
    """Return the text that the tokens of a text stand for."""
    return b"".join(vocabulary.token_bytes(token) for token in bpe_tokenizers.encoded(make, text))


END = r"^(a|b|<\|end\|>)$"


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (
            {"patternProperties": {END: {"const": True}}, "minProperties": 2},
            {"{'a':true,'b':true}", "{'b':true,'a':true}"},
        ),
        ({"patternProperties": {END: {"const": True}}, "minProperties": 3}, None),
        ({"propertyNames": {"pattern": END}, "minProperties": 3}, None),
        (
            {
                "properties": {"c": {"const": None}},
                "patternProperties": {END: {"const": True}},
                "anyOf": [{"minProperties": 4}, {"required": ["c"], "maxProperties": 1}],
            },
            {"{'c':null}"},
        ),
    ],
)
def test_keys_that_cannot_be_spelled_do_not_count(given, texts):
    vocabulary = vocabulary_of(bpe_tokenizers.gpt2)
    given = {"type": "object", "additionalProperties": "propertyNames" in given and {"const": 1}, **given}
    if texts is None:
        with pytest.raises(VocabularyError, match=r"can spell no value of the schema \(at #\)"):
            structgen.compile(given, vocabulary, tokenization="proper")
        return
    constraint = structgen.compile(given, vocabulary, whitespace="compact", tokenization="proper")
    assert texts_of(constraint) == {text.replace("'", '"') for text in texts}


@pytest.mark.parametrize(
    ("make", "pattern", "most"),
    [
        (bpe_tokenizers.gpt2, END, 2),
        (bpe_tokenizers.whitespace, "^( |a|b)$", 2),
        (bpe_tokenizers.qwen3, "^(é|e\u0301|é\u0301)$", 2),
    ],
)
def test_items_that_cannot_be_spelled_do_not_count(make, pattern, most):
    items = {"type": "array", "items": {"type": "string", "pattern": pattern}, "uniqueItems": True}
    vocabulary = vocabulary_of(make)
    constraint = structgen.compile({**items, "minItems": most}, vocabulary, whitespace="compact", tokenization="proper")
    assert texts_of(constraint)
    with pytest.raises(VocabularyError, match="can spell no value of the schema"):
        structgen.compile({**items, "minItems": most + 1}, vocabulary, whitespace="compact", tokenization="proper")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (structgen.Grammar.kbnf("start ::= S; S ::= S;"), "the rule 'S' has no alternative that ends"),
        (structgen.Grammar.kbnf("start ::= #'a\\\\bb';"), "matches nothing"),
        (structgen.Grammar.lark('start: a\na: "x" a'), "the rule 'a' has no alternative that ends"),
        (structgen.Grammar.regex("(?!a)a"), "matches no text"),
    ],
)
def test_a_grammar_without_texts_is_called_so(given, message):
    """The grammar is to blame, not the tokenizer."""
    with pytest.raises(structgen.GrammarError, match=message):
        structgen.compile(given, vocabulary_of(bpe_tokenizers.gpt2), tokenization="proper")


def test_a_schema_without_values_is_called_so():
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(
            {"type": "string", "pattern": "^a$", "minLength": 2},
            vocabulary_of(bpe_tokenizers.gpt2),
            tokenization="proper",
        )


@pytest.mark.parametrize(
    ("given", "whitespace", "message"),
    [
        ({"type": "array"}, "single", "cannot spell the spaces of whitespace='single'"),
        (structgen.json_lines({"type": "integer"}), "compact", r"cannot spell '\\n'"),
        ({"enum": ["New York"]}, "compact", "cannot spell '\"New York\"'"),
    ],
)
def test_white_space_that_the_tokenizer_takes_away_is_refused(given, whitespace, message):
    vocabulary = vocabulary_of(bpe_tokenizers.whitespace)
    with pytest.raises(VocabularyError, match=message):
        structgen.compile(given, vocabulary, whitespace=whitespace, tokenization="proper")
    structgen.compile({"type": "array"}, vocabulary, whitespace="compact", tokenization="proper")


def test_only_what_may_leave_no_other_way_is_changed():
    spellable = Spellable([b"<|end|>", b"<s>"], lambda text: "É" not in text)

    def is_changed(regex):
        return spellable.terminal(regex) is not regex

    anything = rx.star(rx.ANY_CHAR)
    assert not is_changed(anything) and not is_changed(rx.Literal(b"a -> b"))
    assert not is_changed(rx.sequence(rx.star(rx.ByteSet((1 << 128) - 1)), rx.Literal(b'"')))
    assert is_changed(rx.sequence(anything, rx.Literal(b">"))) and is_changed(rx.Literal(b"<s>"))
    assert not is_changed(rx.intersection(anything, rx.Complement(rx.Literal(b"x"))))
    assert not is_changed(rx.Complement(rx.plus(rx.ByteSet(1 << ord(">")))))
    bytes_of_one = rx.ByteSet(sum(1 << byte for byte in set(b"<s")))  # such texts go on up to `>`
    assert is_changed(rx.intersection(anything, rx.Complement(rx.plus(bytes_of_one))))
    assert is_changed(rx.intersection(rx.sequence(anything, rx.Literal(b">")), rx.Complement(rx.Literal(b"x"))))
    assert not is_changed(rx.intersection(rx.star(rx.ByteSet(sum(1 << byte for byte in b"abc>"))), anything))
    assert is_changed(rx.sequence(anything, rx.Literal("É".encode()))) and is_changed(rx.Chars(((0xC9, 0xC9),)))
    assert not is_changed(rx.Chars(((0xC8, 0xC9),)))


def test_equal_terminals_of_other_grammars_are_narrowed_once():
    asked = []

    def keeps(text):
        asked.append(text)
        return "É" not in text

    spellable = Spellable([b"<|end|>", b"<s>"], keeps)

    def key(*others):
        refused = [rx.Complement(rx.Literal(other)) for other in others]
        return rx.Intersection(
            (rx.star(rx.ANY_CHAR), rx.Intersection((rx.sequence(rx.plus(rx.Chars(((0x41, 0x42),)))), *refused)))
        )

    for make, changes in (
        (lambda: rx.sequence(rx.Literal(b"a"), rx.Literal("É".encode())), True),
        (lambda: key(b"A"), False),
    ):
        first = spellable.terminal(make())
        count = len(asked)
        assert count
        regex = make()
        assert (spellable.terminal(regex) is not regex) == changes
        assert spellable.terminal(regex) == first and len(asked) == count
    assert spellable.terminal(key(b"A", b"B")) == key(b"A", b"B")  # one exception more: a key that was written
    assert len(asked) == count


def test_exceptions_of_keys_leave_their_escapes():
    """Keys outside of a pattern were narrowed without need, and then refused `\\/` after the first key."""
    schema = {"type": "object", "patternProperties": {"^[a-z]{0,250}$": {"type": "integer"}}}
    vocabulary = vocabulary_of(bpe_tokenizers.gpt2)
    tokens = tokenizer_of(bpe_tokenizers.gpt2).encode('{"A b": 1, "C d\\/": 2}', add_special_tokens=False).ids
    for tokenization in ("any", "proper"):
        matcher = structgen.compile(schema, vocabulary, tokenization=tokenization).matcher()
        for token in tokens:
            assert token in matcher.allowed_token_ids()
            matcher.accept_token(token)
        assert matcher.is_accepting


@pytest.mark.parametrize("seed", range(6))
def test_plain_parts_are_told_by_themselves(seed):
    """A sequence of plain parts is returned as it is: so says the check of all parts together, too."""
    rng = random.Random(seed)
    spellable = Spellable([b"<s>", b"</s>"], lambda text: "fi" not in text)
    literals = [b"<", b"s>", b"a", b"f", b"i", b"fi", b'"key"', b"<s", "\u0301".encode(), b"e"]
    others = [rx.ByteSet(1 << 0x3E), rx.ByteSet(1 << 0x3E | 1 << 0x20), rx.Chars(((0x300, 0x302),)), rx.ANY_BYTES]
    plain = 0
    for _ in range(300):
        parts = [rng.choice([rx.Literal(rng.choice(literals)), rng.choice(others)]) for _ in range(rng.randint(2, 4))]
        regex = rx.Sequence(tuple(parts))
        if all(map(spellable._is_plain, parts)):
            plain += 1
            assert not spellable._changed_texts([regex])
            assert not spellable._may_lead_into(regex)
            assert spellable.terminal(regex) is regex
    assert plain


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [(r"a|1\}", {"a"}), (r"\{1\}|b\{1", {"b{1"}), (r"\{1a\{1|\{a", {"{1a{1"}), (r"a\{1", {"a{1"})],
)
def test_only_an_added_token_as_a_whole_spells_what_is_removed_elsewhere(pattern, texts):
    tokenizer = bpe_tokenizers._bpe(
        [bpe_tokenizers._split("[{}]", "removed"), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.add_tokens([AddedToken("{1", normalized=False)])
    vocabulary = vocabulary_of_its_own(tokenizer, 78)
    constraint = structgen.compile(structgen.Grammar.regex(pattern), vocabulary, tokenization="proper")
    assert texts_of(constraint) == texts
