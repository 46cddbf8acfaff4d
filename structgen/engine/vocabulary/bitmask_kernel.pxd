# See bitmask_kernel.py.
import cython
from cython cimport view

ctypedef fused Pattern:
    unsigned short
    unsigned int
    unsigned long long

cdef unsigned int FULL
cdef Py_ssize_t MAX_FEW

@cython.locals(
    width=cython.Py_ssize_t, word_count=cython.Py_ssize_t, full_words=cython.Py_ssize_t, row=cython.Py_ssize_t,
    at=cython.Py_ssize_t, token=cython.Py_ssize_t, bit=cython.Py_ssize_t, last=cython.Py_ssize_t,
    word=cython.uint, lane=cython.Py_ssize_t, _=cython.int,
    x0=Pattern, x1=Pattern, x2=Pattern, x3=Pattern, x4=Pattern, x5=Pattern, x6=Pattern, x7=Pattern,
)
cdef void _fill_refused(
    Pattern[::view.strided, ::view.contiguous] logits, const unsigned int[:, ::1] words, const Pattern[::1] keep,
    Pattern infinity
) noexcept nogil

cpdef fill_refused(
    Pattern[::view.strided, ::view.contiguous] logits, const unsigned int[:, ::1] words, const Pattern[::1] keep,
    Pattern infinity, bint releases_lock
)


@cython.final
cdef class TokenSubset:
    cdef const unsigned int[::1] _mask
    cdef const int[::1] _listed

    @cython.locals(
        mask="const unsigned int[::1]", listed="const int[::1]", some="unsigned int", at=cython.Py_ssize_t, kept=list,
        one="unsigned int", index=cython.Py_ssize_t, token=cython.Py_ssize_t,
    )
    cpdef list keep(self, unsigned int[::1] words)


@cython.final
cdef class MaskRows:
    cdef readonly object mask
    cdef unsigned int[::view.strided, ::view.contiguous] _words

    cpdef list keep(self, int row, TokenSubset tokens)
    @cython.locals(one="unsigned int")
    cpdef remove(self, int row, int token)
