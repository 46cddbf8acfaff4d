"""Refusal of grammars whose rules together make up a text that the tokenizer cannot spell.

If `<|end|>` is a special token, no other tokens spell its text. The masks avoid it as soon as a text has begun it: in
`"<|" name "|>"` with the names `end` and `x`, they do not allow `end` after `<|`. Before it is begun, they do not look
so far. A grammar in which nothing else can follow is a dead end there, so it is refused before anything is generated:

    start ::= "a" mark | "b";       after "a"     nothing is begun, and "<|end|>" is all that can follow: refused
    mark  ::= "<|" name;
    name  ::= "end|>";

The state after a text is the longest beginning of a special token's text that the text ends with (`special_texts.py`).
For each nonterminal, and each state in which a text of it may begin, the states in which it may end are computed as a
least fixed point over the rules. Then each position at which nothing may be begun is checked: does any text that leads
on from there avoid all special tokens' texts?

Texts that a normalizer changes (`e` and an accent, under NFC) are not foreseen by the masks even where they are begun.
A grammar whose rules make up one of these together is refused wherever they do.

Assumes that terminals have been narrowed before (`narrowed_terminals.py`). Rules of schemas are not followed: they
begin and end with the punctuation of JSON, which begins no special token's text.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.grammar.composition import ComposedRules, has_text
from structgen.engine.grammar.tables import Capture, GrammarTables, Lazy, Lookahead, Symbol
from structgen.engine.regex import tree as rx
from structgen.errors import LimitExceededError, VocabularyError
from structgen.limits import Limits
from structgen.tokenization.unspellable.special_texts import NONE_BEGUN, SpecialTexts

__all__ = ["check_changed_texts", "check_special_texts", "terminals_of"]

MAX_STEPS = 200_000  # symbols of bodies that are followed; a grammar that takes more is not checked
MAX_NAMED = 3  # texts in an error message

_States = frozenset[bytes]
_NO_STATE: _States = frozenset()
_ONLY_FREE: _States = frozenset((NONE_BEGUN,))
_Body = list[Symbol]


class _Start(NamedTuple):
    """A nonterminal, and the state in which its text begins."""

    key: Hashable
    state: bytes


def check_special_texts(tables: GrammarTables, texts: SpecialTexts, limits: Limits) -> None:
    """Make sure that no position of a grammar leads into special tokens' texts only.

    Args:
        tables: the grammar.
        texts: the automaton that looks for special tokens' texts.
        limits: bounds on the automata.

    Raises:
        VocabularyError: a position does; with the texts that the rules make up.
    """
    if not has_text(tables):
        return
    try:
        found = _Reachability(tables, texts, limits)
        # Rules that never end are dead ends without any special token, too.
        if found.has_dead_end() and not _Reachability(tables, SpecialTexts(()), limits).has_dead_end():
            raise _made_up_by_rules(found.completed)
    except (OverflowError, LimitExceededError):
        return


def check_changed_texts(tables: GrammarTables, texts: Iterable[bytes], limits: Limits) -> None:
    """Make sure that no text of a grammar's rules holds one of some texts.

    Args:
        tables: the grammar.
        texts: texts that the tokenizer would change, or cannot spell.
        limits: bounds on the automata.

    Raises:
        VocabularyError: the rules make up some of them.
    """
    found = _Reachability(tables, SpecialTexts(texts), limits, is_exact=True)
    try:
        found.find_ends()
    except (OverflowError, LimitExceededError):
        return
    if found.completed:
        raise _made_up_by_rules(found.completed)


def _made_up_by_rules(texts: set[bytes]) -> VocabularyError:
    named = sorted((text.decode(errors="replace") for text in texts), key=lambda text: (len(text), text))
    shown = ", ".join(map(repr, named[:MAX_NAMED])) + ", …" * (len(named) > MAX_NAMED)
    return VocabularyError(
        f"the tokenizer cannot spell {shown}, which rules of the grammar make up together",
        hint="tokenization='any' writes it with any tokens that spell it",
    )


def terminals_of(tables: GrammarTables) -> Iterator[rx.Regex]:
    """Return the terminals of a grammar's own rules, without those of schemas in it."""
    if has_text(tables):
        rules = _Rules(tables)
        for key in rules.all_keys():
            for body in rules.bodies_of(key):
                yield from [symbol for symbol in body if not isinstance(symbol, (Lazy, Capture))]


