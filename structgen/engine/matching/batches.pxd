cimport cython
from cython cimport view

from structgen.engine.matching.matcher cimport Matcher
from structgen.engine.vocabulary.bitmask_kernel cimport LogitsQueue, MaskedLogits


cdef unsigned int FULL


@cython.locals(queue=LogitsQueue)
cdef void _fill_and_apply(
    matchers, mask, unsigned int[::view.strided, ::view.contiguous] words, MaskedLogits masked, int threads
) except *
@cython.locals(row="Py_ssize_t")
cdef void _fill(
    matchers, mask, unsigned int[::view.strided, ::view.contiguous] words, LogitsQueue queue
) except *
cdef void _fill_row(
    Matcher matcher, mask, unsigned int[::view.strided, ::view.contiguous] words, Py_ssize_t row
) except *
