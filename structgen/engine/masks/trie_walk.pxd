cimport cython

from structgen.engine.deadlines cimport spend
from structgen.engine.arrays cimport zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.tables cimport Marks, Trie

cdef int DESCEND, SKIP


cdef class TrieWalk:
    cdef public Trie trie
    cdef public int visited
    cdef readonly long long nodes_visited

    @cython.locals(byte_of="int[::1]", end_of="int[::1]", depth_of="int[::1]", step=int)
    cdef bint walk(self, int node, int stop) except -1
    cdef int visit(self, int node, int depth, int byte) except -1


@cython.final
cdef class AutomatonPath:
    cdef AutomatonStore automata
    cdef readonly int[::1] state_at
    cdef readonly int[::1] map_at
    cdef readonly int[::1] targets_at

    @cython.locals(automata=AutomatonStore)
    cdef void enter(self, int depth, int state) noexcept
    @cython.locals(automata=AutomatonStore, at=int, state=int)
    cdef int target(self, int depth, int byte) except -1


@cython.final
cdef class EnteredStates:
    cdef readonly bint is_recording, has_ends
    cdef readonly list states
    cdef Marks _marks

    cdef int begin(self, bint has_ends) except -1
    cdef int end(self) except -1
    cdef int add(self, int state) except -1
