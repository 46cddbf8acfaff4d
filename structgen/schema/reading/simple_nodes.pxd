cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.objects cimport ObjectSet
from structgen.schema.algebra.shape cimport Shape


cdef int _MIN_LONG_ATOMS


cdef class SimpleNodes:
    cdef object _known_shape, _is_simple_atom, _shape
    cdef dict _simple, _known, _values, _values_of

    cpdef bint covers(self, tuple node) except -1
    @cython.locals(size=Py_ssize_t, end=Py_ssize_t)
    cpdef tuple reduced(self, tuple node)
    cdef tuple _narrowed(self, tuple node, Shape shape, tuple atom)
    cpdef values(self, tuple node)
    @cython.locals(shorter=dict)
    cpdef with_short_names(self, part)
    cdef tuple _least(self, tuple node, bint shortens)


@cython.locals(properties=dict, node=tuple)
cpdef bint has_long_node(ObjectSet part) except -1
