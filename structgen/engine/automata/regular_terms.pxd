cimport cython
from structgen.engine.deadlines cimport spend
from structgen.engine.pair_table cimport PairTable
from structgen.engine.automata.alphabets cimport Alphabets
from structgen.engine.automata.payload_tables cimport PayloadTables
from structgen.engine.automata.inclusion cimport is_made_of, is_spelled
from structgen.engine.automata.term_table cimport TermTable

# Typed copies of the constants of structgen/engine/constants.py and regular_terms.py.
cdef int ALL, EMPTY, NOTHING
cdef int K_EMPTY, K_UNION, K_LITERAL, K_BYTES, K_CHARS, K_REPEAT
cdef int CHUNK, MAX_FACTORING
cdef long long FAR


cdef class RegularTerms:
    cdef readonly TermTable table
    cdef readonly PayloadTables payloads
    cdef readonly Alphabets alphabets
    cdef dict _unions        # parts, sorted -> their union
    cdef dict _made_of       # (term, C) -> whether its form shows that all texts of `term` are made of texts of C
    cdef dict _made_of_star  # C*·R -> term -> whether its form shows that all texts of `term` are texts of C*·R
    cdef PairTable _unions_of_two  # two terms -> their union
    cdef PairTable _appended       # (term, tail) -> their concatenation
    cdef int _factoring      # nesting depth of the unions that are being factored

    @cython.locals(size="Py_ssize_t", following=bytes)
    cpdef int literal(self, bytes data, int tail) except -1
    cpdef long long _sum(self, long long left, long long right) noexcept
    @cython.locals(body=int, low="long long", high="long long")
    cpdef int byte_set(self, object mask, int tail) except -1
    @cython.locals(body=int, low="long long", high="long long")
    cpdef int _char_class(self, int number, int tail) except -1
    @cython.locals(least="long long", more="long long", most="long long")
    cpdef int repeat(self, int body, long long low, long long high, int tail) except -1
    @cython.locals(done=PairTable, stack=list, top=int, after=int, result=int, t=int)
    cpdef int append(self, int term, int tail) except -1
    cpdef int with_tail(self, int term, int tail) except -1
    @cython.locals(found=set, part=int, key=tuple, left=int, right=int)
    cpdef int union(self, object parts) except -1
    cpdef int unite(self, int left, int right) except -1
    @cython.locals(done=int)
    cdef int _union_of_two(self, int left, int right) except -1
    @cython.locals(repeats=int, heads=dict, tails=dict, shared_heads=bint, shared_tails=bint, term=int, kind=int,
                   same=list, before=int, accepting=int, may_be_empty=int, least="long long")
    cpdef int _normal_union(self, set found) except -1
    @cython.locals(term=int, body=int, low="long long", high="long long", groups=dict, more="long long", most="long long", tail=int, counts=list)
    cpdef _merge_repeats(self, set found)
    cpdef _merge_bytes(self, set found, dict tails)
    cpdef _factor_heads(self, set found, dict heads)
    @cython.locals(star=int)
    cdef int _absorb_into_stars(self, set found) except -1
    @cython.locals(body=int, rest=int, known=dict)
    cdef bint _is_within(self, int term, int star) except -1
    cpdef bint is_made_of(self, int term, int body) except -1


@cython.locals(low="long long", high="long long")
cpdef bint is_star(TermTable table, int term) except -1
