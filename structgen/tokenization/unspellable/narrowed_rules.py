"""Grammars without the texts that hold a special token's, where these are made of several terminals.

`"<|" name "|>"` with `end` and `x` for names leads into `<|end|>`, if that is a special token. Its text cannot be
spelled, and whoever has begun `<|end` is told so by the masks; but where a grammar has no other texts, it is too late
by then. The grammar is multiplied with the automaton that looks for special tokens (Bar-Hillel, Perles, Shamir 1961):
its nonterminals are those of the grammar, each with the state that their text begins in and the one it ends in. What
derives nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.grammar.composition import OWN, ComposedRules, composed, has_text, without_text
from structgen.engine.grammar.tables import Capture, GrammarTables, Lazy, Lookahead, Symbol
from structgen.engine.regex import tree as rx
from structgen.errors import LimitExceededError
from structgen.limits import Limits
from structgen.tokenization.unspellable.special_texts import NONE_BEGUN, SpecialTexts

__all__ = ["spelled", "terminals_of"]

MAX_STEPS = 200_000  # symbols of bodies that are followed

_Ends = frozenset[bytes]
_NOWHERE: _Ends = frozenset()
_NONE_BEGUN: _Ends = frozenset((NONE_BEGUN,))


class _Place(NamedTuple):
    """A nonterminal, and the state in which its text begins."""

    key: Any
    first: bytes


class _Part(NamedTuple):
    """A symbol of a body, and the look-aheads before it; behind it, if it is the last."""

    symbol: Symbol
    before: Sequence[Lookahead]
    behind: Sequence[Lookahead] = ()


class _Between(NamedTuple):
    """What of a nonterminal's texts leads from one state to another, or of the texts of a part of a body.

    Attributes:
        key: of the nonterminal.
        first, last: the states.
        number, at: which of its bodies, and from which symbol on; -1 and 0 for all.
    """

    key: Any
    first: bytes
    last: bytes
    number: int = -1
    at: int = 0


def spelled(tables: GrammarTables, texts: SpecialTexts, limits: Limits, surely: bool = False) -> GrammarTables:
    """A grammar without the texts that hold a special token's; itself where each place in a text in which none is begun
    leads on to others.

    Args:
        tables: each beginning of a terminal's text goes on to one that holds no special token's.
        texts: those of special tokens.
        limits: bounds on the automata.
        surely: whether that is not enough. The masks look beyond what begins a special token's text, but not beyond
            other bytes that cut.

    Returns:
        Tables that have no text where none is left. What the rules of schemas derive is taken as it is.
    """
    if not has_text(tables):
        return tables
    try:
        if not (surely or _SpelledRules(tables, texts, limits, is_search=True).leads_astray()):
            return tables
        if not surely and _SpelledRules(tables, SpecialTexts(()), limits, is_search=True).leads_astray():
            return tables  # some rules never end, and were kept
        rules = _SpelledRules(tables, texts, limits)
        rules.find_ends()
    except (OverflowError, LimitExceededError):
        return tables
    return composed(rules, tables.accepts_empty) if rules.has_text() else without_text(tables.accepts_empty)


def terminals_of(tables: GrammarTables) -> Iterator[rx.Regex]:
    """The terminals of a grammar's own rules, those of schemas not among them."""
    return _SpelledRules(tables, SpecialTexts(()), Limits()).terminals() if has_text(tables) else iter(())


