cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.character_kinds cimport kind_of
from structgen.engine.masks.skippable_states cimport SkippableStates
from structgen.engine.masks.tables cimport Trie

cdef int ALL_STAYS, EMPTY, FIRST_LEAD, K_BOUNDED, MAX_SETS, MIN_NODES, MIN_UNSET, NOTHING, NOTHING_STAYS, NO_SET
cdef unsigned char[::1] LOWEST


@cython.final
cdef class LeavingNodes:
    cdef SkippableStates _skippable_states
    cdef Trie _trie
    cdef int _width
    cdef unsigned char[::1] _bits
    cdef int _count
    cdef dict _set_of

    cdef int begin(self) except -1
    @cython.locals(found=object)
    cdef int find(self, int state) except -1
    cdef int find_counted(self, int state, unsigned long long kinds, int body) except -1
    @cython.locals(place=int, last=int, byte=int, found=int)
    cdef int next(self, int nodes, int node, int stop) noexcept
    @cython.locals(automata=AutomatonStore, trie=Trie, first_of_byte="int[::1]", begin=int, count=int, byte=int, target=int)
    cdef int _made(self, int state, unsigned long long kinds, int body) except -1
    @cython.locals(skippable_states=SkippableStates, number=int, free="unsigned long long")
    cdef int _add_leaving(self, int begin, int byte, int target) except -1
    @cython.locals(first_of_byte="int[::1]", count=int, byte=int)
    cdef int _looked_at(self, unsigned long long kinds) except -1
    @cython.locals(begin=int, place=int)
    cdef int _begin_set(self) except -1
    @cython.locals(skippable_states=SkippableStates, trie=Trie, bits="unsigned char[::1]", by_byte="int[::1]", kinds_at="unsigned long long[::1]", count=int, index=int, node=int, kinds="unsigned long long")
    cdef int _add(self, int begin, int byte, unsigned long long free, int number) except -1
