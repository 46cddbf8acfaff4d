import cython

from structgen.tokenization.matching.last_texts cimport LastTexts
from structgen.tokenization.matching.token_sets cimport has, ints
from structgen.tokenization.merges.merge_table cimport MergeTable
from structgen.tokenization.pre_tokens.scanner cimport Scanner

cdef unsigned int ALL_BITS
cdef int MAX_KEPT


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
    @cython.locals(found=list, first=int, last=int, middle=int)
    cpdef list of_length(self, unsigned int[::1] row, int length)


cdef class BlankTokens:
    cdef readonly LastTexts last_texts
    cdef readonly dict added    # see `ProperTokenization.added_blanks`
    cdef list _tokens
    cdef object _spellings
    cdef Scanner _scanner
    cdef MergeTable _merges
    cdef dict _classes          # by state of the scanner

    cpdef list classes(self, int scanner_state)
    @cython.locals(found=dict, token=int)
    cdef list _find_classes(self, int scanner_state)
