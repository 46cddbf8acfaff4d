cimport cython

from structgen.engine.deadlines cimport spend
from structgen.engine.arrays cimport grown, zeros

# Typed copies of the constants of structgen/engine/constants.py.
cdef int ANY_BYTE, EMPTY, NOTHING
cdef int K_NOTHING, K_EMPTY, K_UNION, K_BYTES, K_REPEAT, K_COUNTING
cdef long long FAR
cdef int NONE


@cython.locals(mixed="long long")
cdef int _mix(long long value, int kind, int tail) noexcept


@cython.final
cdef class TermColumn:
    cdef public int[::1] values      # by term
    cdef int _initial                # the value for every new term


@cython.final
cdef class TermTable:
    cdef readonly object limits
    cdef readonly int count                  # the number of terms
    cdef readonly int pairs                  # remembered facts about pairs of terms
    cdef readonly int capacity               # length of the columns
    cdef int _limit                          # maximum of count + pairs
    cdef public unsigned char[::1] accepting # by term: 1 if it matches the empty text
    cdef public unsigned char[::1] kind      # by term: the kind of its head
    cdef public unsigned char[::1] may_be_empty      # by term: 1 if it holds an intersection or a complement
    cdef public unsigned char[::1] counted   # by term: 1 if it repeats something from 0 to a maximum
    cdef public int[::1] tail                # by term: the term after its head
    cdef public long long[::1] min_len       # by term: a lower bound of the length of its texts, in bytes
    cdef readonly list payload               # by term: the data of its head
    cdef list _columns                       # of TermColumn: the columns of other components
    cdef int[::1] _mark_of                   # by term: a hash of its kind, payload and tail
    cdef int[::1] _first_in                  # by bucket of the hash table: its last term + 1, or 0
    cdef int[::1] _next_in                   # by term: the term before it in the same bucket, + 1, or 0
    cdef int _buckets                        # number of buckets, that of the terms
    cdef int _round_size                     # their number when this round of divisions began

    cpdef TermColumn add_column(self, int initial=*)
    @cython.locals(bucket=int)
    cdef int _bucket_of(self, int mark) noexcept
    @cython.locals(bucket=int)
    cdef void _put(self, int term) noexcept
    @cython.locals(divided=int, term=int, following=int)
    cdef void _divide(self) noexcept
    @cython.locals(mark=int, found=int, term=int)
    cpdef int intern(self, int kind, object payload, int tail, int accepting, int may_be_empty, long long min_len) except -1
    cpdef int count_pairs(self, int count) except -1
    @cython.locals(part=int)
    cdef bint _holds_count(self, int kind, payload, int tail) except -1
    cpdef bint all_accepting(self, object terms) except -1
    @cython.locals(term=int, count=int)
    cpdef int count_accepting(self, object terms) except -1
    @cython.locals(term=int, count=int)
    cpdef int count_unions(self, set terms) except -1
