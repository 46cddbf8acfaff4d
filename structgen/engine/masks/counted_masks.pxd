cimport cython

from structgen.engine.arrays cimport zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.counted_walks cimport BoundedWalk, CountedWalk
from structgen.engine.masks.remainder_tries cimport RemainderTries
from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport ByCount, CountedTerminal, DenseMask, TerminalMask, Trie
from structgen.engine.masks.token_lists cimport CountedTokens, FoundTokens, TokenList

cdef int DEAD, MAX_LISTED_TOKENS, MAX_OTHERS, MAX_PAIRS, MAX_REMOVED_TOKENS, NO_REST, RECORD_BYTES, REMOVED_PER_KEPT, OTHERS_ROOM
cdef unsigned int ALL_BITS


@cython.final
cdef class CountedMasks:
    cdef AutomatonStore _automata
    cdef TableStore _store
    cdef RemainderTries _remainder_tries
    cdef CountedWalk _counted_walk
    cdef BoundedWalk _bounded_walk
    cdef FoundTokens _found
    cdef int _vocabulary_size
    cdef int[::1] _sorted       # scratch space of `_by_count`: tokens,
    cdef int[::1] _starts       # by count: how many tokens have a smaller one,
    cdef int[::1] _next_at      # and where the next one goes
    cdef CountedTokens _others  # scratch space of `_find_others` and `_correct`
    cdef ByCount _order
    cdef int[::1] _characters
    cdef list _inside_masks

    @cython.locals(trie=Trie, tokens=CountedTokens, characters="int[::1]", largest=int, index=int, token=int, count=int)
    cdef int _sort_vocabulary(self) except -1
    @cython.locals(made=CountedTerminal, absorbs=bint)
    cdef CountedTerminal of_class(self, int char_state, int rest_state, int max_count)
    cdef CountedTerminal of_bounded(self, int free, int max_count)
    @cython.locals(automata=AutomatonStore, byte=int, char=int, rest=int, after=int, after_rest=int, last_after=int, last_rest=int)
    cdef bint _absorbs(self, int rest_state, int char_state) except -1
    @cython.locals(found=FoundTokens, store=TableStore, exits=CountedTokens, made=CountedTerminal, index=int)
    cdef CountedTerminal _index(self, int state, int rest_state, int max_count)
    @cython.locals(size=int, values="int[::1]", counts="int[::1]", width=int, starts="int[::1]", next_at="int[::1]", in_order="int[::1]", made=ByCount, index=int, count=int, at=int)
    cdef ByCount _by_count(self, CountedTokens tokens, int largest)
    @cython.locals(inside=ByCount)
    cdef ByCount _inside(self, CountedTerminal counted)
    @cython.locals(found=FoundTokens, trie=Trie)
    cdef void _sort_inside(self, CountedTerminal counted) except *
    @cython.locals(found=FoundTokens, others=CountedTokens, trie=Trie, characters="int[::1]", inside=CountedTokens, below=TokenList, index=int, at=int, count=int, least=int, needed=int)
    cdef bint _find_others(self) except -1
    @cython.locals(dense=list, number=int, size=int, known_size=int, known=int, mine=DenseMask, other=DenseMask)
    cdef int _inside_mask(self) except -1
    @cython.locals(made=TerminalMask)
    cdef TerminalMask with_counts(self, CountedTerminal counted, int min_count, int max_count)
    @cython.locals(store=TableStore, rest=ByCount, made=TerminalMask, tokens=CountedTokens, pool="int[::1]", starts=int)
    cdef TerminalMask _made(self, CountedTerminal counted, int min_count, int max_count)
    @cython.locals(inside=ByCount, others=ByCount, pool="int[::1]", tokens=CountedTokens, stop=int, last=int)
    cdef int _add_inside(self, TerminalMask made, CountedTerminal counted, int max_count) except -1
    @cython.locals(pool="int[::1]", characters="int[::1]", stop=int, index=int, more=CountedTokens)
    cdef int _correct(self, TerminalMask made, ByCount others, int max_count) except -1
    @cython.locals(others=ByCount, inside=DenseMask, words="unsigned int[::1]", pool="int[::1]", one="unsigned int", index=int, token=int)
    cdef int _mask_in_order(self, CountedTerminal counted) except -1
    @cython.locals(words="unsigned int[::1]", tokens=CountedTokens, one="unsigned int", index=int)
    cdef int _extend_with_set(self, int[::1] values, int first, int last, int dense) except -1
    @cython.locals(store=TableStore, pool="int[::1]", exits=CountedTokens, begin=int, index=int)
    cdef tuple _remainders(self, CountedTerminal counted, int min_count, int max_count)
