cimport cython

from structgen.engine.earley cimport ItemSetStore
from structgen.engine.lookaheads cimport Lookaheads
from structgen.engine.mask_tables cimport Exits, TerminalMask
from structgen.engine.rules cimport Rules
from structgen.engine.terminal_masks cimport TerminalMasks

cdef int END, KEPT


cdef class Waiting


cdef class Place:
    cdef public list tables
    cdef public list escapes
    cdef public list parts
    cdef public Waiting open
    cdef public int round


cdef class Waiting:
    cdef public list positions
    cdef public list places
    cdef public set escaped


cdef class PlaceMasks:
    cdef ItemSetStore _sets
    cdef Rules _rules
    cdef Lookaheads _lookaheads
    cdef TerminalMasks _terminals
    cdef public dict _rests
    cdef public dict _nonterminals
    cdef dict _firsts
    cdef dict _alive
    cdef set _compared
    cdef set _covered
    cdef dict _ends
    cdef list _agenda
    cdef list _opened
    cdef int _round

    @cython.locals(rules=Rules, symbol=int)
    cpdef bint begins_with_any(self, int position, Exits exits) except -1
    cdef int _forget(self) except -1
    @cython.locals(place=Place)
    cdef Place _new_place(self)
    @cython.locals(found=Place, place=Place)
    cpdef Place rest(self, int position, int ahead, Exits exits)
    @cython.locals(key="long long")
    cdef long long _key(self, int position, int ahead, int number) noexcept
    @cython.locals(agenda=list, place=Place, exits=Exits, ahead=int, position=int)
    cdef void _work(self) except *
    @cython.locals(rules=Rules, symbol=int, inner=Place, waiting=Waiting, index="Py_ssize_t")
    cdef void _go_on(self, int position, int ahead, Exits exits, Place place) except *
    @cython.locals(rules=Rules, table=TerminalMask, index=int, behind=int, held=int)
    cdef void _read(self, int position, int state, Exits exits, Place place) except *
    cdef void _put(self, int position, int ahead, Exits exits, Place place) except *
    @cython.locals(key="long long", waiting=Waiting, index="Py_ssize_t", at=int)
    cdef void _escape(self, Place place, Exits exits, int ahead) except *
    @cython.locals(rules=Rules, found=Place, rule=int)
    cdef Place _predicted(self, int nonterminal, int ahead, Exits exits)
    @cython.locals(rules=Rules, seen=set, stack=list, head=int, rule=int, position=int, symbol=int)
    cdef object _first(self, int nonterminal)
    @cython.locals(rules=Rules, first=int, last=int, rule=int, start=int, end=int, other=int)
    cdef void _find_covered(self, int nonterminal) except *
    @cython.locals(rules=Rules, index=int, at=int, there=int, same=bint)
    cdef bint _goes_further(self, int start, int end, int other) except -1
    @cython.locals(rules=Rules, seen=set, stack=list, before=int, head=int, rule=int, position=int, symbol=int, held=int, key="long long")
    cdef bint _begins_under(self, int nonterminal, int ahead) except -1
    @cython.locals(rules=Rules, symbol=int, key="long long")
    cpdef bint is_alive(self, int position, int ahead) except -1
    @cython.locals(found=Exits)
    cdef Exits _ended(self, TerminalMask table)
    @cython.locals(of_round=int, tables=list, stack=list, part=Place, inner=Place)
    cdef void _gather(self, Place place) except *
