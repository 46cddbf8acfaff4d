cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.objects cimport ObjectSet


cdef class Shape:
    cdef readonly object null, booleans
    cdef readonly tuple numbers, strings, arrays, objects

    cpdef bint has_all_but_objects(self) except -1
    cpdef bint is_nothing(self) except -1


@cython.locals(other=ObjectSet, keys=frozenset)
cdef bint _is_covered(ObjectSet part, frozenset needed, list others) except -1
@cython.locals(out=dict)
cdef tuple _intersect(tuple left, tuple right, tuple whole)
