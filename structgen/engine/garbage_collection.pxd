cdef extern from "Python.h":
    int PyGC_Disable()
    int PyGC_Enable()

cdef bint IS_COMPILED
cdef bint _is_held


cpdef int hold_collections() except -1
cpdef int release_collections() except -1
cpdef int postpone_full_collections() except -1
cpdef int allow_full_collections() except -1
