cdef class Endings:
    cdef readonly int scanner_state
    cdef readonly int kind
    cdef readonly list spelled
    cdef public bint are_all
    cdef public list waiting
    cdef public int count

    cdef int add(self, tuple tokens) except -1
