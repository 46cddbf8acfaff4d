"""Translations between today's dialect of KBNF and the older one."""

import pytest

from structgen.errors import GrammarError
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.writing.kbnf import print_grammar
from structgen.kbnf.writing.kbnf_dialects import to_current_dialect, to_older_dialect


@pytest.mark.parametrize(
    ("older", "current"),
    [
        ("start ::= except!('a') 'a';", "start ::= [#ex'a'] 'a';"),
        ("start ::= 'x' except!('a.b')+;", "start ::= 'x' ([#ex'a\\\\.b'])+;"),
        (
            "start ::= except!(x); x ::= 'ab' | 'b'; x ::= 'aa';",
            "start ::= [#ex'aa|ab|b']; x ::= 'ab' | 'b'; x ::= 'aa';",
        ),
        ("start ::= 'a' any!;", "start ::= 'a' [#ex'[^\\\\s\\\\S]'];"),
    ],
)
def test_to_current(older, current, language):
    translated = to_current_dialect(parse(older))
    assert print_grammar(translated) == print_grammar(parse(current))
    assert language(normalize(parse(print_grammar(translated)))) == language(normalize(parse(older)))


@pytest.mark.parametrize(
    ("current", "older"),
    [
        ("start ::= [#ex'a'] 'a';", "start ::= except!('a') 'a';"),
        ("start ::= {#ex'a'} 'a';", "start ::= except!('a') 'a';"),
        ("start ::= [#ex'a\\\\.b'];", "start ::= except!('a.b');"),
        ("start ::= [#ex'a+'];", None),
        (
            "start ::= [#ex'a|bc']; excluded ::= 'x';",
            "start ::= except!(excluded_2); excluded ::= 'x'; excluded_2 ::= 'a' | 'bc';",
        ),
        ("start ::= [#ex'ab'];", "start ::= except!('ab');"),
        ("start ::= {#ex'ab'};", None),
        ("start ::= #ex'ab';", None),
        ("start ::= #e'ab';", None),
        ("start ::= #substrs'ab';", None),
        ("start ::= #'ab' ['c'] any!;", "start ::= #'ab' 'c'? any!;"),
    ],
)
def test_to_older(current, older):
    grammar = parse(current)
    if older is None:
        with pytest.raises(GrammarError, match="the older dialect cannot express"):
            to_older_dialect(grammar)
    else:
        assert to_older_dialect(grammar) == parse(older)


def test_a_limit_has_no_word_today():
    with pytest.raises(GrammarError, match="at most 50 bytes"):
        to_current_dialect(parse("start ::= except!('a',50);"))
