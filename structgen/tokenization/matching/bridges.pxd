import cython

from structgen.tokenization.merges.merge_table cimport MergeTable


cdef class Bridges:
    cdef readonly list tokens
    cdef public int tried
    cdef public bint is_sure
    cdef public bint is_barred
    cdef readonly list joining

    cpdef int add(self, int token, bint is_cut) except -1
    @cython.locals(other=int)
    cdef bint leads_on_after(self, int token, MergeTable merges) except -1
