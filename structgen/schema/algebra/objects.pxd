cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.nodes cimport meet


cdef class ObjectSet:
    cdef readonly dict properties
    cdef readonly tuple classes
    cdef public tuple required
    cdef readonly object low, high
    cdef public tuple somewhere
    cdef readonly tuple overlapping, clauses
    cdef public object known_cases
    cdef public bint is_unsplit

    cpdef tuple at(self, key)
    cpdef ObjectSet intersect(self, ObjectSet other)
    @cython.locals(properties=dict)
    cpdef ObjectSet reduced(self)
    @cython.locals(properties=dict, others=dict)
    cpdef bint covers(self, ObjectSet other) except -1


cdef bint _is_open(ObjectSet part) except -1
cdef bint _has_finite(tuple classes) except -1
@cython.locals(mine=dict, theirs=dict, properties=dict, is_open=bint)
cdef dict _meet_properties(ObjectSet part, ObjectSet other)
