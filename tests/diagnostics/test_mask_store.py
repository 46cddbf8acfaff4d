"""Token spanner tables and mask stores of grammars with a lexer, against their definitions."""

from __future__ import annotations

import itertools
import pathlib
import random
import re

import lark
import pytest
from support.bpe_tokenizers import smollm2_like, tokenizer_of
from support.languages import programs
from transformers import PreTrainedTokenizerFast

from structgen import cli
from structgen.diagnostics.grammar_statistics import lexers
from structgen.diagnostics.grammar_statistics.lexed_contexts import lexed_tables
from structgen.diagnostics.grammar_statistics.lexers import Lexeme, Lexer, lexer_of_lark, lexer_of_tables
from structgen.diagnostics.grammar_statistics.mask_store import STEPS, Streamlining, mask_store
from structgen.diagnostics.grammar_statistics.stored_masks import StoredMasks
from structgen.diagnostics.grammar_statistics.token_spanner import TokenSpannerTable
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.errors import LimitExceededError
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.reading.lark import parse_lexed
from structgen.limits import Limits

PYTHON = (pathlib.Path(lark.__file__).parent / "grammars" / "python.lark").read_text()
LIMITS = Limits(item_sets=10**6)


def lexer_of(*patterns):
    return Lexer([Lexeme(pattern, parse_regex(pattern, "python")) for pattern in patterns])


class TestTokenSpannerTable:
    def test_a_table_by_hand(self):
        # States: 0 start, 1 after a+ (only `a` can continue it), 2 after b, 3 after `(`, as bytes come.
        lexer = lexer_of("a+", "b", r"\(")
        assert (lexer.targets[0].count(-1), lexer.labels) == (253, [-1, 2, 0, 1])
        table = TokenSpannerTable(lexer, {0: b"a", 1: b"ab", 2: b"b(", 3: b"c"})
        bracket, a, b = 1, 2, 3
        assert table.inverse(0) == {(0,): (0,), (0, 1): (1,), (1, 2): (2,)}
        assert table.inverse(a) == {(0,): (0,), (0, 1): (1,), (0, 1, 2): (2,)}
        assert table.inverse(b) == {(1, 0): (0,), (1, 0, 1): (1,), (1, 1, 2): (2,)}
        assert table.inverse(bracket) == {(2, 0): (0,), (2, 0, 1): (1,), (2, 1, 2): (2,)}
        assert table.realizable() == {row.sequence for row in table.rows()}
        assert len(list(table.rows())) == 12
        assert table.sequences(a, 2) == {(0, 1, 2)}
        assert not table.sequences(a, 3)

    def test_one_token_has_a_sequence_for_each_terminal_that_may_come_of_it(self):
        table = TokenSpannerTable(lexer_of("if", "in", "[a-z]+"), {0: b"i", 1: b"if", 2: b"x"})
        assert table.inverse(0) == {(0,): (0, 1), (1,): (0,), (2,): (0, 1, 2)}

    @pytest.mark.parametrize(
        "patterns",
        [
            ["a+", "b", "c"],
            ["if", "in", "[fin]+", "="],
            ["a", "ab", "b+", "c"],
            ["<", "<=", "=", "a"],
            ["x[yz]*z", "y", "z", "a+"],
        ],
    )
    def test_it_is_the_composition_of_lexer_and_tokens(self, patterns):
        """Definitions 3.2 and 3.3 of the publication, by running a lexer of `re` character by character."""
        lexer = lexer_of(*patterns)
        alphabet = "".join(sorted(set("".join(re.findall(r"\w|[<=]", "".join(patterns))))))
        rng = random.Random("".join(patterns))
        tokens = {n: "".join(rng.choices(alphabet, k=rng.randint(1, 4))).encode() for n in range(25)}
        table = TokenSpannerTable(lexer, tokens)
        reached = {0: ""}  # state -> a text that is inside its terminal
        for state in (pending := [0]):
            for letter in alphabet:
                target = lexer.targets[state][ord(letter)]
                if target >= 0 and target not in reached:
                    reached[target] = reached[state] + letter
                    pending.append(target)
        for state, begun in reached.items():
            wanted: dict[tuple[int, ...], set[int]] = {}
            for token, text in tokens.items():
                found = self.lexed(patterns, begun, text.decode())
                if found is None:
                    continue
                emitted, rest = found
                for terminal in self.possible(patterns, rest, alphabet):
                    wanted.setdefault((*emitted, terminal), set()).add(token)
            assert table.inverse(state) == {sequence: tuple(sorted(ids)) for sequence, ids in wanted.items()}
            for token in tokens:
                assert table.sequences(state, token) == {sequence for sequence, ids in wanted.items() if token in ids}

    @staticmethod
    def possible(patterns, begun, alphabet):
        """The terminals that a lexer may take of a text that begins so."""
        found = set()
        for more in range(4):
            for letters in itertools.product(alphabet, repeat=more):
                text = begun + "".join(letters)
                matching = [number for number, pattern in enumerate(patterns) if re.fullmatch(pattern, text)]
                found |= {min(matching)} if matching else set()
        return found

    def lexed(self, patterns, begun, text):
        """What a longest match with one character of look-ahead emits, and the text of the unfinished terminal."""
        emitted, current = [], begun
        for letter in text:
            if not self.is_begun(patterns, current + letter):
                matching = [number for number, pattern in enumerate(patterns) if re.fullmatch(pattern, current)]
                if not matching or not self.is_begun(patterns, letter):
                    return None
                emitted.append(min(matching))
                current = ""
            current += letter
        return tuple(emitted), current

    @staticmethod
    def is_begun(patterns, text):
        letters = "".join(sorted(set(re.findall(r"\w|[<=]", "".join(patterns)))))
        return any(
            re.fullmatch(pattern, text + "".join(more))
            for pattern in patterns
            for length in range(4)
            for more in itertools.product(letters, repeat=length)
        )


