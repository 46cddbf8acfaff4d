cimport cython

from structgen.engine.deadlines cimport spend
from structgen.engine.grammar.tables cimport Capture, Ladder, Lazy
from structgen.schema.algebra.objects cimport ObjectSet
from structgen.schema.json_text.layout cimport Layout
from structgen.schema.rules.lazy_rules cimport LazyRules
from structgen.schema.rules.object_states cimport ObjectStates, index_of, seen_of, shortened, whole
from structgen.schema.rules.states cimport ObjectState, OtherKeys, Pair, Property

cdef int _MAX_BODY_SYMBOLS, _MAX_BEGINNINGS, _MAX_REMAINING


cdef _used_keys(tuple then)


@cython.final
cdef class ObjectRules:
    cdef LazyRules _lazy
    cdef readonly ObjectSet part
    cdef object _number
    cdef Layout _layout
    cdef object _notation
    cdef readonly ObjectStates states
    cdef readonly tuple classes
    cdef tuple _sorted_names
    cdef dict _names_begun
    cdef dict _remaining
    cdef dict _keys
    cdef tuple _first_keys
    cdef list _groups, _group_of
    cdef bint _splits_late   # values are split by clauses after their key

    cpdef start(self, avoid=*)
    @cython.locals(states=ObjectStates, index=int, state=object, is_first=bint, is_closable=bint, has_next=bint, found=list)
    cpdef bodies(self, kind, short_state)
    @cython.locals(states=ObjectStates, body=list, start=int, index=int, entry=Property)
    cdef list _forced(self, str lead, short_state)
    cdef _nonterminal(self, kind, short_state)
    @cython.locals(states=ObjectStates, size=int, index=int, found=list)
    cdef list _pair_bodies(self, short_state)
    @cython.locals(states=ObjectStates, found=list)
    cdef list _group_bodies(self, ObjectState state)
    cdef _after_grouped(self, numbers, ObjectState state, text)
    @cython.locals(states=ObjectStates, entry=Property, after=int, number=int, found=list)
    cdef list _optional_bodies(self, int index)
    @cython.locals(states=ObjectStates, size=int, lazy=LazyRules, layout=Layout, index=int, keys=list, bodies=list, entry=Property)
    cpdef ladder(self, short_state)
    @cython.locals(found=list, after=int)
    cdef list _run_bodies(self, int number, index)  # a C integer cannot be shifted so far
    @cython.locals(states=ObjectStates, state=ObjectState, further=ObjectState, found=list)
    cdef list _next_property_bodies(self, short_state)
    cdef list _property_bodies(self, index, ObjectState state)
    cdef list _rests(self, index, ObjectState state)
    cdef tuple _rest(self, Pair pair)
    @cython.locals(entry=Property)
    cdef _key(self, int index)
    @cython.locals(states=ObjectStates, key_class=OtherKeys, is_any_left=bint, out=list)
    cdef list _class_bodies(self, int index, short_state)
    @cython.locals(key_class=OtherKeys)
    cdef tuple _captured_key(self, int index, before, used)
    @cython.locals(key_class=OtherKeys)
    cpdef after(self, then, text)
    @cython.locals(groups=tuple, always=tuple, others=tuple, names=tuple)
    cpdef tuple refusals(self, then, bytes begun)
    @cython.locals(names=list, found=OtherKeys)
    cdef tuple _names_in(self, index)
    cpdef remaining(self, then, int least)
    @cython.locals(states=ObjectStates, found=OtherKeys)
    cdef list _value_bodies(self, int index, short_state)
