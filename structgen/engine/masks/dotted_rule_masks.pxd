cimport cython

from structgen.engine.deadlines cimport spend
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.grammar.lookaheads cimport Lookaheads
from structgen.engine.grammar.rules cimport Rules
from structgen.engine.masks.followed_nodes cimport FollowedNodes
from structgen.engine.masks.left_corners cimport Climb, Corner, LeftCorners
from structgen.engine.masks.next_bytes cimport NextBytes
from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport ByteSet, RemainderNodes, TerminalMask
from structgen.engine.masks.terminal_masks cimport TerminalMasks

cdef int END, MAX_KEPT, ROOT


cdef class Waiting


@cython.final
cdef class DottedRule:
    cdef public list tables
    cdef public list escapes
    cdef public list parts
    cdef public Waiting open
    cdef public int round


@cython.final
cdef class Waiting:
    cdef public Corner corner
    cdef public list positions
    cdef public list dotted_rules
    cdef public list nodes
    cdef public set escaped
    cdef public set met
    cdef public dict followed


@cython.final
cdef class GroupClimb:
    cdef public list positions
    cdef public list groups
    cdef public list firsts
    cdef public ByteSet first
    cdef public bint is_whole


@cython.final
cdef class DottedRuleMasks:
    cdef ItemSetStore _sets
    cdef Rules _rules
    cdef Lookaheads _lookaheads
    cdef TerminalMasks _terminals
    cdef TableStore _store
    cdef NextBytes _next_bytes
    cdef dict _rests
    cdef dict _nonterminals
    cdef readonly LeftCorners corners
    cdef dict _climbs
    cdef dict _ends
    cdef FollowedNodes _followed_nodes
    cdef list _agenda
    cdef list _opened
    cdef int _round

    cpdef bint begins_with_any(self, int position, RemainderNodes remainders) except -1
    @cython.locals(found=ByteSet)
    cdef ByteSet first_bytes(self, RemainderNodes remainders)
    @cython.locals(found=DottedRule)
    cpdef DottedRule rest(self, int position, int ahead, RemainderNodes remainders)
    @cython.locals(found=DottedRule, dotted_rule=DottedRule)
    cdef DottedRule _found(self, int position, int ahead, RemainderNodes remainders)
    cdef int _forget(self) except -1
    @cython.locals(found=GroupClimb)
    cdef GroupClimb climb(self, int group)
    @cython.locals(sets=ItemSetStore, rules=Rules, climb=GroupClimb, seen=set, pending=list, at=int, waiting=int, following=int, above=int, first=ByteSet)
    cdef GroupClimb _climbed(self, int group)
    @cython.locals(dotted_rule=DottedRule)
    cdef DottedRule _new_dotted_rule(self, Corner corner)
    @cython.locals(key="long long")
    cdef long long _key(self, int position, int ahead, int number) noexcept
    cdef void _put(self, int position, int ahead, RemainderNodes remainders, DottedRule dotted_rule, int node) except *
    @cython.locals(agenda=list, dotted_rule=DottedRule, remainders=RemainderNodes, ahead=int, position=int, node=int)
    cdef void _work(self) except *
    @cython.locals(rules=Rules, symbol=int, state=int, inner=DottedRule, waiting=Waiting, index="Py_ssize_t")
    cdef void _go_on(self, int position, int ahead, RemainderNodes remainders, DottedRule dotted_rule, int node) except *
    @cython.locals(rules=Rules, table=TerminalMask, has_tokens=bint, is_end=bint, is_watched=bint, index=int, following=int, ahead=int)
    cdef void _read(self, int position, int state, RemainderNodes remainders, DottedRule dotted_rule, int node) except *
    @cython.locals(found=DottedRule, corner=Corner, left=ByteSet, first=ByteSet, index="Py_ssize_t")
    cdef DottedRule _predicted(self, int nonterminal, int ahead, RemainderNodes remainders)
    @cython.locals(waiting=Waiting, corner=Corner, climb=Climb, left=ByteSet, first=ByteSet, kernel=int, key="long long", new=RemainderNodes)
    cdef void _complete(self, DottedRule dotted_rule, int node, RemainderNodes remainders, int ahead) except *
    @cython.locals(key="long long", waiting=Waiting, new=RemainderNodes, index="Py_ssize_t", at=int)
    cdef void _escape(self, DottedRule dotted_rule, RemainderNodes remainders, int ahead) except *
    @cython.locals(found=RemainderNodes)
    cdef RemainderNodes _ended(self, TerminalMask table)
    @cython.locals(of_round=int, tables=list, stack=list, part=DottedRule, inner=DottedRule)
    cdef void _gather(self, DottedRule dotted_rule) except *
