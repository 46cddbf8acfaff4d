cimport cython

from structgen.engine.arrays cimport grown_pool, zeros
from structgen.engine.pair_table cimport PairTable

cdef int EMPTY_TEXT


@cython.final
cdef class CapturedTexts:
    cdef readonly int count
    cdef int[::1] _parent           # by text: the text without its last byte,
    cdef int[::1] _byte             # and that byte
    cdef PairTable _numbers         # the text after a text and a byte

    @cython.locals(found=int)
    cpdef int append(self, int text, int byte) except -1
    cpdef bint continues(self, int text, int beginning) noexcept
    cpdef bytes between(self, int start, int end)
