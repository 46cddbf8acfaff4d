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
    cdef dict _leading
    cdef int _everything

    @cython.locals(found=int, state=int)
    cpdef int united(self, int left, int right) except -1
    @cython.locals(found=int)
    cpdef int started(self, int state, int number) except -1
    cdef int _narrowed(self, int state, int number) except -1
    @cython.locals(byte=int, target=int)
    cdef tuple _leading_bytes(self, int number)
    cpdef int _check(self) except -1
