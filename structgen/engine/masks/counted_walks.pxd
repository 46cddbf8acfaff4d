cimport cython

from structgen.engine.arrays cimport zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.tables cimport Trie
from structgen.engine.masks.token_walks cimport TokenWalks

cdef int DEAD, EMPTY, K_COUNTING, NO_BYTE, NO_MAP, NOT_EXPANDED


cdef class CountedWalks(TokenWalks):
    cdef int[::1] _phase_at         # by depth, while walking: 1 once past the counted class,
    cdef int[::1] _count_at         # how many of the class were begun

    @cython.locals(trie=Trie, automata=AutomatonStore, class_of="int[::1]", targets="int[::1]", pools=int, map_at="int[::1]", targets_at="int[::1]", byte_of="int[::1]", end_of="int[::1]", depth_of="int[::1]", node=int, depth=int, state=int, visited=int, behind="unsigned long long[::1]", characters="unsigned long long", rest_may_be_empty=bint, state_at="int[::1]", in_rest="int[::1]", counts="int[::1]", token_start="int[::1]", size=int, byte=int, at=int, phase=int, count=int, rest=int, number=int)
    cdef bint _walk_counted(self, int char_state, int rest_state, bint absorbs) except -1
    cdef unsigned long long _characters_of(self, int char_state, int rest_state, bint absorbs) except? 1
    @cython.locals(state_at="int[::1]", is_between=bint, trie=Trie, automata=AutomatonStore, class_of="int[::1]", targets="int[::1]", pools=int, map_at="int[::1]", targets_at="int[::1]", byte_of="int[::1]", end_of="int[::1]", depth_of="int[::1]", node=int, depth=int, state=int, visited=int, behind="unsigned long long[::1]", counts="int[::1]", begins="int[::1]", token_start="int[::1]", size=int, at=int, count=int, needed=int, token_at="int[::1]", tokens="int[::1]", needs="int[::1]", end=int, first=int, last=int, index=int, star=int, characters="unsigned long long", skips=bint)
    cdef int _walk_bounded(self, int free) except -1
    @cython.locals(trie=Trie, first=int, last=int, tokens="int[::1]", counts="int[::1]", size=int, token_at="int[::1]", token_count="int[::1]", largest=int, at=int, needed=int)
    cdef int _add_behind_counted(self, int node, int count, int least) except -1