class _SpelledRules(ComposedRules):
    """One part, of which is left what can be spelled.

    Args:
        tables: the part.
        texts: what cannot be.
        limits: bounds.
        is_search: whether it is only asked if this is needed. Then of the states behind a text only that counts in
            which nothing is begun, if it is among them: whatever can follow others, can follow it.
    """

    def __init__(self, tables: GrammarTables, texts: SpecialTexts, limits: Limits, is_search: bool = False) -> None:
        super().__init__([tables])
        self._texts = texts
        self._is_search = is_search
        self._limits = limits
        self._whole = Lazy((0, tables.start))
        self._taken_apart: dict[Any, list[list[_Part]]] = {}
        self._ends: dict[_Place, _Ends] = {}
        self._users: dict[_Place, set[_Place]] = {}
        self._waiting: list[_Place] = []
        self._steps_left = MAX_STEPS
        self._forced_by_terminals: dict[int, tuple[rx.Regex, _Ends]] = {}
        self._ends_of_terminals: dict[tuple[int, bytes], tuple[rx.Regex, _Ends, bool]] = {}

    @cached_property
    def _store(self) -> AutomatonStore:
        return AutomatonStore(self._limits)

    def leads_astray(self) -> bool:
        """Whether from some place in a text in which nothing is begun only texts that hold a special token's lead on.

        Raises:
            OverflowError, LimitExceededError: it takes too long to tell.
        """
        keys = self._all_keys()
        for key in keys:
            self._ask(_Place(key, NONE_BEGUN), None)
        forced: dict[Any, _Ends] = dict.fromkeys(keys, _NOWHERE)
        is_known = False
        while not is_known:
            self.find_ends()
            is_known = True
            for key in keys:
                ends = [self._forced_ends(body, forced) for body in self._bodies_of(key)]
                if None in ends and not self._waiting:
                    return True
                found = _NOWHERE.union(*[some for some in ends if some])
                is_known = is_known and found == forced[key] and not self._waiting
                forced[key] = found
        return False

    def _all_keys(self) -> list[Any]:
        """Those of all nonterminals that are multiplied."""
        keys = [self._whole.key]
        met = set(keys)
        for key in keys:
            for body in self._bodies_of(key):
                new = {self._key_of(symbol) for symbol, *_ in body} - met - {None}
                met |= new
                keys += new
        return keys

    def terminals(self) -> Iterator[rx.Regex]:
        """Those of these nonterminals."""
        for key in self._all_keys():
            for body in self._bodies_of(key):
                yield from [symbol for symbol, *_ in body if not isinstance(symbol, (Lazy, Capture))]

    def _forced_ends(self, body: list[_Part], forced: dict[Any, _Ends]) -> _Ends | None:
        """The states behind a body where it has come to a place in which nothing is begun, and from which all texts go
        on to where something is; None if none leads on.
        """
        found: set[bytes] = set()
        behind = _NONE_BEGUN  # the states behind what is left of the body
        for at in range(len(body) - 1, -1, -1):
            symbol = body[at][0]
            states = self._forced_by(symbol, forced)
            self._count(1 + len(states) * (len(body) - at))
            for state in states:
                ends = self._behind_all(body, at + 1, state)
                if not ends:
                    return None
                found |= ends
            if self._behind(symbol, NONE_BEGUN) != _NONE_BEGUN:
                behind = self._behind_all(body, at, NONE_BEGUN)
            if not behind:
                return None
            found |= behind
        return frozenset(found - _NONE_BEGUN)

    def _forced_by(self, symbol: Symbol, forced: dict[Any, _Ends]) -> _Ends:
        key = self._key_of(symbol)
        if key is not None:
            return forced[key]
        if isinstance(symbol, (Lazy, Capture)):
            return _NOWHERE
        known = self._forced_by_terminals.get(id(symbol))
        if known is None:
            known = self._forced_by_terminals[id(symbol)] = (symbol, self._texts.forced_ends(self._store, symbol))
        return known[1]

    def has_text(self) -> bool:
        """Whether a text is left."""
        return bool(self._behind(self._whole, NONE_BEGUN))

    # -- the states that texts end in -------------------------------------------------------------------------------

    def find_ends(self) -> None:
        """Of all nonterminals that are reached, in the states that they are reached in."""
        self._ask(_Place(self._whole.key, NONE_BEGUN), None)
        while self._waiting:
            place = self._waiting.pop()
            bodies = self._bodies_of(place.key)
            found = [self._behind_all(body, 0, place.first, place) for body in bodies]
            self._count(sum(len(body) * (1 + len(ends)) for body, ends in zip(bodies, found, strict=True)))
            ends = self._counting(_NOWHERE.union(*found))
            if ends != self._ends[place]:
                self._ends[place] = ends
                self._waiting += self._users[place]

    def _ask(self, place: _Place, user: _Place | None) -> _Ends:
        """The states behind a nonterminal's texts, as far as they have been found; for the place of another one."""
        users = self._users.get(place)
        if users is None:
            users = self._users[place] = set()
            self._ends[place] = _NOWHERE
            self._waiting.append(place)
        if user is not None:
            users.add(user)
        return self._ends[place]

    def _count(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise OverflowError("the grammar has too many states")

    def _counting(self, ends: _Ends) -> _Ends:
        return _NONE_BEGUN if self._is_search and NONE_BEGUN in ends else ends

    def _bodies_of(self, key: Any) -> list[list[_Part]]:
        """The bodies of a nonterminal."""
        known = self._taken_apart.get(key)
        if known is None:
            known = self._taken_apart[key] = []
            for body in self.bodies(key):
                symbols: list[_Part] = []
                before: list[Lookahead] = []
                for symbol in body:
                    if isinstance(symbol, Lookahead):
                        before.append(symbol)
                    else:
                        symbols.append(_Part(symbol, before))
                        before = []
                symbols[-1] = symbols[-1]._replace(behind=before)
                known.append(symbols)
        return known

    def _key_of(self, symbol: Symbol) -> Any:
        """The key of a nonterminal that is multiplied; None for other symbols."""
        return symbol.key if isinstance(symbol, Lazy) and self.is_written(symbol.key) else None

    def _behind(self, symbol: Symbol, state: bytes, user: _Place | None = None) -> _Ends:
        """The states behind the texts of a symbol. A schema's end as JSON does: with nothing that is begun."""
        key = self._key_of(symbol)
        if key is not None:
            return self._ask(_Place(key, state), user)
        return _NONE_BEGUN if isinstance(symbol, (Lazy, Capture)) else self._of_terminal(symbol, state)[0]

    def _behind_all(self, body: list[_Part], at: int, state: bytes, user: _Place | None = None) -> _Ends:
        """The states behind what is left of a body, from some symbol on."""
        states = frozenset((state,))
        for symbol, *_ in body[at:]:
            found = [self._behind(symbol, each, user) for each in states]
            states = self._counting(_NOWHERE.union(*found))
        return states

    def _of_terminal(self, regex: rx.Regex, state: bytes) -> tuple[_Ends, bool]:
        key = (id(regex), state)
        known = self._ends_of_terminals.get(key)
        if known is None:
            ends, completes = self._texts.ends(self._store, regex, state, self._is_search)
            known = self._ends_of_terminals[key] = (regex, self._counting(ends), completes)
        return known[1:]

    # -- rules ------------------------------------------------------------------------------------------------------

    def own_bodies(self, place: Any) -> Sequence[Sequence[Symbol | Lookahead]]:
        """See `ComposedRules`."""
        if not isinstance(place, _Between):
            whole = self._whole
            return [[self._symbol(whole, NONE_BEGUN, last)] for last in sorted(self._behind(whole, NONE_BEGUN))]
        bodies = self._bodies_of(place.key)
        numbers = range(len(bodies)) if place.number < 0 else (place.number,)
        return [made for number in numbers for made in self._made(bodies[number], place._replace(number=number))]

    def _made(self, body: list[_Part], place: _Between) -> Iterator[list[Symbol | Lookahead]]:
        """What of a body, from some symbol on, leads from one state to another: first that symbol, then the rest."""
        symbol, before, behind = body[place.at]
        rest = place._replace(at=place.at + 1)
        for state in sorted(self._behind(symbol, place.first)):
            if rest.at < len(body):
                if place.last in self._behind_all(body, rest.at, state):
                    then = Lazy((OWN, rest._replace(first=state)))
                    yield [*before, self._symbol(symbol, place.first, state), then]
            elif state == place.last:
                yield [*before, self._symbol(symbol, place.first, state), *behind]

    def _symbol(self, symbol: Symbol, first: bytes, last: bytes) -> Symbol:
        key = self._key_of(symbol)
        if key is not None:
            return Lazy((OWN, _Between(key, first, last)))
        if isinstance(symbol, (Lazy, Capture, rx.Literal)):
            return symbol
        ends, completes = self._of_terminal(symbol, first)
        return rx.intersection(symbol, self._texts.between(first, last)) if completes or len(ends) > 1 else symbol
