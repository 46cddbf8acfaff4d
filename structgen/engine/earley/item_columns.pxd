cimport cython

from structgen.engine.arrays cimport block, column, zeros
from structgen.engine.pair_table cimport PairTable


cdef int LEAST, ROOT, UNKNOWN


cdef class ItemColumns:
    cdef readonly int set_count
    cdef public int[::1] accepting      # by set: 1 where the text so far is whole
    cdef public int[::1] first_scan     # by set: its scannable items; -1 until closed
    cdef public int[::1] last_scan
    cdef public int[::1] only_byte      # by set, once closed
    cdef public int[::1] text           # by set: number of its text, or a kind of none
    cdef public int[::1] captures       # by set, once closed: whether an item is inside of a capture, or begins one
    cdef public int[::1] group_captures # by group: CAPTURED and FRESH
    cdef public int[::1] scan_position  # scannable items: dotted rule,
    cdef public int[::1] scan_state     # automaton state,
    cdef public int[::1] scan_group     # return address
    cdef int[::1] _first_kernel         # by set: its kernel's items in _kernel
    cdef int[::1] _last_kernel
    cdef int[::1] _set_hash
    cdef int[::1] _first_byte           # by set: the byte of the first step from it, or -1,
    cdef int[::1] _first_target         # and the set after that
    cdef readonly PairTable step_targets   # the set after a set and a byte, for the other steps
    cdef int[::1] _kernel
    cdef int _kernel_size
    cdef int[::1] _set_table            # open addressing: set numbers, -1 free
    cdef int _item_count
    cdef int[::1] _item_position
    cdef int[::1] _item_state
    cdef int[::1] _item_group
    cdef int[::1] _item_mark            # by item: serial of the step that added it last
    cdef int[::1] _item_table
    cdef int _scan_size
    cdef int _group_count
    cdef int[::1] _group_first          # by group: its waiting items in _wait_position, _wait_group
    cdef int[::1] _group_last
    cdef int[::1] _group_top            # by group: the address after removal of tail calls, -1 unknown
    cdef int[::1] _group_text           # by group: the text of the set that it was made in
    cdef int[::1] _group_mark           # by group: serial of the step that completed it last,
    cdef int[::1] _group_told           # and the look-aheads that it was completed with, as bits: up to 30,
    cdef int[::1] _group_told_more      # and from 31 on
    cdef int _wait_size
    cdef int[::1] _wait_position
    cdef int[::1] _wait_group

    cdef void _make_root(self)
    @cython.locals(used=int, size=int, before="int[::1]", columns="int[::1]")
    cdef int _grow_sets(self, int needed) except -1
    @cython.locals(used=int, size=int, columns="int[::1]")
    cdef int _grow_items(self, int needed) except -1
    @cython.locals(used=int, size=int, columns="int[::1]")
    cdef int _grow_scans(self, int needed) except -1
    @cython.locals(used=int, size=int, columns="int[::1]")
    cdef int _grow_groups(self, int needed) except -1
    @cython.locals(used=int, size=int, columns="int[::1]")
    cdef int _grow_waits(self, int needed) except -1


@cython.locals(size=int)
cdef int _room_for(int needed) noexcept
