cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.skippable_states cimport SkippableStates
from structgen.engine.masks.tables cimport Trie
from structgen.engine.masks.token_lists cimport FoundTokens
from structgen.engine.masks.trie_walk cimport AutomatonPath, TrieWalk

cdef int DESCEND, MAX_DIFFERENT_NODES, MIN_ALIKE, SKIP, STOP
cdef unsigned long long NOT_ASKED


cdef class DifferenceWalk(TrieWalk):
    cdef AutomatonStore _automata
    cdef SkippableStates _skippable_states
    cdef FoundTokens _found
    cdef unsigned long long _absent
    cdef AutomatonPath _path
    cdef AutomatonPath _other_path

    cdef bint compare(self, int state, int other) except -1
    @cython.locals(automata=AutomatonStore, found=FoundTokens, trie=Trie, state=int, other=int, first=int, last=int, end=int)
    cdef int visit(self, int node, int depth, int byte) except -1
    @cython.locals(found=SkippableStates)
    cdef bint _are_alike(self, int node, int state, int other) except -1
