"""States in which a walk may skip subtrees: after certain characters something always follows, and no text ends.

This is so inside a JSON string in which a pattern is searched (`C* T "`), or which must not have some form
(`C* " & ~X`). Each character may lead to another state. Still, every token made of such characters stays inside, and
has no exit. Where only such characters come below a node of the vocabulary's trie, a walk skips the subtree:

    state                   characters below a node    the subtree is
    inside a string         letters, spaces            skipped: all lead back to the state
                            letters, a quote           walked: the quote ends the string
    the same without `foo`  a b o t                    skipped: `foo` needs an `f`, too
                            f o t                      walked: they may spell it

Such a state *stays open*, which its form shows. Let u be a text made of C.

- `C* T` has after u all the texts that it has before u, so something follows. An intersection of such states has some
  text after u if they have a text t in common.
- Where texts X are refused, u·t must not be one of them. There are three reasons why it is not: t begins with a
  character that no X has; or each X needs certain characters, and u lacks one of them; or all X are longer than u·t.
- All texts end with something that no C begins with, so u is none of them.

For a string with a bound on its characters, the same holds for texts that leave room for what must still come. Bounds
may also be inside of one another, as in a mail address of at most 254 characters with at most 64 before the `@`.

Where the form of a state does not show that it stays open, a search may (`closed_states.py`). And where other
characters come below a node that no text of the state has, characters alone still *decide* the tokens there: those with
such a character are refused. A string has no line feed, say, and the vocabulary has lines of dashes that end with one.
"""

from __future__ import annotations

from array import array

from structgen.engine.arrays import enlarged, grown, zeros
from structgen.engine.automata.character_runs import CharacterRuns
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import (
    EMPTY,
    K_BOUNDED,
    K_COMPLEMENT,
    K_INTERSECTION,
    K_LITERAL,
    K_REPEAT,
    K_UNION,
    NOTHING,
)
from structgen.engine.masks.character_kinds import (
    ALL_KINDS,
    FIRST_KIND_BEYOND_ASCII,
    CharacterKinds,
    alphabet_of,
    kind_of,
    kinds_in,
    kinds_outside,
)
from structgen.engine.masks.closed_states import ClosedStates
from structgen.engine.masks.needed_kinds import NeededKinds, least_ways

__all__ = ["SkippableStates"]

# Declared as C integers in the .pxd, so not importable from here.
FIRST_BEYOND = FIRST_KIND_BEYOND_ASCII
NO_LIMIT = 2**31 - 1  # more bytes than any text has
UNKNOWN = -1
MAX_PARTS = 64  # of an intersection that is looked at
MAX_CUT_OFF = 3  # bytes that a token may lack of its last character


