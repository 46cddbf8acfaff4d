"""Facts about how the texts of a state end: their last part, and whether they can always be continued endlessly.

Two patterns are used throughout. `C*·R` is a repetition of C without an upper bound, then R. A JSON string is one: any
number of characters (C), then the closing quote (R). Before the quote, any number of characters can still come, so
every prefix of a string has infinitely many continuations.

The answers are conservative and come mostly from the form of the terms. False, or "all characters", may also mean that
the form does not show the fact, or that showing it would visit too many terms.
"""

from __future__ import annotations

from structgen.engine.automata.alphabets import ASCII_MASK
from structgen.engine.automata.emptiness import Emptiness
from structgen.engine.automata.inclusion import is_spelled
from structgen.engine.automata.regular_terms import is_star
from structgen.engine.constants import (
    EMPTY,
    FAR,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COMPLEMENT,
    K_EMPTY,
    K_INTERSECTION,
    K_LITERAL,
    K_REPEAT,
    K_TABLE,
    K_UNION,
    NOTHING,
)
from structgen.engine.deadlines import spend

__all__ = ["Endings"]

SMALL_COUNT = 16  # repetitions; a state with a larger upper bound is not explored
MAX_TERMS = 100  # terms visited by `_ends_repeating`
MAX_TERMS_REFUSED = 1_000  # by `has_last_character`, of each term
MAX_TERMS_OF_SEARCH = 20_000  # by `repeats_until`: a search for thousands of words is looked through once
MAX_STATES = 200  # states visited by `is_ever_endless`
MAX_NESTED = 100  # terms within one another that `_facts` looks at

# Facts about what is left of a text, as bits.
ENDLESS = 1  # it is one of infinitely many
OPEN = 2  # after one byte or more of it, nothing is left, or again one of infinitely many
NOTHING_MORE = 4  # it is empty
BOTH = ENDLESS | OPEN  # a state is ever endless if both are true of its texts


