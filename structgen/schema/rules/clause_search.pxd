cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.shape cimport Shape
from structgen.schema.rules.states cimport Property


@cython.final
cdef class Clauses:
    cdef object _holds, _is_deferrable, _shapes, _disjoint
    cdef dict _splits
    cdef dict _by_absence, _by_value, _able, _bits, _masks, _choices, _cases, _deferred
    cdef tuple _properties
    cdef list _asked, _large
    cdef object _price
    cdef bint _has_all_choices
    cdef readonly frozenset numbers
    cdef readonly tuple absent
    cdef readonly object search
    cdef object _needed          # ints of any size: a bit for each clause
    cdef dict _found, _wide
    cdef set _unsure
    cdef list _solutions
    cdef tuple _last
    cdef object _matched_clauses, _matched_properties

    cdef bint _has_value(self, node) except -1
    @cython.locals(entry=Property)
    cdef tuple _before(self, index)
    @cython.locals(last=tuple)
    cpdef tuple cases(self, index, decided, frozenset given)
    @cython.locals(must=list, cases=list, asked=list)
    cdef tuple _find_cases(self, index, decided, frozenset given)
    cpdef bint asks(self, index, frozenset given) except -1
    @cython.locals(entry=Property)
    cpdef object deferred(self, index, decided, frozenset given)
    @cython.locals(size=int, must=list, numbers=frozenset)
    cdef object _find_deferred(self, index, decided, frozenset given)
    cpdef frozenset satisfied(self, index, is_in)
    @cython.locals(split=list, halves=tuple)
    cdef list _split(self, list cases, list asked)
    cdef tuple _halves(self, node, other)
    @cython.locals(compared=int)
    cdef tuple _find_halves(self, node, other)
    @cython.locals(shape=Shape)
    cdef bint _has_parts(self, node) except -1
    @cython.locals(shape=Shape)
    cdef int _compare(self, node, other) except -2
    cdef _make_choices(self)
    cdef list _choices_of(self, index, without, alone)
    cdef list _wide_choices(self, index, needed)
    cdef list _widest(self, index, without)
    cpdef bint are_met(self, decided, frozenset given) except -1
    cdef object _mask_of(self, frozenset given)
    cpdef bint can_hold(self, decided, frozenset given, left) except -1
    @cython.locals(match=int, found=bint)
    cpdef bint surely_holds(self, decided, frozenset given) except -1
    @cython.locals(match=int)
    cdef bint _can_hold(self, decided, needed, left) except -1
    @cython.locals(able=list, mine=object, taken=object)
    cdef int _matched(self, decided, needed) except -2
    @cython.locals(solution=dict)
    cdef bint _is_solved(self, decided, needed, left) except -1
    cdef bint _solve(self, decided, needed, left) except -1
    cdef bint _search(self, decided, needed, left, bint is_wide=*) except -1
