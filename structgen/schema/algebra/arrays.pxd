cdef class Contains:
    cdef readonly object start, node, low, high

cdef class ArraySet:
    cdef readonly object prefix, rest, low, high
    cdef public object contains
    cdef readonly object repeats
    cdef public object known_cases
