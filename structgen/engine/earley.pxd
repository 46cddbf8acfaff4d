cimport cython

from structgen.engine.arrays cimport grown, grown_pool, zeros
from structgen.engine.automata cimport AutomatonStore
from structgen.engine.item_pools cimport ItemPools
from structgen.engine.lookaheads cimport Lookaheads
from structgen.engine.rules cimport Rules
from structgen.engine.texts cimport Texts


cdef int CAPTURES, DEAD_SET, EMPTY_TEXT, END, NO_BYTE, ROOT, UNKNOWN
cdef int AFTER, CAPTURED, FRESH, NO_TEXT, REFUSING, SUSPECT, TOLD_BITS, UNKNOWN_TEXT


cdef class ItemSetStore(ItemPools):
    cdef public AutomatonStore automata
    cdef readonly Rules rules
    cdef readonly Texts texts
    cdef readonly int start_set
    cdef bint _accepts_empty
    cdef readonly long long steps

    cdef int _max_sets
    cdef int _max_items
    cdef int[::1] _symbols              # the arrays of the rules
    cdef int[::1] _start_state
    cdef int[::1] _first_rule
    cdef int[::1] _last_rule
    cdef int[::1] _rule_starts
    cdef int[::1] _before
    cdef Lookaheads _lookaheads
    cdef int _shift
    cdef int[::1] _predicted_at         # by nonterminal: serial of the closure that predicted it last
    cdef int[::1] _predicted_group      # by nonterminal: its group in that closure
    cdef int[::1] _work
    cdef int _work_size
    cdef int _work_accepting
    cdef int _work_text                 # text after the byte of this step
    cdef int _work_kind                 # AFTER or SUSPECT once that is known of the set in the making
    cdef bint _skips                    # the step is over bytes that are not known
    cdef int[::1] _stack
    cdef int[::1] _agenda
    cdef int[::1] _pending
    cdef int _serial

    @cython.locals(target=int, only=int)
    cpdef int goto(self, int set_id, int byte) except -1
    cdef int known_step(self, int set_id, int byte) noexcept
    @cython.locals(scan=int, state=int, automata=AutomatonStore)
    cdef int _step(self, int set_id, int byte) except -1
    cdef void _load_rules(self)
    cdef void _make_scratch(self)
    @cython.locals(text=int)
    cdef int _text_after(self, int set_id, int byte) except -1
    @cython.locals(scan=int, text=int)
    cpdef int after(self, int set_id, int state) except -1
    @cython.locals(scan=int, behind=int, ahead=int)
    cpdef bint is_stuck(self, int set_id, int state) except -1
    @cython.locals(index=int, item=int)
    cpdef int unknown(self, int set_id) except -1
    @cython.locals(text=int)
    cpdef bint begins_here(self, int set_id, int group) except -1
    @cython.locals(begun=bytes, capture=int)
    cpdef refusals(self, int set_id, int group)
    cdef void _begin(self, int text) noexcept
    @cython.locals(text=int, is_known=bint, position=int)
    cdef int _continue(self, int capture, int start) except -2
    @cython.locals(text=int, kind=int, captures=int, index=int)
    cdef int _settle_text(self) except -1
    @cython.locals(index=int, item=int, endless=bint)
    cdef bint _goes_on_endless(self) except -1
    @cython.locals(ahead=int, size=int, first=int, last=int, waiting=int, symbol=int)
    cdef int _advance(self, int position, int group) except -1
    @cython.locals(state=int)
    cdef void _add_advanced(self, int position, int ahead, int group) except *
    @cython.locals(told=int)
    cdef bint _tell(self, int group, int ahead) noexcept
    @cython.locals(top=int, first=int, last=int)
    cdef int _top(self, int group) noexcept
    @cython.locals(item=int)
    cdef int _add_item(self, int position, int state, int group) except -1
    @cython.locals(mask=int, h="long long", slot=int, item=int)
    cdef int _intern_item(self, int position, int state, int group) except -1
    @cython.locals(mask=int, h="long long", slot=int, item=int, table="int[::1]")
    cdef int _rehash_items(self) except -1
    @cython.locals(h="long long", mask=int, slot=int, item=int, index=int, set_id=int)
    cdef int _finish_set(self) except -1
    @cython.locals(first=int, last=int, index=int)
    cdef bint _is_work(self, int set_id) noexcept
    @cython.locals(mask=int, h=int, slot=int, set_id=int, table="int[::1]")
    cdef int _rehash_sets(self) except -1
    @cython.locals(set_id=int, index=int)
    cdef int _new_set_from_work(self) except -1
    @cython.locals(index=int, item=int, number=dict)
    cpdef int adopt(self, ItemSetStore other, int set_id) except -1
    @cython.locals(number=dict, found=list, addresses=list, first_kernel=int, group=int, waiting=int, base=int, pending=int, index="Py_ssize_t", k=int, address=int)
    cdef dict _adopt_groups(self, ItemSetStore other, int set_id)
    @cython.locals(mine=int, byte=int)
    cdef int _adopt_text(self, ItemSetStore other, int text) except -1
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
