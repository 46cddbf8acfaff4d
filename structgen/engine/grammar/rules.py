"""The rules of one grammar as flat arrays that grow: the bodies of lazy nonterminals are added when first predicted.

A grammar need not be written down before it is used. Take an object with ten properties in any order: as a whole its
grammar has a nonterminal for each of the 1,024 sets of keys seen so far, but one text meets at most eleven of them. So
such a grammar is a family of nonterminals, each named by a key (the set of properties seen so far), and a `RuleSource`
makes the bodies of one when the engine predicts it.

Where the key depends on text (which items has this array already?), the text is *captured*: once the captured symbol
has ended and its text is known, `RuleSource.after` returns the key of what follows.

    [ITEM (captured)  CAPTURES - 0]      a body that ends with capture number 0
    after(then, b"12") -> key            the text of ITEM was "12": what follows is named "an array that has 12"

Rules that several nonterminals share (`Ladder`) are written once: those of each end where those of the others end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence

from structgen.engine.arrays import grown, zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import NEVER
from structgen.engine.grammar.composition import ComposedRules, counts_tokens
from structgen.engine.grammar.lookaheads import Lookaheads
from structgen.engine.grammar.refused_ends import RefusedEnds
from structgen.engine.grammar.tables import (
    CAPTURES,
    END,
    TERMINAL,
    Capture,
    GrammarTables,
    Ladder,
    Lazy,
    Lookahead,
    Refusals,
    Symbol,
    terminal_number,
)
from structgen.engine.regex.tree import Regex
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["Rules"]

WIDTH = 3  # numbers of a symbol that is to be written
NOT_MADE = -1  # in the arrays: not made yet; as a result: there is none
MAX_SEEN = 32  # number of nonterminals that a search for endless texts visits


class Captured:
    """A capture in a body, with the answers of the source that are used again.

    Attributes:
        capture: the symbol.
        room: characters by which the terminal has texts longer than those that are refused where they end. 0 if none
            is; NEVER for room without bound.
        after_any: the dotted rule that follows an unknown text; -1 until it is needed.
    """

    def __init__(self, capture: Capture, room: int) -> None:
        self.capture = capture
        self.room = room
        self.after_any = NOT_MADE


class Rules:
    """The rules made so far for one grammar, shared by its stores of Earley sets.

    Args:
        tables: the grammar in normal form.
        automata: the automata of terminals; those of the grammar are added.
        limits: bounds; `grammar_symbols` is the one that counts here.

    Attributes:
        automata: see above.
        symbols: int32; the bodies one after another, each ended by END. A symbol >= 0 is a nonterminal, -2 is any
            terminal, CAPTURES and below is a capture.
        start_state: int32 by position; the start state of the terminal there.
        before: int32 by position; the number of the look-ahead that must hold where the dot stands there; 0 for none.
        lookaheads: the look-aheads by number.
        first_rule, last_rule: int32 by nonterminal; its rules are `first_rule[A]` to `last_rule[A] - 1`. Other
            nonterminals may have the last of them, too. -1 where they are not made yet.
        rule_starts: int32 by rule; its position in `symbols`.
        size: number of symbols.
        start_position: the dotted rule `whole text -> .start`. The position before it is a terminal, for a prefix that
            is written before the text.
        empty_position: the position of such a terminal before the empty text.
        has_captures: whether any body has a capture.
        counts_tokens: whether a terminal has a bound on its tokens; see `after_token`.
        serve_many_texts: whether rules stand for positions of the grammar, and so serve many texts. False where they
            are made for the content of one text so far.
    """

    def __init__(self, tables: GrammarTables, automata: AutomatonStore, limits: Limits) -> None:
        self.automata = automata
        self._source = tables.source
        self._bodies_or_ladder = getattr(tables.source, "bodies_or_ladder", None)  # see `Ladder`
        self._max_symbols = limits.grammar_symbols
        self._ready = zeros(64)  # bodies to be written: each symbol, its start state and the look-ahead before it
        self._ready_size = 0
        self.symbols = zeros(128)
        self.start_state = zeros(128)
        self.before = zeros(128)
        self.lookaheads = Lookaheads(tables.lookaheads, automata)
        self.size = 0
        self.rule_starts = zeros(64)
        self._rule_count = 0
        self.first_rule = zeros(64, NOT_MADE)
        self.last_rule = zeros(64, NOT_MADE)
        self._nonterminals = 0
        self._keys: list[Hashable | None] = []  # by nonterminal; None for those that are not lazy
        self._numbers: dict[Hashable, int] = {}
        self._captures: list[Captured] = []
        self._continuations: dict[Hashable, int] = {}
        self.has_captures = False
        self.counts_tokens = isinstance(tables.source, ComposedRules) and counts_tokens(tables)
        self._tokens_left: dict[int, int] = {}  # by position
        self._after_token: dict[int, int] = {}
        self._counted_from: dict[int, int] = {}
        self.serve_many_texts = tables.source is None or len(tables.lookaheads) > 0
        self._goes_on_endless: dict[int, bool] = {}
        self._refused_ends = RefusedEnds(automata, tables.source)
        start = self._load(tables)
        self._write(TERMINAL)
        self.start_position = self.size
        self._write(start)
        self._write(END)
        self.empty_position = self.size
        self._write(TERMINAL)
        self._write(END)

    def expand(self, nonterminal: int) -> None:
        """Make the bodies of a lazy nonterminal.

        Raises:
            LimitExceededError: grammar_symbols, or a limit of the source.
        """
        if self._source is None:
            raise ValueError(f"nonterminal {nonterminal} has no bodies, and the grammar has no source of bodies")
        key = self._keys[nonterminal]
        found = self._source.bodies(key) if self._bodies_or_ladder is None else self._bodies_or_ladder(key)
        if isinstance(found, Ladder):
            self._write_ladder(found)
        else:
            self._write_bodies(nonterminal, found)

    def continuation(self, number: int, text: bytes | None) -> int:
        """Return the dotted rule that follows a captured symbol; -1 where that text must not be captured.

        Args:
            number: the number of the capture.
            text: the captured text; None where it is not known.
        """
        if text is not None:
            return self._position_after(number, text)
        captured: Captured = self._captures[number]
        if captured.after_any < 0:  # kept, as every token that ends the capture needs it
            captured.after_any = self._position_after(number, None)
        return captured.after_any

    def _position_after(self, number: int, text: bytes | None) -> int:
        """Compute what `continuation` returns. Texts with the same key share one dotted rule."""
        if self._source is None:
            return NOT_MADE
        captured: Captured = self._captures[number]
        key = self._source.after(captured.capture.then, text)
        if key is None:
            return NOT_MADE
        position = self._continuations.get(key, NOT_MADE)
        if position < 0:
            nonterminal = self._lazy(key)
            position = self.size
            self._write(nonterminal)
            self._write(END)
            self._continuations[key] = position
        return position

    # -- bounds on tokens ---------------------------------------------------------------------------------------------

    def tokens_left(self, position: int) -> int:
        """Return the tokens that a terminal may still take, the one under way included; 0 for no bound."""
        return self._tokens_left.get(position, 0)

    def after_token(self, position: int) -> int:
        """Return the position of a bounded terminal that may take one token less. More than one is left.

            position of   x -> . /.*/, 3 tokens left      x -> . /.*/, 2 left      x -> . /.*/, 1 left

        The positions but the first are in no rule.
        """
        after = self._after_token.get(position, NOT_MADE)
        if after < 0:
            state, before = self.start_state[position], self.before[position + 1]
            after = self.size
            self._write(TERMINAL)
            self.start_state[after] = state
            self._write(END)
            self.before[after + 1] = before
            self._after_token[position] = after
            self._tokens_left[after] = self._tokens_left[position] - 1
            self._counted_from[after] = self.first_position(position)
        return after

    def first_position(self, position: int) -> int:
        """Return the position in a rule that `after_token` began at; for other positions, the position itself."""
        return self._counted_from.get(position, position)

    def is_endless(self, number: int) -> bool:
        """Return whether what follows a capture does not depend on its text; see `Capture`."""
        captured: Captured = self._captures[number]
        return captured.capture.endless

    def refuses(self, number: int) -> bool:
        """Return whether a capture refuses texts where they end."""
        captured: Captured = self._captures[number]
        return captured.room > 0

    def refuses_only_ends(self, number: int) -> bool:
        """Return whether a capture refuses texts where they end, and never what they begin with."""
        captured: Captured = self._captures[number]
        return captured.room == NEVER

    def refusals(self, number: int, begun: bytes) -> Refusals:
        """Return the rests of texts that a capture refuses; see `RuleSource.refusals`."""
        captured: Captured = self._captures[number]
        return self._refused_ends.refusals(number, captured.capture, begun)

    def goes_on_endless(self, position: int) -> bool:
        """Return whether infinitely many texts complete a body from a position on, whatever has been written of it.

        False also where more than a few rules would have to be searched. The search makes bodies.

        Raises:
            LimitExceededError: grammar_symbols, automaton_states, or a limit of the source.
        """
        found = self._goes_on_endless.get(position)
        if found is None:
            found = self._goes_on_endless[position] = self._sees_endless(position)
        return found

    def has_room(self, position: int, state: int, most: int) -> bool:
        """Return whether a terminal with a bound, in a capture, can end in another way whatever was written before it.

        Args:
            position: the position of the terminal.
            state: the state of the terminal that has been reached.
            most: how many more bytes may be read of it.
        """
        return self._refused_ends.has_room(position, state, most)

    def _sees_endless(self, position: int) -> bool:
        """Compute what `goes_on_endless` returns, by a search over the symbols that the body can lead to.

        Automata whose form does not show it are explored last: that takes long, and another terminal may settle it.
        """
        seen: set[int] = set()
        unknown: list[int] = []
        waiting = deque([position])  # breadth first, so that few rules are made
        while waiting:
            position = waiting.popleft()
            symbol = self.symbols[position]
            while symbol != END and symbol > CAPTURES:
                if symbol == TERMINAL:
                    if self.automata.is_endless_by_form(self.start_state[position]):
                        return True
                    unknown.append(self.start_state[position])
                elif symbol not in seen and len(seen) < MAX_SEEN:
                    seen.add(symbol)
                    if self.first_rule[symbol] < 0:
                        self.expand(symbol)
                    for rule in range(self.first_rule[symbol], self.last_rule[symbol]):
                        waiting.append(self.rule_starts[rule])
                position += 1
                symbol = self.symbols[position]
        return any(map(self.automata.is_ever_endless, unknown))

    # -- the rule of a position, for messages -----------------------------------------------------------------------

    def rule_at(self, position: int) -> int:
        """Return the rule whose body has a position; -1 for a position outside of all rules, such as a continuation."""
        low, high = 0, self._rule_count
        while low < high:
            middle = (low + high) // 2
            if self.rule_starts[middle] <= position:
                low = middle + 1
            else:
                high = middle
        rule = low - 1  # the last rule that begins at or before the position; its body may end before the position
        for at in range(self.rule_starts[rule] if rule >= 0 else position, position):
            if self.symbols[at] == END:
                return NOT_MADE
        return rule

    def head_of(self, rule: int) -> int:
        """Return the nonterminal of a rule; if several share it, the one whose own rule it is. -1 for none."""
        found = start = NOT_MADE
        for nonterminal in range(self._nonterminals):
            first = self.first_rule[nonterminal]
            if start <= first <= rule < self.last_rule[nonterminal] and first >= 0:
                found, start = nonterminal, first
        return found

    def key_of(self, nonterminal: int) -> Hashable | None:
        """Return the key of a lazy nonterminal; None for other nonterminals."""
        return self._keys[nonterminal]

    def bodies_of(self, nonterminal: int) -> list[Sequence[Symbol | Lookahead]]:
        """Return the bodies of a lazy nonterminal as its source makes them, in the order of their rules."""
        if self._source is None:
            return []
        return [body for body in self._source.bodies(self._keys[nonterminal]) if self._is_kept(body)]

    def _is_kept(self, body: Sequence[Symbol | Lookahead]) -> bool:
        """Return whether every terminal of a body matches some text; otherwise the body has no rule."""
        for part in body:
            if isinstance(part, (Lazy, Lookahead)):
                continue
            of: Regex | Lazy
            if isinstance(part, Capture):
                of = self._refused_ends.refusing(part)[0] if part.refuses else part.of
            else:
                of = part
            if not isinstance(of, Lazy) and self.automata.add(of) == 0:
                return False
        return True

    def _load(self, tables: GrammarTables) -> int:
        """Write the rules of the tables, before all others; return their start nonterminal."""
        states = [self.automata.add(regex) for regex in tables.terminals]
        count = len(tables.first_rule) - 1
        for _ in range(count):
            self._new_nonterminal()
        for key in tables.lazy:  # their numbers follow
            self._lazy(key)
        for at, symbol in enumerate(tables.symbols):
            if symbol <= TERMINAL:
                self._write(TERMINAL)
                self.start_state[self.size - 1] = states[terminal_number(symbol)]
            else:
                self._write(symbol)
            if tables.before:
                self.before[self.size - 1] = tables.before[at]
        for nonterminal in range(count):
            self.first_rule[nonterminal] = self._rule_count
            for rule in range(tables.first_rule[nonterminal], tables.first_rule[nonterminal + 1]):
                self._begin_rule(tables.rule_starts[rule])
            self.last_rule[nonterminal] = self._rule_count
        return tables.start

    def _write_bodies(self, nonterminal: int, bodies: Sequence[Sequence[Symbol | Lookahead]]) -> None:
        """Write the rules of a nonterminal."""
        # Captured terminals become nonterminals first, so that the rules of this nonterminal stand together.
        self._ready_size = 0
        for body in bodies:
            self._prepare(body)
        first = self._rule_count
        most = 0
        if self.counts_tokens and isinstance(self._source, ComposedRules):
            most = self._source.max_tokens(self._keys[nonterminal])
        self._write_ready(most)
        self.first_rule[nonterminal] = first  # last, so that an error leaves no half of the rules
        self.last_rule[nonterminal] = self._rule_count

    def _write_ladder(self, ladder: Ladder) -> None:
        """Write the rules of the nonterminals of a ladder, up to the first that has rules."""
        keys, bodies = ladder.keys, ladder.bodies
        self._ready_size = 0
        ready = 0
        numbers: list[int] = []
        starts: list[int] = []  # by nonterminal: the number of rules before its own
        for index in range(len(bodies)):
            if index < len(keys):
                number = self._lazy(keys[index])
                if self.first_rule[number] >= 0:
                    self._add_ready(number, 0, 0)
                    self._add_ready(END, 0, 0)
                    break
                numbers.append(number)
                starts.append(ready)
            size = self._ready_size
            self._prepare(bodies[index])
            ready += self._ready_size > size
        first = self._rule_count
        self._write_ready(0)
        for index in range(len(numbers)):
            number = numbers[index]
            self.first_rule[number] = first + starts[index]
            self.last_rule[number] = self._rule_count

    def _write_ready(self, most: int) -> None:
        """Write the rules that are ready; `most` is the bound on the tokens of their terminals, 0 for none."""
        begins = True
        index = 0
        while index < self._ready_size:
            if begins:
                self._begin_rule(self.size)
            symbol = self._ready[index]
            self._write(symbol)
            self.start_state[self.size - 1] = self._ready[index + 1]
            self.before[self.size - 1] = self._ready[index + 2]
            if symbol == TERMINAL and most > 0:
                self._tokens_left[self.size - 1] = most
            begins = symbol == END
            index += WIDTH

    def _prepare(self, body: Sequence[Symbol | Lookahead]) -> None:
        """Add the symbols of a body and its end to `_ready`; none where a terminal matches no text."""
        size = self._ready_size
        is_dead = False
        before = 0
        for part in body:
            if isinstance(part, Lazy):
                lazy = part  # with a type in the .pxd, so that its key is read without a look-up
                self._add_ready(self._lazy(lazy.key), 0, before)
            elif isinstance(part, Lookahead):
                before = self.lookaheads.united(before, part.number)
                continue
            elif isinstance(part, Capture):
                of, room = self._refused_ends.refusing(part) if part.refuses else (part.of, 0)
                captured = self._captured(of)
                if captured < 0:
                    is_dead = True
                    break
                self._add_ready(captured, 0, before)
                self._add_ready(CAPTURES - len(self._captures), 0, 0)
                if room > 0:
                    self._refused_ends.keep_room(self.rule_starts[self.first_rule[captured]], room)
                self._captures.append(Captured(part, room))
                self.has_captures = True
            else:
                state = self.automata.add(part)
                if state == 0:
                    is_dead = True
                    break
                self._add_ready(TERMINAL, state, before)
            before = 0
        if is_dead:
            self._ready_size = size
        else:
            self._add_ready(END, 0, before)

    def _add_ready(self, symbol: int, state: int, before: int) -> None:
        """Add a symbol to `_ready`, with its start state and the look-ahead before it."""
        size = self._ready_size
        if size + WIDTH > len(self._ready):
            self._ready = grown(self._ready, size)
        self._ready[size] = symbol
        self._ready[size + 1] = state
        self._ready[size + 2] = before
        self._ready_size = size + WIDTH

    def _captured(self, of: Regex | Lazy) -> int:
        """Return the nonterminal of a captured symbol; -1 for a terminal that matches no text."""
        if isinstance(of, Lazy):
            return self._lazy(of.key)
        state = self.automata.add(of)
        if state == 0:
            return NOT_MADE
        nonterminal = self._new_nonterminal()
        self.first_rule[nonterminal] = self._rule_count
        self._begin_rule(self.size)
        self.last_rule[nonterminal] = self._rule_count
        self._write(TERMINAL)
        self.start_state[self.size - 1] = state
        self._write(END)
        return nonterminal

    def _lazy(self, key: Hashable) -> int:
        """Return the nonterminal of a key, a new one if need be."""
        number = self._numbers.get(key, NOT_MADE)
        if number < 0:
            number = self._numbers[key] = self._new_nonterminal(key)
        return number

    def _new_nonterminal(self, key: Hashable | None = None) -> int:
        """Return the number of a new nonterminal, whose rules are not made yet; it is lazy if it has a key."""
        number = self._nonterminals
        if number >= len(self.first_rule):
            self.first_rule = grown(self.first_rule, number, NOT_MADE)
            self.last_rule = grown(self.last_rule, number, NOT_MADE)
        self._nonterminals = number + 1
        self._keys.append(key)
        return number

    def _begin_rule(self, position: int) -> None:
        """Add a rule whose body begins at a position."""
        if self._rule_count >= len(self.rule_starts):
            self.rule_starts = grown(self.rule_starts, self._rule_count)
        self.rule_starts[self._rule_count] = position
        self._rule_count += 1

    def _write(self, symbol: int) -> None:
        """Append a symbol to the bodies."""
        if self.size >= self._max_symbols + 16:  # the tables of the grammar itself were within the limit
            raise LimitExceededError("grammar_symbols", self._max_symbols)
        if self.size >= len(self.symbols):
            self.symbols = grown(self.symbols, self.size)
            self.start_state = grown(self.start_state, self.size)
            self.before = grown(self.before, self.size)
        self.symbols[self.size] = symbol
        self.size += 1
