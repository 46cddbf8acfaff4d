cimport cython

from structgen.engine.automata.count_bounds cimport smallest_bound, with_smaller_bounds, most_repeated
from structgen.engine.automata.store cimport AutomatonStore

cdef int MAX_ROOM, MIN_ROOM


@cython.final
cdef class BoundRoom:
    cdef AutomatonStore _automata
    cdef set _roomy
    cdef dict _room_of

    @cython.locals(automata=AutomatonStore, body=int, room=int, more="long long")
    cpdef tuple with_smaller_bound(self, int state)
    cpdef bint is_roomy(self, int state) except -1
