cimport cython

from structgen.engine.arrays cimport grown, head, zeros
from structgen.engine.automata cimport AutomatonStore
from structgen.engine.mask_tables cimport CountedTerminal, DenseMask, Exits, TerminalMask, Trie

cdef int DIFFERENCE_NODES, MERGED_EXITS, MERGED_NODES, MODELS, NO_BYTE, RECORD_BYTES, REMOVED_TOKENS, ROOT_NODE
cdef unsigned int ALL_BITS
cdef int SPARSE_TOKENS, UNKNOWN


cdef class TerminalMasks:
    cdef public object vocabulary
    cdef public AutomatonStore automata
    cdef public Trie trie
    cdef public int words
    cdef public long long bytes_used
    cdef public long long nodes_visited
    cdef readonly Exits whole               # the root of the vocabulary's trie
    cdef int[::1] _record_of        # by state: index in _records, or -1
    cdef list _records
    cdef dict _counted
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
    cdef readonly list dense
    cdef readonly list exits
    cdef int _walk_serial
    cdef int[::1] _token_mark       # by token: the walk in which it was last found
    cdef dict _united
    cdef int[::1] _gone             # tokens behind exits that a state like this one has, and this one has not
    cdef int _gone_size
    cdef list _models               # wide states that were walked last

    @cython.locals(record=int)
    cpdef TerminalMask get(self, int state)
    @cython.locals(made=TerminalMask)
    cpdef TerminalMask behind(self, Exits exits, int state)
    @cython.locals(made=TerminalMask)
    cdef TerminalMask _record(self)
    cdef int _keep_dense(self, mask) except -1
    cdef void _add_exits(self, TerminalMask table, Exits exits) except *
    @cython.locals(made=TerminalMask, part=TerminalMask)
    cpdef TerminalMask united(self, list parts)
    @cython.locals(words="unsigned int[::1]", one="unsigned int", index=int, token=int)
    cdef _meant(self, TerminalMask part)
    @cython.locals(first=int)
    cdef Exits _exits_found(self, Trie trie, int least, int most, removed)
    @cython.locals(first=int, index=int)
    cdef int _keep(self, int[::1] values, int count) except -1
    @cython.locals(made=TerminalMask)
    cdef TerminalMask _of_count(self, CountedTerminal counted, int least, int most)
    @cython.locals(made=TerminalMask, stop=int, more=int, rest_first=int, rest_last=int)
    cdef TerminalMask _made_of_count(self, CountedTerminal counted, int least, int most)
    @cython.locals(index=int)
    cdef int _append(self, int[::1] tokens, int first, int last) except -1
    @cython.locals(may_repeat=bint, trie=Trie, automata=AutomatonStore, only=int, index=int, node=int, stop=int, depth=int, state=int, states="int[::1]")
    cdef void _walk(self, Exits exits, int start) except *
    @cython.locals(trie=Trie, index=int, token=int)
    cdef void _add_meant(self, Exits exits, int node, bint may_repeat) except *
    @cython.locals(trie=Trie, index=int)
    cdef int _add_tokens(self, int node, int count) except -1
    @cython.locals(trie=Trie, index=int)
    cdef int _add_rest(self, int node, int count) except -1
    cdef int _add_exit(self, int node, int count) except -1
    @cython.locals(place="int[::1]", sorted_tokens="int[::1]", sorted_counts="int[::1]", index=int, count=int, at=int)
    cpdef tuple _by_count(self, int[::1] tokens, int[::1] counts, int size)
    @cython.locals(trie=Trie, automata=AutomatonStore, rest_may_be_empty=bint, states="int[::1]", in_rest="int[::1]", counts="int[::1]", node=int, depth=int, byte=int, before=int, phase=int, count=int, state=int, into_rest=int)
    cdef bint _walk_counted(self, int char_state, int rest_state) except -1
    cdef CountedTerminal _new_counted(self)
    @cython.locals(trie=Trie, automata=AutomatonStore, states="int[::1]", counts="int[::1]", node=int, depth=int, before=int, state=int, count=int, needed=int)
    cdef void _walk_bounded(self, int free) except *
    @cython.locals(words="unsigned int[::1]", one="unsigned int", index=int, token=int)
    cdef int _made_dense(self, int[::1] tokens, int count) except -1
    @cython.locals(automata=AutomatonStore, trie=Trie, same=int, different=int, byte=int, node=int, mine=int)
    cdef bint _resembles(self, int state, int like) except -1
    @cython.locals(base=TerminalMask, made=TerminalMask, old=Exits)
    cpdef TerminalMask _difference(self, int state, int like)
    @cython.locals(trie=Trie, automata=AutomatonStore, states="int[::1]", others="int[::1]", visited=int, node=int, depth=int, byte=int, mine=int, other=int)
    cdef bint _walk_both(self, int state, int like) except -1
    @cython.locals(trie=Trie, index=int)
    cdef void _add_gone(self, int node) except *
    @cython.locals(trie=Trie, index="Py_ssize_t", nodes=int, exit_node=int, skipped=int, count=int, at=int, token=int)
    cpdef Trie _merge(self, int[::1] exits, int[::1] counts)
