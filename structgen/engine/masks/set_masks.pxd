cimport cython

from structgen.engine.arrays cimport grown_pool, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.masks.tables cimport ByteSet, DenseMask, RemainderNodes, Marks, TerminalMask, Trie
from structgen.engine.masks.dotted_rule_masks cimport GroupClimb, DottedRule, DottedRuleMasks
from structgen.engine.grammar.rules cimport Rules
from structgen.engine.masks.terminal_masks cimport TerminalMasks

cdef int AFTER, COPIED, EMPTY_TEXT, END, FOLLOWED, FRESH, LOOKED_UP, REFUSING, ROOT_NODE, NEEDS_CHECK
cdef unsigned int ALL_BITS


cdef class SetMask:
    cdef public int dense
    cdef public int first_cut
    cdef public int last_cut
    cdef public int first_removed
    cdef public int last_removed
    cdef public int first_range
    cdef public int last_range
    cdef public int first_token
    cdef public int last_token
    cdef public bint is_for_text


cdef class SetMasks:
    cdef public ItemSetStore sets
    cdef public TerminalMasks terminals
    cdef public long long nodes_visited
    cdef list _masks
    cdef public unsigned int[::1] empty
    cdef readonly int[::1] pool
    cdef int _pool_size
    cdef list _parts            # tables with dense masks for the mask in the making
    cdef int[::1] _set_at       # by depth, while walking: the set reached
    cdef int[::1] _found
    cdef int _found_size
    cdef int[::1] _ranges       # pairs: where tokens are in the pool of the tables
    cdef int _range_size
    cdef set _suspects          # tokens that have to be looked at one by one for the mask in the making
    cdef list _removed          # tokens of its parts that do not belong to it
    cdef dict _ends
    cdef dict _spellings
    cdef public int _followed          # exits followed for the mask in the making
    cdef public set _met
    cdef list _agenda
    cdef int _round
    cdef readonly DottedRuleMasks places

    cpdef SetMask get(self, int set_id)
    cdef bint knows(self, int set_id) noexcept
    @cython.locals(sets=ItemSetStore, scan=int, group=int, mask=SetMask)
    cdef SetMask _shared(self, int set_id)
    @cython.locals(mask=SetMask, pool="int[::1]", tokens="int[::1]", index=int, at=int, token=int, one="unsigned int")
    cpdef int fill(self, int set_id, unsigned int[::1] words) except -1
    @cython.locals(dense=DenseMask, pool="int[::1]", one="unsigned int", index=int, token=int)
    cdef int _copy(self, int number, int first_cut, int last_cut, unsigned int[::1] words) except -1
    @cython.locals(sets=ItemSetStore, has_lookaheads=bint, by_place=bint, mask=SetMask, scan=int, state=int, marks=Marks, of_round=int, terminal=TerminalMask, part=TerminalMask, index=int, before=int, before_ranges=int, token=int)
    cdef SetMask _make(self, int set_id)
    @cython.locals(before="int[::1]")
    cdef int _keep(self, int token) except -1
    @cython.locals(sets=ItemSetStore, ends=set, common=set, found=set, is_first=bint, concerned=bint, scan=int, group=int, trie=Trie, node=int, sure=bint, kept=int, index="Py_ssize_t", token=int, refused=Marks)
    cdef void _refuse(self, RemainderNodes exits, int set_id, int state, int before, int before_ranges) except *
    @cython.locals(found=set, known=tuple)
    cdef tuple _ends_of(self, RemainderNodes exits, spellings)
    @cython.locals(spelling=tuple, index=int)
    cdef int _find_spellings(self, RemainderNodes exits, spellings, set found) except -1
    @cython.locals(index=int, token=int, refused=Marks)
    cdef int _take_back(self, Trie trie, int first, int last, bint is_sure) except -1
    @cython.locals(forms=tuple, child=int, index="Py_ssize_t", form=bytes, is_last=bint)
    cdef int _find_spelling(self, Trie trie, int node, tuple spelling, int at, set found) except -1
    @cython.locals(automata=AutomatonStore, trie=Trie, at=int, node=int, stack=list, state=int, child=int, stop=int, after=int)
    cdef int _find_ends(self, RemainderNodes exits, int start, set found) except -1
    cdef int _add(self, int token) except -1
    @cython.locals(index=int, pool="int[::1]")
    cdef int _add_between(self, int first, int last) except -1
    @cython.locals(first=int, last=int)
    cdef void _add_all(self, TerminalMask terminal) except *
    @cython.locals(known=TerminalMask)
    cdef void _add_part(self, TerminalMask terminal) except *
    @cython.locals(sets=ItemSetStore, agenda=list, scan=int, group=int, ahead=int)
    cdef void _follow_from(self, RemainderNodes exits, int set_id, int state) except *
    @cython.locals(climb=GroupClimb, left=ByteSet, first=ByteSet, index="Py_ssize_t")
    cdef void _go_on_behind(self, int group, int ahead, RemainderNodes exits) except *
    @cython.locals(rules=Rules, rest=DottedRule, table=TerminalMask, index="Py_ssize_t")
    cdef void _add_rest(self, int position, int ahead, RemainderNodes exits, int group) except *
    @cython.locals(key="long long")
    cdef void _escape(self, RemainderNodes exits, int ahead, int group) except *
    cdef void _add_once(self, TerminalMask table) except *
    @cython.locals(sets=ItemSetStore, pair="long long", has_lookaheads=bint, first=int, last=int, scan=int, state=int, marks=Marks, of_round=int, before=int, before_ranges=int, terminal=TerminalMask, index=int)
    cdef void _follow(self, RemainderNodes exits, int set_id) except *
    @cython.locals(sets=ItemSetStore, trie=Trie, places="int[::1]", at=int, node=int, stop=int, depth=int, target=int, index=int)
    cdef int _walk(self, RemainderNodes exits, int set_id) except -1
    @cython.locals(trie=Trie)
    cdef void _add_meant(self, RemainderNodes exits, int index, bint is_suspect) except *
    @cython.locals(sets=ItemSetStore, spellings=tuple, text=bytes, target=int, token=int, index="Py_ssize_t")
    cdef int _add_suspects(self, int set_id) except -1
    @cython.locals(index=int)
    cdef int _suspect_all(self, TerminalMask terminal) except -1
    @cython.locals(sets=ItemSetStore, captures=int, other=int)
    cdef bint _may_end_too_soon(self, int set_id, int scan, int state) except -1
    @cython.locals(sets=ItemSetStore, text=int)
    cdef bint _is_suspect(self, int set_id, int scan) except -1
