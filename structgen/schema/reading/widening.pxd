cimport cython


cdef class Widening:
    cdef public bint is_used
    cdef bint _is_allowed
    cdef readonly set inexact
    cdef set _warned

    cpdef bint is_exact(self, tuple node) except -1
    @cython.locals(outer=bint)
    cpdef shape(self, tuple node, make)
    cpdef recall(self, tuple node)
