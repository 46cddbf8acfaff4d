cimport cython

from structgen.engine.grammar.tables cimport Capture, Lazy
from structgen.schema.json_text.layout cimport Layout


cdef int _MAX_REMAINING


@cython.final
cdef class ArrayRules:
    cdef object _lazy         # a LazyRules; its methods are passed as functions
    cdef readonly object part
    cdef object _number
    cdef Layout _layout
    cdef object _cap
    cdef object _last_plain
    cdef dict _alive
    cdef dict _needed_after
    cdef dict _strings
    cdef dict _remaining
    cdef bint _is_plain
    cdef readonly object max_items
    cdef bint _is_endless
    cdef double _most_distinct

    @cython.locals(index="Py_ssize_t")
    cdef _find_max_items(self)
    cpdef start(self, avoid=*)
    cdef bint _fits(self, written) except -1
    @cython.locals(found=list)
    cpdef bodies(self, kind, state)
    cdef tuple _plain_body(self, written)