SUMS = """
start: sum (";" sum)*
sum: value (("+" | "-") value)*
value: NUMBER | NAME | "(" sum ")" | "let" NAME
NAME: /[a-z]+/
NUMBER: /[0-9]+/
%ignore / +/
"""


@pytest.fixture(scope="module")
def sums():
    grammar = parse_lexed(SUMS)
    lexer = lexer_of_lark(grammar)
    return lexer, lexed_tables(grammar, lexer, LIMITS)


def texts_of(alphabet, count, longest, seed):
    rng = random.Random(seed)
    return sorted({"".join(rng.choices(alphabet, k=rng.randint(1, longest))).encode() for _ in range(count)})


def test_entries_are_the_sequences_of_the_token_spanner_table(sums):
    lexer, lexed = sums
    texts = texts_of("a1+-(; ", 60, 4, 1)
    store = mask_store(lexer, lexed, texts, LIMITS)
    table = TokenSpannerTable(lexer, dict(enumerate(texts)))
    streamlining = Streamlining(lexer, lexed, LIMITS)
    for state in range(len(lexer.targets)):
        whole = {streamlining.seen(sequence) for sequence in table.inverse(state)}
        legal = {part for part in whole if streamlining.is_legal(part)}
        steps = list(zip(*map(streamlining.steps, legal)))
        assert [counts[state] for counts in store.entries] == [len(whole), *[len(set(parts)) for parts in steps]]
    assert store.totals[0] > store.totals[1] > store.totals[2] > store.totals[3]
    assert all(once <= total for once, total in zip(store.once, store.totals))
    rows = {frozenset(map(streamlining.seen, table.inverse(state))) for state in range(store.states)}
    assert store.once[0] == sum(map(len, rows))
    assert store.interchangeable == [["'+'", "'-'"]]
    assert store.shares([0, 10**6])[0] == (0.0, 1.0)


def test_a_state_without_legal_sequences_has_entries_before_the_first_step():
    """After the whole `b`, nothing may follow."""
    grammar = parse_lexed('start: A B\nA: "a"\nB: "b"')
    lexer = lexer_of_lark(grammar)
    store = mask_store(lexer, lexed_tables(grammar, lexer, LIMITS), [b"a", b"b"], LIMITS)
    assert store.entries == ((2, 2, 2), (2, 1, 0), (2, 1, 0), (2, 1, 0))


def test_a_lexer_of_too_many_states_is_refused(monkeypatch):
    monkeypatch.setattr(lexers, "MAX_STATES", 3)
    with pytest.raises(LimitExceededError, match=r"the lexer has more than 3 states[^\0]*this bound is fixed"):
        lexer_of("abcdef")


def test_what_is_asked_is_legal_exactly_where_the_sequence_is(sums):
    """The three steps against Lark's parser: in each context, what is asked is legal if the sequence is."""
    lexer, lexed = sums
    streamlining = Streamlining(lexer, lexed, LIMITS)
    parser = lark.Lark(SUMS, parser="lalr", keep_all_tokens=True)
    patterns = {repr(found.pattern.value): found.name for found in parser.terminals if found.pattern.type == "str"}
    names = [patterns.get(lexeme.name, lexeme.name) for lexeme in lexer.lexemes if not lexeme.is_ignored]
    numbers = {streamlining.numbers[terminal]: name for terminal, name in enumerate(names)}

    def allowed(state, part):
        """The parser's state after a part, or None."""
        state = state.copy()
        for terminal in part:
            if numbers[terminal] not in state.accepts():
                return None
            state.feed_token(lark.Token(numbers[terminal], ""))
        return state

    states = [parser.parse_interactive("")]
    contexts = []
    for _ in range(3):
        contexts += states
        states = [after for state in states for terminal in numbers if (after := allowed(state, [terminal]))]
    contexts += random.Random(3).sample(states, 20)
    name, opening = (next(n for n, each in numbers.items() if each == wanted) for wanted in ("NAME", "LPAR"))
    contexts.append(allowed(contexts[0], [opening] * 3 + [name]))  # where three brackets may be closed
    for part in itertools.chain.from_iterable(itertools.product(numbers, repeat=n) for n in (1, 2, 3)):
        asked = {part, *streamlining.steps(part)} if streamlining.is_legal(part) else {part}
        answers = [[allowed(context, each) is not None for context in contexts] for each in asked]
        assert all(answer == answers[0] for answer in answers), part
        assert any(answers[0]) == streamlining.is_legal(part), part


