cimport cython

from structgen.engine.arrays cimport grown, room, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.character_kinds cimport CharacterKinds
from structgen.engine.masks.tables cimport RemainderNodes, Marks, Trie
from structgen.engine.masks.skippable_states cimport SkippableStates

cdef int DIFFERENCE_NODES, K_LITERAL, LARGE_SUBTREE, MANY_PLACES, NO_MAP, NOT_ENTERED, NO_BYTE, POOL, ROOT_NODE


cdef class TokenWalks:
    cdef public AutomatonStore automata
    cdef public Trie trie
    cdef readonly CharacterKinds kinds
    cdef readonly SkippableStates skippable_states
    cdef public long long bytes_used
    cdef public long long nodes_visited
    cdef readonly RemainderNodes whole               # the root of the vocabulary's trie
    cdef int[::1] _state_at         # by depth, while walking: automaton state,
    cdef int[::1] _open_at          # its number among the open states,
    cdef int[::1] _map_at           # where its class map begins,
    cdef int[::1] _targets_at       # and its targets,
    cdef int[::1] _other_map_at     # the same of a second automaton,
    cdef int[::1] _other_targets_at
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
    cdef int[::1] _places           # nodes that a walk begins at
    cdef int _place_count
    cdef int[::1] _token_mark       # by token: the walk in which it was last found
    cdef int[::1] _gone             # tokens behind exits that a state like this one has, and this one has not
    cdef int _gone_size
    cdef bint _keeps_entered
    cdef list _entered
    cdef Marks _states_entered

    cdef void _forget(self) noexcept
    cdef int _keep_entered(self, bint keeps) except -1
    cdef int _keep_state(self, int state) except -1
    @cython.locals(before="int[::1]", wider="int[::1]", first=int, index=int)
    cdef int _keep(self, int[::1] values, int count) except -1
    @cython.locals(automata=AutomatonStore)
    cdef void _enter(self, int depth, int state) noexcept
    @cython.locals(automata=AutomatonStore)
    cdef void _enter_other(self, int depth, int state) noexcept
    @cython.locals(trie=Trie, automata=AutomatonStore, class_of="int[::1]", targets="int[::1]", pools=int, map_at="int[::1]", targets_at="int[::1]", byte_of="int[::1]", end_of="int[::1]", depth_of="int[::1]", node=int, depth=int, state=int, visited="long long", may_repeat=bint, only=int, index=int, stop=int, behind="unsigned long long[::1]", token_start="int[::1]", token_at="int[::1]", tokens="int[::1]", first=int, last=int, at=int, end=int, size=int, number=int, state_at="int[::1]", open_at="int[::1]", height="int[::1]", skippable_states=SkippableStates)
    cdef void _walk(self, RemainderNodes exits, int start) except *
    @cython.locals(index=int)
    cdef int _begin_at(self, int first, int last) except -1
    @cython.locals(trie=Trie, stop=int, at=int, byte=int, index=int, kept=int, node=int)
    cdef int _along(self, RemainderNodes exits, int literal) except -1
    @cython.locals(index=int)
    cdef int _step_from_all(self, RemainderNodes exits, int byte) except -1
    @cython.locals(trie=Trie, index=int, token=int)
    cdef int _add_meant(self, RemainderNodes exits, int node) except -1
    cdef int _grow_tokens(self, int more) except -1
    @cython.locals(trie=Trie, index=int)
    cdef int _add_tokens(self, int node, int count) except -1
    @cython.locals(trie=Trie, index=int)
    cdef int _add_rest(self, int first, int last, int count) except -1
    cdef int _add_exit(self, int node, int count) except -1
    @cython.locals(index=int)
    cdef int _append(self, int[::1] tokens, int first, int last) except -1
    @cython.locals(trie=Trie, automata=AutomatonStore, class_of="int[::1]", targets="int[::1]", pools=int, map_at="int[::1]", targets_at="int[::1]", byte_of="int[::1]", end_of="int[::1]", depth_of="int[::1]", node=int, depth=int, state=int, visited=int, other_map_at="int[::1]", other_targets_at="int[::1]", size=int, byte=int, at=int, other_at=int, mine=int, other=int)
    cdef bint _walk_both(self, int state, int like) except -1
    @cython.locals(trie=Trie, index=int)
    cdef int _add_gone(self, int node) except -1
