cimport cython

from structgen.engine.arrays cimport grown, zeros

# Typed copies of the constants of structgen/engine/constants.py.
cdef int ANY_BYTE, EMPTY, NOTHING
cdef int K_NOTHING, K_EMPTY, K_UNION, K_BYTES, K_REPEAT, K_COUNTING
cdef long long FAR
cdef int FREE


@cython.locals(mixed="long long")
cdef int _mix(long long value, int kind, int tail) noexcept


@cython.final
cdef class TermColumn:
    cdef public int[::1] values      # by term
    cdef int _initial                # the value of every new term


@cython.final
cdef class TermTable:
    cdef readonly object limits
    cdef readonly int count                  # terms made
    cdef readonly int pairs                  # pairs of terms of which something is remembered
    cdef readonly int capacity               # length of the columns
    cdef int _limit                          # largest sum of terms and pairs
    cdef public unsigned char[::1] accepting # by term: the empty text is in its language
    cdef public unsigned char[::1] kind      # its head's kind
    cdef public unsigned char[::1] may_be_empty      # holds an intersection or a complement
    cdef public unsigned char[::1] counted   # holds a bound on how often something comes
    cdef public int[::1] tail                # the term after its head
    cdef public long long[::1] min_len       # a lower bound of the length of its texts, in bytes
    cdef readonly list payload               # what belongs to the kind
    cdef list _columns                       # of TermColumn: those of other components
    cdef int[::1] _mark_of                   # a hash of its kind, payload and tail
    cdef int[::1] _table                     # these hashed: one more than a term, or FREE

    cpdef TermColumn add_column(self, int initial=*)
    @cython.locals(term=int, at=int, mask=int)
    cdef int _rehash(self) except -1
    @cython.locals(mark=int, table="int[::1]", mask=int, at=int, found=int, term=int)
    cpdef int intern(self, int kind, object payload, int tail, int accepting, int may_be_empty, long long min_len) except -1
    cpdef int count_pairs(self, int count) except -1
    @cython.locals(part=int)
    cdef bint _holds_count(self, int kind, payload, int tail) except -1
    cpdef bint all_accepting(self, object terms) except -1
    @cython.locals(term=int, count=int)
    cpdef int count_accepting(self, object terms) except -1
    @cython.locals(term=int, count=int)
    cpdef int count_unions(self, set terms) except -1
