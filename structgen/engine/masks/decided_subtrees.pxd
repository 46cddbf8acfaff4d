cimport cython

from structgen.engine.arrays cimport zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.character_kinds cimport kind_of
from structgen.engine.masks.skippable_states cimport SkippableStates
from structgen.engine.masks.tables cimport Trie
from structgen.engine.masks.token_lists cimport FoundTokens
from structgen.engine.masks.trie_walk cimport AutomatonPath


@cython.final
cdef class DecidedSubtrees:
    cdef AutomatonStore _automata
    cdef Trie _trie
    cdef SkippableStates _skippable_states
    cdef FoundTokens _found
    cdef AutomatonPath _path        # by nodes below the top: the state,
    cdef int[::1] _bytes            # and the byte
    cdef int _known                 # nodes below the top of which the path has the states
    cdef readonly int nodes_visited

    cdef int begin(self) except -1
    @cython.locals(found=FoundTokens, trie=Trie, skippable_states=SkippableStates, kinds="unsigned long long", own="unsigned long long", reach=int, most=int, begun=int, depth=int, has_long=bint, stop=int, node=int, end=int, count=int, first=int, after=int)
    cdef int add(self, int top, int number, int state) except -1
    cdef int _begin_path(self, int state) except -1
    @cython.locals(state=int)
    cdef bint _leads_on(self, int depth) except -1
