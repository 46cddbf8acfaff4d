cimport cython
from structgen.engine.deadlines cimport spend
from structgen.engine.pair_table cimport PairTable
from structgen.engine.automata.inclusion cimport is_part_of
from structgen.engine.automata.remainder_sets cimport RemainderSet
from structgen.engine.automata.regular_terms cimport RegularTerms, is_star
from structgen.engine.automata.term_table cimport TermTable

# Typed copies of the constants of structgen/engine/constants.py.
cdef int ALL, EMPTY, NOTHING
cdef int K_UNION, K_LITERAL, K_BYTES, K_CHARS, K_REPEAT, K_INTERSECTION, K_COMPLEMENT, K_EARLY
cdef int K_TABLE, K_SUBSTRINGS, K_MULTIPLE, K_COUNTING, K_BOUNDED, K_DIGITS
cdef long long FAR


cdef class Terms(RegularTerms):
    cdef dict _part_of       # (term, other) -> whether their forms show that each text of `term` is one of `other`
    cdef PairTable _intersections_of_two  # two terms -> their intersection

    @cython.locals(found=set, refused=list, part=int, term=int, excluded=int, least="long long", accepting=int)
    cpdef int intersection(self, object parts, int tail) except -1
    cpdef tuple conjuncts(self, int term)
    @cython.locals(done=int)
    cpdef int intersect(self, int left, int right) except -1
    @cython.locals(star=int, other=int)
    cdef int _drop_covering(self, set found) except -1
    cpdef bint is_part(self, int term, int other) except -1
    @cython.locals(waiting=list, apart=list, term=int, other=int, narrow=int, joined=int, body=int, low="long long", high="long long", least="long long", most="long long")
    cpdef bint _merge_counts(self, set found) except -1
    @cython.locals(rest=int, body=int, wider=int)
    cpdef bint _counts_alike(self, int narrow, int wide) except -1
    cpdef bint _is_countable(self, int term) except -1
    cpdef bint is_countable_with(self, int body, int rest) except -1
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
    cpdef int text_table(self, int number, int low, int high, int depth, int tail) except -1
    cpdef int substrings(self, int number, int state, int tail) except -1
    @cython.locals(members=RemainderSet, needed=int)
    cpdef int digits(self, int number, int remainder, int least, int most, int tail) except -1
    @cython.locals(kind=int)
    cpdef int with_tail(self, int term, int tail) except -1


cdef bint is_bounded(TermTable table, int term) except -1
