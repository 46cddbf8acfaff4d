cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.masks.difference_walk cimport LongTokenWalk
from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport TerminalMask

cdef int EMPTY, K_COMPLEMENT, K_EMPTY, K_INTERSECTION, K_LITERAL, K_REPEAT, K_UNION, MAX_FAILURES, MIN_LEFT, NOTHING
cdef long long FAR


@cython.final
cdef class RefusedBounds:
    cdef AutomatonStore _automata
    cdef TableStore _store
    cdef LongTokenWalk _walk
    cdef tuple _spellings
    cdef dict _shortest
    cdef dict _failures
    cdef dict _parts

    @cython.locals(table=TermTable, found=int, complement=int, most=int, part=int, member=int, star=int, has_long=bint)
    cdef tuple of(self, int state)
    @cython.locals(automata=AutomatonStore, star=int, phase=int, counted=int, others=int)
    cdef bint _is_part(self, int body, int counting) except -1
    @cython.locals(table=TermTable, term=int)
    cdef int _with_parts(self, int state, list parts) except -1
    @cython.locals(table=TermTable)
    cdef bint _is_any_string(self, int term) except -1
    @cython.locals(table=TermTable, refused=int)
    cdef tuple _refused_in(self, int term)
    cdef bint agree_on_long(self, int state, tuple refused) except -1
    cdef bint agree_on_others(self, tuple refused, TerminalMask like, TerminalMask long, TerminalMask star) except -1
    cdef bint _fail(self, int star) except -1
    @cython.locals(store=TableStore)
    cdef object _is_inside(self, TerminalMask table)