class _Composed(ComposedRules):
    """A composition of one grammar: its bodies are read off its tables, and off those of its parts."""

    def own_bodies(self, place: object) -> Sequence[Sequence[Symbol | Lookahead]]:
        """Return none: nothing stands around the grammar."""
        return ()


class _Rules:
    """The bodies of a grammar's own nonterminals, without look-aheads.

    Args:
        tables: the grammar.

    Attributes:
        start: the key of the nonterminal that derives its texts.
    """

    def __init__(self, tables: GrammarTables) -> None:
        self._composed = _Composed([tables])
        self.start: Hashable = (0, tables.start)
        self._bodies: dict[Hashable, list[_Body]] = {}

    def bodies_of(self, key: Hashable) -> list[_Body]:
        """Return the bodies of a nonterminal."""
        known = self._bodies.get(key)
        if known is None:
            bodies = self._composed.bodies(key)
            known = self._bodies[key] = [
                [symbol for symbol in body if not isinstance(symbol, Lookahead)] for body in bodies
            ]
        return known

    def key_of(self, symbol: Symbol) -> Hashable | None:
        """Return the key of an own nonterminal; None for terminals, captures and the rules of schemas."""
        return symbol.key if isinstance(symbol, Lazy) and self._composed.is_written(symbol.key) else None

    def all_keys(self) -> list[Hashable]:
        """Return the keys of all own nonterminals that the start leads to."""
        keys = [self.start]
        met = set(keys)
        for key in keys:  # grows meanwhile
            for body in self.bodies_of(key):
                new = {self.key_of(symbol) for symbol in body} - met - {None}
                met |= new
                keys += new
        return keys


