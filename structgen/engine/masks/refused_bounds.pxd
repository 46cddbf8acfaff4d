cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.automata.terms cimport Terms
from structgen.engine.masks.least_counts cimport LeastCounts

cdef long long FAR
cdef int DEAD, EMPTY, K_COMPLEMENT, K_EMPTY, K_INTERSECTION, K_LITERAL, K_REPEAT, K_UNION, NOTHING, NOT_COUNTED


@cython.final
cdef class RefusedBounds:
    cdef AutomatonStore _automata
    cdef LeastCounts _least_counts
    cdef int _longest
    cdef dict _alike

    @cython.locals(automata=AutomatonStore, table=TermTable, terms=Terms, star=int, phase=int, term=int, parts=tuple, complement=int, repeat=int, body=int, low=int, most=int, refused=int, without=int, more=int, found=list, pair=tuple)
    cdef tuple of(self, int state)
    @cython.locals(table=TermTable)
    cdef bint _is_any_string(self, int term) except -1
    @cython.locals(automata=AutomatonStore, terms=Terms, body=int, tail=int, endless=int)
    cdef tuple _endless(self, list parts, int repeat)
    @cython.locals(terms=Terms, longer=int)
    cdef int _more(self, list parts, int repeat, int star, int bound) except -2
    @cython.locals(table=TermTable, terms=Terms, body=int, most=int, tail=int, counted=int)
    cdef int _longer(self, int repeat, int star, int bound) except -2
    cdef bint _count_alike(self, int body, int other) except -1
    @cython.locals(table=TermTable, found=int, complement=int, most=int, part=int, member=int)
    cdef tuple _refused_bound(self, tuple parts)
    @cython.locals(table=TermTable, refused=int)
    cdef tuple _refused_in(self, int term)
    cdef bint _is_counted_by_index(self, int more) except -1
