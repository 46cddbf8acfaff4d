cimport cython

from structgen.engine.automata.payload_tables cimport PayloadTables
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.deadlines cimport spend

# Typed copies of the constants of structgen/engine/constants.py and alphabets.py.
cdef int ANY_BYTE, EMPTY, NOTHING
cdef int K_EMPTY, K_UNION, K_LITERAL, K_BYTES, K_CHARS, K_REPEAT, K_INTERSECTION, K_COMPLEMENT, K_EARLY
cdef int K_TABLE, K_SUBSTRINGS, K_MULTIPLE, K_COUNTING, K_BOUNDED, K_DIGITS
cdef int MAX_TABLE_TEXTS, MAX_CODE_TERMS


@cython.final
cdef class Alphabets:
    cdef readonly TermTable table
    cdef readonly PayloadTables payloads
    cdef dict _covers            # body -> the characters that are texts of it by themselves
    cdef dict _alphabets         # term -> its alphabet
    cdef dict _table_alphabets   # text table -> its alphabet
    cdef dict _made_of           # alphabet -> term -> the result of `may_consist_of`
    cdef dict _codes             # term -> whether its form shows that it is a prefix code
    cdef dict _longest           # term -> an upper bound on the bytes of its texts

    cpdef object cover(self, int body)
    cpdef object alphabet(self, int term)
    cpdef object head_alphabet(self, int term)
    @cython.locals(kind=int, top=int, done=dict, stack=list, missing=list, found=list)
    cpdef bint may_consist_of(self, int term, object alphabet) except -1
    cpdef bint leave_nothing(self, tuple parts) except -1
    @cython.locals(kind=int, top=int, tail=int, done=dict, stack=list, missing=list)
    cpdef object longest(self, int term)
    @cython.locals(kind=int)
    cdef object _longest_head(self, int term, list inner)
    cpdef bint is_code(self, int term) except -1
    cpdef bint begin_apart(self, int left, int right) except -1
    @cython.locals(kind=int)
    cdef object _first_bytes(self, int term)
    @cython.locals(top=int, kind=int)
    cdef bint _seems_code(self, int term) except -1
