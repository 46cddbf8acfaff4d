# See bitmask_kernel.py.
import cython
from cython cimport view

from structgen.engine.worker_threads cimport RowQueue

ctypedef fused Pattern:
    unsigned short
    unsigned int
    unsigned long long

cdef unsigned int FULL
cdef Py_ssize_t MAX_FEW

@cython.final
cdef class MaskedLogits:
    cdef readonly Py_ssize_t rows
    cdef const unsigned int[::view.strided, ::view.contiguous] _words
    cdef unsigned long long _infinity
    cdef int _width     # bytes of a logit; of the three arrays, and of the three tables, only those are there
    cdef unsigned short[::view.strided, ::view.contiguous] _logits_16
    cdef unsigned int[::view.strided, ::view.contiguous] _logits_32
    cdef unsigned long long[::view.strided, ::view.contiguous] _logits_64
    cdef const unsigned short[::1] _keep_16
    cdef const unsigned int[::1] _keep_32
    cdef const unsigned long long[::1] _keep_64

    cpdef void mask(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    @cython.locals(queue=LogitsQueue)
    cpdef int mask_in_threads(self, int threads) except -1


cdef class LogitsQueue(RowQueue):
    cdef MaskedLogits _logits

    cdef void do(self, Py_ssize_t row) noexcept nogil


@cython.locals(
    infinity=Pattern, width=cython.Py_ssize_t, word_count=cython.Py_ssize_t, full_words=cython.Py_ssize_t,
    row=cython.Py_ssize_t, at=cython.Py_ssize_t, token=cython.Py_ssize_t, bit=cython.Py_ssize_t, rest=cython.Py_ssize_t,
    word=cython.uint, lane=cython.Py_ssize_t, _=cython.int,
    x0=Pattern, x1=Pattern, x2=Pattern, x3=Pattern, x4=Pattern, x5=Pattern, x6=Pattern, x7=Pattern,
)
cdef void _fill_refused(
    Pattern[::view.strided, ::view.contiguous] logits, const unsigned int[::view.strided, ::view.contiguous] words,
    const Pattern[::1] keep, unsigned long long infinity_bits, Py_ssize_t first, Py_ssize_t last
) noexcept nogil


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
