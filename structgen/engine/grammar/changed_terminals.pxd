cimport cython

from structgen.engine.grammar.tables cimport Capture, Ladder, Lazy, Lookahead

cdef int MAX_KNOWN


@cython.final
cdef class ChangedTerminals:
    cdef object _source
    cdef object _describer
    cdef object _change
    cdef object _bodies_or_ladder
    cdef dict _known

    cpdef bodies(self, key)
    @cython.locals(ladder=Ladder)
    cpdef bodies_or_ladder(self, key)
    @cython.locals(index="Py_ssize_t")
    cdef object _changed_bodies(self, bodies)
    @cython.locals(index="Py_ssize_t")
    cdef object _changed_body(self, body)
    @cython.locals(capture=Capture)
    cdef object _changed_symbol(self, symbol)
    @cython.locals(known=tuple)
    cdef object _changed_terminal(self, regex)
