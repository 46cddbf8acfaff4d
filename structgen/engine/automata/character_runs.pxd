cimport cython

from structgen.engine.automata.alphabets cimport Alphabets
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.deadlines cimport spend

cdef int EMPTY, K_BOUNDED, K_BYTES, K_CHARS, K_COUNTING, K_INTERSECTION, K_LITERAL, K_REPEAT, K_UNION, MAX_DEPTH, NOTHING
cdef long long FAR


@cython.final
cdef class CharacterRuns:
    cdef Alphabets _alphabets
    cdef TermTable _table
    cdef dict _known    # alphabet -> term -> its longest run

    cpdef long long longest(self, int term, object characters) except? 1
    @cython.locals(kind=int, run="long long")
    cdef long long _find(self, int term, object characters, dict known, int depth) except? 1
    cdef int _length_of(self, int term) except -1
    @cython.locals(kind=int, each="long long", part=int)
    cdef long long _of_head(self, int term, object characters, dict known, int depth) except? 1
    @cython.locals(counting=int, most="long long", star=int, phase=int, inner=int, each="long long", begun="long long", after="long long")
    cdef long long _of_bounded(self, tuple payload, object characters, dict known, int depth) except? 1
