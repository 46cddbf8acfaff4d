cimport cython

from structgen.engine.deadlines cimport spend
from structgen.engine.arrays cimport grown_pool, zeros
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.grammar.rules cimport Rules
from structgen.engine.masks.dotted_rule_masks cimport DottedRule, DottedRuleMasks, GroupClimb
from structgen.engine.masks.followed_nodes cimport FollowedNodes
from structgen.engine.masks.refused_texts cimport RefusedTexts
from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport ByteSet, DenseMask, Marks, MaskScratch, RemainderNodes, TerminalMask, Trie
from structgen.engine.masks.terminal_masks cimport TerminalMasks
from structgen.engine.masks.token_lists cimport TokenList
from structgen.engine.masks.trie_walk cimport TrieWalk

cdef int AFTER, DESCEND, EMPTY_TEXT, END, FRESH, MARK_BYTE, MAX_COPIED, MAX_FOLLOWED, MAX_LOOKED_UP, NEEDS_CHECK, REFUSING, ROOT_NODE, SKIP
cdef unsigned int ALL_BITS


@cython.final
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


cdef class SetWalk(TrieWalk):
    cdef ItemSetStore _sets
    cdef TableStore _store
    cdef set _suspects
    cdef TokenList _found
    cdef RemainderNodes _remainders
    cdef int[::1] _set_at

    @cython.locals(trie=Trie, at=int, node=int)
    cdef int find(self, RemainderNodes remainders, int set_id) except -1
    @cython.locals(target=int, trie=Trie, is_suspect=bint, index=int)
    cdef int visit(self, int node, int depth, int byte) except -1


@cython.final
cdef class SetMasks:
    cdef ItemSetStore _sets
    cdef TerminalMasks _terminals
    cdef TableStore _store
    cdef MaskScratch _scratch
    cdef public unsigned int[::1] empty
    cdef readonly int[::1] pool
    cdef int _pool_size
    cdef readonly DottedRuleMasks dotted_rules
    cdef list _masks
    cdef list _parts
    cdef TokenList _found
    cdef TokenList _ranges
    cdef int _followed              # how many remainders were followed for the mask in the making
    cdef set _met
    cdef dict _followed_from
    cdef FollowedNodes _followed_nodes
    cdef list _agenda
    cdef int _round
    cdef SetWalk _walk
    cdef RefusedTexts _refused_texts

    cpdef SetMask get(self, int set_id)
    cdef bint knows(self, int set_id) noexcept
    @cython.locals(mask=SetMask, pool="int[::1]", tokens="int[::1]", index=int, at=int, token=int, one="unsigned int")
    cpdef int fill(self, int set_id, unsigned int[::1] words) except -1
    @cython.locals(dense=DenseMask, pool="int[::1]", one="unsigned int", index=int, token=int)
    cdef int _copy(self, int number, int first_cut, int last_cut, unsigned int[::1] words) except -1
    @cython.locals(sets=ItemSetStore, scan=int, group=int, mask=SetMask)
    cdef SetMask _shared(self, int set_id)
    @cython.locals(mask=SetMask, rules=Rules, by_dotted_rule=bint)
    cdef SetMask _make(self, int set_id)
    @cython.locals(scratch=MaskScratch)
    cdef int _begin(self) except -1
    @cython.locals(sets=ItemSetStore, store=TableStore, has_lookaheads=bint, marks=Marks, of_round=int, scan=int, last=int, state=int, first_refusing=int, first_found=int, first_range=int, parts=int, is_dense=bint, terminal=TerminalMask, index=int)
    cdef int _add_items(self, int set_id, bint by_dotted_rule) except -1
    @cython.locals(sets=ItemSetStore, trie=Trie, spellings=tuple, text=bytes, mark=bytes, token=int, allowed=bint)
    cdef int _check_suspects(self, int set_id) except -1
    @cython.locals(part=TerminalMask, found=TokenList, ranges=TokenList, removed=list, size=int, before="int[::1]", pool="int[::1]", token=int, index=int)
    cdef int _keep(self, SetMask mask) except -1
    @cython.locals(first=int, last=int)
    cdef void _add_all(self, TerminalMask table) except *
    @cython.locals(known=TerminalMask)
    cdef void _add_part(self, TerminalMask table) except *
    cdef int _add_once(self, TerminalMask table) except -1
    @cython.locals(store=TableStore, suspects=set, index=int)
    cdef int _suspect_all(self, TerminalMask table) except -1
    @cython.locals(sets=ItemSetStore, agenda=list, scan=int, group=int, ahead=int)
    cdef int _follow_dotted_rules(self, RemainderNodes remainders, int set_id, int state) except -1
    @cython.locals(climb=GroupClimb, left=ByteSet, first=ByteSet, index="Py_ssize_t")
    cdef void _go_on_after_group(self, int group, int ahead, RemainderNodes remainders) except *
    @cython.locals(rules=Rules, rest=DottedRule, table=TerminalMask, index="Py_ssize_t")
    cdef int _add_rest(self, int position, int ahead, RemainderNodes remainders, int group) except -1
    @cython.locals(key="long long", place="long long", new=RemainderNodes)
    cdef void _escape(self, RemainderNodes remainders, int ahead, int group) except *
    @cython.locals(index=int)
    cdef int _follow_all(self, TerminalMask table, int set_id) except -1
    @cython.locals(sets=ItemSetStore, store=TableStore, pair="long long", has_lookaheads=bint, first=int, last=int, marks=Marks, of_round=int, scan=int, state=int, first_refusing=int, first_found=int, first_range=int, parts=int, is_dense=bint, nothing=TerminalMask, table=TerminalMask)
    cdef void _follow(self, RemainderNodes remainders, int set_id) except *
    @cython.locals(sets=ItemSetStore, text=int, position=int)
    cdef bint _is_suspect(self, RemainderNodes remainders, int set_id, int scan) except -1
