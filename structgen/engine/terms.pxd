cimport cython

# The numbers of structgen/engine/term_kinds.py.
cdef int ALL, ANY_BYTE, EMPTY, NOTHING
cdef int K_NOTHING, K_EMPTY, K_UNION, K_LITERAL, K_BYTES, K_CHARS, K_REPEAT, K_INTERSECTION, K_COMPLEMENT, K_EARLY
cdef int K_TABLE, K_SUBSTRINGS
cdef int CHUNK, MAX_FACTORING
cdef long long FAR


cdef class TermTable:
    cdef public object limits
    cdef public int count                    # terms made
    cdef int _limit                          # and how many may be made
    cdef public int _capacity                # length of the arrays by term
    cdef public unsigned char[::1] accepting # by term: the empty text is in its language
    cdef public unsigned char[::1] kind      # its head's kind
    cdef public unsigned char[::1] hard      # holds an intersection or a complement
    cdef public int[::1] tail                # the term after its head
    cdef public long long[::1] min_len       # a lower bound of the length of its texts, in bytes
    cdef public list payload                 # what belongs to the kind
    cdef dict _terms                         # (kind, payload, tail) -> term
    cdef dict _unions                        # sorted parts as given -> union
    cdef dict _appended                      # (term, tail) -> term
    cdef public list _classes                # by class: its byte sequences
    cdef dict _class_of_sequences
    cdef dict _class_of_ranges
    cdef list _class_cover
    cdef list _class_alphabet
    cdef public list _tables                 # by table: its sorted texts
    cdef dict _table_of
    cdef dict _covers                        # body -> what its star covers
    cdef dict _alphabets                     # term -> its alphabet
    cdef int _factoring                      # how deep in factoring unions

    @cython.locals(key=tuple, term=int)
    cpdef int _intern(self, int kind, object payload, int tail, int accepting, int hard, long long min_len) except -1
    @cython.locals(size="Py_ssize_t", following=bytes)
    cpdef int literal(self, bytes data, int tail) except -1
    cpdef long long _sum(self, long long left, long long right) noexcept
    @cython.locals(body=int, low="long long", high="long long")
    cpdef int byte_set(self, object mask, int tail) except -1
    @cython.locals(body=int, low="long long", high="long long")
    cpdef int _char_class(self, int number, int tail) except -1
    @cython.locals(least="long long", more="long long", most="long long")
    cpdef int repeat(self, int body, long long low, long long high, int tail) except -1
    @cython.locals(accepting=int)
    cpdef int complement(self, int term, int tail) except -1
    @cython.locals(prefix=list, result=int)
    cpdef int early(self, int term, int tail) except -1
    @cython.locals(texts=tuple, ends=bint, accepting=int)
    cpdef int table(self, int number, int low, int high, int depth, int tail) except -1
    cpdef int substrings(self, int number, int state, int tail) except -1
    @cython.locals(done=dict, stack=list, top=int, after=int, result=int)
    cpdef int append(self, int term, int tail) except -1
    @cython.locals(kind=int)
    cpdef int _with_tail(self, int term, int tail) except -1
    @cython.locals(found=set, part=int, key=tuple)
    cpdef int union(self, object parts) except -1
    @cython.locals(repeats=int, stars=int, heads=dict, tails=dict, shared_heads=bint, shared_tails=bint, term=int, kind=int,
                   same=list, before=int, accepting=int, hard=int, least="long long")
    cpdef int _normal_union(self, set found) except -1
    cpdef bint _all_accepting(self, object terms) except -1
    @cython.locals(term=int, count=int)
    cpdef int _count_accepting(self, object terms) except -1
    @cython.locals(term=int, count=int)
    cpdef int _count_unions(self, set terms) except -1
    @cython.locals(term=int, body=int, low="long long", high="long long", groups=dict, more="long long", most="long long", tail=int, counts=list)
    cpdef _merge_repeats(self, set found)
    cpdef _merge_bytes(self, set found, dict tails)
    cpdef _factor_heads(self, set found, dict heads)
