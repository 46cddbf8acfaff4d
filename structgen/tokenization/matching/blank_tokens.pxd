import cython

from structgen.tokenization.matching.token_sets cimport has, ints
from structgen.tokenization.merges.merge_table cimport MergeTable

cdef unsigned int ALL_BITS


cdef class BlankClass:
    cdef readonly int scanner_state
    cdef MergeTable _merges
    cdef int[::1] _tokens
    cdef int[::1] _lengths
    cdef dict _before           # by token that comes next

    @cython.locals(known=BlankClass, index=int)
    cpdef BlankClass before(self, int token)
    @cython.locals(index=int, token=int, one="unsigned int")
    cpdef int remove(self, unsigned int[::1] row, int longest) except -1
    @cython.locals(index=int, token=int, found=list)
    cpdef list of_length(self, unsigned int[::1] row, int length)
