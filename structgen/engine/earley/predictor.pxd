cimport cython

from structgen.engine.arrays cimport grown, grown_pool, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.earley.item_columns cimport ItemColumns
from structgen.engine.grammar.lookaheads cimport Lookaheads
from structgen.engine.grammar.rules cimport Rules


cdef int AFTER, CAPTURED, CAPTURES, EMPTY_TEXT, FRESH, NO_BYTE, NO_TEXT, REFUSING, UNKNOWN


cdef class Predictor(ItemColumns):
    cdef public AutomatonStore automata
    cdef readonly Rules rules

    cdef int _max_items
    cdef int[::1] _symbols              # the arrays of the rules
    cdef int[::1] _start_state
    cdef int[::1] _first_rule
    cdef int[::1] _last_rule
    cdef int[::1] _rule_starts
    cdef int[::1] _before
    cdef Lookaheads _lookaheads
    cdef int _shift
    cdef int _serial                    # of the step or closure that is made
    cdef int[::1] _predicted_at         # by nonterminal: serial of the closure that predicted it last
    cdef int[::1] _predicted_group      # by nonterminal: its group in that closure
    cdef int[::1] _agenda
    cdef int[::1] _pending

    cdef void _load_rules(self)
    cpdef int close(self, int set_id) except -1
    @cython.locals(scan_first=int, group_base=int, predicted=int, pending=int, index=int, item=int, position=int, symbol=int, done=int, nonterminal=int, group=int, rule=int, text=int, shift=int, key=int, waited=int, state=int, ahead=int)
    cdef int _close(self, int set_id) except -1
    cpdef int expand(self, int nonterminal) except -1
    cdef int _expand(self, int nonterminal, int scan_first) except -1
    @cython.locals(scan=int)
    cdef int _are_captured(self, int scan_first) except -1
    @cython.locals(scan=int, state=int, only=int, common=int, automata=AutomatonStore)
    cdef int _common_byte(self, int scan_first) except -2
    @cython.locals(used=int)
    cdef int _predict(self, int nonterminal, int group_base, int predicted) except -1
    cdef int _add_pending(self, int pending, int group, int position, int address) except -1
    @cython.locals(size=int)
    cdef int _add_scan(self, int position, int state, int group) except -1
    @cython.locals(used=int, group=int, index=int, size=int, slot=int)
    cdef int _make_groups(self, int group_base, int count, int pending, int text) except -1
    @cython.locals(changed=bint, group=int, waiting=int, captures=int, symbol=int, refuses=bint)
    cdef int _mark_captures(self, int group_base) except -1
