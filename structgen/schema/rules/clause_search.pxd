cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.rules.states cimport Property


@cython.final
cdef class Clauses:
    cdef object _holds
    cdef dict _by_absence, _by_value, _bits, _masks, _choices
    cdef readonly frozenset numbers
    cdef readonly tuple absent, properties
    cdef readonly object search
    cdef object _needed          # ints of any size: a bit for each clause
    cdef dict _found
    cdef list _solutions

    @cython.locals(entry=Property)
    cdef tuple _split(self, tuple cases, number, node)
    cpdef bint are_met(self, decided, frozenset given) except -1
    cdef object _mask_of(self, frozenset given)
    cpdef bint can_hold(self, decided, frozenset given, left) except -1
    cpdef check(self, left, bint any_order=*)
    @cython.locals(solution=dict)
    cdef bint _is_solved(self, decided, needed, left) except -1
    cdef bint _solve(self, decided, needed, left) except -1
