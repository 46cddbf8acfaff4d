"""`structgen grammar stats`: small grammars, whose entries can be counted by hand."""

import random

import pytest

from structgen import cli
from structgen.diagnostics.grammar_statistics.statistics import describe, statistics
from structgen.diagnostics.grammar_statistics.terminals import Terminals
from structgen.engine.grammar.tables import END, terminal_number
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.limits import Limits


def vocabulary(*texts):
    return Vocabulary.from_bytes({**dict(enumerate(text.encode() for text in texts)), len(texts): b""}, [len(texts)])


NESTED = "start ::= '(' start ')' | 'a' | 'b';"


@pytest.mark.parametrize(
    ("tokens", "entries", "legal", "conditional", "joint"),
    [
        # After '(' a start may come, after a start the closing bracket: 3 states, 3 terminals that a token begins with.
        (["(", "a", ")"], 9, 4, 2, 3),
        (["(a"], 4, 2, 0, 2),  # before '(' was read, and after it; after '(' any start may come
        (["a)"], 4, 2, 1, 2),  # not after the whole text
        ([")("], 4, 0, 0, 0),
        (["(a)"], 4, 2, 0, 2),  # the bracket that was opened is closed
        (["(a))"], 4, 2, 1, 2),
        (["a)", "b)"], 4, 2, 1, 2),  # 'a' and 'b' are one terminal
    ],
)
def test_entries(tokens, entries, legal, conditional, joint):
    found = statistics(parse(NESTED), vocabulary(*tokens))
    assert (found.entries, found.legal, found.conditional, found.joint) == (entries, legal, conditional, joint)


def test_interchangeable_terminals_inside_sequences_are_jointly_legal():
    grammar = "start ::= #'x+' op #'z+' | '[' start ']'; op ::= add | multiply; add ::= '+'; multiply ::= {};"
    tokens = vocabulary("x+z]", "x*z]")
    # From two states of x+, where no bracket may be open; and where '[' ends, after which the tail is always legal.
    found = statistics(parse(grammar.format("#'[*/]+'")), tokens)
    assert (found.legal, found.conditional, found.joint) == (6, 4, 3)
    found = statistics(parse(grammar.format("#'[*/]+' '!'?")), tokens)
    assert (found.legal, found.conditional, found.joint) == (6, 4, 5)


def test_overlaps_tell_a_text_and_the_place():
    found = statistics(parse("start ::= 'say' #' +' name; name ::= #'[a-z]+' | 'let' #'[!?]';"))
    (overlap,) = found.overlaps
    assert overlap.text == b"let"
    assert {overlap.first, overlap.second} == {"[a-z]+", "'let'"}
    assert overlap.after == " +"
    assert "'let' after" in describe(found)


def test_dead_ends_are_told():
    assert statistics(parse("start ::= A 'b'; A ::= 'a' !'b' | 'c';")).dead_ends == ["A"]
    assert not statistics(parse("start ::= A 'b'; A ::= 'a' !'b' _ | 'c'; _ ::= ' '?;")).dead_ends


def test_the_command(tmp_path, capsys):
    assert cli.main(["grammar", "stats", "json"]) == 0
    assert "terminals" in capsys.readouterr().out
    file = tmp_path / "mine.kbnf"
    file.write_text(NESTED)
    assert cli.main(["grammar", "stats", str(file)]) == 0
    assert cli.main(["grammar", "stats", str(tmp_path / "none.kbnf")]) == 2
    file.write_text("start ::= ;")
    assert cli.main(["grammar", "stats", str(file)]) == 1
    assert "line 1, column 11" in capsys.readouterr().err


