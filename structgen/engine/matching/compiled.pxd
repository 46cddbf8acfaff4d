cimport cython

from structgen.engine.deadlines cimport Deadline
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.masks.set_masks cimport SetMasks
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.masks.terminal_masks cimport TerminalMasks
from structgen.engine.matching.table_lock cimport TableLock


cdef class SharedTables:
    cdef public AutomatonStore automata
    cdef public TerminalMasks terminals
    cdef readonly object lock
    cdef readonly object limits
    cdef readonly long long mask_bytes
    cdef long long _worn_states
    cdef long long _worn_bytes
    cdef public bint is_dropped
    cdef public object proper
    cdef dict _others               # by vocabulary: terminal masks of other vocabularies

    cpdef TerminalMasks terminals_of(self, vocabulary)
    cpdef bint is_full(self) noexcept
    @cython.locals(size="long long")
    cdef long long _masks_bytes(self) except -1


cdef class CompiledGrammar:
    cdef readonly object tables
    cdef readonly object vocabulary
    cdef readonly object marked
    cdef readonly tuple spellings
    cdef readonly bint has_marks
    cdef readonly bint has_temperatures
    cdef readonly bint counts_tokens
    cdef readonly bint eager
    cdef readonly object limits
    cdef Deadline _deadline     # of the turn under way
    cdef object _state          # the SharedState that its tables come from
    cdef readonly bint may_move
    cdef readonly bint has_moved
    cdef bint _can_move         # the turn under way may end early
    cdef bint _is_awaited       # it was ended, as other threads wait
    cdef readonly int epoch
    cdef readonly TableLock lock
    cdef readonly SharedTables shared
    cdef readonly ItemSetStore sets
    cdef readonly SetMasks masks
    cdef readonly ItemSetStore previous
    cdef public object proper
    cdef public object completions
    cdef public object warming
    cdef public object origin
    cdef object __weakref__

    cdef int _use(self, state) except -1
    cdef int _begin(self) except -1
    cpdef int _begin_here(self) except -1
    cdef bint _ends_early(self, work) except -1
    cdef int _begin_epoch(self, SharedTables shared, ItemSetStore sets, ItemSetStore previous) except -1
    cdef ItemSetStore _new_sets(self, rules)
    @cython.locals(lock=TableLock)
    cpdef int take(self) except -1
    cpdef int begin_turn(self) except -1
    cpdef int end_turn(self) except -1
    cpdef int let_move(self) except -1
    cdef int _move(self) except -1
    cpdef int renew(self) except -1
    cpdef int renew_sets(self) except -1
    cpdef int drop_tables(self) except -1
    cpdef int abandon_after(self, error) except -1
    cpdef int abandon(self) except -1


cdef class Held:
    cdef CompiledGrammar _compiled


cdef class Turn:
    cdef CompiledGrammar _compiled
