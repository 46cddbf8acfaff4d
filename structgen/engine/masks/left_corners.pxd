cimport cython

from structgen.engine.deadlines cimport spend
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.grammar.lookaheads cimport Lookaheads
from structgen.engine.masks.tables cimport ByteSet
from structgen.engine.grammar.rules cimport Rules

cdef int END


@cython.final
cdef class Climb:
    cdef public list kernels
    cdef public bint is_whole


@cython.final
cdef class Corner:
    cdef public list states
    cdef public list positions
    cdef public list nodes
    cdef public list firsts
    cdef public list kernel_positions
    cdef public list kernel_nodes
    cdef public list kernel_firsts
    cdef public dict kernel_of
    cdef public list callers
    cdef public list climbs


@cython.final
cdef class LeftCorners:
    cdef ItemSetStore _sets
    cdef Rules _rules
    cdef Lookaheads _lookaheads
    cdef dict _corners
    cdef readonly Corner body
    cdef list _first_at
    cdef dict _first_of_state
    cdef dict _byte_sets
    cdef set _met
    cdef list _uncompared
    cdef bint _is_comparing
    cdef readonly set covered
    cdef readonly set watched_ends
    cdef set _watched
    cdef list _unmade
    cdef int _looked_at
    cdef ByteSet _any_byte

    cdef ByteSet byte_set(self, object bits)
    @cython.locals(key="long long")
    cdef Corner corner(self, int nonterminal, int ahead)
    cdef int _compare_bodies(self) except -1
    @cython.locals(rules=Rules, corner=Corner, node_of=dict, keys=list, node=int, head=int, ahead=int, rule=int, position=int, held=int, symbol=int, called="long long", begun=object, at="long long")
    cdef Corner _made(self, long long key)
    cdef int _prepare(self, int nonterminal) except -1
    @cython.locals(state=int)
    cdef int _add_terminal(self, Corner corner, int position, int held, int node) except -1
    @cython.locals(found=ByteSet)
    cdef ByteSet _first_of(self, int state)
    @cython.locals(found=Climb)
    cdef Climb climb(self, Corner corner, int node)
    @cython.locals(rules=Rules, climb=Climb, seen=set, pending=list, at=int, callers=list, index="Py_ssize_t", following=int, above=int)
    cdef Climb _climbed(self, Corner corner, int node)
    @cython.locals(key="long long")
    cdef int _kernel(self, Corner corner, int position, int node) except -1
    @cython.locals(symbol=int, found=ByteSet, first=ByteSet)
    cdef ByteSet first_at(self, int position)
    cdef ByteSet first_after(self, int position)
    @cython.locals(rules=Rules, first=int, last=int, rule=int, start=int, end=int, other=int)
    cdef int _find_covered(self, int nonterminal) except -1
    @cython.locals(rules=Rules, index=int, at=int, there=int, same=bint)
    cdef bint _goes_further(self, int start, int end, int other) except -1
    @cython.locals(rules=Rules, symbol=int)
    cdef bint is_alive(self, int position, int ahead) except -1
    @cython.locals(rules=Rules, known=int, waiting=list, position=int, is_older=bint, nonterminal=int, rule=int, end=int)
    cdef bint find_watched(self) except -1
    cdef int _watch(self, int nonterminal, list waiting) except -1
