cimport cython

from structgen.engine.automata.terms cimport Terms

# Typed copies of the constants of structgen/engine/constants.py and from_regex.py.
cdef int EMPTY, NOTHING

cdef int VISIT, LOAD, UNION, REPEAT, INTERSECTION, COMPLEMENT, EARLY, REMEMBER
cdef int TABLE_FROM, KNOWN_KEPT


@cython.locals(values=list, work=list, nodes=int, max_nodes=int, max_depth=int, action=int, depth=int, step=tuple)
cpdef int term_of(Terms terms, regex, limits, dict known) except -1
@cython.locals(tail=int, count="Py_ssize_t", parts=list)
cdef int _combine(Terms terms, int action, operand, list values) except -1
@cython.locals(term=int, number=int)
cdef bint _leaf(Terms terms, regex, list values) except -1
@cython.locals(tail=int, parts=list)
cdef void _visit(regex, int depth, list values, list work, dict known) except *
@cython.locals(found=tuple)
cdef int _plan(regex, int depth, list work, dict known) except -1
@cython.locals(ranges=list, literals=list, rest=list)
cdef list _merged(tuple parts)
