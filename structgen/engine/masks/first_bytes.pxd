cimport cython

from structgen.engine.arrays cimport head
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.tables cimport Trie

cdef int DEAD, MAX_BYTES_AFTER, WIDE


@cython.final
cdef class FirstBytes:
    cdef AutomatonStore _automata
    cdef Trie _trie
    cdef int[::1] _bytes

    @cython.locals(needed=int, left=int, index=int, byte=int, nodes=int)
    cdef bint is_wide(self, int state) except -1
    @cython.locals(node=int)
    cpdef int _nodes_after(self, int byte) noexcept
    @cython.locals(automata=AutomatonStore, same=int, different=int, left=int, index=int, byte=int, nodes=int, mine=int)
    cdef bint resembles(self, int state, int like) except -1
    @cython.locals(found=int, lead=int, index=int, byte=int, after=int, nodes=int)
    cdef int after_most(self, int state) except -1
