cimport cython

from structgen.engine.deadlines cimport spend
from structgen.engine.arrays cimport grown, grown_pool, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.earley.groups cimport GroupTable
from structgen.engine.earley.item_columns cimport ItemTable, ScanTable, SetTable
from structgen.engine.grammar.lookaheads cimport Lookaheads
from structgen.engine.grammar.rules cimport Rules


cdef int EMPTY_TEXT, MANY_BYTES, NO_BYTE, NO_TEXT


@cython.final
cdef class Predictor:
    cdef SetTable _table
    cdef ItemTable _items
    cdef ScanTable _scans
    cdef GroupTable _groups
    cdef Rules _rules
    cdef AutomatonStore _automata
    cdef Lookaheads _lookaheads
    cdef int _shift
    cdef int _max_items
    cdef int _serial                    # of the closing that is made
    cdef int[::1] _agenda
    cdef int[::1] _predicted_at         # by entry: serial of the closing that predicted it last
    cdef int[::1] _predicted_group      # by entry: its group in that closing

    @cython.locals(scan_first=int, groups_before=int, predicted=int, text=int, scan=int)
    cdef int close(self, int set_id) except -1
    @cython.locals(table=SetTable, items=ItemTable, rules=Rules, shift=int, predicted=int, index=int, item=int, position=int, symbol=int, entry=int, done=int)
    cdef int _predict_from(self, int set_id, int scan_first) except -1
    @cython.locals(rules=Rules, shift=int, group=int, nonterminal=int, first=int, last=int, rule=int, position=int, symbol=int, state=int, ahead=int, waited=int)
    cdef int _predict_rules(self, int entry, int predicted) except -1
    @cython.locals(used=int)
    cdef int _predict(self, int entry, int predicted) except -1
    @cython.locals(scan=int)
    cdef int _are_captured(self, int scan_first) except -1
    @cython.locals(scan=int, state=int, only=int, common=int, automata=AutomatonStore)
    cdef int _common_byte(self, int scan_first) except -2
