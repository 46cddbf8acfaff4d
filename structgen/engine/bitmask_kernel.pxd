# See bitmask_kernel.py.
import cython

ctypedef fused Pattern:
    unsigned short
    unsigned int
    unsigned long long

cdef unsigned int FULL
cdef int[::1] _PLACE

@cython.locals(
    width=cython.Py_ssize_t, word_count=cython.Py_ssize_t, full_words=cython.Py_ssize_t, row=cython.Py_ssize_t,
    at=cython.Py_ssize_t, token=cython.Py_ssize_t, bit=cython.Py_ssize_t, last=cython.Py_ssize_t,
    refused=cython.uint, rest=cython.uint, place=cython.int[::1],
)
cpdef fill_refused(Pattern[:, ::1] logits, const unsigned int[:, ::1] words, Pattern infinity)
