from cpython.pythread cimport PyThread_get_thread_ident

cdef bint IS_COMPILED


cpdef long this_thread() noexcept
