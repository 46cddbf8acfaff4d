cimport cython

from structgen.engine.automata.derivatives cimport DerivativeTable

# The numbers of structgen/engine/constants.py.
cdef int EMPTY, NOTHING
cdef int K_BOUNDED, K_COMPLEMENT, K_COUNTING, K_EARLY, K_INTERSECTION, K_REPEAT, K_UNION
cdef long long FAR
cdef int MAX_TERMS, MANY_TERMS


@cython.locals(found=int, most="long long", part=int, body=int, low="long long", high="long long", sequences=list)
cpdef int most_counted(DerivativeTable table, int term) except -1
@cython.locals(least="long long", part=int, low="long long", high="long long", sequences=list)
cpdef long long least_count(DerivativeTable table, int term, int body) except -1
@cython.locals(done=dict, sequences=list, part=int, star=int, phase=int, inner=int, tail=int, low="long long", high="long long")
cpdef int lessened(DerivativeTable table, int term, int body, long long by) except -1
@cython.locals(order=list, seen=set, stack=list, top=int, kind=int)
cdef list _sequences(DerivativeTable table, int term, int at_most)
