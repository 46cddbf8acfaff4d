cimport cython

from structgen.engine.automata.terms cimport Terms
from structgen.engine.regex.tree cimport ByteSet, Chars, Choice, Complement, Early, Intersection, Literal, LiteralSet, Multiple, Remainders, Repeat, Runs, Sequence, Substrings

# Typed copies of the constants of structgen/engine/constants.py and from_regex.py.
cdef int EMPTY, NOTHING

cdef int VISIT, LOAD, UNION, REPEAT, INTERSECTION, COMPLEMENT, EARLY, REMEMBER, ONCE
cdef long long FAR
cdef int TABLE_FROM, KNOWN_KEPT


@cython.locals(values=list, work=list, nodes=int, max_nodes=int, max_depth=int, action=int, depth=int)
cpdef int term_of(Terms terms, regex, limits, dict known) except -1
@cython.locals(tail=int, count="Py_ssize_t", parts=list)
cdef int _combine(Terms terms, int action, operand, list values) except -1
@cython.locals(least="long long")
cdef int _once(Terms terms, int term, int tail) except -1
@cython.locals(term=int, number=int, literal=Literal, chars=Chars, byte_set=ByteSet)
cdef bint _leaf(Terms terms, regex, list values) except -1
@cython.locals(tail=int, parts=list, sequence=Sequence, choice=Choice, repeat=Repeat)
cdef void _visit(regex, int depth, list values, list work, dict known) except *
@cython.locals(found=tuple)
cdef int _plan(regex, int depth, list work, dict known) except -1
@cython.locals(ranges=list, literals=list, rest=list, chars=Chars, literal=Literal)
cdef list _merged(tuple parts)
