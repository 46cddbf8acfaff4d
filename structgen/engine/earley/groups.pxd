cimport cython

from structgen.engine.arrays cimport block, column, grown_pool, zeros
from structgen.engine.earley.item_columns cimport rows_for
from structgen.engine.grammar.rules cimport Rules


cdef int AFTER, CAPTURED, CAPTURES, END, FRESH, REFUSING, ROOT, COMPLETED_BITS, UNSET


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
    cdef int[::1] _completed        # and the look-aheads that it was completed with, as bits: up to 30,
    cdef int[::1] _completed_more   # and from 31 on
    cdef int[::1] _hash             # by group that was compared: the hash of its items
    cdef int[::1] _slots            # hash table of the groups that were compared
    cdef int[::1] _renamed          # by new group, from the first one on: its number after `make`
    cdef int _wait_size
    cdef int[::1] _pending          # items of groups in the making: group, dotted rule, return address
    cdef int pending_size

    cdef void _make_root(self)
    cdef void begin(self) noexcept
    @cython.locals(size=int)
    cdef int wait(self, int group, int position, int address) except -1
    @cython.locals(base=int, group=int)
    cdef int make(self, int made, int text, bint shares=*) except -1
    cdef int renamed(self, int group, int base) noexcept
    @cython.locals(base=int, pending=int, group=int, index=int, size=int, row=int)
    cdef int _sort_pending(self, int made) except -1
    @cython.locals(end=int, row=int, is_any_unsettled=bint, is_unsettled=bint, group=int, kept=int, number=int)
    cdef int _share(self, int base) except -1
    @cython.locals(kept=int, first=int, last=int, waiting=int, above=int)
    cdef bint _move(self, int group, int row, int base) noexcept
    @cython.locals(group=int, row=int)
    cdef void _settle(self, int base) noexcept
    @cython.locals(first=int, last=int, h="long long", row=int, above=int, mask=int, slot=int, other=int)
    cdef int _equal_group(self, int group) noexcept
    @cython.locals(shift=int, row=int, above=int, above_other=int)
    cdef bint _are_equal(self, int one, int other) noexcept
    @cython.locals(old="int[::1]", mask=int, index=int, group=int, h=int, slot=int)
    cdef int _rehash(self) except -1
    @cython.locals(changed=bint, group=int, row=int, captures=int, symbol=int)
    cdef int _mark_captures(self, int base) except -1
    @cython.locals(top=int, row=int, after=int, rules=Rules)
    cdef int top(self, int group) noexcept
    @cython.locals(completed=int)
    cdef bint mark_completed(self, int group, int ahead, int step) noexcept
    @cython.locals(used=int, size=int, columns="int[::1]")
    cdef int _grow(self, int needed) except -1
    @cython.locals(used=int, size=int, columns="int[::1]")
    cdef int _grow_waits(self, int needed) except -1
