cimport cython
from structgen.engine.pairs cimport PairTable
from structgen.engine.term_table cimport TermTable

# The numbers of structgen/engine/term_kinds.py.
cdef int ALL, EMPTY, NOTHING
cdef int K_EMPTY, K_UNION, K_LITERAL, K_BYTES, K_CHARS, K_REPEAT, K_INTERSECTION, K_COMPLEMENT, K_EARLY
cdef int K_TABLE, K_SUBSTRINGS, K_MULTIPLE, K_COUNTING, K_BOUNDED
cdef int CHUNK, MAX_FACTORING
cdef long long FAR


cdef class Terms(TermTable):
    cdef dict _unions        # parts, sorted -> their union
    cdef dict _made_of       # (term, C) -> whether all texts of the one are seen to be made of the other's
    cdef dict _part_of       # (term, other) -> whether each text of the one is seen to be one of the other
    cdef dict _made_of_star  # C*·R -> term -> whether all texts of the one are seen to be texts of the other
    cdef PairTable _unions_of_two
    cdef PairTable _intersections_of_two
    cdef PairTable _appended # term, tail -> term
    cdef int _factoring      # how deep in factoring unions

    @cython.locals(size="Py_ssize_t", following=bytes)
    cpdef int literal(self, bytes data, int tail) except -1
    cpdef long long _sum(self, long long left, long long right) noexcept
    @cython.locals(body=int, low="long long", high="long long")
    cpdef int byte_set(self, object mask, int tail) except -1
    @cython.locals(body=int, low="long long", high="long long")
    cpdef int _char_class(self, int number, int tail) except -1
    @cython.locals(least="long long", more="long long", most="long long")
    cpdef int repeat(self, int body, long long low, long long high, int tail) except -1
    cpdef bint _is_bounded(self, int term) except -1
    @cython.locals(waiting=list, apart=list, term=int, other=int, narrow=int, joined=int, body=int, low="long long", high="long long", least="long long", most="long long")
    cpdef bint _merge_counts(self, set found) except -1
    @cython.locals(rest=int, body=int, wider=int)
    cpdef bint _counts_alike(self, int narrow, int wide) except -1
    cpdef bint _is_countable_with(self, int body, int rest) except -1
    cpdef bint _is_countable(self, int term) except -1
    @cython.locals(star=int, phase=int, body=int, rest=int, least="long long", most="long long", low="long long", high="long long", part=int, inner=int)
    cpdef int _bounded_by(self, int bound, set found, int tail) except -1
    @cython.locals(whole=int, accepting=int, least="long long")
    cpdef int counting(self, int star, int phase, int term) except -1
    @cython.locals(star=int, phase=int, term=int, body=int, rest=int, inner=int, low="long long", high="long long", accepting=int, least="long long")
    cpdef int bounded(self, int counting, long long most, int tail) except -1
    @cython.locals(accepting=int)
    cpdef int complement(self, int term, int tail) except -1
    @cython.locals(prefix=list, result=int)
    cpdef int early(self, int term, int tail) except -1
    @cython.locals(texts=tuple, ends=bint, accepting=int)
    cpdef int table(self, int number, int low, int high, int depth, int tail) except -1
    cpdef int substrings(self, int number, int state, int tail) except -1
    @cython.locals(done=PairTable, stack=list, top=int, after=int, result=int, t=int)
    cpdef int append(self, int term, int tail) except -1
    @cython.locals(kind=int)
    cpdef int with_tail(self, int term, int tail) except -1
    @cython.locals(found=set, part=int, key=tuple, left=int, right=int)
    cpdef int union(self, object parts) except -1
    cpdef int unite(self, int left, int right) except -1
    @cython.locals(done=int)
    cdef int _union_of_two(self, int left, int right) except -1
    cpdef tuple conjuncts(self, int term)
    @cython.locals(done=int)
    cpdef int intersect(self, int left, int right) except -1
    @cython.locals(repeats=int, heads=dict, tails=dict, shared_heads=bint, shared_tails=bint, term=int, kind=int,
                   same=list, before=int, accepting=int, hard=int, least="long long")
    cpdef int _normal_union(self, set found) except -1
    @cython.locals(term=int, body=int, low="long long", high="long long", groups=dict, more="long long", most="long long", tail=int, counts=list)
    cpdef _merge_repeats(self, set found)
    cpdef _merge_bytes(self, set found, dict tails)
    cpdef _factor_heads(self, set found, dict heads)
