cimport cython

from structgen.schema.algebra.objects cimport ObjectSet
from structgen.schema.rules.lazy_rules cimport LazyRules
from structgen.schema.rules.states cimport ObjectState, OtherKeys, Property

cdef int _STATES_SEARCHED


# Of sets in the schema's order only: in any order a state has a bit for each property.
cpdef int index_of(written) except -1
cpdef seen_of(written)
cpdef whole(written)
cpdef shortened(state)


@cython.final
cdef class ObjectStates:
    cdef LazyRules _lazy
    cdef readonly bint any_order
    cdef readonly object low
    cdef readonly object high
    cdef readonly object asked
    cdef readonly dict names
    cdef readonly tuple properties
    cdef readonly tuple classes
    cdef readonly bint counts
    cdef readonly bint is_plain
    cdef object _required        # in any order, a bit for each property that is
    cdef readonly tuple required_from
    cdef dict _alive

    @cython.locals(found=list, is_required=bint)
    cdef tuple _written_properties(self, ObjectSet part, needed, bint is_full)
    @cython.locals(left=int, entry=Property)
    cdef tuple _missing_by_place(self)
    cpdef bint is_free(self, written) except -1
    @cython.locals(found=OtherKeys)
    cpdef bint has_keys(self, seen) except -1
    @cython.locals(place=int, entry=Property)
    cpdef bint is_forced(self, written) except -1
    cdef _missing(self, ObjectState state)
    cpdef normal(self, ObjectState state)
    cpdef bint goes_on(self, pair) except -1
