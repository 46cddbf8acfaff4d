cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.character_kinds cimport kind_of
from structgen.engine.masks.skippable_states cimport SkippableStates
from structgen.engine.masks.tables cimport Trie
from structgen.engine.masks.token_lists cimport FoundTokens, TokenList
from structgen.engine.masks.trie_walk cimport AutomatonPath

cdef int MAX_UNDECIDED, MAX_READ, MAX_NUMBERS, TOKENS_PER_STATE
cdef unsigned long long BROKEN_KIND


@cython.final
cdef class DecidedSubtrees:
    cdef AutomatonStore _automata
    cdef Trie _trie
    cdef object _spellings
    cdef SkippableStates _skippable_states
    cdef FoundTokens _found
    cdef int _undecided             # subtrees that this walk has visited in vain
    cdef readonly int nodes_visited
    cdef AutomatonPath _path        # of the automaton, by number of bytes below a node
    cdef bytes _data                # the token that it has read last,
    cdef int _read                  # and how many bytes below the node

    cdef int begin(self) except -1
    @cython.locals(found=FoundTokens, trie=Trie, skippable_states=SkippableStates, kinds="unsigned long long", own="unsigned long long", reach=int, most=int, size=int, last=int, begun=int, stop=int, node=int, end=int, count=int, first=int, after=int, is_alike=bint)
    cdef bint add(self, int top, int number, int state) except -1
    @cython.locals(found=FoundTokens, trie=Trie, begun=int, above=int, first=int, last=int, at=int, count=int, count_at="int[::1]", may_read=bint)
    cdef bint _add_by_length(self, int top, int state, int reach, int most) except -1
    @cython.locals(tokens=int)
    cdef bint _may_read(self, int top, int reach, int most) noexcept
    @cython.locals(before=bytes, most=int, same=int)
    cdef int _begin_reading(self, bytes data, int above) except -1
    @cython.locals(automata=AutomatonStore, path=AutomatonPath, data=bytes, left=int, state=int)
    cdef bint _reads_on(self, int above) except -1
    @cython.locals(below=TokenList)
    cdef bint _give_up(self, int size, int last) except -1
