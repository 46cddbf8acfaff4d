cimport cython

from structgen.engine.masks.character_kinds cimport kind_of
from structgen.engine.masks.skippable_states cimport SkippableStates
from structgen.engine.masks.tables cimport Trie
from structgen.engine.masks.token_lists cimport FoundTokens

cdef int MAX_UNDECIDED


@cython.final
cdef class DecidedSubtrees:
    cdef Trie _trie
    cdef SkippableStates _skippable_states
    cdef FoundTokens _found
    cdef int _undecided             # subtrees that this walk has visited in vain
    cdef readonly int nodes_visited

    cdef int begin(self) except -1
    @cython.locals(found=FoundTokens, trie=Trie, skippable_states=SkippableStates, kinds="unsigned long long", own="unsigned long long", reach=int, most=int, size=int, last=int, begun=int, stop=int, node=int, end=int, count=int, first=int, after=int)
    cdef bint add(self, int top, int number, int state) except -1