class _Reachability:
    """The states in which texts of a grammar's nonterminals and terminals end.

    Args:
        tables: the grammar.
        texts: the automaton that looks for texts.
        limits: bounds on automata.
        is_exact: whether all states are followed. Otherwise, if a text may end with nothing begun, its other ends are
            ignored: whatever can follow those, can follow it.

    Attributes:
        completed: the texts that have been found to be completed.
    """

    def __init__(self, tables: GrammarTables, texts: SpecialTexts, limits: Limits, is_exact: bool = False) -> None:
        self._rules = _Rules(tables)
        self._texts = texts
        self._is_exact = is_exact
        self._store = AutomatonStore(limits)
        self._ends: dict[_Start, _States] = {}
        self._users: dict[_Start, set[_Start]] = {}
        self._waiting: list[_Start] = []
        self._steps_left = MAX_STEPS
        self.completed: set[bytes] = set()
        self._terminal_ends: dict[tuple[int, bytes], tuple[rx.Regex, _States]] = {}  # keeps the regex: ids are reused
        self._terminal_forced: dict[int, tuple[rx.Regex, _States | None]] = {}

    # -- the states that texts end in -------------------------------------------------------------------------------

    def find_ends(self) -> None:
        """Compute the ends of all nonterminals that are reached, in the states that they are reached in.

        Raises:
            OverflowError, LimitExceededError: it takes too many steps or states.
        """
        self._ask(_Start(self._rules.start, NONE_BEGUN), None)
        while self._waiting:
            start = self._waiting.pop()
            bodies = self._rules.bodies_of(start.key)
            found = [self._ends_of_body(body, 0, start.state, start) for body in bodies]
            self._count(sum(len(body) * (1 + len(ends)) for body, ends in zip(bodies, found, strict=True)))
            ends = self._relevant(_NO_STATE.union(*found))
            if ends != self._ends[start]:
                self._ends[start] = ends
                self._waiting += self._users[start]

    def _ask(self, start: _Start, user: _Start | None) -> _States:
        """Return the ends of a nonterminal as far as they are known; the user is computed again when there are more."""
        users = self._users.get(start)
        if users is None:
            users = self._users[start] = set()
            self._ends[start] = _NO_STATE
            self._waiting.append(start)
        if user is not None:
            users.add(user)
        return self._ends[start]

    def _count(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise OverflowError("the grammar has too many states")

    def _relevant(self, ends: _States) -> _States:
        return ends if self._is_exact or NONE_BEGUN not in ends else _ONLY_FREE

    def _ends_of(self, symbol: Symbol, state: bytes, user: _Start | None = None) -> _States:
        """Return the states after the texts of a symbol. A schema's texts end with nothing begun, as JSON does."""
        key = self._rules.key_of(symbol)
        if key is not None:
            return self._ask(_Start(key, state), user)
        return _ONLY_FREE if isinstance(symbol, (Lazy, Capture)) else self._ends_of_terminal(symbol, state)

    def _ends_of_body(self, body: _Body, at: int, state: bytes, user: _Start | None = None) -> _States:
        """Return the states after the rest of a body, from one symbol on."""
        states = frozenset((state,))
        for symbol in body[at:]:
            found = [self._ends_of(symbol, each, user) for each in states]
            states = self._relevant(_NO_STATE.union(*found))
        return states

    def _ends_of_terminal(self, regex: rx.Regex, state: bytes) -> _States:
        key = (id(regex), state)
        known = self._terminal_ends.get(key)
        if known is None:
            ends, completed = self._texts.ends(self._store, regex, state, not self._is_exact)
            self.completed |= completed
            known = self._terminal_ends[key] = (regex, self._relevant(ends))
        return known[1]

    # -- dead ends --------------------------------------------------------------------------------------------------

    def has_dead_end(self) -> bool:
        """Return whether nothing is begun at some position, and each text that leads on completes a special token's.

        Raises:
            OverflowError, LimitExceededError: it takes too many steps or states.
        """
        keys = self._rules.all_keys()
        for key in keys:
            self._ask(_Start(key, NONE_BEGUN), None)
        forced: dict[Hashable, _States] = dict.fromkeys(keys, _NO_STATE)
        is_known = False
        while not is_known:
            self.find_ends()
            is_known = True
            for key in keys:
                ends = [self._forced_ends(body, forced) for body in self._rules.bodies_of(key)]
                if None in ends and not self._waiting:
                    return True
                found = _NO_STATE.union(*[some for some in ends if some])
                is_known = is_known and found == forced[key] and not self._waiting
                forced[key] = found
        return False

    def _forced_ends(self, body: _Body, forced: dict[Hashable, _States]) -> _States | None:
        """Return the states after a body of texts that were free somewhere in it, and from there on could not be.

        A text is free where nothing is begun.

        Returns:
            None if no text leads on from such a position.
        """
        found: set[bytes] = set()
        rest = _ONLY_FREE  # the states after what is left of the body
        for at in range(len(body) - 1, -1, -1):
            symbol = body[at]
            states = self._forced_by(symbol, forced)
            if states is None:
                return None
            self._count(1 + len(states) * (len(body) - at))
            for state in states:
                ends = self._ends_of_body(body, at + 1, state)
                if not ends:
                    return None
                found |= ends
            if self._ends_of(symbol, NONE_BEGUN) != _ONLY_FREE:
                rest = self._ends_of_body(body, at, NONE_BEGUN)
            if not rest:
                return None
            found |= rest
        return frozenset(found - _ONLY_FREE)

    def _forced_by(self, symbol: Symbol, forced: dict[Hashable, _States]) -> _States | None:
        key = self._rules.key_of(symbol)
        if key is not None:
            return forced[key]
        if isinstance(symbol, (Lazy, Capture)):
            return _NO_STATE
        known = self._terminal_forced.get(id(symbol))
        if known is None:
            ends, completed = self._texts.forced_ends(self._store, symbol)
            self.completed |= completed
            known = self._terminal_forced[id(symbol)] = (symbol, ends)
        return known[1]
