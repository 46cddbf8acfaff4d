cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.masks.character_kinds cimport kind_of, kinds_in

cdef int FIRST_LEAD, K_BYTES, K_EMPTY, K_LITERAL, K_REPEAT, K_UNION, MAX_DEPTH, MAX_WAYS, NOTHING
cdef unsigned long long ALL_KINDS
cdef tuple ANY_WAY


@cython.final
cdef class NeededKinds:
    cdef TermTable _table
    cdef dict _known

    cpdef tuple of(self, int term, unsigned long long kinds)
    cdef tuple _of(self, int term, unsigned long long kinds, int depth)
    @cython.locals(kind=int, ways=list, part=int, rest=tuple, own="unsigned long long", last="Py_ssize_t")
    cdef tuple _made(self, int term, unsigned long long kinds, int depth)


cdef tuple _of_both(tuple some, tuple others)
@cython.locals(found=list, is_least=bint)
cpdef tuple least_ways(list ways)
@cython.locals(found="unsigned long long", byte=int)
cpdef unsigned long long kind_of_all(mask, unsigned long long kinds) except? 1
