cdef class Contains:
    cdef readonly object start, node, low, high

cdef class ArraySet:  # the constructor takes the attributes in this order
    cdef readonly object prefix, rest, low, high
    cdef public object contains
    cdef readonly object repeats
    cdef public object clauses, known_cases
