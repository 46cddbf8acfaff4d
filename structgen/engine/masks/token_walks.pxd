cimport cython

from structgen.engine.deadlines cimport spend
from structgen.engine.arrays cimport grown_pool, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.character_kinds cimport kind_of
from structgen.engine.masks.decided_subtrees cimport DecidedSubtrees
from structgen.engine.masks.leaving_nodes cimport LeavingNodes
from structgen.engine.masks.next_bytes cimport NextBytes
from structgen.engine.masks.skippable_states cimport SkippableStates
from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport RemainderNodes, Trie
from structgen.engine.masks.token_lists cimport CountedTokens, FoundTokens
from structgen.engine.masks.trie_walk cimport AutomatonPath, EnteredStates

cdef unsigned long long BROKEN_KIND, LOW_20_BITS, LOW_32_BITS, UNKNOWN_KINDS
cdef int FIRST_LEAD, K_LITERAL, MANY_NODES, MIN_ALONG, MIN_ALONG_TOKENS, MIN_CLOSED_TOKENS, MIN_DECIDED, MIN_HIGH, MIN_LARGE, MIN_WALKED, NODES_PER_STATE, MIN_ONCE, MIN_SKIPPED_TOKENS, NOT_ASKED, NOT_ENTERED, NO_BYTE, NO_MAP, ROOT_NODE


@cython.final
cdef class TokenWalks:
    cdef AutomatonStore _automata
    cdef TableStore _store
    cdef NextBytes _next_bytes
    cdef SkippableStates _skippable_states
    cdef EnteredStates _entered
    cdef FoundTokens _found
    cdef readonly long long nodes_visited
    cdef AutomatonPath _path
    cdef int[::1] _skippable_at     # by depth: the state's number among the skippable states
    cdef int[::1] _child_at         # by depth: the next child,
    cdef int[::1] _last_child_at    # the one after the last,
    cdef int[::1] _last_token_at    # and the token after those below the last
    cdef int _serial                # the number of the walk
    cdef int[::1] _walk_of_token    # by token: the walk in which it was last found
    cdef int[::1] _walk_of_node     # by node of a trie: the walk in which it was last come to,
    cdef int[::1] _state_of_node    # and the state
    cdef int[::1] _nodes            # at which the walk begins
    cdef int _node_count
    cdef DecidedSubtrees _decided
    cdef LeavingNodes _leaving_nodes
    cdef int[::1] _leaving_at       # by depth: where the set of the nodes begins that the walk goes along, or 0

    @cython.locals(automata=AutomatonStore, trie=Trie, may_repeat=bint, is_many=bint, is_before_next=bint, are_next=bint)
    cdef void walk(self, RemainderNodes remainders, int start) except *
    @cython.locals(found=FoundTokens, automata=AutomatonStore, trie=Trie, path=AutomatonPath, class_of="int[::1]", targets="int[::1]", pools=int, records="int[::1]", record=int, map_at="int[::1]", targets_at="int[::1]", token_at="int[::1]", visited=int, depth=int, at=int, state=int, end=int, first=int, last=int, index=int, node=int, stop=int, entered_depth=int, walk_of="int[::1]", state_of="int[::1]", serial=int)
    cdef int _walk_from_nodes(self, RemainderNodes remainders, int start, bint may_repeat, bint are_next) except -1
    @cython.locals(automata=AutomatonStore, trie=Trie, path=AutomatonPath, found=FoundTokens, kept=int, index=int, node=int, state=int)
    cdef int _walk_large(self, int start) except -1
    @cython.locals(found=FoundTokens, automata=AutomatonStore, trie=Trie, skippable_states=SkippableStates, entered=EnteredStates, decided=DecidedSubtrees, path=AutomatonPath, class_of="int[::1]", targets="int[::1]", pools=int, records="unsigned long long[::1]", kinds_of_byte="unsigned long long[::1]", kinds_within="unsigned long long[::1]", entry="unsigned long long", more="unsigned long long", first_child="int[::1]", token_at="int[::1]", map_at="int[::1]", targets_at="int[::1]", state_at="int[::1]", skippable_at="int[::1]", at_depth="int[::1]", stop_at_depth="int[::1]", last_at_depth="int[::1]", inside=CountedTokens, tokens="int[::1]", size=int, at=int, stop=int, last=int, visited=int, depth=int, child=int, record=int, first=int, after=int, byte=int, number=int, after_one=int, leaving=int, begun=int, along=int, along_state=int, leaving_nodes=LeavingNodes, leaving_at="int[::1]", node_records="int[::1]", place=int, state=int, node=int, height=int, index=int, patience=int, is_closed=bint, absent="unsigned long long", free="unsigned long long", kinds="unsigned long long", reach=int, refusing=int, is_recording=bint)
    cdef int _walk_below(self, int top, int start) except -1
    @cython.locals(trie=Trie)
    cdef int _skip_with_exits(self, int node, int first, int after) except -1
    cdef int _begin_at(self, int first, int last) except -1
    @cython.locals(nodes="int[::1]", pool="int[::1]", count=int, index=int)
    cdef int _add_nodes(self, int first, int last) except -1
    @cython.locals(trie=Trie, stop=int, at=int, byte=int, index=int, kept=int, node=int)
    cdef int _read_literal(self, RemainderNodes remainders, int literal, bint is_many) except -1
    @cython.locals(pool="int[::1]", entry=int)
    cdef void _begin_after_byte(self, RemainderNodes remainders, int byte) except *
    @cython.locals(path=AutomatonPath, pool="int[::1]", entry=int)
    cdef int _begin_after_next_byte(self, RemainderNodes remainders, int start) except -1
    @cython.locals(path=AutomatonPath, trie=Trie, at=int, node=int, index=int, entry=int)
    cdef int _begin_at_children(self, RemainderNodes remainders, int start) except -1
    @cython.locals(trie=Trie, first=int, last=int, count=int, nodes="int[::1]", bits="unsigned long long[::1]", by_byte="int[::1]", parent_of="int[::1]", at=int, parent=int)
    cdef void _add_nodes_of_byte(self, RemainderNodes remainders, int byte) except *
    @cython.locals(end="int[::1]", index=int, node=int, below="long long", below_others="long long")
    cdef bint _may_meet(self, RemainderNodes remainders) except -1
    @cython.locals(trie=Trie, inside=CountedTokens, index=int, token=int)
    cdef int _add_tokens_at(self, RemainderNodes remainders, int node) except -1
