"""Earley sets of one grammar, and the steps between them: the set after a set and one more byte.

An Earley *item* is a dotted rule (a rule, and how far it has been read), the state of the automaton of the terminal
after the dot, and a return address. A *set* is all items that are possible after the same text. This module numbers
sets, and remembers `(set, byte) -> set`. That function holds for every text, position and thread.

Why a set is a value
--------------------

The return address takes the place of Earley's origin position. It is a *group*: the items of one set that wait for the
same nonterminal. When the nonterminal ends, each item of the group advances. Items that have ended are dropped, and
predicted items follow from the others. So a set is its *kernel*: the items whose dot was moved by the last byte. Equal
kernels get one number (hash-consing).

An example
----------

    start ::= 'a' tail;    tail ::= 'b' | 'b' tail;

The grammar's symbols stand in one array, each body followed by END; a dotted rule is a position in it:

    position    0    1     2     3    4     5    6     7     8    9      10
    symbol      'a'  tail  END   'b'  END   'b'  tail  END   ...  start  END

The text "abb" goes through these sets. An item is (position, automaton state, group); `.` is the dot.

    read   set  kernel                                 accepting  after closing
    ""      1   (9, 0, ROOT)  .start                   no         scans start -> .'a' tail, group 1
    "a"     2   (1, 0, ROOT)  start -> 'a' .tail       no         scans tail -> .'b' and tail -> .'b' tail, group 2
    "ab"    3   (6, 0, ROOT)  tail -> 'b' .tail        yes        the same two, group 3
    "abb"   3

- *Closing* a set (`predictor.py`) finds what its kernel predicts: items with a terminal after the dot, which can be
  scanned, and groups. Group 2 is the item `start -> 'a' .tail` of set 2, which waits for `tail`.
- A *step* scans: the byte "b" moves both automata of set 2 to their end.
- *Completion* (`completer.py`) then moves the dot past 'b'. In `tail -> 'b' .` the rule has ended, so the items of
  group 2 advance: `start -> 'a' tail .` has ended as well, and its address is ROOT, the end of the whole text. So
  set 3 is accepting. `tail -> 'b' .tail` becomes the kernel of set 3.
- *Leo's optimisation* (`groups.py`) gives that item the address ROOT instead of group 2. Without it the third "b" would
  need a new set, the fourth another, and so on.
- The kernel after "abb" equals that after "ab" (`kernels.py`): the step from set 3 by "b" leads to set 3.

Captures
--------

A set inside of a captured symbol (`engine/grammar/rules.py`) has a *text* besides its kernel: the bytes since the
outermost capture began. While a mask is made, the text of what has just ended is not known, as many tokens end it. Such
sets have no text, for one of three reasons: UNKNOWN_TEXT; AFTER a capture whose text does not matter yet; NEEDS_CHECK
where the text may have mattered, so that tokens that lead there have to be checked one by one.

Sources: Earley, "An efficient context-free parsing algorithm" (1970); Leo, "A general context-free parsing algorithm
running in linear time on every LR(k) grammar without using lookahead" (1991). The grammar has no nullable rules, as the
normal form removes them (Aycock and Horspool, "Practical Earley parsing", 2002, keep them). The `kbnf` crate drops
finished sets (*compaction*); here a set that no address leads to is not looked at again.
"""

from __future__ import annotations

from structgen.engine.constants import (
    AFTER,
    DEAD_SET,
    EMPTY_TEXT,
    NEEDS_CHECK,
    NO_BYTE,
    NO_TEXT,
    ROOT,
    UNKNOWN_TEXT,
)
from structgen.engine.deadlines import spend
from structgen.engine.earley.captured_texts import CapturedTexts
from structgen.engine.earley.completer import Completer
from structgen.engine.earley.groups import GroupTable
from structgen.engine.earley.item_columns import ItemTable, ScanTable, SetTable
from structgen.engine.earley.kernels import Kernels
from structgen.engine.earley.leading_bytes import LeadingBytes
from structgen.engine.earley.predictor import Predictor
from structgen.engine.earley.runs import Runs
from structgen.engine.grammar.rules import Rules
from structgen.engine.grammar.tables import CAPTURES, END, Refusals
from structgen.engine.pair_table import PairTable
from structgen.engine.regex.tree import Literal
from structgen.limits import Limits

__all__ = ["ItemSetStore"]

# Declared as C integers in the .pxd, so not importable from here.
FIRST_TOKEN = 256  # in place of a byte: the step by token 0, for tokens with two readings

