cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.masks.difference_walk cimport LongTokenWalk
from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport TerminalMask

cdef int DEAD, EMPTY, K_COMPLEMENT, K_EMPTY, K_INTERSECTION, K_LITERAL, K_REPEAT, K_UNION, MAX_LOST, MIN_LEFT, NOTHING


@cython.final
cdef class RefusedBounds:
    cdef AutomatonStore _automata
    cdef TableStore _store
    cdef tuple _spellings
    cdef LongTokenWalk _walk
    cdef dict _goes_on

    @cython.locals(table=TermTable, found=int, complement=int, most=int, part=int, member=int)
    cdef tuple of(self, int state)
    @cython.locals(table=TermTable)
    cdef bint _is_any_string(self, int term) except -1
    @cython.locals(table=TermTable, refused=int)
    cdef tuple _refused_in(self, int term)
    cdef bint are_alike(self, int state, tuple refused, TerminalMask like, TerminalMask star) except -1
    cdef bint _finds_long(self, int long, TerminalMask like, TerminalMask star) except -1
    @cython.locals(store=TableStore)
    cdef object _is_inside(self, TerminalMask table)
    @cython.locals(byte=int)
    cdef bint _begins(self, bytes text, int state) except -1
