import cython

from structgen.tokenization.matching.whole_words cimport WholeWords
from structgen.tokenization.pre_tokens.scanner cimport Scanner


cdef class CutterFinder:
    cdef readonly Scanner scanner
    cdef readonly object vocabulary
    cdef readonly object completions
    cdef readonly object borders
    cdef readonly WholeWords words
    cdef readonly object added
    cdef readonly object begun

    @cython.locals(cut=int, token=int, state=int, partial=int, last=int, text=bytes, completion=bytes, sure=list, cut_of="int[::1]", spelled=dict, usual=dict, cuts=tuple, has_borders=bint)
    cdef tuple _find(self, list ends, tuple preferred, bint to_letter)
    cdef tuple _completed(self, int token, int state, int partial, bint to_letter)
    cdef int _first_cut(self, list cuts, int token) except? -100
