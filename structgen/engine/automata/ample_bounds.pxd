cimport cython

from structgen.engine.automata.endings cimport Endings
from structgen.engine.automata.inclusion cimport is_spelled
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.automata.terms cimport Terms

cdef int NEVER
cdef int EMPTY, K_BOUNDED, K_BYTES, K_CHARS, K_COMPLEMENT, K_LITERAL, K_REPEAT, K_UNION, MAX_DEPTH, MAX_TERMS, NOTHING


@cython.final
cdef class AmpleBounds:
    cdef Endings _endings
    cdef Terms _terms
    cdef TermTable _table
    cdef dict _needed
    cdef dict _goes_on
    cdef dict _within

    @cython.locals(counting=int, bound=int, star=int, phase=int, term=int)
    cpdef int without(self, int state, int longest) except -1
    @cython.locals(table=TermTable, body=int, low=int, high=int, counting=int, bound=int, star=int, phase=int, term=int, needed=int, free=int, endings=Endings, is_endless=bint)
    cpdef int room(self, int state) except -1
    @cython.locals(star=int)
    cpdef int counted(self, int state) except -1
    cdef bint _is_bounded(self, int state) except -1
    @cython.locals(part=int)
    cdef int _free(self, int star, int term) except -1
    @cython.locals(is_complement=bint)
    cdef bint _is_condition(self, int star, int part) except -1
    @cython.locals(plain=int, least=int, part=int, is_alone=bint)
    cdef int _needed_within(self, int star, int term) except -1
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
