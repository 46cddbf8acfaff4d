cimport cython
from structgen.engine.deadlines cimport spend
from structgen.engine.automata.alphabets cimport Alphabets
from structgen.engine.automata.ample_bounds cimport AmpleBounds
from structgen.engine.automata.byte_partitions cimport BytePartitions
from structgen.engine.automata.derivatives cimport Derivatives
from structgen.engine.automata.emptiness cimport Emptiness
from structgen.engine.automata.endings cimport Endings
from structgen.engine.automata.payload_tables cimport PayloadTables
from structgen.engine.automata.term_table cimport TermColumn, TermTable
from structgen.engine.automata.terms cimport Terms
from structgen.engine.regex.tree cimport Literal, Sequence

# Typed copies of the constants of structgen/engine/constants.py.
cdef int DEAD, EMPTY, K_BOUNDED, K_COUNTING, K_INTERSECTION, K_LITERAL, K_REPEAT, K_UNION
cdef int MANY_BYTES, NOT_EXPANDED, NO_BYTE
cdef long long FAR


@cython.final
cdef class AutomatonStore:
    cdef readonly TermTable table
    cdef readonly PayloadTables payloads
    cdef readonly Alphabets alphabets
    cdef readonly Terms terms
    cdef readonly BytePartitions partitions
    cdef readonly Derivatives derivatives
    cdef readonly Emptiness emptiness
    cdef readonly Endings endings
    cdef readonly AmpleBounds ample_bounds
    # By state: NOT_EXPANDED (-2), MANY_BYTES (-1), 0..255 for the only byte that leads on, NO_BYTE (256).
    cdef readonly TermColumn only_byte
    cdef readonly TermColumn only_target # by state: the target of its only byte
    cdef dict _added                     # id of a regex tree -> (the tree, its state); holding the tree keeps the id
    cdef dict _bodies                    # id of a repeated tree -> (the tree, its term)

    @cython.locals(rest=int, parts=tuple, literal=Literal, sequence=Sequence)
    cpdef int add(self, regex) except -1
    @cython.locals(known=tuple)
    cdef int _state_of(self, regex) except -1
    cpdef int narrowed(self, int state, int by) except -1
    cpdef int expand(self, int state) except -1
    @cython.locals(data=bytes, target=int)
    cdef int _expand_literal(self, int state) except -1
    @cython.locals(target=int, class_map=int, start=int, live=int, alive=int, number=int)
    cdef int _expand_others(self, int state) except -1
    cpdef int live_target(self, int at) except -1
    @cython.locals(only=int)
    cpdef int next(self, int state, int byte) except -1
    cdef bint loops(self, int state, int byte) noexcept
    @cython.locals(after=int)
    cpdef int after_bytes(self, int state, int count) except -1
    cpdef bint leads_on(self, int state, int byte) except -1
    cdef bint is_live(self, int state, int at) except -1
    @cython.locals(only=int, byte=int, targets="int[::1]")
    cdef void add_leading_bytes(self, int state, int[::1] bits, int at) except *
    @cython.locals(classes=list, start=int, number=int)
    cpdef object first_bytes(self, int state)
    @cython.locals(target=int)
    cpdef object inner_bytes(self, int state)
    cpdef dict successors(self, int state)
    cpdef bint is_endless_by_form(self, int state) except -1
    cpdef bint is_ever_endless(self, int state) except -1
    cpdef bint is_accepting(self, int state) except -1
    cpdef bint has_next(self, int state) except -1
    @cython.locals(body=int, low="long long", high="long long")
    cpdef tuple as_counted(self, int state)
    cpdef tuple as_bounded(self, int state)
    @cython.locals(part=int)
    cpdef bint has_least_count(self, int state) except -1
    cpdef list as_variation(self, int state)
    cpdef int step(self, int state, int byte) except -1
    @cython.locals(came_from=dict, length=dict, queue=list, order=int, top=int, class_map=int, number=int, target=int)
    cpdef bytes shortest_text(self, int state, long long most=*)
    @cython.locals(star=int, inner=int, body=int, most="long long")
    cpdef bint has_only_least_count(self, int state) except -1
    @cython.locals(at="Py_ssize_t")
    cpdef bint matches(self, int state, bytes data) except -1
