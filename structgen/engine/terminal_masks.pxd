cimport cython

from structgen.engine.arrays cimport grown, head, zeros
from structgen.engine.automata cimport AutomatonStore
from structgen.engine.counts cimport least_count, lessened, most_counted
from structgen.engine.mask_tables cimport ByCount, CountedTerminal, DenseMask, Exits, Leaving, Marks, TerminalMask, Trie
from structgen.engine.token_walks cimport TokenWalks

cdef int DEAD, EMPTY, LEAVING_TOKENS, LEAVINGS_FROM, MOST_ROOM, ROOM, MERGED_EXITS, MERGED_NODES, MERGED_TOKENS, MODELS, PAIRS, RECORD_BYTES, REMOVED_TOKENS
cdef unsigned int ALL_BITS
cdef int SPARSE_TOKENS, UNKNOWN


cdef class TerminalMasks(TokenWalks):
    cdef public object vocabulary
    cdef public int words
    cdef int[::1] _record_of        # by state: index in _records, or -1
    cdef list _records
    cdef dict _counted
    cdef readonly list dense
    cdef readonly list exits
    cdef readonly Marks seen_states, states_behind, refused_tokens
    cdef dict _united
    cdef int[::1] _sorted
    cdef list _by_counts
    cdef list _models               # wide states that were walked last
    cdef dict _leavings
    cdef dict _merged
    cdef set _roomy
    cdef dict _rooms
    cdef dict _leavings_asked

    @cython.locals(whole=Exits, made=TerminalMask)
    cdef TerminalMask _made(self, int state, Leaving leaving)
    @cython.locals(table=TerminalMask, inside=TerminalMask)
    cdef Leaving _leaving(self, int char_state)
    @cython.locals(made=TerminalMask)
    cdef TerminalMask _of_short(self, int state, int like, int body)
    cdef int _with_room(self, int free) except -1
    @cython.locals(made=TerminalMask, whole=TerminalMask, part=TerminalMask)
    cdef TerminalMask _joined(self, list parts)
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
    @cython.locals(made=TerminalMask)
    cdef TerminalMask _of_count(self, CountedTerminal counted, int least, int most)
    @cython.locals(inside=ByCount, rest=ByCount, made=TerminalMask, stop=int, more=int)
    cdef TerminalMask _made_of_count(self, CountedTerminal counted, int least, int most)
    @cython.locals(largest=int, starts="int[::1]", places="int[::1]", in_order="int[::1]", known=ByCount, made=ByCount, index=int, count=int, at=int)
    cdef ByCount _by_count(self, int[::1] tokens, int[::1] counts, int size)
    cdef CountedTerminal _new_counted(self)
    @cython.locals(words="unsigned int[::1]", one="unsigned int", index=int, token=int)
    cdef int _made_dense(self, int[::1] tokens, int count) except -1
    @cython.locals(automata=AutomatonStore, trie=Trie, same=int, different=int, byte=int, node=int, mine=int)
    cdef bint _resembles(self, int state, int like) except -1
    @cython.locals(base=TerminalMask, made=TerminalMask, old=Exits)
    cpdef TerminalMask _difference(self, int state, int like)
    @cython.locals(automata=AutomatonStore, byte=int, char=int, rest=int, after=int, after_rest=int, last_after=int, last_rest=int)
    cdef bint _absorbs(self, int rest_state, int char_state) except -1
    @cython.locals(trie=Trie, nodes=int, byte=int, node=int)
    cdef bint _is_wide(self, int state) except -1
    cpdef Trie _merge(self, Trie trie, int[::1] exits, int[::1] counts)
    @cython.locals(index="Py_ssize_t", nodes=int, exit_node=int, skipped=int, count=int, at=int, token=int)
    cdef Trie _new_merged(self, Trie trie, int[::1] exits, int[::1] counts)


@cython.locals(index=int)
cdef bint _equal(int[::1] left, int[::1] right, int size) noexcept
