cimport cython

from structgen.engine.deadlines cimport spend

cdef set _EXACT


cpdef plain_data(content)
@cython.locals(copies=dict, waiting=list)
cpdef plain_copy(content)
@cython.locals(seen=set, waiting=list, members=dict)
cdef bint _is_plain(content) except -1
cdef bint _waits(value, set seen, list waiting) except -1
cdef bint _is_exact(value) except -1
cdef object _copy_of(part, dict copies)
cdef object _plain_scalar(value)
