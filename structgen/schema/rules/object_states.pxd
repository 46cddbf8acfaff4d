cimport cython

from structgen.engine.deadlines cimport spend
from structgen.schema.algebra.objects cimport ObjectSet
from structgen.schema.rules.clause_search cimport Clauses
from structgen.schema.rules.lazy_rules cimport LazyRules
from structgen.schema.rules.states cimport ObjectState, OtherKeys, Pair, Property

cdef int _MAX_STATES_SEARCHED


# Only for sets in the schema's order: in any order, a state has a bit for each property and does not fit an int.
cpdef int index_of(short_state) except -1
cpdef seen_of(short_state)
cpdef whole(short_state)
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
    cdef object _required        # in any order, a bit for each required property; a Python int of any size
    cdef readonly tuple required_from
    cdef readonly Py_ssize_t unknown
    cdef dict _alive
    cdef ObjectSet _part
    cdef dict _node_numbers
    cdef list _met_cases
    cdef tuple _absent
    cdef Clauses _clauses
    cdef frozenset _asked_of_keys
    cdef readonly bint is_unsplit
    cdef list _asked_in
    cdef bint _has_endless_keys
    cdef readonly bint asks_other_keys

    cpdef int values_of(self, str key) except -1
    @cython.locals(size=int, found=OtherKeys)
    cpdef tuple cases_after(self, int number)
    @cython.locals(found=list, is_required=bint, held=set)
    cdef tuple _writable_properties(self, ObjectSet part, needed, bint is_full)
    @cython.locals(left=int, entry=Property)
    cdef tuple _missing_by_index(self)
    cpdef bint is_free(self, short_state) except -1
    @cython.locals(found=OtherKeys)
    cpdef bint has_keys(self, seen) except -1
    @cython.locals(index=int, entry=Property)
    cpdef bint is_forced(self, short_state) except -1
    cdef _missing(self, ObjectState state)
    cpdef bint is_closable(self, ObjectState state) except -1
    cdef bint _is_decided(self, int index, ObjectState state) except -1
    @cython.locals(pair=Pair)
    cpdef bint is_alive(self, ObjectState state, bint must_add=*) except -1
    cpdef bint splits_next(self, ObjectState state) except -1
    cpdef bint may_write_next(self, ObjectState state) except -1
    @cython.locals(found=OtherKeys)
    cdef bint _fits(self, ObjectState state, bint must_add) except -1
    cdef bint _can_end(self, ObjectState state) except -1
    @cython.locals(entry=Property)
    cpdef skipped(self, ObjectState state)
    @cython.locals(entry=Property)
    cpdef pairs_of_property(self, index, ObjectState state)  # a C integer cannot be shifted so far
    cpdef pairs_of_class(self, OtherKeys found, ObjectState state, key)
    @cython.locals(found=list)
    cpdef pairs_of_key(self, key, node, cases, ObjectState state, int deferred)
    cpdef list open_keys(self, OtherKeys found, ObjectState state)
    @cython.locals(pair=Pair)
    cpdef bint any_is_alive_after(self, pairs) except -1
    cdef _decided(self, ObjectState state)
    cdef bint _clauses_can_hold(self, ObjectState state) except -1
    cpdef normal(self, ObjectState state)
    cpdef bint is_alive_after(self, Pair pair) except -1
