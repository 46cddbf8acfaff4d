cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.automata.term_table cimport TermTable

cdef int DEAD, EMPTY, K_COUNTING, K_INTERSECTION, K_REPEAT, MAX_STATES, NOTHING


@cython.final
cdef class LeastCounts:
    cdef AutomatonStore _automata
    cdef dict _is_any_possible

    @cython.locals(automata=AutomatonStore, table=TermTable, term=int, most=int, star=int, phase=int, found=int, body=int, least=int, others=int, free=int)
    cpdef tuple of(self, int state)
    @cython.locals(automata=AutomatonStore, table=TermTable, found=int, most=int, part=int, body=int, least=int, high=int, is_counted=bint)
    cdef int _least_count(self, tuple parts, int star) except -1
    @cython.locals(state=int, target=int, has_next=bint, least=int, begun=int)
    cpdef bint is_any_possible(self, int free) except -1
