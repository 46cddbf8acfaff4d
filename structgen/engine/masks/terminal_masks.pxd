cimport cython

from structgen.engine.arrays cimport grown, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.counted_masks cimport CountedMasks
from structgen.engine.automata.count_bounds cimport least_count, lessened, most_counted
from structgen.engine.masks.tables cimport CountedTerminal, RemainderNodes, Marks, TerminalMask, Trie
from structgen.engine.pair_table cimport PairTable

cdef int EMPTY, MAX_BYTES, K_BYTES, K_LITERAL, LISTED, MERGED_EXITS, MERGED_TOKENS, MODELS, MAX_ROOM, MAX_ROUNDS, ROOT_NODE, NOTHING_BEHIND, PAIR_BYTES, RECORD_BYTES, ROOM, UNKNOWN, WIDE


cdef class TerminalMasks(CountedMasks):
    cdef int[::1] _record_of        # by state: one more than its index in _records, or 0
    cdef list _records
    cdef PairTable _behind          # by number of exits and state: index in _records
    cdef int _exits_numbered
    cdef int _rounds
    cdef dict _counted
    cdef readonly Marks seen_states, states_behind, refused_tokens
    cdef readonly set suspects
    cdef readonly list removed
    cdef dict _united
    cdef list _models               # wide states that were walked last
    cdef set _roomy
    cdef dict _rooms
    cdef dict _repeated

    @cython.locals(made=TerminalMask, remainders=Trie)
    cdef TerminalMask _made(self, int state)
    @cython.locals(is_literal=bint, is_rest_large=bint)
    cdef CountedTerminal _counted_of(self, int char_state, int rest_state, int most)
    cdef bint _is_narrow(self, int char_state) except -1
    @cython.locals(table=TerminalMask, index=int)
    cdef TerminalMask _behind_repeated(self, int repeated, int rest_state)
    @cython.locals(made=TerminalMask, count=int)
    cdef TerminalMask _inside_alone(self, TerminalMask table)
    @cython.locals(made=TerminalMask)
    cdef TerminalMask _of_short(self, int state, int like, int body)
    cdef int _with_room(self, int free, int most) except -1
    @cython.locals(made=TerminalMask, whole=TerminalMask, part=TerminalMask)
    cdef TerminalMask _joined(self, list parts)
    @cython.locals(record=int)
    cpdef TerminalMask get(self, int state)
    @cython.locals(made=TerminalMask, record=int)
    @cython.locals(trie=Trie, at=int, node=int, stop=int)
    cdef object bytes_of(self, RemainderNodes exits)
    cdef int new_round(self) noexcept
    cdef void give_number(self, RemainderNodes exits) noexcept
    cpdef TerminalMask behind(self, RemainderNodes exits, int state)
    @cython.locals(made=TerminalMask, part=TerminalMask)
    cpdef TerminalMask united(self, list parts)
    @cython.locals(automata=AutomatonStore, trie=Trie, same=int, different=int, byte=int, node=int, mine=int)
    cdef bint _resembles(self, int state, int like) except -1
    @cython.locals(base=TerminalMask, made=TerminalMask, old=RemainderNodes)
    cpdef TerminalMask _difference(self, int state, int like)
    @cython.locals(trie=Trie, nodes=int, byte=int, node=int)
    cdef bint _is_wide(self, int state) except -1
