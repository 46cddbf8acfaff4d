cimport cython

from structgen.engine.arrays cimport block, column, grown_pool, zeros
from structgen.engine.earley.item_columns cimport rows_for
from structgen.engine.grammar.rules cimport Rules


cdef int AFTER, CAPTURED, CAPTURES, END, FRESH, REFUSING, ROOT, TOLD_BITS, UNSET


@cython.final
cdef class GroupTable:
    cdef Rules _rules
    cdef readonly int count
    cdef public int[::1] first
    cdef public int[::1] last
    cdef public int[::1] text
    cdef public int[::1] captures
    cdef public int[::1] wait_position
    cdef public int[::1] wait_group
    cdef int[::1] _top              # by group: the address after removal of tail calls, -1 unknown
    cdef int[::1] _mark             # by group: serial number of the step that completed it last,
    cdef int[::1] _told             # and the look-aheads that it was completed with, as bits: up to 30,
    cdef int[::1] _told_more        # and from 31 on
    cdef int _wait_size
    cdef int[::1] _pending          # items of groups in the making: group, dotted rule, return address
    cdef int pending_size

    cdef void _make_root(self)
    cdef void begin(self) noexcept
    @cython.locals(size=int)
    cdef int wait(self, int group, int position, int address) except -1
    @cython.locals(base=int, pending=int, group=int, index=int, size=int, row=int)
    cdef int make(self, int made, int text) except -1
    @cython.locals(changed=bint, group=int, row=int, captures=int, symbol=int, refuses=bint)
    cdef int _mark_captures(self, int base) except -1
    @cython.locals(top=int, row=int, after=int, rules=Rules)
    cdef int top(self, int group) noexcept
    @cython.locals(told=int)
    cdef bint tell(self, int group, int ahead, int step) noexcept
    @cython.locals(used=int, size=int, columns="int[::1]")
    cdef int _grow(self, int needed) except -1
    @cython.locals(used=int, size=int, columns="int[::1]")
    cdef int _grow_waits(self, int needed) except -1
