cimport cython

from structgen.engine.automata.count_bounds cimport least_count, lessened, most_counted
from structgen.engine.automata.store cimport AutomatonStore

cdef int MAX_ROOM, MIN_ROOM


@cython.final
cdef class BoundRoom:
    cdef AutomatonStore _automata
    cdef set _roomy
    cdef dict _room_of

    @cython.locals(automata=AutomatonStore, body=int, room=int, more="long long")
    cpdef tuple shorter(self, int state)
    cpdef bint is_roomy(self, int state) except -1
