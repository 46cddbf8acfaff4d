cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.rules.states cimport Property

cdef int _MAX_SEARCHED, _MAX_SIMPLE


@cython.final
cdef class Clauses:
    cdef object _holds
    cdef dict _by_absence, _by_value
    cdef readonly frozenset numbers
    cdef readonly tuple absent, properties
    cdef object _required        # ints of any size: a bit for each property
    cdef dict _found

    @cython.locals(entry=Property)
    cdef tuple _split(self, tuple cases, number, node)
    cpdef bint are_met(self, decided, frozenset given) except -1
    @cython.locals(waiting=list, seen=set, found=bint)
    cpdef bint can_hold(self, decided, frozenset given, left) except -1
    cdef object _least_needed(self, decided, frozenset given)
    @cython.locals(count=int, least=int)
    cdef tuple _tightest(self, decided, frozenset given, bint is_long)
    @cython.locals(entry=Property, out=list)
    cdef list _following(self, decided, frozenset given, bint is_long)
