cimport cython

from structgen.engine.arrays cimport grown, zeros

# The numbers of structgen/engine/constants.py.
cdef int ANY_BYTE, EMPTY, NOTHING
cdef int K_NOTHING, K_EMPTY, K_UNION, K_LITERAL, K_BYTES, K_CHARS, K_REPEAT, K_INTERSECTION, K_COMPLEMENT, K_EARLY
cdef int K_TABLE, K_SUBSTRINGS, K_MULTIPLE, K_COUNTING, K_BOUNDED
cdef long long FAR
cdef int FREE, TABLE_TEXTS


@cython.locals(mixed="long long")
cdef int _mix(long long value, int kind, int tail) noexcept


cdef class TermTable:
    cdef public object limits
    cdef public int count                    # terms made
    cdef public int pairs                    # pairs of terms of which something is remembered
    cdef int _limit                          # how many of both there may be
    cdef public int _capacity                # length of the arrays by term
    cdef public unsigned char[::1] accepting # by term: the empty text is in its language
    cdef public unsigned char[::1] kind      # its head's kind
    cdef public unsigned char[::1] may_be_empty      # holds an intersection or a complement
    cdef public unsigned char[::1] counted   # holds a bound on how often something comes
    cdef public int[::1] tail                # the term after its head
    cdef public long long[::1] min_len       # a lower bound of the length of its texts, in bytes
    cdef public list payload                 # what belongs to the kind
    cdef int[::1] _mark_of                   # a hash of its kind, payload and tail
    cdef int[::1] _table                     # these hashed: one more than a term, or FREE
    cdef public list _classes                # by class: its byte sequences
    cdef dict _class_of_sequences
    cdef dict _class_of_ranges
    cdef list _class_cover
    cdef list _class_alphabet
    cdef public list _tables                 # by table: its sorted texts
    cdef dict _table_of
    cdef dict _table_alphabets               # table -> its alphabet
    cdef dict _covers                        # body -> what its star covers
    cdef dict _alphabets                     # term -> its alphabet
    cdef dict _codes                         # term -> whether it is a prefix code

    @cython.locals(term=int, at=int, mask=int)
    cdef int _rehash(self) except -1
    @cython.locals(mark=int, table="int[::1]", mask=int, at=int, found=int, term=int)
    cpdef int _intern(self, int kind, object payload, int tail, int accepting, int may_be_empty, long long min_len) except -1
    cdef int _count_pairs(self, int count) except -1
    @cython.locals(part=int)
    cdef bint _holds_count(self, int kind, payload, int tail) except -1
    cpdef bint _all_accepting(self, object terms) except -1
    @cython.locals(term=int, count=int)
    cpdef int _count_accepting(self, object terms) except -1
    @cython.locals(term=int, count=int)
    cpdef int _count_unions(self, set terms) except -1
