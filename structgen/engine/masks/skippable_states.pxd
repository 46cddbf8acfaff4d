cimport cython

from structgen.engine.arrays cimport grown, zeros
from structgen.engine.automata.character_runs cimport CharacterRuns
from structgen.engine.automata.emptiness cimport Emptiness
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.automata.terms cimport Terms
from structgen.engine.masks.character_kinds cimport CharacterKinds, alphabet_of, kind_of, kinds_in, kinds_outside
from structgen.engine.masks.closed_states cimport ClosedStates
from structgen.engine.masks.needed_kinds cimport NeededKinds, least_ways

cdef int FIRST_BEYOND, MAX_CUT_OFF, EMPTY, K_BOUNDED, K_COMPLEMENT, K_INTERSECTION, K_LITERAL, K_REPEAT, K_UNION, MAX_PARTS, NOTHING, NO_LIMIT, UNKNOWN
cdef unsigned long long ALL_KINDS


@cython.final
cdef class SkippableStates:
    cdef readonly AutomatonStore automata
    cdef readonly CharacterKinds character_kinds
    cdef readonly unsigned long long[::1] kinds
    cdef readonly int[::1] first_way
    cdef readonly int[::1] last_way
    cdef readonly unsigned long long[::1] ways
    cdef int _way_count
    cdef readonly int[::1] reach
    cdef readonly int[::1] least
    cdef readonly unsigned char[::1] moves
    cdef readonly unsigned char[::1] counts_bytes
    cdef readonly unsigned long long[::1] ending_kinds
    cdef int[::1] _most     # by number: see `most`; UNKNOWN until it is asked for
    cdef dict _absent
    cdef CharacterRuns _runs
    cdef ClosedStates _closed
    cdef int _count
    cdef int[::1] _number_of
    cdef dict _kinds_of_body
    cdef dict _common
    cdef NeededKinds _needed_kinds

    cdef int known(self, int state) noexcept
    @cython.locals(number=int, is_bounded=bint)
    cpdef int find(self, int state) except -1
    @cython.locals(target=int, of_target=int, number=int, kinds="unsigned long long")
    cdef int find_after_one(self, int state) except -2
    @cython.locals(number=int)
    cdef int _give_number(self) except -1
    @cython.locals(number=int, closed=ClosedStates, other=int)
    cpdef bint find_closed(self, int state, int most) except -1
    cpdef bint stays_inside(self, int number, unsigned long long kinds_below, int height) noexcept
    cdef int refusing(self, int number) noexcept
    @cython.locals(index=int)
    cdef bint lacks(self, int number, unsigned long long kinds) noexcept
    cpdef bint decides(self, int number, unsigned long long kinds_below, unsigned long long absent) noexcept
    @cython.locals(mine=int, its=int)
    cdef bint are_alike(self, int state, int other, unsigned long long kinds_below, unsigned long long absent) except -1
    cpdef unsigned long long absent(self, int state) except? 1
    cpdef int most(self, int number, int state) except -1
    cdef bint stays_at_end(self, int number, unsigned long long kinds_below) noexcept
    @cython.locals(automata=AutomatonStore, kind=int, part=int, search=int, body=int, kinds="unsigned long long", repeats_until=bint, last=int)
    cdef bint _is_open(self, int number, int state) except -1
    @cython.locals(automata=AutomatonStore, body=int, tail=int, most="long long", kinds="unsigned long long")
    cdef bint _is_bounded_repetition(self, int number, int state) except -1
    @cython.locals(automata=AutomatonStore, counting=int, most="long long", star=int, phase=int, inner=int, kinds="unsigned long long", part=int, search=int, length="long long")
    cdef bint _has_room(self, int number, int state) except -1
    @cython.locals(table=TermTable, star=int, end=int)
    cdef bint _has_room_in_all(self, int number, int state) except -1
    @cython.locals(automata=AutomatonStore, terms=Terms, table=TermTable, part=int, counting=int, most="long long", star=int, phase=int, inner=int, after=tuple, text=bytes, last=bytes, body=int, least="long long", widest=int, room="long long")
    cdef tuple _text_after(self, int number, int term)
    @cython.locals(automata=AutomatonStore, searches=list, part=int, search=int, text=bytes, last=bytes)
    cdef tuple _text_of_all(self, int number, int term)
    @cython.locals(emptiness=Emptiness, texts=list, text=bytes, search=int)
    cdef bytes _joined_text(self, list searches)
    cdef int _narrow(self, int number, int body, long long most) except -1
    @cython.locals(automata=AutomatonStore, search=int, body=int, least="long long")
    cdef int _needed_after(self, int star, list searches, long long count) except -1
    @cython.locals(automata=AutomatonStore, part=int, body=int)
    cdef int _search_in(self, int term, bint may_end) except -1
    cdef unsigned long long _kinds_of(self, int body) except? 1
    @cython.locals(automata=AutomatonStore, others=list, waiting=list, term=int, own="unsigned long long", ways=list, needed=list, least="long long", shorter="long long")
    cdef bint _is_never_refused(self, int number, list refused, bytes text) except -1
    @cython.locals(way="unsigned long long")
    cdef int _keep_ways(self, int number, tuple ways) except -1
    @cython.locals(byte=int)
    cdef int _free_character(self, int number, alphabet) except -2
