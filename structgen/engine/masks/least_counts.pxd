cimport cython

from structgen.engine.automata.byte_partitions cimport BytePartitions
from structgen.engine.automata.emptiness cimport Emptiness
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.automata.term_table cimport TermTable

cdef int EMPTY, K_COUNTING, K_INTERSECTION, K_REPEAT, NOTHING


@cython.final
cdef class LeastCounts:
    cdef AutomatonStore _automata
    cdef set _has_all

    @cython.locals(automata=AutomatonStore, table=TermTable, term=int, most=int, star=int, phase=int, found=int, body=int, least=int, others=int, free=int)
    cpdef tuple of(self, int state)
    @cython.locals(automata=AutomatonStore, table=TermTable, found=int, most=int, part=int, body=int, least=int, high=int, is_counted=bint)
    cdef int _least_count(self, tuple parts, int star) except -1
    @cython.locals(state=int)
    cpdef bint have_all(self, list states) except -1
    @cython.locals(begun=int, begun_at=dict, target=int)
    cpdef bint has_all(self, int state) except -1
    @cython.locals(automata=AutomatonStore, emptiness=Emptiness, partitions=BytePartitions, most=int, number=int, target=int)
    cdef int _next_as_near(self, int state) except -1
