cimport cython
from structgen.engine.arrays cimport grown, zeros
from structgen.engine.automata.emptiness cimport LivingTerms

# The numbers of structgen/engine/constants.py.
cdef int DEAD, EMPTY, K_BOUNDED, K_BYTES, K_CHARS, K_COMPLEMENT, K_COUNTING, K_EMPTY, K_INTERSECTION, K_LITERAL, K_REPEAT
cdef int K_TABLE, K_UNION, NOTHING
cdef int MANY_BYTES, NOT_EXPANDED, NO_BYTE
cdef long long FAR


@cython.final
cdef class AutomatonStore(LivingTerms):
    cdef public int[::1] only_byte       # by state: -2 not expanded, -1 has a row, 0..255 its one byte, 256 none
    cdef public int[::1] only_target     # by state: where its one byte leads
    cdef dict _added                     # id of a regex tree -> (the tree, its state)
    cdef dict _ever_endless              # by state: see is_ever_endless
    cdef dict _behind                    # C and R -> term -> whether all its texts are C*·R
    cdef dict _few                       # by term: see _holds_few
    cdef dict _bodies                    # id of a repeated tree -> (the tree, its term)

    @cython.locals(rest=int)
    cpdef int add(self, regex) except -1
    @cython.locals(known=tuple)
    cdef int _state_of(self, regex) except -1
    cpdef int narrowed(self, int state, int by) except -1
    cpdef int expand(self, int state) except -1
    @cython.locals(data=bytes, target=int)
    cdef int _expand_literal(self, int state) except -1
    @cython.locals(target=int, class_map=int, start=int, live=int, alive=int, number=int)
    cdef int _expand_others(self, int state) except -1
    @cython.locals(target=int)
    cpdef int live_target(self, int at) except -1
    @cython.locals(only=int)
    cpdef int next(self, int state, int byte) except -1
    @cython.locals(only=int)
    cpdef bint leads_on(self, int state, int byte) except -1
    @cython.locals(classes=list, start=int, number=int)
    cpdef object first_bytes(self, int state)
    @cython.locals(target=int)
    cpdef object inner_bytes(self, int state)
    @cython.locals(classes=list, number=int, target=int, found=dict)
    cpdef dict successors(self, int state)
    cpdef int step(self, int state, int byte) except -1
    @cython.locals(top=int, kind=int)
    cpdef bint _ends_repeating(self, int state, int repeated=*) except -1
    cdef bint _is_byte(self, int term) except -1
    cpdef int last_of(self, int state) except -1
    @cython.locals(came_from=dict, length=dict, queue=list, order=int, top=int, class_map=int, number=int, target=int)
    cpdef bytes shortest_text(self, int state, long long most=*)
    @cython.locals(star=int, body=int, last=int, is_plain=bint)
    cdef bint _is_endless_by_form(self, int state) except -1
    @cython.locals(top=int, kind=int, may=bint)
    cpdef bint _holds_few(self, int term) except -1
    @cython.locals(star=int, inner=int, body=int, most="long long")
    cpdef bint asks_for_count(self, int state) except -1
    @cython.locals(at="Py_ssize_t")
    cpdef bint matches(self, int state, bytes data) except -1