class SkippableStates:
    """The tokens that a walk may skip, by the state that it is in.

    Args:
        automata: the automata of the states.
        character_kinds: tells which characters lead from a state to itself.

    Attributes:
        character_kinds: as given.
        kinds, reach, least, first_way, last_way: by the number that `find` gives a state. A text stays inside the
            state, and ends no match, if all of these hold:

            - each of its characters is of `kinds` (uint64);
            - it has at most `reach` bytes (int32);
            - of each mask in `ways[first_way:last_way]` it lacks a kind: refused texts have all of one mask; or
              it has at most `least` bytes (int32), those included that its last character lacks.
        counts_bytes: uint8, by the same number: whether `reach` is a length of refused texts. Where it is a bound,
            texts of at most `reach` characters stay inside, too.
        ways: uint64, kinds of characters that refused texts have; see `NeededKinds`.
        moves: uint8, by the same number: whether such texts may lead to other states.
        ending_kinds: uint64, by the same number. A text of characters of these kinds leads back to the state, and a
            match may end after each of them. None if no match may end in the state.
    """

    def __init__(self, automata: AutomatonStore, character_kinds: CharacterKinds) -> None:
        self.automata = automata
        self.character_kinds = character_kinds
        self.kinds = array("Q", bytes(8 * 256))
        self.first_way = zeros(256)
        self.last_way = zeros(256)
        self.ways = array("Q", bytes(8 * 256))
        self._way_count = 0
        self.reach = zeros(256)
        self.least = zeros(256)
        self.moves = array("B", bytes(256))
        self.counts_bytes = array("B", bytes(256))
        self.ending_kinds = array("Q", bytes(8 * 256))
        self._most = zeros(256)
        self._absent: dict[int, int] = {}  # by alphabet: the kinds without it
        self._runs = CharacterRuns(automata.alphabets)
        self._closed = ClosedStates(automata, character_kinds)
        self._count = 0
        self._number_of = zeros(1024)  # by state, one more than its number, or 0
        self._kinds_of_body: dict[int, int] = {}  # by term: the characters that are each one of its texts
        self._common: dict[tuple[int, ...], bytes | None] = {}  # by terms
        self._needed_kinds = NeededKinds(automata)

    def known(self, state: int) -> int:
        """Return the number of a state; -1 if it was never asked for."""
        return self._number_of[state] - 1 if state < len(self._number_of) else -1

    def find(self, state: int) -> int:
        """Return the number of a state, made when first asked for.

        Raises:
            LimitExceededError: automaton_states.
        """
        while state >= len(self._number_of):
            self._number_of = grown(self._number_of, len(self._number_of))
        number = self._number_of[state] - 1
        if number < 0:
            number = self._give_number()
            self.moves[number] = self._is_open(number, state)
            if not self.moves[number]:
                # Each character makes another state of a bounded one.
                is_bounded = self.automata.table.kind[state] == K_BOUNDED
                self.kinds[number] = 0 if is_bounded else self.character_kinds.loops(state)
                self.last_way[number] = self.first_way[number]
                self.reach[number] = NO_LIMIT
            if self.automata.table.accepting[state]:
                self.ending_kinds[number] = self.character_kinds.returns(state)
            self._number_of[state] = number + 1
        return number

    def find_after_one(self, state: int) -> int:
        """Return a number for the texts that begin with a character of several bytes; -1 if they cannot be skipped.

        No character leads back to the state before the first one of a key, or of a word that is counted. But often all
        characters of several bytes lead from there to one state, which stays open. So texts that begin with such a
        character are skipped if they stay inside this second state.

        Returns:
            A number for `stays_inside`. The kinds and the height to ask about include the node's own character.

        Raises:
            LimitExceededError: automaton_states.
        """
        target = self.character_kinds.after_sample(state)
        if not target:
            return UNKNOWN
        of_target = self.find(target)
        kinds = self.kinds[of_target]
        if kinds >> FIRST_BEYOND:
            kinds &= self.character_kinds.between_beyond_ascii(state, target)
        if not kinds >> FIRST_BEYOND:
            return UNKNOWN
        number = self._give_number()
        self.kinds[number] = kinds
        self.first_way[number], self.last_way[number] = self.first_way[of_target], self.last_way[of_target]
        self.reach[number] = self.reach[of_target]
        self.counts_bytes[number] = self.counts_bytes[of_target]
        self.least[number] = self.least[of_target]
        self.moves[number] = True
        return number

    def _give_number(self) -> int:
        """Return a new number, of which nothing is known yet."""
        number = self._count
        if number == len(self.kinds):
            self.kinds = enlarged(self.kinds, "Q", 2 * number)
            self.first_way, self.last_way = grown(self.first_way, number), grown(self.last_way, number)
            self.reach = grown(self.reach, number)
            self.least = grown(self.least, number)
            self._most = grown(self._most, number)
            self.moves = enlarged(self.moves, "B", 2 * number)
            self.counts_bytes = enlarged(self.counts_bytes, "B", 2 * number)
            self.ending_kinds = enlarged(self.ending_kinds, "Q", 2 * number)
        self.kinds[number] = self.ending_kinds[number] = 0
        self.first_way[number] = self.last_way[number] = 0
        self.reach[number] = NO_LIMIT
        self.counts_bytes[number] = False
        self.least[number] = 0
        self._most[number] = UNKNOWN
        self._count = number + 1
        return number

    def find_closed(self, state: int, most: int) -> bool:
        """Search for states that include `state` and that some characters never leave; see `ClosedStates`.

        If a search finds more kinds of characters than are known for these states, the kinds are those of all of them.

        Args:
            state: the state; it has a number, and no match may end in it.
            most: the greatest number of states.

        Raises:
            LimitExceededError: automaton_states.
        """
        number = self.known(state)
        closed = self._closed
        if self.automata.table.accepting[state] or self.automata.table.kind[state] == K_BOUNDED:
            return False  # each character makes another state of a bounded one
        if not closed.find(state, most, self.kinds[number]):
            return False
        for other in closed.states:
            number = self.find(other)
            if self.kinds[number] & ~closed.kinds == 0:
                self.kinds[number] = closed.kinds
                self.last_way[number] = self.first_way[number]
                self.reach[number] = NO_LIMIT
                self.counts_bytes[number] = False
                self._most[number] = UNKNOWN
                self.moves[number] = True
        return True

    def stays_inside(self, number: int, kinds_below: int, height: int) -> bool:
        """Return whether all tokens below a node of a trie stay inside a state, and end no match.

        Args:
            number: the number of the state.
            kinds_below: the kinds of the characters below the node.
            height: the greatest number of bytes below the node.
        """
        if kinds_below & ~self.kinds[number] or height > self.reach[number]:
            return False
        if self.lacks(number, kinds_below):
            return True
        return height + (MAX_CUT_OFF if kinds_below >> FIRST_BEYOND else 0) <= self.least[number]

    def refusing(self, number: int) -> int:
        """Return the number of a state for `lacks`; -1 if `lacks` is true of all texts of its kinds."""
        return number if self.last_way[number] > self.first_way[number] else -1

    def lacks(self, number: int, kinds: int) -> bool:
        """Return whether texts of some kinds of characters lack, for each way to a refused text, a kind it needs."""
        for index in range(self.first_way[number], self.last_way[number]):  # noqa: SIM110  (a generator is no C loop)
            if not self.ways[index] & ~kinds:
                return False
        return True

    def decides(self, number: int, kinds_below: int, absent: int) -> bool:
        """Return whether characters alone decide which tokens below a node of a trie stay inside a state.

        Each character there is of the state's `kinds`, or no text of the state has it at all. Tokens with one of the
        latter are refused, and the others are inside, if they have few enough characters: see `DecidedSubtrees`. Where
        bytes count, each character must be a byte.

        Args:
            number: the number of the state.
            kinds_below: the kinds of the characters below the node.
            absent: kinds of characters that no text of the state has.
        """
        if self.counts_bytes[number] and kinds_below >> FIRST_BEYOND:
            return False
        return kinds_below & ~(self.kinds[number] | absent) == 0 and self.lacks(number, kinds_below)

    def are_alike(self, state: int, other: int, kinds_below: int, absent: int) -> bool:
        """Return whether two states surely have the same tokens below a node: the same characters decide for both.

        Raises:
            LimitExceededError: automaton_states.
        """
        mine, its = self.find(state), self.find(other)
        if min(self.reach[mine], self.reach[its]) < NO_LIMIT or (self.kinds[mine] ^ self.kinds[its]) & kinds_below:
            return False
        return self.decides(mine, kinds_below, absent) and self.decides(its, kinds_below, absent)

    def absent(self, state: int) -> int:
        """Return kinds of characters that no text of a state has, nor one of the states that it leads to."""
        alphabet = self.automata.alphabets.alphabet(state)
        found = self._absent.get(alphabet)
        if found is None:
            found = self._absent[alphabet] = kinds_outside(alphabet)
        return found

    def most(self, number: int, state: int) -> int:
        """Return the greatest number of characters of its kinds that a text of a state may begin with."""
        if self._most[number] == UNKNOWN:
            self._most[number] = min(NO_LIMIT, self._runs.longest(state, alphabet_of(self.kinds[number])))
        return self._most[number]

    def stays_at_end(self, number: int, kinds_below: int) -> bool:
        """Return whether all characters below a node of a trie lead back to a state in which a match may end."""
        return kinds_below & ~self.ending_kinds[number] == 0

    def _is_open(self, number: int, state: int) -> bool:
        """Return whether the form of a state shows that it stays open; set the conditions, as the class has them."""
        automata = self.automata
        kind = automata.table.kind[state]
        if kind == K_BOUNDED:
            return self._has_room(number, state) or self._has_room_in_all(number, state)
        if kind == K_REPEAT and automata.table.payload[state][2] >= 0:
            return self._is_bounded_repetition(number, state)
        if kind not in (K_REPEAT, K_UNION, K_INTERSECTION):
            return False
        if kind == K_INTERSECTION and automata.table.tail[state] != EMPTY:
            return False
        parts = automata.table.payload[state] if kind == K_INTERSECTION else (state,)
        if len(parts) > MAX_PARTS:
            return False
        searches: list[int] = []
        refused: list[int] = []
        kinds = ALL_KINDS
        repeats_until = False
        for part in parts:
            if automata.table.kind[part] == K_COMPLEMENT and automata.table.tail[part] == EMPTY:
                refused.append(automata.table.payload[part])
                continue
            search = self._search_in(part, False)
            if search == NOTHING:
                return False
            body = automata.table.payload[search][0]
            kinds &= self._kinds_of(body)
            last = automata.endings.last_of(search)
            repeats_until = repeats_until or automata.endings.repeats_until(part, body, last)
            searches.append(search)
        if not kinds or not repeats_until:
            return False
        self.kinds[number] = kinds
        if not refused and len(searches) == 1 and not automata.table.may_be_empty[searches[0]]:
            return True
        text = self._common_text(tuple(searches))
        return text is not None and (not refused or self._is_never_refused(number, refused, text))

    def _is_bounded_repetition(self, number: int, state: int) -> bool:
        """Return whether a state C{m,n}·R stays open; set the kinds of characters, and how many may come.

        After fewer than n characters that are each one C, another C may follow, or R. No match ends where R has not
        begun: after characters that no R begins with, or within any C where only the last character of R ends a match.
        """
        automata = self.automata
        body, _, most = automata.table.payload[state]
        tail = automata.table.tail[state]
        if automata.table.may_be_empty[body] or automata.table.may_be_empty[tail] or automata.table.accepting[tail]:
            return False
        kinds = self._kinds_of(body)
        is_literal = automata.table.kind[tail] == K_LITERAL
        if not is_literal or not automata.endings.repeats_until(state, body, automata.endings.last_of(state)):
            kinds &= self.character_kinds.refused(tail)
        self.kinds[number] = kinds
        self.reach[number] = min(most, NO_LIMIT)
        return kinds != 0

    def _has_room(self, number: int, state: int) -> bool:
        """Return whether a state with a bound on how many C may come stays open; set how many may come.

        Let it be the intersection of C*·R, where R begins as no C does, and of some D{m,}·T. After k characters that
        are C and D, at least the texts of each D{m-k,}·T are left. If the bound leaves room for these after some k, it
        does after fewer characters, too: the rest of the k characters may still come then.
        """
        automata = self.automata
        counting, most = automata.table.payload[state]
        star, phase, inner = automata.table.payload[counting]
        if (
            automata.table.tail[state] != EMPTY
            or phase != EMPTY
            or automata.table.kind[automata.table.tail[star]] != K_LITERAL
        ):
            return False
        kinds = self._kinds_of(automata.table.payload[star][0])
        searches: list[int] = []
        for part in automata.terms.conjuncts(inner):
            search = self._search_in(part, False)
            if search == NOTHING:
                return False
            searches.append(search)
            kinds &= self._kinds_of(automata.table.payload[search][0])
        length = most - self._needed_after(star, searches, most)
        if not kinds or length <= 0 or length + self._needed_after(star, searches, length) > most:
            return False
        self.kinds[number] = kinds
        self.reach[number] = min(length, NO_LIMIT)
        return True

    def _has_room_in_all(self, number: int, state: int) -> bool:
        """Return whether a state stays open while there is room in all of its bounds; set how many characters may come.

        Let u be a text of the kinds that are left after `_text_after`, and w the text that it returns. A text of n
        characters begins at most n of whatever is counted. So u·w keeps within a bound if it has no more characters
        there. As for the end of a match: it begins with a character that u does not have.
        """
        table = self.automata.table
        star = table.payload[table.payload[state][0]][0]
        end = table.tail[state] if table.tail[state] != EMPTY else table.tail[star]
        if table.kind[end] != K_LITERAL:
            return False
        self.kinds[number] = ~kinds_in(table.payload[end][:1]) & ALL_KINDS
        return self._text_after(number, state) is not None and self.kinds[number] != 0 and self.reach[number] > 0

    def _text_after(self, number: int, term: int) -> tuple[int, bytes] | None:
        """Return a text that may follow any characters of some kinds in a term, as far as its bounds allow.

        For C{0,n}·T that is one of T. Narrows the kinds of the state `number`, and sets its reach to the least number
        of characters that a bound leaves room for.

        Returns:
            (the texts that may follow, as a term; one of them), or None where the form of `term` shows none.
        """
        automata = self.automata
        terms, table = automata.terms, automata.table
        if table.kind[term] == K_BOUNDED:
            counting, most = table.payload[term]
            star, phase, inner = table.payload[counting]
            after = self._text_after(number, inner) if phase == EMPTY else None
            if after is None:
                return None
            counting = terms.counting(star, EMPTY, after[0])
            text = after[1] if automata.emptiness.is_matched(counting, after[1]) else None
            if text is None:
                text = automata.emptiness.short_text(counting)
            last = automata.emptiness.short_text(table.tail[term])
            if text is None or last is None:
                return None
            self._narrow(number, table.payload[star][0], most - len(text))
            return terms.append(counting, table.tail[term]), text + last
        if table.kind[term] == K_INTERSECTION:
            return self._text_of_all(number, term)
        widest, room = NOTHING, 0
        for part in table.payload[term] if table.kind[term] == K_UNION else (term,):
            if table.kind[part] == K_REPEAT:
                body, least, most = table.payload[part]
                most = NO_LIMIT if most < 0 else most
                if least == 0 and most > room and not table.may_be_empty[body] and self._kinds_of(body):
                    widest, room = part, most
        text = automata.emptiness.short_text(table.tail[widest]) if widest else None
        if text is None:
            return None
        self._narrow(number, table.payload[widest][0], room)
        return int(table.tail[widest]), text

    def _text_of_all(self, number: int, term: int) -> tuple[int, bytes] | None:
        """Return the result of `_text_after` for an intersection of searches: a term, and one of its texts.

        After any characters, all texts of the intersection may still follow. None if a part is no search, or if no
        short text is found.
        """
        automata = self.automata
        searches: list[int] = []
        for part in automata.table.payload[term]:
            search = self._search_in(part, True)
            if search == NOTHING:
                return None
            searches.append(search)
            self._narrow(number, automata.table.payload[search][0], NO_LIMIT)
        text = self._joined_text(searches) or self._common_text(tuple(searches))
        last = automata.emptiness.short_text(automata.table.tail[term])
        if text is None or last is None:
            return None
        return automata.terms.intersection(searches, automata.table.tail[term]), text + last

    def _joined_text(self, searches: list[int]) -> bytes:
        """Return a short text of each of some searches, one after the other, if that is a text of all; else b""."""
        emptiness = self.automata.emptiness
        texts = [emptiness.short_text(search) or b"" for search in searches]
        text = b"".join(texts)
        for search in searches:
            if not emptiness.is_matched(search, text):
                return b""
        return text

    def _narrow(self, number: int, body: int, most: int) -> None:
        """Restrict the texts of a state to characters that are texts of `body`, and to at most `most` of them."""
        self.kinds[number] &= self._kinds_of(body)
        if most < self.reach[number]:
            self.reach[number] = max(0, most)

    def _needed_after(self, star: int, searches: list[int], count: int) -> int:
        """Return how many more characters are enough to end a text of all of some searches, after `count` of any C."""
        automata = self.automata
        left: list[int] = []
        for search in searches:
            body, least, _ = automata.table.payload[search]
            left.append(automata.terms.repeat(body, max(0, least - count), -1, automata.table.tail[search]))
        return automata.emptiness.least_begun(
            automata.terms.counting(star, EMPTY, automata.terms.intersection(left, EMPTY))
        )

    def _search_in(self, term: int, may_end: bool) -> int:
        """Return a repetition without bound, C{m,}·T, that is a part of a term; NOTHING if its form shows none.

        Args:
            term: the term.
            may_end: whether T may be empty.
        """
        automata = self.automata
        for part in automata.table.payload[term] if automata.table.kind[term] == K_UNION else (term,):
            if automata.table.kind[part] == K_REPEAT and automata.table.payload[part][2] < 0:
                body = automata.table.payload[part][0]
                if (
                    (may_end or automata.table.tail[part] != EMPTY)
                    and not automata.table.may_be_empty[body]
                    and self._kinds_of(body)
                ):
                    return int(part)
        return NOTHING

    def _kinds_of(self, body: int) -> int:
        """Return the kinds of characters each of which is a text of a term, and begins no other text of it."""
        found = self._kinds_of_body.get(body)
        if found is None:
            found = self._kinds_of_body[body] = self.character_kinds.between(body, EMPTY)
        return found

    def _common_text(self, terms: tuple[int, ...]) -> bytes | None:
        """Return a text that all of some terms have, or None."""
        if terms not in self._common:
            self._common[terms] = self.automata.common_text(terms)
        return self._common[terms]

    # -- what is refused --------------------------------------------------------------------------------------------

    def _is_never_refused(self, number: int, refused: list[int], text: bytes) -> bool:
        """Return whether, for every text u of the kinds of a state, something may follow that is not refused.

        That is u and `text`, or u, a character and `text`. Sets the conditions under which it holds.

        Args:
            number: the number of the state.
            refused: terms whose texts are refused.
            text: a text that may follow u by all other conditions.
        """
        automata = self.automata
        used = 0
        others: list[int] = []
        waiting = list(refused)
        while waiting:  # refused terms for which no character was found that they do not have
            term = waiting.pop()
            alphabet = used | automata.alphabets.alphabet(term)
            if self._free_character(number, alphabet) >= 0:
                used = alphabet
            elif automata.table.kind[term] == K_UNION and len(automata.table.payload[term]) <= MAX_PARTS:
                waiting.extend(automata.table.payload[term])
            else:
                others.append(term)
        if used:
            text = bytes((self._free_character(number, used),)) + text
        if not others:
            return True
        own = kinds_in(text)
        ways: list[int] = []
        least = NO_LIMIT
        for term in others:
            shorter = automata.table.min_len[term] - len(text) - 1
            needed = [way & ~own for way in self._needed_kinds.of(term, self.kinds[number] | own)]
            if 0 in needed:
                self.reach[number] = min(self.reach[number], shorter - MAX_CUT_OFF)
                self.counts_bytes[number] = True
            else:
                ways.extend(needed)
                least = min(least, shorter)
        self.least[number] = max(0, least)
        self._keep_ways(number, least_ways(ways))
        return bool(self.reach[number] > 0)

    def _keep_ways(self, number: int, ways: tuple[int, ...]) -> None:
        """Set the kinds of characters that the refused texts of a state have."""
        if self._way_count + len(ways) > len(self.ways):
            self.ways = enlarged(self.ways, "Q", 2 * (self._way_count + len(ways)))
        self.first_way[number] = self._way_count
        for way in ways:
            self.ways[self._way_count] = way
            self._way_count += 1
        self.last_way[number] = self._way_count

    def _free_character(self, number: int, alphabet: int) -> int:
        """Return an ASCII character of the kinds of a state that is not in an alphabet, or -1."""
        for byte in range(32, 128):
            if self.kinds[number] & kind_of(byte) and not alphabet >> byte & 1:
                return byte
        return -1