NOTHING_REFUSED: Refusals = ((), ())


class ItemSetStore:
    """All Earley sets of one grammar that have been reached, and the steps between them.

    Args:
        rules: the grammar; other stores may use the same object.
        limits: bounds of sets, and of items in one.
        accepts_empty: whether the empty text is in the language.

    Attributes:
        rules: the grammar.
        automata: the automata of the grammar's terminals.
        table: the sets, by number.
        scans: the scannable items of closed sets.
        groups: the return addresses.
        texts: the texts of open captures.
        start_set: the set before the first byte.
        step_targets: the steps found so far, except the first one from each set; that one is in `table`.
        steps: number of steps that were computed rather than looked up (a work counter for benchmarks).
    """

    def __init__(self, rules: Rules, limits: Limits, *, accepts_empty: bool) -> None:
        self.rules = rules
        self.automata = self.rules.automata
        self._lookaheads = self.rules.lookaheads
        self.table = SetTable()
        self._items = ItemTable()
        self.scans = ScanTable()
        self.groups = GroupTable(rules)
        self.texts = CapturedTexts()
        self._kernels = Kernels(self.table, self._items, self.groups, rules, limits)
        self._predictor = Predictor(self.table, self._items, self.scans, self.groups, rules, limits)
        self._completer = Completer(self._kernels, self.groups, self.texts, rules)
        self._leading_bytes = LeadingBytes(self.table, self.scans, self.automata)
        self._runs = Runs(self.table, self.scans, self.groups, self._kernels, self._predictor, self._completer, rules)
        self.step_targets = PairTable()
        self.steps = 0
        self.followed = 0
        self._refusing_set = self._refusing_group = DEAD_SET  # of the last result of `refusals`
        self._refused = NOTHING_REFUSED
        self._unrefused = PairTable()  # by capture and the text before it: the last text seen with no refused one
        self._accepts_empty = accepts_empty
        self._kernels.add_set()  # number 0: the dead set, an empty kernel
        self._predictor.close(DEAD_SET)
        self._kernels.begin(NO_TEXT)
        self._kernels.add(rules.start_position, 0, ROOT)
        self._kernels.accepting = 1 if accepts_empty else 0
        self.start_set = self._kernels.finish()

    @property
    def set_count(self) -> int:
        """Number of sets made so far, the dead set 0 included."""
        return self.table.count

    def close(self, set_id: int) -> None:
        """Find the set's scannable items and groups, once.

        Raises:
            LimitExceededError: the set is too large, or the bodies of a lazy nonterminal are.
        """
        if self.table.first_scan[set_id] < 0:
            self._predictor.close(set_id)

    def waiting(self, group: int) -> list[tuple[int, int]]:
        """Return the items of a group, each as its dotted rule and its own return address. For messages."""
        return self.groups.waiting(group)

    def start_with_prefix(self, prefix: bytes) -> int:
        """Return the set from which some fixed bytes are read first, then a text of the grammar.

        Raises:
            LimitExceededError: automaton_states, or item_sets.
        """
        if not prefix:
            return self.start_set
        state = self.automata.add(Literal(prefix))
        self._kernels.begin(NO_TEXT)
        self._kernels.add(self.rules.start_position - 1, state, ROOT)
        if self._accepts_empty:
            self._kernels.add(self.rules.empty_position, state, ROOT)
        return self._kernels.finish()

    # -- one step ---------------------------------------------------------------------------------------------------

    def goto(self, set_id: int, byte: int) -> int:
        """Return the set after one more byte, or 0 when the grammar does not allow it.

        Raises:
            LimitExceededError: a set is too large, there are too many, or the automata have grown too large.
        """
        target = self.known_step(set_id, byte)
        return self._new_step(set_id, byte) if target < 0 else target

    def _new_step(self, set_id: int, byte: int) -> int:
        """Compute and keep what `goto` returns, where it is not known."""
        if self.table.first_scan[set_id] < 0:
            self._predictor.close(set_id)
        only = self.table.only_byte[set_id]
        if (only >= 0 and only != byte) or not self._leading_bytes.may_have(set_id, byte):
            return DEAD_SET
        target = self._step(set_id, byte)
        if target == DEAD_SET:
            return DEAD_SET  # not kept: from most sets nearly all bytes lead nowhere
        if self.table.first_byte[set_id] < 0:
            self.table.first_byte[set_id] = byte
            self.table.first_target[set_id] = target
        else:
            self.step_targets.put(set_id, byte, target)
        return target

    def append_forced(self, set_id: int, out: bytearray, most: int) -> None:
        """Append the bytes that must come after a set: up to the first choice, or to where the text may end.

        Args:
            set_id: the set.
            out: gets the bytes.
            most: the number of bytes at which it stops.

        Raises:
            LimitExceededError: see `goto`.
        """
        while len(out) < most and not self.table.accepting[set_id]:
            self.close(set_id)
            byte = self.table.only_byte[set_id]
            if byte < 0 or byte > 255:
                break
            set_id = self.goto(set_id, byte)
            out.append(byte)

    def known_step(self, set_id: int, byte: int) -> int:
        """Return the set after one more byte, if the step was computed before and leads to a set; else -1.

        In a string or in white space, most bytes lead back to the set. There, one computed step tells those of all
        bytes that lead the terminal to the same state.
        """
        table = self.table
        target = table.first_target[set_id]
        if table.first_byte[set_id] == byte:
            return target
        scan = table.first_scan[set_id]
        is_alone = target == set_id and table.last_scan[set_id] == scan + 1
        if is_alone and self.automata.loops(self.scans.state[scan], byte):
            return set_id
        return self.step_targets.get(set_id, byte)

    def captures_at(self, set_id: int) -> bool:
        """Return whether a set is within a text that the grammar captures."""
        return self.table.text[set_id] >= EMPTY_TEXT

    def _step(self, set_id: int, byte: int) -> int:
        """Compute the set after one more byte."""
        automata, scans = self.automata, self.scans
        self.steps += 1
        self._kernels.begin(self._text_after(set_id, byte))
        self._completer.skips = False
        first, last = self.table.first_scan[set_id], self.table.last_scan[set_id]
        spend(last - first)
        for scan in range(first, last):
            state = automata.next(scans.state[scan], byte)
            if state == 0:
                continue
            automata.expand(state)
            if automata.only_byte.values[state] != NO_BYTE:
                self._kernels.add(scans.position[scan], state, self.groups.top(scans.group[scan]))
            if automata.table.accepting[state]:
                self._completer.advance(scans.position[scan], scans.group[scan])
        return self._kernels.finish()

    def _text_after(self, set_id: int, byte: int) -> int:
        """Return the text of the captures that are open after one more byte."""
        text = self.table.text[set_id]
        if text < EMPTY_TEXT:
            if text != NO_TEXT or not self.table.captures[set_id]:
                return text
            text = EMPTY_TEXT
        return self.texts.append(text, byte)

    def after(self, set_id: int, state: int) -> int:
        """Return the set after the terminals that are in `state` have ended, whatever their last bytes were.

        The mask of a set is made of the masks of its terminals; a token that ends a terminal goes on in this set.
        """
        if self.table.first_scan[set_id] < 0:
            self._predictor.close(set_id)
        text = self.table.text[set_id]
        if self.table.captures[set_id] and text not in (AFTER, NEEDS_CHECK):
            text = UNKNOWN_TEXT
        self._kernels.begin(text)
        self._advance_ended(set_id, state)
        return self._kernels.finish()

    def _advance_ended(self, set_id: int, state: int) -> None:
        """Advance the items of a closed set whose terminals are in `state`, as if these ended here."""
        scans = self.scans
        self._completer.skips = True
        for scan in range(self.table.first_scan[set_id], self.table.last_scan[set_id]):
            if scans.state[scan] == state:
                self._completer.advance(scans.position[scan], scans.group[scan])

    def is_stuck(self, set_id: int, state: int) -> bool:
        """Return whether look-aheads let nothing follow the terminals that are in `state`, not even the end."""
        rules, scans = self.rules, self.scans
        for scan in range(self.table.first_scan[set_id], self.table.last_scan[set_id]):
            if scans.state[scan] == state:
                after = scans.position[scan] + 1
                ahead = rules.before[after]
                if rules.symbols[after] == END:
                    if not ahead and self._surely_goes_on(scans.group[scan]):
                        return False
                elif (
                    not ahead or rules.symbols[after] >= 0 or self._lookaheads.started(rules.start_state[after], ahead)
                ):
                    return False
        self._kernels.begin(AFTER if self.table.captures[set_id] else NO_TEXT)
        self._advance_ended(set_id, state)
        return self._kernels.size == 0 and not self._kernels.accepting

    def _surely_goes_on(self, group: int) -> bool:
        """Return whether something may follow the nonterminal of a group, or the text may end, without a look-ahead.

        False also where a look-ahead lets something follow.
        """
        groups, rules = self.groups, self.rules
        waiting = [group]
        for above in waiting:  # it grows
            if above == ROOT:
                return True
            for row in range(groups.first[above], groups.last[above]):
                after = groups.wait_position[row] + 1
                if rules.before[after]:
                    continue
                if rules.symbols[after] != END:
                    return True
                if groups.wait_group[row] not in waiting:
                    waiting.append(groups.wait_group[row])
        return False

    def unknown(self, set_id: int) -> int:
        """Return the set of the same items whose text is not known; the set itself where it has no text."""
        if self.table.text[set_id] < EMPTY_TEXT:
            return set_id
        self._kernels.begin(UNKNOWN_TEXT)
        items = self._items
        for index in range(self.table.first_kernel[set_id], self.table.last_kernel[set_id]):
            item = self.table.kernel[index]
            self._kernels.add(items.position[item], items.state[item], items.group[item])
        self._kernels.accepting = self.table.accepting[set_id]
        return self._kernels.finish()

    def goto_either(self, set_id: int, token_id: int, text: bytes, mark: bytes) -> int:
        """Return the set after a token with two readings, or 0 when the grammar allows neither.

        Args:
            set_id: the set before it.
            token_id: the token.
            text: its text; empty where it stands for none.
            mark: its mark (`engine/vocabulary/marks.py`).

        Raises:
            LimitExceededError: see `goto`.
        """
        known = self.step_targets.get(set_id, FIRST_TOKEN + token_id)
        if known >= 0:
            return known
        target = self._united(self.goto_all(set_id, text) if text else DEAD_SET, self.goto_all(set_id, mark))
        if target != DEAD_SET:
            self.step_targets.put(set_id, FIRST_TOKEN + token_id, target)
        return target

    def goto_all(self, set_id: int, data: bytes) -> int:
        """Return the set after some bytes, or 0 when the grammar does not allow them; see `goto`."""
        for index in range(len(data)):
            set_id = self.goto(set_id, data[index])
            if set_id == DEAD_SET:
                break
        return set_id

    def _united(self, first: int, second: int) -> int:
        """Return the set of the items of two sets.

        Only one of them is inside of a capture: a capture is of a value in JSON or YAML, and no mark is in these. So
        the other one has no text.
        """
        if DEAD_SET in (first, second) or first == second:
            return first or second
        texts = self.table.text
        self._kernels.begin(texts[second] if texts[first] == NO_TEXT else texts[first])
        items = self._items
        for set_id in (first, second):
            for index in range(self.table.first_kernel[set_id], self.table.last_kernel[set_id]):
                item = self.table.kernel[index]
                self._kernels.add(items.position[item], items.state[item], items.group[item])
        self._kernels.accepting = self.table.accepting[first] or self.table.accepting[second]
        return self._kernels.finish()

    def after_token(self, set_id: int) -> int:
        """Return the set after a token has ended, where terminals have bounds on their tokens; else the set itself.

        A terminal that has taken its last token ends, within a character after the character.
        """
        rules, items, table = self.rules, self._items, self.table
        if not rules.counts_tokens or set_id == DEAD_SET:
            return set_id
        self._kernels.begin(table.text[set_id])
        self._completer.skips = False
        for index in range(table.first_kernel[set_id], table.last_kernel[set_id]):
            item = table.kernel[index]
            position, state = items.position[item], items.state[item]
            left = rules.tokens_left(position)
            if left == 1 and self.automata.table.accepting[state]:
                self._completer.advance(position, items.group[item])
            else:
                after = rules.after_token(position) if left > 1 else position
                self._kernels.add(after, state, items.group[item])
        if table.accepting[set_id]:
            self._kernels.accepting = 1
        return self._kernels.finish()

    def begins_here(self, set_id: int, group: int) -> bool:
        """Return whether the nonterminal that a group waits for begins in this set."""
        text = self.table.text[set_id]
        return self.groups.text[group] == (EMPTY_TEXT if text == NO_TEXT else text)

    def refusals(self, set_id: int, group: int) -> Refusals:
        """Return the rests of texts that the capture of a group refuses; see `RuleSource.refusals`.

        Args:
            set_id: a closed set, whose text is not AFTER.
            group: the group of one of its scannable items; it is REFUSING.
        """
        if set_id != self._refusing_set or group != self._refusing_group:  # one mask asks several times
            self._refused = self._find_refusals(set_id, group)
            self._refusing_set, self._refusing_group = set_id, group
        return self._refused

    def _find_refusals(self, set_id: int, group: int) -> Refusals:
        """Compute the result of `refusals`."""
        capture = CAPTURES - self.rules.symbols[self.groups.wait_position[self.groups.first[group]] + 1]
        start = self.groups.text[group]
        text = start if self.begins_here(set_id, group) else self.table.text[set_id]
        if text < EMPTY_TEXT and text != start:
            return NOTHING_REFUSED  # the set stands for the texts that are not refused
        unrefused = self._unrefused.get(capture, start)
        if unrefused >= 0 and self.texts.continues(text, unrefused):
            found = NOTHING_REFUSED
        else:
            found = self.rules.refusals(capture, self.texts.between(start, text))
        if not found[0] and not found[1]:
            self._unrefused.put(capture, start, text)  # nothing written after it is refused, either
        return found

    # -- the set after a text ---------------------------------------------------------------------------------------

    def known_after(self, set_id: int, text: bytes) -> int:
        """Return the set after a text, if what was computed before tells it; else 0."""
        at = 0
        while at < len(text):
            after = self._runs.known(set_id, text, at)
            if after:
                at += self.table.run_length[set_id]
            else:
                after = self.known_step(set_id, text[at])
                at += 1
            if after <= 0:
                return DEAD_SET
            set_id = after
        return set_id

    def follow(self, set_id: int, text: bytes) -> int:
        """Return the set after a text, or 0; `followed` is the number of its bytes up to the first that is not allowed.

        Raises:
            LimitExceededError: see `goto`.
        """
        self.followed = 0
        while self.followed < len(text):
            after = self._runs.known(set_id, text, self.followed)
            if after:
                self.followed += self.table.run_length[set_id]
                set_id = after
                continue
            after = self.known_step(set_id, text[self.followed])
            if after < 0:
                after = self._runs.read(set_id, text, self.followed) if self.followed + 1 < len(text) else DEAD_SET
                if after:
                    self.steps += 1
                    self.followed += self.table.run_length[set_id]
                    set_id = after
                    continue
                after = self._new_step(set_id, text[self.followed])
            if not after:
                return DEAD_SET
            self.followed += 1
            set_id = after
        return set_id

    # -- sets of another store --------------------------------------------------------------------------------------

    def adopt(self, other: ItemSetStore, set_id: int) -> int:
        """Copy a set of another store into this one: its kernel, and the groups that its addresses lead to.

        Nothing else in the other store can matter to what follows this set, so the other store may be dropped.
        The cost grows with the number of items that still wait, so with the depth of nesting.

        Args:
            other: a store of the same rules.
            set_id: the number of the set there.

        Returns:
            Its number here.

        Raises:
            LimitExceededError: there are too many sets already.
        """
        number = self._adopt_groups(other, set_id)
        self._kernels.begin(self._adopt_text(other, other.table.text[set_id]))
        table, items = other.table, other._items
        for index in range(table.first_kernel[set_id], table.last_kernel[set_id]):
            item = table.kernel[index]
            self._kernels.add(items.position[item], items.state[item], number[items.group[item]])
        self._kernels.accepting = table.accepting[set_id]
        return self._kernels.finish()

    def _adopt_groups(self, other: ItemSetStore, set_id: int) -> dict[int, int]:
        """Copy the groups that a set's addresses lead to; return their numbers here by their numbers there."""
        mine, theirs, table = self.groups, other.groups, other.table
        number = {ROOT: ROOT}
        found: list[int] = []
        kernel = range(table.first_kernel[set_id], table.last_kernel[set_id])
        addresses = [other._items.group[table.kernel[index]] for index in kernel]
        base = mine.count
        while addresses:
            group = addresses.pop()
            if group not in number:
                number[group] = base + len(found)
                found.append(group)
                for row in range(theirs.first[group], theirs.last[group]):
                    addresses.append(theirs.wait_group[row])
        mine.begin()
        for group in found:
            for row in range(theirs.first[group], theirs.last[group]):
                mine.wait(number[group], theirs.wait_position[row], number[theirs.wait_group[row]])
        mine.make(len(found), NO_TEXT, shares=False)
        for group in found:
            mine.text[number[group]] = self._adopt_text(other, theirs.text[group])
        return number

    def _adopt_text(self, other: ItemSetStore, text: int) -> int:
        """Return the number that a captured text of another store has here."""
        if text <= EMPTY_TEXT:
            return text
        mine = EMPTY_TEXT
        data = other.texts.between(EMPTY_TEXT, text)
        for at in range(len(data)):  # by index: iterating bytes gives a signed char when compiled
            mine = self.texts.append(mine, data[at])
        return mine
