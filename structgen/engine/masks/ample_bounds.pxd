cimport cython

from structgen.engine.automata.inclusion cimport is_spelled
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.automata.terms cimport Terms

cdef int NEVER
cdef int EMPTY, K_BYTES, K_CHARS, K_COMPLEMENT, K_LITERAL, K_REPEAT, K_UNION, MAX_DEPTH, MAX_TERMS, NOTHING


@cython.final
cdef class AmpleBounds:
    cdef AutomatonStore _automata
    cdef int _longest
    cdef dict _needed
    cdef dict _goes_on
    cdef dict _within

    @cython.locals(terms=Terms, table=TermTable, star=int, phase=int, term=int, plain=int, least=int, needed=int, part=int, is_alone=bint)
    cpdef int without(self, int state) except -1
    @cython.locals(terms=Terms, table=TermTable, term=int, may_end=bint, is_code=bint)
    cdef int _needed_with(self, int star, int least, list refused) except -1
    @cython.locals(terms=Terms, body=int, rest=int, known=tuple, before="Py_ssize_t", found=bint)
    cdef bint _is_within(self, int star, int term) except -1
    @cython.locals(table=TermTable)
    cdef bint _is_one_text(self, int term) except -1
    @cython.locals(table=TermTable)
    cdef bint _is_least(self, int star, int part) except -1
    @cython.locals(table=TermTable, found=bint, part=int)
    cdef bint _may_go_on(self, int star, int term, int depth) except -1
    @cython.locals(table=TermTable, known=dict, stack=list, count=int, top=int)
    cdef int _needed_after(self, int term) except -1
    @cython.locals(table=TermTable, known=dict, kind=int, shortest="long long", inside="long long")
    cdef tuple _needed_of(self, int term)
