cimport cython

from structgen.engine.masks.next_bytes cimport NextBytes
from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport RemainderNodes
from structgen.engine.masks.token_lists cimport CountedTokens

cdef int MIN_NODES


@cython.final
cdef class Followed:
    cdef public list noted
    cdef public object bits


@cython.final
cdef class FollowedNodes:
    cdef TableStore _store
    cdef NextBytes _next_bytes
    cdef CountedTokens _new

    cdef bint is_large(self, RemainderNodes remainders) noexcept
    @cython.locals(before=Followed, noted=RemainderNodes, new=CountedTokens)
    cdef RemainderNodes new(self, dict followed, long long place, RemainderNodes remainders)
    @cython.locals(words="unsigned long long[::1]", own="unsigned long long[::1]", pool="int[::1]", new=CountedTokens, one="unsigned long long", index="Py_ssize_t", at=int, node=int)
    cdef void _add(self, bits, RemainderNodes remainders) except *
