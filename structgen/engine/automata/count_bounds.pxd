cimport cython

from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.automata.terms cimport Terms

# Typed copies of the constants of structgen/engine/constants.py.
cdef int EMPTY, NOTHING
cdef int K_BOUNDED, K_COMPLEMENT, K_COUNTING, K_EARLY, K_INTERSECTION, K_REPEAT, K_UNION
cdef long long FAR
cdef int MAX_TERMS, MANY_TERMS


@cython.locals(table=TermTable, found=int, most="long long", part=int, body=int, low="long long", high="long long", sequences=list)
cpdef int most_repeated(Terms terms, int term) except -1
@cython.locals(table=TermTable, least="long long", part=int, low="long long", high="long long", sequences=list)
cpdef long long smallest_bound(Terms terms, int term, int body) except -1
@cython.locals(table=TermTable, done=dict, sequences=list, part=int, star=int, phase=int, inner=int, tail=int, low="long long", high="long long")
cpdef int with_smaller_bounds(Terms terms, int term, int body, long long by) except -1
@cython.locals(table=TermTable, order=list, seen=set, stack=list, top=int, kind=int)
cdef list _sequences(Terms terms, int term, int at_most)
