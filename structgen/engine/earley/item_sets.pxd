cimport cython

from structgen.engine.deadlines cimport spend
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.earley.captured_texts cimport CapturedTexts
from structgen.engine.earley.completer cimport Completer
from structgen.engine.earley.groups cimport GroupTable
from structgen.engine.earley.item_columns cimport ItemTable, ScanTable, SetTable
from structgen.engine.earley.kernels cimport Kernels
from structgen.engine.earley.leading_bytes cimport LeadingBytes
from structgen.engine.earley.predictor cimport Predictor
from structgen.engine.earley.runs cimport Runs
from structgen.engine.grammar.lookaheads cimport Lookaheads
from structgen.engine.grammar.rules cimport Rules
from structgen.engine.pair_table cimport PairTable


cdef int FIRST_TOKEN
cdef tuple NOTHING_REFUSED
cdef int AFTER, CAPTURES, DEAD_SET, EMPTY_TEXT, END, NEEDS_CHECK, NO_BYTE, NO_TEXT, ROOT, UNKNOWN_TEXT


@cython.final
cdef class ItemSetStore:
    cdef readonly Rules rules
    cdef public AutomatonStore automata
    cdef Lookaheads _lookaheads
    cdef readonly SetTable table
    cdef ItemTable _items
    cdef readonly ScanTable scans
    cdef readonly GroupTable groups
    cdef readonly CapturedTexts texts
    cdef Kernels _kernels
    cdef Predictor _predictor
    cdef Completer _completer
    cdef LeadingBytes _leading_bytes
    cdef Runs _runs
    cdef readonly PairTable step_targets
    cdef readonly long long steps
    cdef readonly int followed
    cdef bint _accepts_empty
    cdef int _refusing_set      # the arguments and the result
    cdef int _refusing_group    # of the last call of `refusals`
    cdef tuple _refused
    cdef PairTable _unrefused
    cdef readonly int start_set

    cpdef int close(self, int set_id) except -1
    cpdef bint captures_at(self, int set_id) noexcept
    @cython.locals(target=int)
    cpdef int goto(self, int set_id, int byte) except -1
    @cython.locals(target=int, only=int)
    cdef int _new_step(self, int set_id, int byte) except -1
    @cython.locals(byte=int)
    cpdef int append_forced(self, int set_id, bytearray out, int most) except -1
    @cython.locals(table=SetTable, target=int, scan=int, is_alone=bint)
    cdef int known_step(self, int set_id, int byte) noexcept
    @cython.locals(at=int, after=int)
    cdef int known_after(self, int set_id, bytes text) noexcept
    @cython.locals(after=int)
    cpdef int follow(self, int set_id, bytes text) except -1
    @cython.locals(first=int, last=int, scan=int, state=int, automata=AutomatonStore, scans=ScanTable)
    cdef int _step(self, int set_id, int byte) except -1
    @cython.locals(text=int)
    cdef int _text_after(self, int set_id, int byte) except -1
    @cython.locals(text=int)
    cpdef int after(self, int set_id, int state) except -1
    @cython.locals(scan=int, scans=ScanTable)
    cdef int _advance_ended(self, int set_id, int state) except -1
    @cython.locals(scan=int, after=int, ahead=int, rules=Rules, scans=ScanTable)
    cpdef bint is_stuck(self, int set_id, int state) except -1
    @cython.locals(groups=GroupTable, rules=Rules, waiting=list, above=int, row=int, after=int)
    cdef bint _surely_goes_on(self, int group) except -1
    @cython.locals(index=int, item=int, items=ItemTable)
    cpdef int unknown(self, int set_id) except -1
    @cython.locals(known=int, target=int)
    cpdef int goto_either(self, int set_id, int token_id, bytes text, bytes mark) except -1
    @cython.locals(index=int)
    cpdef int goto_all(self, int set_id, bytes data) except -1
    @cython.locals(index=int, item=int, set_id=int, items=ItemTable)
    cdef int _united(self, int first, int second) except -1
    @cython.locals(text=int)
    @cython.locals(index=int, item=int, position=int, state=int, left=int, after=int, rules=Rules, items=ItemTable, table=SetTable)
    cpdef int after_token(self, int set_id) except -1
    cpdef bint begins_here(self, int set_id, int group) except -1
    cpdef tuple refusals(self, int set_id, int group)
    @cython.locals(capture=int, start=int, text=int, unrefused=int, found=tuple)
    cdef tuple _find_refusals(self, int set_id, int group)
    @cython.locals(index=int, item=int, number=dict, table=SetTable, items=ItemTable)
    cpdef int adopt(self, ItemSetStore other, int set_id) except -1
    @cython.locals(number=dict, found=list, addresses=list, group=int, row=int, base=int, mine=GroupTable, theirs=GroupTable, table=SetTable)
    cdef dict _adopt_groups(self, ItemSetStore other, int set_id)
    @cython.locals(mine=int)
    cdef int _adopt_text(self, ItemSetStore other, int text) except -1