class Endings:
    """Facts about the ends of the texts of each state, with the results found so far.

    Args:
        emptiness: the emptiness check of the terms, which are the states.
    """

    def __init__(self, emptiness: Emptiness) -> None:
        self.emptiness = emptiness
        self.table = emptiness.table
        self.terms = emptiness.terms
        self.alphabets = emptiness.terms.alphabets
        self._ever_endless: dict[int, bool] = {}
        self._few: dict[int, bool] = {}
        self._known_facts: dict[tuple[int, int], int] = {}
        self._nested = 0  # calls of `_facts` under way
        self._known_endings: dict[int, dict[int, bool]] = {}
        self._repeats_until: dict[tuple[int, int], dict[int, bool]] = {}

    def is_ever_endless(self, state: int) -> bool:
        """Return whether every prefix that can go on has infinitely many continuations.

        True for `"[a-z]*"`: before the closing quote more letters may come, and after it nothing can go on. False for
        `a*bc`: after `b`, only `c` can come. Also False if more than MAX_STATES states would have to be visited.

        Raises:
            LimitExceededError: automaton_states.
        """
        found = self._ever_endless.get(state)
        if found is None:
            is_finite = self.alphabets.longest(state) < FAR
            found = self._ever_endless[state] = not is_finite and self._sees_endless(state)
        return found

    def _sees_endless(self, state: int) -> bool:
        after: dict[int, set[int]] = {}
        waiting = [state]
        while waiting:
            top = waiting.pop()
            spend(1)
            if top in after:
                continue
            if len(after) >= MAX_STATES or self._is_counted_out(top):
                return False
            after[top] = {top} if self.is_endless_by_form(top) else set(self.emptiness.successors(top))
            waiting.extend(after[top])
        ended: set[int] = {here for here, targets in after.items() if not targets}
        if state in ended:
            return False
        return not any(targets <= ended for here, targets in after.items() if here not in ended)

    def _ends_repeating(self, state: int, repeated: int = NOTHING) -> bool:
        """Return whether all texts of a state end with a repetition without bound: C*·R, or see `_begins_repeating`.

        R is one byte, so there can always be more of C before it.

        Args:
            state: the state.
            repeated: the term C must be; NOTHING for any.
        """
        known = self._known_endings.setdefault(repeated, {})
        seen = {state}
        waiting = [state]
        while waiting:
            top = waiting.pop()
            if known.get(top):
                continue
            kind = self.table.kind[top]
            is_star = kind == K_REPEAT and self.table.payload[top][2] < 0 and self._is_byte(self.table.tail[top])
            is_other = is_star and repeated not in (NOTHING, self.table.payload[top][0])
            if len(seen) > MAX_TERMS:
                return False
            if top in known or kind < K_UNION or is_other:
                known[top] = known[state] = False
                return False
            if is_star or (repeated == NOTHING and self._begins_repeating(top)):
                continue
            following: tuple[int, ...] = self.table.payload[top] if kind == K_UNION else (self.table.tail[top],)
            waiting.extend([part for part in following if part not in seen])
            seen.update(following)
        known.update(dict.fromkeys(seen, True))
        return True

    def _facts(self, term: int, following: int) -> int:
        """Return facts about the texts of a term with what follows it, as far as the form shows them.

        What is read inside of a part leaves the rest of the part and all that follows. So after a part, what matters is
        whether infinitely many texts follow:

            [a-z]{2,8} (-[0-9])* (-x(-[a-z])+)? "      ENDLESS by the star; OPEN, as each way from there to the quote
                                                       either is `"` itself or leads to another star

        Args:
            term: the term, none of whose parts is empty; with its tail.
            following: the facts about what follows the tail.
        """
        if term == EMPTY:
            return following
        key = (term, following)
        found = self._known_facts.get(key)
        if found is None:
            if self._nested == MAX_NESTED:
                return 0
            self._nested += 1
            try:
                found = self._made_facts(term, following)
            finally:
                self._nested -= 1
            self._known_facts[key] = found
        return found

    def _made_facts(self, term: int, following: int) -> int:
        kind, payload = self.table.kind[term], self.table.payload[term]
        if kind == K_UNION:
            found = OPEN
            for part in payload:
                found = _either(found, self._facts(part, following))
            return found
        if not K_UNION < kind <= K_REPEAT:
            return 0
        rest = self._facts(self.table.tail[term], following)
        if kind == K_REPEAT:
            return self._facts_of_repeat(payload, rest)
        if rest & NOTHING_MORE:  # the end of a text, which may follow one byte
            return OPEN if kind == K_BYTES or (kind == K_LITERAL and len(payload) == 1) else 0
        return rest if rest & BOTH == BOTH else rest & ENDLESS

    def _facts_of_repeat(self, payload: tuple[int, int, int], rest: int) -> int:
        """Return the facts about a repetition, from those about what follows it."""
        body, low, high = payload
        if high < 0:
            return ENDLESS | rest & OPEN if self._facts(body, BOTH) & ENDLESS else 0  # else the body may have no text
        found = self._facts(body, rest)  # the last time
        for _ in range(min(high - 1, 3)):  # three facts change at most once each
            found = self._facts(body, _either(found, rest) if low < high else found)
        return found if low else _either(found, rest)

    def _is_byte(self, term: int) -> bool:
        """Return whether a term is a literal of one byte."""
        return (
            self.table.kind[term] == K_LITERAL and self.table.tail[term] == EMPTY and len(self.table.payload[term]) == 1
        )

    def is_endless_by_form(self, state: int) -> bool:
        """Return whether the form of a state shows that it is ever endless.

        That is so if all its texts end with a repetition, or if it is `C*·R & ~D1 & ~D2 …` with harmless D. The part
        C*·R must be ever endless itself. An excluded term D is harmless in three cases:

        - It has finitely many texts. Longer texts are not affected.
        - Some ASCII character is a C but occurs nowhere in D outside repetitions, in which it is a text by itself. Any
          number of that character can be added before the last byte of a text. D excludes the longer text only if it
          excludes the shorter one.
        - Some ASCII character is a C but comes in D neither before the last byte nor before a last C*·R. The same
          holds. (No text of several characters may be a C that contains it.)

        The last two cases need one character that serves for all D together. For strings that are no keyword of a list
        (`"[a-z]*"` without `"if"` and `"in"`), the first case holds; for strings without three digits, the third.
        """
        if self.table.kind[state] != K_INTERSECTION or self.table.tail[state] != EMPTY:
            return self._facts(state, OPEN | NOTHING_MORE) & BOTH == BOTH or self._ends_repeating(state)
        kept = [
            part
            for part in self.table.payload[state]
            if self.table.kind[part] != K_COMPLEMENT or self.table.tail[part] != EMPTY
        ]
        if len(kept) != 1 or self.table.may_be_empty[kept[0]] or not self.is_ever_endless(kept[0]):
            return False
        others = [self.table.payload[part] for part in self.table.payload[state] if part != kept[0]]
        return all(map(self._holds_few, others)) or self._has_harmless_character(kept[0], others)

    def _has_harmless_character(self, kept: int, others: list[int]) -> bool:
        """Return whether one character shows that no excluded term does harm; see `is_endless_by_form`."""
        star = self._star_within(kept)
        if star == EMPTY:
            return False
        body, low, _ = self.table.payload[star]
        if not self.alphabets.is_code(body):  # else an added character and the text before it might be one C
            return False
        last = self.last_of(star)
        is_plain = self._is_byte(self.table.tail[star])
        if not is_plain and not (self._ends_repeating(star, body) and self.repeats_until(star, body, last)):
            return False
        left = self.alphabets.cover(body) & ASCII_MASK & ~self.alphabets.alphabet(last)
        for other in others:
            if not self._holds_few(other):
                needed = self._alphabet_between(other, body)
                if not left & ~needed and not low:  # a D that ends with C{m,}·R may refuse the longer text only
                    needed &= self._alphabet_before_end(other, star, MAX_TERMS)
                left &= ~needed
        return left != 0

    def has_last_character(self, star: int, refused: list[int]) -> bool:
        """Return whether texts of C*·R that are no texts of some terms D may always end after a certain character.

        Take a text of C*·R that is in no D, and some C of it. With the character once or more after these, then R, the
        new text must be in no D, either. This holds if the character is a C, and comes in the D neither before the last
        byte R nor before a last C*·R. For a D with the new text would read the character in its last C*·R. It could
        also read there what the first text has instead, which is C and then R. False may be wrong.

        Args:
            star: C*·R, with a byte R that begins no C.
            refused: the terms.
        """
        if not self._is_byte(self.table.tail[star]):
            return False
        left = self.alphabets.cover(self.table.payload[star][0]) & ASCII_MASK
        for term in refused:
            if left:
                left &= ~self._alphabet_before_end(term, star, MAX_TERMS_REFUSED)
        return left != 0

    def _begins_repeating(self, state: int) -> bool:
        """Return whether a state is C{m,}·T or a union with it, and all texts of the state are C*·R, with a byte R.

        Such a state is ever endless: a prefix that can go on is made of C, so more C and a T may follow.
        """
        for part in self.table.payload[state] if self.table.kind[state] == K_UNION else (state,):
            if self.table.kind[part] != K_REPEAT or self.table.may_be_empty[part]:
                continue
            body, _, high = self.table.payload[part]
            if high < 0:
                return self.repeats_until(state, body, self.last_of(part))
        return False

    def _star_within(self, term: int) -> int:
        """Return the term C*·R or C{m,}·R that all texts of a term come to, as after a quote; EMPTY if they do not."""
        found = EMPTY
        seen = {term}
        waiting = [term]
        while waiting:
            top = waiting.pop()
            kind = self.table.kind[top]
            if kind == K_REPEAT and self.table.payload[top][2] < 0:
                if found not in (EMPTY, top):
                    return EMPTY
                found = top
                continue
            if not K_UNION <= kind <= K_REPEAT or len(seen) > MAX_TERMS:
                return EMPTY
            following: tuple[int, ...] = self.table.payload[top] if kind == K_UNION else (self.table.tail[top],)
            waiting.extend([part for part in following if part not in seen])
            seen.update(following)
        return found

    def _alphabet_between(self, term: int, body: int) -> int:
        """Return the ASCII characters in the texts of a term outside repetitions; all of ASCII if unknown.

        In a repetition D*, characters that are texts of D by themselves are left out: a text without one of them is in
        D*, too. In `body*` all are.
        """
        found = 0
        seen = {term}
        waiting = [term]
        while waiting:
            top = waiting.pop()
            kind = self.table.kind[top]
            if kind == K_UNION or (kind == K_INTERSECTION and self.table.tail[top] == EMPTY):
                following = self.table.payload[top]
            elif K_LITERAL <= kind <= K_REPEAT:
                following = (self.table.tail[top],)
                if kind != K_REPEAT:
                    found |= self.alphabets.head_alphabet(top)
                elif self.table.payload[top] != (body, 0, -1):
                    inside, low, high = self.table.payload[top]
                    is_star = low == 0 and high < 0
                    found |= self._inner_alphabet(inside) if is_star else self.alphabets.alphabet(inside)
            elif kind == K_EMPTY:
                continue
            else:
                return ASCII_MASK
            waiting.extend([part for part in following if part not in seen])
            seen.update(following)
        return found

    def _alphabet_before_end(self, term: int, star: int, most: int) -> int:
        """Return the ASCII characters that may come in the texts of a term before the last byte R, or before C*·R.

        Instead of C*·R, it may be a D*·R; see `goes_on`. Characters of a C, or a D, of several characters are included.
        All of ASCII if the texts may end otherwise, or if that is unknown.

        Args:
            term: the term.
            star: C*·R.
            most: terms that are looked at.
        """
        end = self.table.tail[star]
        found = self._inner_alphabet(self.table.payload[star][0])
        seen = [term]
        known = {term}
        goals = {end}
        for top in seen:  # it grows
            kind = self.table.kind[top]
            if self.goes_on(star, top):
                goals.add(top)
                found |= self._inner_alphabet(self.table.payload[top][0])
            if top in goals:
                continue
            if kind == K_LITERAL and self._is_byte(end) and self.table.tail[top] == EMPTY:
                found |= self.alphabets.head_alphabet(top)
                if self.table.payload[top].endswith(self.table.payload[end]):
                    continue
            if not K_UNION <= kind <= K_REPEAT or len(seen) > most:
                return ASCII_MASK
            following: tuple[int, ...] = self.table.payload[top] if kind == K_UNION else (self.table.tail[top],)
            seen.extend([part for part in following if part not in known])
            known.update(following)
        near = self._may_become(seen, goals)
        for top in seen:
            if top not in goals and self.table.kind[top] > K_UNION and self.table.tail[top] in near:
                body = self.table.payload[top][0] if self.table.kind[top] == K_REPEAT else EMPTY
                found |= self.alphabets.alphabet(body) | self.alphabets.head_alphabet(top)
        return found & ASCII_MASK

    def goes_on(self, star: int, term: int) -> bool:
        """Return whether a term is C*·R, or a D*·R in which each C is a D, so that any C may come in it before R."""
        if term == star:
            return True
        if not is_star(self.table, term) or self.table.tail[term] != self.table.tail[star]:
            return False
        return self.terms.is_part(self.table.payload[star][0], self.table.payload[term][0])

    def _inner_alphabet(self, body: int) -> int:
        """Return the alphabet of the texts of a term that have several characters."""
        found = 0
        for part in self.table.payload[body] if self.table.kind[body] == K_UNION else (body,):
            if self.table.kind[part] not in (K_BYTES, K_CHARS) or self.table.tail[part] != EMPTY:
                found |= self.alphabets.alphabet(part)
        return found

    def _may_become(self, terms: list[int], goals: set[int]) -> set[int]:
        """Return `goals`, and those of `terms` that may become one of them without reading anything."""
        found = set(goals)
        before = 0
        while before < len(found):
            before = len(found)
            for term in terms:
                if self.table.kind[term] == K_UNION:
                    is_near = not found.isdisjoint(self.table.payload[term])
                else:
                    is_optional = self.table.kind[term] == K_REPEAT and self.table.payload[term][1] == 0
                    is_near = is_optional and self.table.tail[term] in found
                if is_near:
                    found.add(term)
        return found

    def _holds_few(self, term: int) -> bool:
        """Return whether the form of a term shows that it matches only finitely many texts."""
        done = self._few
        stack = [term]
        while stack:
            spend(1)
            top = stack[len(stack) - 1]
            kind = self.table.kind[top]
            needed: tuple[int, ...] = ()
            may = True
            if kind == K_UNION:
                needed = self.table.payload[top]
            elif kind == K_REPEAT:
                needed = (self.table.payload[top][0], self.table.tail[top])
                may = self.table.payload[top][2] >= 0
            elif kind in (K_LITERAL, K_BYTES, K_CHARS, K_TABLE):
                needed = (self.table.tail[top],)
            else:
                may = kind <= K_EMPTY
            missing = [part for part in needed if part not in done] if may else []
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            done[top] = may and all(map(done.__getitem__, needed))
        return done[term]

    def _is_counted_out(self, state: int) -> bool:
        """Return whether a state begins with a large upper bound on a count.

        Such a language is usually finite and has many states, so exploring it would cost much and give False.
        """
        if self.table.kind[state] == K_BOUNDED:
            return True
        return bool(self.table.kind[state] == K_REPEAT and self.table.payload[state][2] > SMALL_COUNT)

    def repeats_until(self, state: int, body: int, last: int) -> bool:
        """Return whether the form of a state shows that all its texts are C*·R, where no C begins like R.

        Args:
            state: the state.
            body: C.
            last: R, or a literal that ends with R: of a literal, only the last byte is used.
        """
        if self.table.kind[last] == K_LITERAL and self.table.tail[last] == EMPTY:
            # The bytes before the last one may belong to C.
            data = self.table.payload[last]
            last = self.terms.literal(data[len(data) - 1 :], EMPTY)
        if self.table.kind[last] != K_LITERAL or not self.terms.is_countable_with(body, last):
            return False
        known = self._repeats_until.setdefault((body, last), {last: True})
        before = len(known)
        # Of a search, all forms that follow are parts of this one. They are known then, however many they are.
        is_search = self.table.kind[state] == K_REPEAT and self.table.payload[state][1:] == (0, -1)
        most = MAX_TERMS_OF_SEARCH if is_search else MAX_TERMS
        found = is_spelled(self.terms, state, body, last, self.alphabets.cover(body), known, {EMPTY: True}, most)
        self.table.count_pairs(len(known) - before)
        return found

    def last_of(self, state: int) -> int:
        """Return the last part of the sequences of a state; of a union, that of one member, a literal if there is one.

        For `"[a-z]*"` it is the closing quote.
        """
        while True:
            if self.table.kind[state] == K_UNION:
                parts: tuple[int, ...] = self.table.payload[state]
                literals = [part for part in parts if self.table.kind[part] == K_LITERAL]
                state = (literals or parts)[0]
            elif self.table.kind[state] >= K_LITERAL and self.table.tail[state] != EMPTY:
                state = self.table.tail[state]
            else:
                return state


def _either(one: int, other: int) -> int:
    """Return the facts about texts of two kinds, from those about each kind."""
    return (one | other) & ENDLESS | one & other & (OPEN | NOTHING_MORE)
