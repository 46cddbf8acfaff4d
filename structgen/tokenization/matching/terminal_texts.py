"""What is known of the texts within terminals: found once for all grammars that share the terminals' automata.

Most of what decides about a token lies within one terminal: a key, or a format of strings. Each grammar that has the
same terminal asks the same again:

    state of an automaton     state of the scanner    answer
    in the key `"isle"`,      after letters           a pre-token can end with `le`, of which the tokenizer makes `le`
    after `"is`
    in a string               after letters           a byte that surely cuts may come

Such an answer depends on the automaton's state, the scanner's state, the tokenizer, and whether the first text of a
grammar is the whole text ("eager"). The automata keep their numbers of states as long as they live, and so does the
scanner of a tokenization; there are two of these objects for both, one for eager grammars. So the keys of the tables
hold only numbers of states, and of tokens where the token counts.
"""

from __future__ import annotations

from structgen.engine.pair_table import PairTable
from structgen.tokenization.matching.endings import Endings

__all__ = ["TerminalTexts"]


class TerminalTexts:
    """Answers about texts within the terminals of one store of automata.

    Each user bounds its table.

    Attributes:
        leading, within: by state of an automaton, bytes as bits of a number; see `Continuations`.
        endings: by state of an automaton, state of the scanner, and kind; see `Continuations.endings`.
        cuts, inner_cuts: by state of an automaton and of the scanner, whether a byte that surely cuts may come; see
            `SureCuts.may_come_within` and `Verdicts`.
        completed: by state of an automaton and of the scanner, unfinished character, and token; see `Verdicts`.
        blanks: by state of an automaton, whether each character of white space is a text of it; see `TerminalEnds`.
        longer: by state of the scanner, texts of several bytes that surely make a cut; see `SureCuts`.
    """

    def __init__(self) -> None:
        self.leading: dict[int, int] = {}
        self.within: dict[int, int] = {}
        self.endings: dict[tuple[int, int, int], Endings] = {}
        self.cuts = PairTable()
        self.inner_cuts = PairTable()
        self.completed: dict[tuple[int, int, int, int], bool] = {}
        self.blanks: dict[int, bool] = {}
        self.longer: dict[int, list[tuple[int, list[bytes]]]] = {}
