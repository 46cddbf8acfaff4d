import cython

from structgen.engine.arrays cimport zeros
from structgen.tokenization.matching.token_sets cimport drop, remove
from structgen.tokenization.merges.merge_table cimport MergeTable

cdef int MAX_KEPT, MAX_LISTED, MAX_REMOVED


cdef class Conflicts:
    cdef readonly int[::1] listed
    cdef readonly unsigned int[::1] row


cdef class ConflictTable:
    cdef MergeTable _merges
    cdef int _words
    cdef dict _known            # by token: its `Conflicts`
    cdef set _met

    cpdef bint knows(self, int token) except -1
    @cython.locals(most=int, conflicts=Conflicts)
    cpdef object remove(self, int token, unsigned int[::1] row)
    cpdef Conflicts of(self, int token)
    cdef Conflicts _find(self, int token)
