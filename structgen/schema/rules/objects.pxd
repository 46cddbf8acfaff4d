cimport cython

from structgen.engine.grammar.tables cimport Capture, Lazy
from structgen.schema.algebra.objects cimport ObjectSet
from structgen.schema.json_text.layout cimport Layout
from structgen.schema.rules.lazy_rules cimport LazyRules
from structgen.schema.rules.states cimport ObjectState, OtherKeys, Property

cdef int _LONGEST_BODY, _STATES_SEARCHED, _BEGINNINGS_KEPT


# Of sets in the schema's order only: in any order a place has a bit for each property.
cdef int _place_of(written) except -1
cdef _seen_of(written)
cdef _whole(written)
cdef _short(state)
cdef _taken(tuple then)


@cython.final
cdef class ObjectPlaces:
    cdef LazyRules _lazy
    cdef readonly ObjectSet part
    cdef object _number
    cdef Layout _layout
    cdef bint any_order
    cdef object low
    cdef object high
    cdef object _asked
    cdef dict _names
    cdef tuple properties
    cdef tuple _sorted_names
    cdef dict _names_begun
    cdef readonly tuple classes
    cdef dict _keys
    cdef tuple _first_keys
    cdef bint counts
    cdef bint _is_plain
    cdef object _required        # in any order, a bit for each property that is
    cdef tuple _required_from
    cdef dict _alive

    @cython.locals(found=list, is_required=bint)
    cdef tuple _written_properties(self, ObjectSet part, needed, bint is_full)
    @cython.locals(left=int, entry=Property)
    cdef tuple _missing_by_place(self)
    cpdef start(self, avoid=*)
    @cython.locals(place=int, entry=Property, state=object, is_first=bint, is_closable=bint, goes_on=bint, found=list)
    cpdef bodies(self, kind, written)
    cdef bint _is_free(self, written) except -1
    @cython.locals(found=OtherKeys)
    cdef bint _has_keys(self, seen) except -1
    @cython.locals(place=int, entry=Property)
    cdef bint _is_forced(self, written) except -1
    @cython.locals(body=list, start=int, place=int, entry=Property)
    cdef list _forced(self, str lead, written)
    cdef _lazy_place(self, kind, written)
    @cython.locals(size=int, index=int, found=list)
    cdef list _pair_bodies(self, written)
    @cython.locals(entry=Property, after=int, found=list)
    cdef list _plain_bodies(self, int place)
    cdef list _next_bodies(self, written)
    @cython.locals(entry=Property)
    cdef _key(self, int index)
    @cython.locals(found=OtherKeys, out=list)
    cdef list _open_bodies(self, int index, written)
    @cython.locals(found=OtherKeys)
    cdef tuple _captured_key(self, int index, before, taken)
    cpdef after(self, then, text)
    @cython.locals(always=tuple, others=tuple, names=tuple)
    cpdef tuple refusals(self, then, bytes begun)
    @cython.locals(names=list, found=OtherKeys)
    cdef tuple _names_in(self, index)
    cpdef remaining(self, then)
    @cython.locals(found=OtherKeys)
    cdef list _value_bodies(self, int index, written)


@cython.locals(text=bytes, start=str, size="Py_ssize_t", first="Py_ssize_t", last="Py_ssize_t")
cdef tuple _rests(keys, bytes begun)