class Naive:
    """The counts by going through all tokens, and all texts of a grammar as sequences of terminals up to a length."""

    def __init__(self, source, longest):
        self.tables = normalize(parse(source))
        self.terminals = Terminals(self.tables, Limits())
        self.automata = self.terminals.automata
        self.sentences = {sentence for sentence in self._derived((0,), longest) if len(sentence) <= longest}

    def _derived(self, symbols, longest):
        """The sequences of terminals that symbols derive, of at most so many."""
        tables = self.tables
        pending, seen = [symbols], {symbols}
        while pending:
            symbols = pending.pop()
            at = next((at for at, symbol in enumerate(symbols) if symbol >= 0), None)
            if at is None:
                yield tuple(terminal_number(symbol) for symbol in symbols)
                continue
            head = symbols[at]
            for rule in range(tables.first_rule[head], tables.first_rule[head + 1]):
                body = tables.symbols[tables.rule_starts[rule] :]
                derived = (*symbols[:at], *body[: body.index(END)], *symbols[at + 1 :])
                if len(derived) <= longest and derived not in seen:
                    seen.add(derived)
                    pending.append(derived)

    def spans(self, text):
        """All sequences of terminals that a text goes through."""
        found = set()
        for number, state in enumerate(self.terminals.starts):
            found |= {(number, *span) for span in self.behind(state, text)}
        return found

    def behind(self, state, text):
        """The same behind a state of a terminal; the empty one where the text stays within it."""
        found = self.spans(text) if self.automata.table.accepting[state] else set()
        for at, byte in enumerate(text):
            state = self.automata.next(state, byte)
            if not state:
                return found
            if self.automata.table.accepting[state] and at + 1 < len(text):
                found |= self.spans(text[at + 1 :])
        return found | {()}

    def is_legal(self, number, span):
        part = (number, *span)
        return any(part == s[at : at + len(part)] for s in self.sentences for at in range(len(s)))

    def is_always_legal(self, number, span):
        """Where a sentence has the terminal, some sentence goes on with the span; short ones are asked only."""
        begun = {s[: at + 1] for s in self.sentences for at in range(3) if s[at : at + 1] == (number,)}
        going_on = {s[:length] for s in self.sentences for length in range(len(s) + 1)}
        return all((*text, *span) in going_on for text in begun)

    def count(self, tokens):
        entries = legal = conditional = 0
        for number in range(len(self.tables.terminals)):
            for state in self.terminals.states(number):
                spans = set().union(*[self.behind(state, token) for token in tokens]) - {()}
                entries += len(spans)
                possible = [span for span in spans if self.is_legal(number, span)]
                legal += len(possible)
                conditional += sum(not self.is_always_legal(number, span) for span in possible)
        return entries, legal, conditional


@pytest.mark.parametrize(
    ("source", "alphabet", "longest"),
    [
        (NESTED, "(ab)", 14),
        ("start ::= '[' _ (item (',' item)*)? ']'; item ::= 'a' | start; _ ::= ' '?;", "[a,] ", 12),
        ("start ::= word (' ' word)*; word ::= #'[ab]+' | 'a' '!';", "ab !", 10),
        ("start ::= 'x' tail | '(' start ')'; tail ::= 'y' tail | 'z' | 'zz';", "xyz()", 14),
        ("start ::= pair+; pair ::= name '=' value ';'; name ::= 'a' | 'b'; value ::= name | #'a+';", "ab=;", 10),
    ],
)
def test_entries_are_those_that_all_tokens_have(source, alphabet, longest):
    naive = Naive(source, longest)
    rng = random.Random(source)
    for _ in range(3):
        texts = {"".join(rng.choices(alphabet, k=rng.choice((1, 2, 2, 3)))) for _ in range(12)}
        found = statistics(parse(source), vocabulary(*sorted(texts)))
        entries, legal, conditional = naive.count([text.encode() for text in texts])
        assert (found.entries, found.legal) == (entries, legal)
        assert found.conditional >= conditional


def test_a_lookahead_that_always_holds_leaves_entries_out():
    source = "start ::= word (#'[?]+' | #'b+'); word ::= #'a+'{};"
    tokens = vocabulary("ab", "a?", "a?b")
    free, held = (statistics(parse(source.format(end)), tokens).entries for end in ("", " !'?'"))
    # From the begin of a word and within it, and where each terminal ends; with the look-ahead no '?' can come at all.
    assert (free, held) == (2 * 3 + 3 * 3, 2 * 1 + 2 * 1)


def test_blanks_of_any_length_are_parted_in_every_way():
    found = statistics(parse("start ::= #' +' 'x' #'[ _]+' 'y';"), vocabulary(" " * 100))
    assert found.entries > 2**98
    assert found.legal == 1  # after 'x', all blanks are one terminal
    assert "e+" in describe(found)
