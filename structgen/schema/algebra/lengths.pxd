cpdef bint has_other_than(list repeated_by) except -1
cdef int _characters(bytes data) except -1
cdef int _beyond(regex) except -1
