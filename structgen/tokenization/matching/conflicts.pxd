import cython

from structgen.engine.arrays cimport zeros
from structgen.tokenization.matching.token_sets cimport drop, list_tokens, remove
from structgen.tokenization.merges.merge_table cimport MergeTable

cdef unsigned int ALL_BITS
cdef int MAX_FEW, MAX_KEPT, MAX_LISTED, MAX_REMOVED, MIN_TOGETHER


cdef class Conflicts:
    cdef readonly int[::1] listed
    cdef readonly unsigned int[::1] row


cdef class ConflictTable:
    cdef MergeTable _merges
    cdef int _words
    cdef dict _known            # by token: its `Conflicts`
    cdef set _met
    cdef int[::1] _listed       # see `remove`

    @cython.locals(count=int, most=int, conflicts=Conflicts)
    cpdef object remove(self, int token, unsigned int[::1] row)
    @cython.locals(one="unsigned int", index=int, other=int)
    cdef int _remove_some(self, int token, unsigned int[::1] row, int count) except -1
    cpdef Conflicts of(self, int token)
    cdef Conflicts _find(self, int token)
