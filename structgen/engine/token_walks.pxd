cimport cython

from structgen.engine.arrays cimport grown, zeros
from structgen.engine.automata cimport AutomatonStore
from structgen.engine.mask_tables cimport Exits, Trie

cdef int DIFFERENCE_NODES, MANY_BYTES, NOT_EXPANDED, NO_BYTE, ROOT_NODE


cdef class TokenWalks:
    cdef public AutomatonStore automata
    cdef public Trie trie
    cdef public long long bytes_used
    cdef public long long nodes_visited
    cdef readonly Exits whole               # the root of the vocabulary's trie
    cdef int[::1] _state_at         # by depth, while walking: automaton state,
    cdef int[::1] _phase_at         # 1 once past the counted class,
    cdef int[::1] _count_at         # how many of the class were begun
    cdef int[::1] _tokens           # found tokens, and their counts
    cdef int[::1] _token_counts
    cdef int _token_size
    cdef int[::1] _rest
    cdef int[::1] _rest_counts
    cdef int _rest_size
    cdef int[::1] _exits
    cdef int[::1] _exit_counts
    cdef int _exit_size
    cdef int _largest
    cdef readonly int[::1] pool     # tokens and nodes that the tables refer to
    cdef int _pool_size
    cdef int _walk_serial
    cdef int[::1] _token_mark       # by token: the walk in which it was last found
    cdef int[::1] _gone             # tokens behind exits that a state like this one has, and this one has not
    cdef int _gone_size

    cdef void _forget(self) noexcept
    @cython.locals(first=int, index=int)
    cdef int _keep(self, int[::1] values, int count) except -1
    @cython.locals(may_repeat=bint, trie=Trie, automata=AutomatonStore, only=int, here=int, index=int, node=int, stop=int, depth=int, state=int, row="Py_ssize_t", visited="long long", rows="int[::1]", states="int[::1]", row_at="int[::1]", byte_of="int[::1]", end_of="int[::1]", depth_of="int[::1]", token_start="int[::1]", token_at="int[::1]", tokens="int[::1]", first=int, last=int, at=int)
    cdef void _walk(self, Exits exits, int start) except *
    @cython.locals(trie=Trie, index=int, token=int)
    cdef void _add_meant(self, Exits exits, int node) except *
    cdef int _grow_tokens(self, int more) except -1
    @cython.locals(trie=Trie, index=int)
    cdef int _add_tokens(self, int node, int count) except -1
    @cython.locals(trie=Trie, index=int)
    cdef int _add_rest(self, int node, int count) except -1
    cdef int _add_exit(self, int node, int count) except -1
    @cython.locals(index=int)
    cdef int _append(self, int[::1] tokens, int first, int last) except -1
    @cython.locals(trie=Trie, automata=AutomatonStore, states="int[::1]", others="int[::1]", visited=int, node=int, depth=int, byte=int, mine=int, other=int)
    cdef bint _walk_both(self, int state, int like) except -1
    @cython.locals(trie=Trie, index=int)
    cdef void _add_gone(self, int node) except *
    @cython.locals(trie=Trie, automata=AutomatonStore, rest_may_be_empty=bint, states="int[::1]", in_rest="int[::1]", counts="int[::1]", node=int, depth=int, byte=int, before=int, phase=int, count=int, state=int, into_rest=int)
    cdef bint _walk_counted(self, int char_state, int rest_state) except -1
    @cython.locals(trie=Trie, automata=AutomatonStore, states="int[::1]", counts="int[::1]", node=int, depth=int, before=int, state=int, count=int, needed=int)
    cdef void _walk_bounded(self, int free) except *
