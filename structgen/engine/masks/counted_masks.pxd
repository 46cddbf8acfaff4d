cimport cython

from structgen.engine.arrays cimport zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.counted_walks cimport CountedWalks
from structgen.engine.masks.tables cimport ByCount, CountedTerminal, DenseMask, RemainderNodes, TerminalMask, Trie

cdef int DEAD, MERGED_NODES, PAIRS, RECORD_BYTES, REMOVED_TOKENS, SPARSE_TOKENS
cdef unsigned int ALL_BITS


cdef class CountedMasks(CountedWalks):
    cdef public object vocabulary
    cdef public int words
    cdef public unsigned int[::1] empty
    cdef readonly list dense
    cdef readonly list exits
    cdef int[::1] _sorted       # scratch space of `_by_count`: tokens,
    cdef int[::1] _starts       # and by count how many tokens have a smaller one,
    cdef int[::1] _next_at      # and where the next one goes
    cdef ByCount _order
    cdef int[::1] _order_count
    cdef list _insides
    cdef dict _merged

    cpdef int keep_dense(self, mask) except -1
    cdef int _add_exits(self, TerminalMask table, RemainderNodes exits) except -1
    @cython.locals(words="unsigned int[::1]", one="unsigned int", index=int, token=int)
    cdef _meant(self, TerminalMask part)
    @cython.locals(first=int)
    cdef RemainderNodes _exits_found(self, Trie trie, int least, int most, removed)
    @cython.locals(made=TerminalMask)
    cdef TerminalMask _record(self)
    @cython.locals(words="unsigned int[::1]", one="unsigned int", index=int, token=int)
    cdef int _made_dense(self, int[::1] tokens, int first, int last) except -1
    @cython.locals(made=TerminalMask)
    cdef TerminalMask _of_count(self, CountedTerminal counted, int least, int most)
    @cython.locals(rest=ByCount, made=TerminalMask, pool="int[::1]")
    cdef TerminalMask _made_of_count(self, CountedTerminal counted, int least, int most)
    @cython.locals(width=int, starts="int[::1]", places="int[::1]", in_order="int[::1]", made=ByCount, index=int, count=int, at=int)
    cdef ByCount _by_count(self, int[::1] tokens, int[::1] counts, int size)
    @cython.locals(inside=ByCount)
    cdef ByCount _inside(self, CountedTerminal counted)
    @cython.locals(size=int, made=ByCount, index=int)
    cdef ByCount _inside_by_count(self)
    @cython.locals(index=int)
    cdef bint _is_in_order(self) noexcept
    @cython.locals(size=int, number=int, known_size=int, known=int)
    cdef int _inside_mask(self) except -1
    cdef int _drop_last_dense(self) except -1
    @cython.locals(inside=ByCount, pool="int[::1]", stop=int, last=int)
    cdef int _add_inside(self, TerminalMask made, CountedTerminal counted, int most) except -1
    @cython.locals(words="unsigned int[::1]", one="unsigned int", index=int)
    cdef int _append_set(self, int[::1] tokens, int first, int last, int dense) except -1
    @cython.locals(made=CountedTerminal, index=int)
    cdef CountedTerminal _new_counted(self, int state, int rest_state, int most)
    @cython.locals(least=int, most=int, begin=int, index=int)
    cdef tuple _exits_of_count(self, CountedTerminal counted, int least, int most)
    @cython.locals(automata=AutomatonStore, byte=int, char=int, rest=int, after=int, after_rest=int, last_after=int, last_rest=int)
    cdef bint _absorbs(self, int rest_state, int char_state) except -1
    cpdef Trie _merge(self, Trie trie, int[::1] exits, int[::1] counts)
    @cython.locals(index="Py_ssize_t", nodes=int, exit_node=int, skipped=int, count=int, at=int, token=int, spellings=tuple, behind=dict, spelling=bytes, left=bytes, pairs=list, texts=list, tokens=list, token_counts=list)
    cdef Trie _new_merged(self, Trie trie, int[::1] exits, int[::1] counts)

