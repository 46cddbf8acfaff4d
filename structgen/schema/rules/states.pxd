cimport cython

cdef class Property:
    cdef readonly object key, node, cases
    cdef readonly bint is_required

cdef class OtherKeys:
    cdef readonly object keys
    cdef readonly tuple cases
    cdef readonly int size
    cdef readonly str mark
    cdef readonly bint is_endless
    cdef readonly bint is_mixed

    @cython.locals(left=int)
    cpdef int left(self, seen) except? -1

cdef class ObjectState:
    cdef readonly object progress, written, given, seen, avoid

cdef class Pair:
    cdef readonly object key, node, values
    cdef readonly ObjectState state
    cdef readonly int deferred

cdef class ArrayState:
    cdef readonly object written, counts, seen, avoid, repeats
