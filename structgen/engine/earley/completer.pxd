cimport cython

from structgen.engine.arrays cimport grown_pool, zeros
from structgen.engine.deadlines cimport spend
from structgen.engine.earley.captured_texts cimport CapturedTexts
from structgen.engine.earley.groups cimport GroupTable
from structgen.engine.earley.kernels cimport Kernels
from structgen.engine.grammar.lookaheads cimport Lookaheads
from structgen.engine.grammar.rules cimport Rules


cdef int AFTER, CAPTURES, EMPTY_TEXT, END, NEEDS_CHECK, NO_TEXT, ROOT, UNKNOWN_TEXT


@cython.final
cdef class Completer:
    cdef Kernels _kernels
    cdef GroupTable _groups
    cdef CapturedTexts _texts
    cdef Rules _rules
    cdef Lookaheads _lookaheads
    cdef int[::1] _stack            # items to advance: dotted rule, return address, text where it began, look-ahead
    cdef bint skips

    @cython.locals(groups=GroupTable, rules=Rules, ahead=int, size=int, first=int, last=int, row=int, symbol=int)
    cdef int advance(self, int position, int group) except -1
    @cython.locals(rules=Rules, state=int, nothing_follows=bint)
    cdef int _add(self, int position, int ahead, int group) except -1
    @cython.locals(kernels=Kernels, text=int, is_known=bint)
    cdef int _continue(self, int capture, int start) except -2
