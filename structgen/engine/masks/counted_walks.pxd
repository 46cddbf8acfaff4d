cimport cython

from structgen.engine.arrays cimport zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.deadlines cimport spend
from structgen.engine.masks.character_kinds cimport CharacterKinds, kind_of, kinds_outside
from structgen.engine.masks.leaving_nodes cimport LeavingNodes
from structgen.engine.masks.skippable_states cimport SkippableStates
from structgen.engine.masks.tables cimport Trie
from structgen.engine.masks.token_lists cimport CountedTokens, FoundTokens
from structgen.engine.masks.trie_walk cimport AutomatonPath, EnteredStates, TrieWalk

cdef int ASK, DEAD, DESCEND, EMPTY, FIRST_LEAD, K_COUNTING, NOT_EXPANDED, NO_BYTE, NO_MAP, NO_STATE, MIN_ALONG, MIN_ALONG_TOKENS, SKIP, STOP
cdef unsigned long long ALL_KINDS, BROKEN_KIND, LOW_20_BITS, LOW_32_BITS


cdef class CountedWalk(TrieWalk):
    cdef AutomatonStore _automata
    cdef CharacterKinds _kinds
    cdef SkippableStates _skippable_states
    cdef FoundTokens _found
    cdef AutomatonPath _path
    cdef AutomatonPath _rest_path
    cdef int[::1] _has_rest_begun   # by depth: 1 once past the counted class
    cdef int[::1] _count_at         # by depth: how many of the class were begun
    cdef int _char_state
    cdef int _rest_state
    cdef bint _absorbs
    cdef unsigned long long _characters
    cdef int[::1] _step_of
    cdef int[::1] _child_at
    cdef int[::1] _last_child_at
    cdef int[::1] _last_token_at

    @cython.locals(automata=AutomatonStore)
    cdef bint count(self, int char_state, int rest_state, bint absorbs) except -1
    cdef void _enter(self, int depth, int count) noexcept
    @cython.locals(byte=int)
    cdef int _set_steps(self) except -1
    @cython.locals(found=FoundTokens, trie=Trie, characters="unsigned long long", step_of="int[::1]", records="unsigned long long[::1]", kinds_of_byte="unsigned long long[::1]", entry="unsigned long long", more="unsigned long long", byte=int, most=int, first_child="int[::1]", token_at="int[::1]", at_depth="int[::1]", stop_at_depth="int[::1]", last_at_depth="int[::1]", visited=int, depth=int, at=int, stop=int, last=int, record=int, step=int, first=int, after=int, node=int, index=int)
    cdef bint _walk_characters(self) except -1
    @cython.locals(found="unsigned long long")
    cdef unsigned long long _only_counted(self, int char_state, int rest_state, bint absorbs) except? 1
    @cython.locals(automata=AutomatonStore, above=int, has_rest_begun=int, count=int, state=int, rest=int)
    cdef int visit(self, int node, int depth, int byte) except -1
    @cython.locals(found=FoundTokens, trie=Trie, first=int, last=int, end=int, tokens=CountedTokens, index=int, number=int)
    cdef bint _add(self, int node, int state, int rest, int has_rest_begun, int count) except -1


cdef class BoundedWalk(TrieWalk):
    cdef AutomatonStore _automata
    cdef CharacterKinds _kinds
    cdef EnteredStates _entered
    cdef FoundTokens _found
    cdef AutomatonPath _path
    cdef int[::1] _count_at
    cdef int[::1] _may_begin
    cdef int[::1] _child_at         # by depth: the next child,
    cdef int[::1] _last_child_at    # the one after the last,
    cdef int[::1] _last_token_at    # and the token after those below the last
    cdef int[::1] _characters_at    # by depth, of `_walk_children`: the number of characters up to there,
    cdef int[::1] _base_at          # the count of a token besides its number of characters,
    cdef int[::1] _least_at         # the least count of a token,
    cdef unsigned long long[::1] _free_at   # and the kinds of characters that only count
    cdef LeavingNodes _leaving_nodes
    cdef int[::1] _leaving_at       # by depth: where the set of the nodes begins that the walk goes along, or 0,
    cdef int[::1] _first_count_at   # and the count before the first of them
    cdef int _body
    cdef unsigned long long _characters
    cdef unsigned long long _absent
    cdef int _known
    cdef bint _has_only_least_count
    cdef unsigned long long _staying
    cdef int _known_before
    cdef int _after_one
    cdef unsigned long long _staying_after_one

    @cython.locals(automata=AutomatonStore, star=int)
    cdef int count(self, int free) except -1
    @cython.locals(found=FoundTokens, trie=Trie, path=AutomatonPath, records="unsigned long long[::1]", kinds_of_byte="unsigned long long[::1]", first_child="int[::1]", at_depth="int[::1]", stop_at_depth="int[::1]", last_at_depth="int[::1]", visited=int, depth=int, characters=int, largest=int, free="unsigned long long", count=int, least=int, at=int, stop=int, last=int, record=int, entry="unsigned long long", more="unsigned long long", byte=int, most=int, node=int, step=int, after=int, leaving=int, begun=int, along_state=int, is_large=bint, leaving_nodes=LeavingNodes, leaving_at="int[::1]")
    cdef void _walk_children(self) except *
    @cython.locals(trie=Trie, leaving=int, most=int)
    cdef int _leaving_from(self, int node, int state, int depth) except -1
    @cython.locals(count=int, begun=int)
    cdef unsigned long long _learned_kinds(self, int depth, int characters) except? 1
    @cython.locals(automata=AutomatonStore, found=FoundTokens, trie=Trie, path=AutomatonPath, above=int, state=int, count=int, first=int, last=int, tokens=CountedTokens, needed=int, is_between=bint)
    cdef int visit(self, int node, int depth, int byte) except -1
    cdef void _learn(self, int state) except *
    @cython.locals(kinds="unsigned long long")
    cdef bint _add_with_character(self, int node, int state, int count) except -1
    @cython.locals(target=int)
    cdef void _find_after_one(self, int state) except *
    @cython.locals(found=FoundTokens, trie=Trie, absent="unsigned long long", kinds="unsigned long long", begun=int, least=int, before=int, stop=int, node=int, end=int, first=int, after=int, most=int)
    cdef bint _add_decided(self, int top, int state, int count) except -1
    @cython.locals(least=int, begun=int)
    cdef bint _add_all(self, int node, unsigned long long kinds, int state, int count, bint is_with) except -1


@cython.locals(first=int, last=int)
cdef int add_with_counted(Trie trie, int node, FoundTokens found, int count, int least) except -1


@cython.locals(first=int, last=int)
cdef int add_below_counted(Trie trie, int node, FoundTokens found, int count, int least) except -1
