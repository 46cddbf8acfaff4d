cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.pair_table cimport PairTable

cdef int MAX_NUMBERS


cdef class Lookaheads:
    cdef AutomatonStore _automata
    cdef PairTable _united
    cdef PairTable _started
    cdef list _states
    cdef dict _numbers
    cdef readonly int shift

    @cython.locals(found=int, state=int)
    cpdef int united(self, int left, int right) except -1
    @cython.locals(found=int)
    cpdef int started(self, int state, int number) except -1
    cpdef int _check(self) except -1
