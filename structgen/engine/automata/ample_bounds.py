r"""Ample bounds: bounds on a count that are so large that no token comes near them.

A string of at most 255 characters that does not match `password|secret` changes with each character that is read, as
less is left of the bound. But no token has so many characters. So while enough is left, the tokens are those of the
string without the bound, a state that most characters lead back to.

Enough is as much as the longest token has, and what a text may still need after it. For a few forms of states, what may
be needed is seen from the form:

    ^[a-z]+(-[a-z]+)*$      one letter: a text may end after each letter, and after `-` it needs one more
    not matching foo|bar    nothing: a text may end after each character, as all that comes before it matches nothing
    not matching _id$       one character, which does not come before the end of such a match
"""

from __future__ import annotations

from structgen.engine.automata.endings import Endings
from structgen.engine.automata.inclusion import is_spelled
from structgen.engine.constants import (
    EMPTY,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COMPLEMENT,
    K_LITERAL,
    K_REPEAT,
    K_UNION,
    NEVER,
    NOTHING,
)

__all__ = ["AmpleBounds"]

# Declared as C integers in the .pxd, so not importable from here.
MAX_TERMS = 512  # of a form that are looked at
MAX_DEPTH = 100  # of a form: members of unions and what follows


class AmpleBounds:
    """Finds states with an ample bound, and tells how much room a bound leaves.

    Args:
        endings: facts about the ends of the states' texts.
    """

    def __init__(self, endings: Endings) -> None:
        self._endings = endings
        self._terms = endings.terms
        self._table = endings.table
        self._needed: dict[int, tuple[int, int]] = {EMPTY: (0, 0), NOTHING: (NEVER, 0)}  # by term; see `_needed_after`
        self._goes_on: dict[tuple[int, int], bool] = {}  # by star and term; see `_may_go_on`
        self._within: dict[int, tuple[dict[int, bool], dict[int, bool]]] = {}  # by star: what `is_spelled` found

    def without(self, state: int, longest: int) -> int:
        """Return a state without its bound, if that has the same tokens; else NOTHING.

        Args:
            state: the state.
            longest: the number of bytes of the longest token.
        """
        if not self._is_bounded(state):
            return NOTHING
        counting, bound = self._table.payload[state]
        star, phase, term = self._table.payload[counting]
        if bound < longest or phase != EMPTY or self._needed_within(star, term) > bound - longest:
            return NOTHING
        return self._free(star, term)

    def room(self, state: int) -> int:
        """Return a number n: after fewer than n counted texts, whichever they are, there are two ways or more to end.

        One of the ways begins with another counted text. The number is a lower bound; 0 if the form shows none.

            [a-z]{0,9}" & ~(foo"|bar")     9
        """
        table = self._table
        if table.kind[state] == K_REPEAT:
            body, low, high = table.payload[state]
            return max(0, high - 2 * low) if self._terms.is_countable_with(body, table.tail[state]) else 0
        if not self._is_bounded(state):
            return 0
        counting, bound = table.payload[state]
        star, phase, term = table.payload[counting]
        if phase != EMPTY:
            return 0
        needed = self._needed_within(star, term)
        if needed > bound // 2:
            return 0
        free = self._free(star, term)
        endings = self._endings
        is_endless = endings.is_ever_endless(free) if free == term else endings.is_endless_by_form(free)
        return bound - 2 * needed if is_endless else 0

    def counted(self, state: int) -> int:
        """Return the repetition whose body `room` counts: C*R of a bounded state, or the state C{m,n}R itself."""
        if self._table.kind[state] == K_REPEAT:
            return state
        star: int = self._table.payload[self._table.payload[state][0]][0]
        return star

    def _is_bounded(self, state: int) -> bool:
        """Return whether a state is one with a bound on a count; see `AutomatonStore.as_bounded`."""
        return self._table.kind[state] == K_BOUNDED and self._table.tail[state] == EMPTY

    def _free(self, star: int, term: int) -> int:
        """Return the state without its bound: the texts of C*R that `term`, the further conditions, also has."""
        for part in self._terms.conjuncts(term):
            if not self._is_condition(star, part):
                return term
        return self._terms.intersection([star, term], EMPTY)

    def _is_condition(self, star: int, part: int) -> bool:
        """Return whether a part of the conditions on C*R is a complement or a least count: it needs C*R beside it."""
        is_complement = self._table.kind[part] == K_COMPLEMENT and self._table.tail[part] == EMPTY
        return is_complement or self._is_least(star, part)

    def _needed_within(self, star: int, term: int) -> int:
        """Return how many more C a text of C*R and of `term` may need, after any part of it; NEVER if not known.

        The number is an upper bound.
        """
        plain, least = NOTHING, 0
        refused: list[int] = []
        for part in self._terms.conjuncts(term):
            if self._is_least(star, part):
                least = max(least, self._table.payload[part][1])
            elif self._is_condition(star, part):
                refused.append(self._table.payload[part])
            elif plain == NOTHING:
                plain = part
            else:
                return NEVER
        if plain == NOTHING:
            return self._needed_with(star, least, refused)
        is_alone = least <= 1 and not refused and self._is_within(star, plain)
        return self._needed_after(plain) if is_alone else NEVER

    def _needed_with(self, star: int, least: int, refused: list[int]) -> int:
        """Return how many more C a text of C*R with some conditions may need, after any C; NEVER if not known.

        Args:
            star: C*R.
            least: the text has at least so many C. After the first one, the least count 1 asks for nothing more.
            refused: terms that the text must not match.
        """
        terms, table = self._terms, self._table
        may_end = least <= 1
        for term in refused:
            may_end = may_end and self._is_one_text(table.tail[star]) and self._may_go_on(star, term, 0)
        if may_end:
            return 0
        is_code = terms.is_countable_with(table.payload[star][0], table.tail[star])
        return max(1, least) if is_code and self._endings.has_last_character(star, refused) else NEVER

    def _is_within(self, star: int, term: int) -> bool:
        """Return whether all texts of a term are texts of C*R, as far as its form shows it."""
        terms = self._terms
        body, rest = terms.table.payload[star][0], terms.table.tail[star]
        known = self._within.get(star)
        if known is None:
            known = self._within[star] = ({rest: True}, {EMPTY: True})
        before = len(known[0]) + len(known[1])
        found = is_spelled(terms, term, body, rest, terms.alphabets.cover(body), known[0], known[1])
        terms.table.count_pairs(len(known[0]) + len(known[1]) - before)
        return found

    def _is_one_text(self, term: int) -> bool:
        """Return whether a term matches one text only, such as a quote."""
        table = self._table
        return bool(table.kind[term] == K_LITERAL and table.tail[term] == EMPTY)

    def _is_least(self, star: int, part: int) -> bool:
        """Return whether a condition is C{n,}R."""
        table = self._table
        if table.kind[part] != K_REPEAT or table.tail[part] != table.tail[star]:
            return False
        body, _, most = table.payload[part]
        return bool(body == table.payload[star][0] and most < 0)

    def _may_go_on(self, star: int, term: int, depth: int) -> bool:
        """Return whether each text of a term stays one if any C are put in before its R, as in a search.

        That is so where the term ends with C*R. Then a text that the term does not match could have ended after any of
        its C: if the shorter text were one of the term, so would be the longer. False may be wrong.
        """
        table = self._table
        known = self._goes_on.get((star, term))
        if known is not None:
            return known
        found = self._endings.goes_on(star, term)
        if not found and depth < MAX_DEPTH and table.kind[term] == K_UNION:
            found = len(table.payload[term]) <= MAX_TERMS
            for part in table.payload[term]:
                found = found and self._may_go_on(star, part, depth + 1)
        elif not found and depth < MAX_DEPTH and table.kind[term] >= K_LITERAL:
            found = self._may_go_on(star, table.tail[term], depth + 1)
        self._goes_on[star, term] = found
        table.count_pairs(1)
        return found

    def _needed_after(self, term: int) -> int:
        """Return an upper bound on the bytes that a text of a term needs after any part of it; NEVER if not known."""
        table, known = self._table, self._needed
        stack = [term]
        count = 0
        while stack:
            top = stack[len(stack) - 1]
            inner: tuple[int, ...] = ()
            if table.kind[top] == K_UNION:
                inner = table.payload[top]
            elif table.kind[top] == K_REPEAT:
                inner = (table.payload[top][0], table.tail[top])
            elif table.kind[top] >= K_LITERAL:
                inner = (table.tail[top],)
            missing = [part for part in inner if part not in known]
            count += len(missing)
            if count > MAX_TERMS:
                return NEVER
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            known[top] = self._needed_of(top)
            table.count_pairs(1)
        return known[term][1]

    def _needed_of(self, term: int) -> tuple[int, int]:
        """Return the bytes of a shortest text of a term, and what `_needed_after` returns, given those of its parts.

        Both are upper bounds.
        """
        table, known = self._table, self._needed
        kind, payload = table.kind[term], table.payload[term]
        shortest, inside = NEVER, NEVER
        if kind == K_UNION:
            for part in payload:
                shortest = min(shortest, known[part][0])
            return shortest, max([known[part][1] for part in payload])
        if kind == K_LITERAL:
            shortest = inside = len(payload)
        elif kind == K_BYTES:
            shortest = inside = 1
        elif kind == K_CHARS:
            shortest = inside = max([len(one) for one in self._terms.payloads.sequences[payload]])
        elif kind == K_REPEAT:
            body = known[payload[0]]
            shortest = payload[1] * body[0]
            inside = body[1] + shortest
        after = known[table.tail[term]]
        return min(NEVER, shortest + after[0]), min(NEVER, max(inside + after[0], after[1]))
