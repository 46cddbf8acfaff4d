cimport cython
from structgen.engine.automata.derivatives cimport DerivativeTable

# The numbers of structgen/engine/constants.py.
cdef int ALIVE, EMPTY, LIFELESS, NEVER, NOTHING, UNKNOWN
cdef int K_BOUNDED, K_COMPLEMENT, K_COUNTING, K_INTERSECTION, K_UNION

cdef int SHORT_TEXT


cdef class LivingTerms(DerivativeTable):
    cdef public long long terms_searched           # terms looked at by searches so far
    cdef public unsigned char[::1] _life           # by term: 0 unknown, 1 alive, 2 matches nothing
    cdef public int[::1] _least_begun              # by counting term: one more than the least number of what it counts still to begin, or 0
    cdef public int[::1] _begun_at_least           # by counting term: no text of it begins fewer, as far as is known
    cdef dict _short_texts                         # term -> a text of it

    cpdef int _pruned(self, int term) except -1
    @cython.locals(came_from=dict, cost=dict, settled=set, queue=list, best=int, total=int, known=int, reached=int,
                   bound=int, lowest=int, index=int, last=int, top=int, target=int, seen=int)
    cpdef int least_begun(self, int term) except -1
    @cython.locals(top=int, target=int, index=int, order=int, looked_at=int, came_from=dict, queue=list, seen=int)
    cpdef bint _is_alive(self, int term) except -1
    cpdef bint _is_known_alive(self, int term) except -1
    @cython.locals(part=int, plain=int, text=bytes)
    cdef bint _has_short_text(self, int term) except -1
    @cython.locals(text=bytearray, at=int, nearest=int, byte=int, first=int, number=int, target=int)
    cdef bytes _short_text(self, int term)
    @cython.locals(index="Py_ssize_t")
    cdef bint _is_matched(self, int term, bytes text) except -1
    @cython.locals(before=dict, living=list, term=int, index=int, target=int)
    cpdef _conclude(self, dict seen, set waiting)
    cdef int _successor_count(self, int term) except -1
    @cython.locals(counting=int)
    cdef int _successor(self, int term, int index) except -1
    cpdef long long _spread(self, int term) except -1
