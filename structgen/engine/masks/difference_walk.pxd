cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.tables cimport Trie
from structgen.engine.masks.token_lists cimport FoundTokens
from structgen.engine.masks.trie_walk cimport AutomatonPath, TrieWalk

cdef int DESCEND, MAX_DIFFERENT_NODES, SKIP, STOP


cdef class DifferenceWalk(TrieWalk):
    cdef AutomatonStore _automata
    cdef FoundTokens _found
    cdef AutomatonPath _path
    cdef AutomatonPath _other_path

    cdef bint compare(self, int state, int other) except -1
    @cython.locals(automata=AutomatonStore, found=FoundTokens, trie=Trie, state=int, other=int, first=int, last=int, end=int)
    cdef int visit(self, int node, int depth, int byte) except -1
