"""What is known of a token without a search agrees with the texts that the tokenizer splits."""

import itertools

import pytest
from support.bpe_tokenizers import gemma_like, gpt2, llama3, tokenizer_of, vocabulary_of
from support.vocabularies import compiled_from

from structgen.tokenization.matching.continuations import Continuations
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.token_steps import TokenSteps
from structgen.tokenization.matching.verdicts import Verdicts

UNKNOWN, GOOD, BAD = 0, 1, 2


def blanks(most):
    return spelled(" \n", most)


def spelled(characters, most):
    return ["".join(each) for size in range(most + 1) for each in itertools.product(characters, repeat=size)]


GRAMMARS = {
    r"start ::= #'[ \n]{0,3}' ':' #'[ \n]{0,3}' '7';": [blanks(3), ":", blanks(3), "7"],
    r"start ::= #'[ \n]{0,2}' #'[07]' #'[ \n]{0,2}';": [blanks(2), "07", blanks(2)],
    r"start ::= '{' #'[ \n]{0,3}' #'\"[a ]{0,2}\"' ':';": [
        "{",
        blanks(3),
        '"',
        ["", "a", " ", "aa", " a", "a ", "  "],
        '"',
        ":",
    ],
    r"start ::= ' ' #'[thea]{1,4}' '\"' ':';": [" ", spelled("thea", 4)[1:], '":'],
    r"start ::= ' ' #'[ \n]{1,2}' #'[ ]?x| 7';": [" ", blanks(2)[1:], ["x", " x", " 7"]],
}
WITHIN = {  # texts that go on within one terminal
    r"start ::= #' (there|theory|thea):7' ':';": [" ", ["there", "theory", "thea"], ":7:"],
    r"start ::= #' [thea]{1,4}:' 'x';": [" ", spelled("thea", 4)[1:], ":x"],
    r"start ::= #'(the|heat ){1,2}(a|h);' | 'theta' ':';": [
        [f"{words}{end};" for words in spelled(["the", "heat "], 2)[1:] for end in "ah"] + ["theta:"]
    ],
    r"start ::= #' ?[ae]{0,3}[th]{2} 7';": [["", " "], spelled("ae", 3), spelled("th", 2)[3:], " 7"],
}


@pytest.mark.parametrize("name", [llama3, gpt2, gemma_like])
def test_texts_within_a_terminal_show_no_more_than_all_texts_do(name):
    found = _compared(name, WITHIN, lambda verdicts, steps, word, token: verdicts.within(steps, word, token, False))
    assert found[GOOD] and (found[BAD] or name is gemma_like)


@pytest.mark.parametrize("name", [llama3, gpt2])
def test_terminals_show_no_more_than_texts_do(name):
    found = _compared(name, GRAMMARS, lambda verdicts, *token: verdicts.in_terminals(*token))
    assert all(found.values())


def _compared(name, grammars, ask):
    """Tokenize each text of each grammar: the tokens that are GOOD must begin one, those that are BAD none."""
    vocabulary, tokenizer = vocabulary_of(name), tokenizer_of(name)
    tokenization, spellings = ProperTokenization.of(vocabulary), vocabulary.spellings
    found = {UNKNOWN: 0, GOOD: 0, BAD: 0}
    for source, parts in grammars.items():
        compiled = compiled_from(source, vocabulary)
        texts = map("".join, itertools.product(*parts))
        first = {tokenizer.encode(text, add_special_tokens=False).ids[0] for text in texts}
        verdicts = Verdicts(compiled, tokenization, Continuations(compiled, tokenization))
        steps, start = TokenSteps(compiled, tokenization.scanner), compiled.sets.start_set
        steps.begin(start, tokenization.scanner.start, 0)
        for token, text in enumerate(spellings):
            if text and compiled.sets.goto_all(start, text) and tokenization.advance(tokenization.start, token):
                steps.follow(text)
                verdict = ask(verdicts, steps, tokenization.words.begun_by(token), token)
                assert verdict == UNKNOWN or (verdict == GOOD) == (token in first), (source, text)
                found[verdict] += 1
    return found
