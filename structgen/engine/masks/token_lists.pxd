cimport cython

from structgen.engine.arrays cimport grown_pool, zeros

cdef int FOUND_ROOM


cdef class TokenList:
    cdef public int[::1] values
    cdef public int size

    cdef int reserve(self, int more) except -1
    cdef int add(self, int value) except -1
    @cython.locals(mine="int[::1]", size=int, index=int)
    cdef int extend(self, int[::1] values, int first, int last) except -1


@cython.final
cdef class CountedTokens(TokenList):
    cdef public int[::1] counts

    cdef int add_counted(self, int value, int count) except -1
    @cython.locals(mine="int[::1]", counts="int[::1]", size=int, index=int)
    cdef int extend_counted(self, int[::1] values, int first, int last, int count) except -1


@cython.final
cdef class FoundTokens:
    cdef readonly CountedTokens inside
    cdef readonly CountedTokens rest
    cdef readonly TokenList below
    cdef readonly CountedTokens exits
    cdef readonly TokenList lost
    cdef public int largest_count
    cdef public bint is_ordered

    cdef void clear(self) noexcept
    @cython.locals(below=TokenList, size=int, is_next=bint)
    cdef int skip(self, int first, int last, int count, int least) except -1
    @cython.locals(count=int, at=int)
    cdef int inside_count(self) noexcept
    @cython.locals(inside=CountedTokens, below="int[::1]", at=int, first=int, last=int, count=int, least=int, tokens="int[::1]", counts="int[::1]", size=int, index=int, needed=int)
    cdef int add_below(self, int[::1] token_at, int[::1] token_count) except -1
