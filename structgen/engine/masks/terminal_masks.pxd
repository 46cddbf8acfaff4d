cimport cython

from structgen.engine.arrays cimport grown, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.bound_room cimport BoundRoom
from structgen.engine.masks.counted_masks cimport CountedMasks
from structgen.engine.masks.counted_walks cimport BoundedWalk, CountedWalk
from structgen.engine.masks.difference_walk cimport DifferenceWalk
from structgen.engine.masks.first_bytes cimport FirstBytes
from structgen.engine.masks.least_counts cimport LeastCounts
from structgen.engine.masks.next_bytes cimport NextBytes
from structgen.engine.masks.refused_bounds cimport RefusedBounds
from structgen.engine.masks.remainder_tries cimport RemainderTries
from structgen.engine.masks.skippable_states cimport SkippableStates
from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport CountedTerminal, MaskScratch, RemainderNodes, TerminalMask, Trie
from structgen.engine.masks.token_lists cimport CountedTokens, FoundTokens, TokenList
from structgen.engine.masks.token_walks cimport TokenWalks
from structgen.engine.masks.trie_walk cimport EnteredStates
from structgen.engine.pair_table cimport PairTable

cdef int DEAD, EMPTY, K_BYTES, K_INTERSECTION, K_LITERAL, K_REPEAT, MAX_BYTES, MAX_LISTED_AFTER, MAX_BASES, MAX_NEAR, MAX_WALKED, MAX_WALKED_COUNT, MIN_MERGED_EXITS, MIN_MERGED_TOKENS, MIN_PAIRS, NOTHING, NOTHING_LEFT, NO_REST, PAIRS_BYTES, PAIR_BYTES, RECORD_BYTES


@cython.final
cdef class TerminalMasks:
    cdef readonly AutomatonStore automata
    cdef readonly tuple spellings
    cdef readonly Trie trie
    cdef readonly TableStore store
    cdef readonly NextBytes next_bytes
    cdef readonly MaskScratch scratch
    cdef readonly TerminalMask nothing
    cdef SkippableStates _skippable_states
    cdef FoundTokens _found
    cdef EnteredStates _entered
    cdef TokenWalks _walks
    cdef DifferenceWalk _difference_walk
    cdef LeastCounts _least_counts
    cdef RefusedBounds _refused_bounds
    cdef CountedWalk _counted_walk
    cdef BoundedWalk _bounded_walk
    cdef RemainderTries _remainder_tries
    cdef CountedMasks _counted_masks
    cdef BoundRoom _room
    cdef int[::1] _table_of
    cdef list _tables
    cdef dict _counted
    cdef dict _with_least
    cdef dict _visited
    cdef list _bases
    cdef dict _base_of
    cdef dict _repeated
    cdef FirstBytes _first_bytes

    @cython.locals(known=int)
    cpdef TerminalMask get(self, int state)
    @cython.locals(store=TableStore, tables=PairTable, found=FoundTokens, known=int, made=TerminalMask)
    cpdef TerminalMask after(self, RemainderNodes remainders, int state)
    @cython.locals(short=tuple, free=int)
    cdef TerminalMask _make(self, int state)
    @cython.locals(made=TerminalMask, counted=CountedTerminal, is_literal=bint)
    cdef TerminalMask _of_repetition(self, int state, tuple repetition)
    cdef bint _counts_only(self, int state, int body) except -1
    @cython.locals(made=TerminalMask, alone=TerminalMask, counted=CountedTerminal, refused=tuple)
    cdef TerminalMask _of_conditions(self, int state)
    @cython.locals(later=int, is_known=bint, made=TerminalMask, base=int)
    cdef TerminalMask _like_later(self, int state)
    @cython.locals(store=TableStore, found=FoundTokens, exits=CountedTokens, made=TerminalMask, merged=Trie)
    cdef TerminalMask _walked(self, int state)
    @cython.locals(is_literal=bint, is_rest_large=bint)
    cdef CountedTerminal _counted_of(self, int char_state, int rest_state, int max_count)
    @cython.locals(parts=tuple, free=int, min_count=int, max_count=int, key=tuple, is_cheap=bint, before=cython.longlong, made=TerminalMask, counted=CountedTerminal, known=CountedTerminal)
    cdef TerminalMask _of_least_count(self, int state, bint at_once)
    @cython.locals(parts=list, inner=tuple, made=TerminalMask)
    cdef TerminalMask _joined_counted(self, list states, tuple pair)
    cdef tuple _with_smaller_bound(self, int state)
    @cython.locals(made=TerminalMask)
    cdef TerminalMask _by_smaller_bound(self, int state, int like, int body)
    @cython.locals(skippable=SkippableStates, number=int, left=int)
    cdef TerminalMask _of_one_bound(self, int free, int state)
    @cython.locals(visited=int, before=cython.longlong, made=TerminalMask)
    cdef TerminalMask _walked_alone(self, tuple index, int state)
    @cython.locals(short=tuple)
    cdef int _with_room(self, int free, int max_count) except -1
    cdef bint _is_narrow(self, int char_state) except -1
    @cython.locals(table=TerminalMask, index=int)
    cdef TerminalMask _after_repeated(self, int repeated, int rest_state)
    @cython.locals(made=TerminalMask, count=int)
    cdef TerminalMask _inside_alone(self, TerminalMask table)
    @cython.locals(store=TableStore, tokens=CountedTokens, made=TerminalMask, whole=TerminalMask, part=TerminalMask)
    cdef TerminalMask _joined(self, list parts)
    @cython.locals(store=TableStore, found=FoundTokens, base=TerminalMask, made=TerminalMask, old=RemainderNodes, left=RemainderNodes, lost=TokenList)
    cpdef TerminalMask _difference(self, int state, int like)
