cimport cython

from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.deadlines cimport spend

# Typed copies of the constants of structgen/engine/constants.py and inclusion.py.
cdef int ANY_BYTE, EMPTY
cdef int K_BOUNDED, K_BYTES, K_CHARS, K_COMPLEMENT, K_INTERSECTION, K_LITERAL, K_REPEAT, K_TABLE, K_UNION
cdef int MAX_TERMS, MAX_TERMS_OF_PROOF


# The terms are an object: their module imports this one.
@cython.locals(table=TermTable, seen=set, waiting=list, top=int)
cpdef bint is_spelled(object terms, int term, int body, int rest, object cover, dict known, dict heads=*, int most=*) except -1
@cython.locals(found=dict, heads=dict, before="Py_ssize_t", is_refused=bint)
cpdef bint is_all_refused(object terms, int term, dict known) except -1
@cython.locals(table=TermTable, kind=int)
cdef bint _has_head_of(object terms, int term, int body, object cover, dict heads, int most) except -1
@cython.locals(known=dict)
cpdef bint is_made_of(object terms, int term, int body, object cover, dict heads=*, int most=*) except -1
cpdef bint is_part_of(object terms, int term, int body, object cover) except -1
cpdef bint is_narrower(object terms, int term, int other) except -1
@cython.locals(found=set, seen=set, waiting=list, left=int, right=int)
cdef set _after_one(object terms, int term, int other)
@cython.locals(table=TermTable)
cdef list _after_first_byte(object terms, int term, int other)
@cython.locals(table=TermTable, kind=int)
cdef tuple _first_byte(object terms, int term)