@pytest.fixture(scope="module")
def python():
    grammar = parse_lexed(PYTHON, start="file_input")
    lexer = lexer_of_lark(grammar)
    return lexer, lexed_tables(grammar, lexer, LIMITS)


def test_interchangeable_terminals_of_python(python):
    found = Streamlining(*python, LIMITS).interchangeable
    assert sorted(map(len, found)) == [2, 2, 2, 2, 3, 6, 7, 13]
    assert ["'<<'", "'>>'"] in found
    assert ["'False'", "'None'", "'True'"] in found


def test_masks_of_real_programs_are_equal_after_each_step(python):
    rng = random.Random(5)
    text = programs("python")[0].read_bytes()[:1200]
    pieces = {text[at : at + rng.randint(2, 5)] for at in rng.sample(range(len(text) - 5), 200)}
    words = [*(bytes([byte]) for byte in range(256)), *sorted(pieces)]
    ids = {word: token for token, word in enumerate(words)}
    masks = StoredMasks(*python, dict(enumerate(words)), LIMITS)
    tokens, at = [], 0
    while at < len(text):
        length = next(n for n in (5, 4, 3, 2, 1) if text[at : at + n] in pieces or n == 1)
        tokens.append(ids[text[at : at + length]])
        at += length
    found = masks.compare(tokens)
    assert found.masks == len(tokens)  # the grammar accepts all
    assert found.equal == (len(tokens),) * (len(STEPS) - 1)
    assert found.asked[0] > found.asked[1] > found.asked[2] > found.asked[3]


def test_masks_hold_the_tokens_of_the_program(sums):
    lexer, lexed = sums
    words = {0: b"a", 1: b"+", 2: b"(", 3: b")", 4: b" ", 5: b"1", 6: b"let", 7: b"a)", 8: b"+(", 9: b";"}
    masks = StoredMasks(lexer, lexed, words, LIMITS)
    (whole, *_) = masks.masks(0, masks._parser.start)
    assert {token for token in words if whole >> token & 1} == {0, 2, 4, 5, 6}
    assert masks.compare([6, 4, 0, 8, 5, 3]).masks == 6
    assert masks.compare([0, 3, 0]).masks == 2  # no bracket is open


def test_the_lexer_of_a_normal_form():
    lexer = lexer_of_tables(normalize(parse("start ::= word '=' #'[0-9]+'; word ::= #'[a-z]+' - 'if' | 'if';")))
    assert sorted(lexeme.name for lexeme in lexer.lexemes)[0] == "'='"
    assert not any(lexeme.is_ignored for lexeme in lexer.lexemes)


@pytest.fixture(scope="module")
def tokenizer_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer_of(smollm2_like), eos_token="<|end|>").save_pretrained(folder)
    return str(folder)


def test_the_command_reads_lark_and_prints_tables(tmp_path, capsys, tokenizer_folder):
    file = tmp_path / "sums.lark"
    file.write_text(SUMS)
    assert cli.main(["grammar", "stats", str(file)]) == 0
    assert "1 sets of interchangeable terminals, with 2 terminals:\n  '+' '-'" in capsys.readouterr().out
    assert cli.main(["grammar", "stats", "--table", str(file)]) == 2
    assert "--table needs --vocabulary" in capsys.readouterr().err
    assert cli.main(["grammar", "stats", "--start", "sums", str(file)]) == 1
    assert "there is no rule 'sums'" in capsys.readouterr().err
    assert cli.main(["grammar", "stats", "--vocabulary", tokenizer_folder, str(file)]) == 0
    assert "jointly legal merged" in capsys.readouterr().out
    for grammar in (str(file), "json"):
        assert cli.main(["grammar", "stats", "--vocabulary", tokenizer_folder, "--table", grammar]) == 0
        out = capsys.readouterr().out
        assert out.startswith("state 0 (start)\n")
        assert "\n  '" in out
