# See token_steps.py for what each array holds.
import cython

from structgen.engine.arrays cimport grown, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.matching.compiled cimport CompiledGrammar
from structgen.tokenization.pre_tokens.scanner cimport Scanner

cdef int MAX_COMPARED


cdef class TokenSteps:
    cdef ItemSetStore _sets
    cdef AutomatonStore _automata
    cdef bint _is_eager
    cdef Scanner _scanner
    cdef readonly bytes text
    cdef readonly int set_id
    cdef readonly int begun_state
    cdef readonly int begun_partial
    cdef readonly int count
    cdef int[::1] _scanner_states
    cdef int[::1] _partials
    cdef int[::1] _set_ids
    cdef int[::1] _item_states
    cdef int[::1] _scans
    cdef int _sets_known        # bytes of the text after which the set is known
    cdef int _items_known       # bytes of the text after which the items' states are known
    cdef dict _sets_after       # by state of an item: the set after the terminal
    cdef readonly int scanner_state
    cdef readonly int partial

    @cython.locals(sets=ItemSetStore, first=int, last=int, scan=int)
    cpdef int begin(self, int set_id, int scanner_state, int partial) except -1
    @cython.locals(item=int)
    cdef bint _has_item(self, int state) except -1
    cdef int scan_of(self, int item) except -1
    cdef int begun_within(self, int item) except -1
    @cython.locals(before=bytes, length=int, shared=int, most=int, depth=int)
    cpdef int follow(self, bytes text) except -1
    cdef int _lengthen(self, int length) except -1
    cpdef int next_set(self) except -1
    @cython.locals(known=int)
    cpdef int set_at(self, int length) except -1
    cpdef int state_within(self, int item) except -1
    cdef int state_at(self, int item, int length) except -1
    @cython.locals(length=int, at=int, end=int, accepting="unsigned char[::1]")
    cdef bint may_end(self) except -1
    @cython.locals(length=int, within=int)
    cpdef int left_after(self) except -1
    @cython.locals(at=int, end=int)
    cdef bint _is_left_at(self, int length) except -1
    @cython.locals(set_id=int, scanner_state=int, partial=int)
    cpdef int continue_after(self, TokenSteps steps, int length) except -1
    @cython.locals(state=int)
    cpdef int set_after(self, int item) except -1
    @cython.locals(automata=AutomatonStore, count=int, byte=int, row=int, at=int, state=int)
    cdef int _follow_items(self) except -1
